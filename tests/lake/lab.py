"""What the tests of the lake share: sources made of recorded sessions, builds, and rows to compare."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from clew.actions.sql import Wish as SqlWish
from clew.actions.sql import ask
from clew.lake.asking import ask_here, table_of
from clew.lake.building import Report, Wish, build
from clew.lake.builds import visible
from clew.lake.engines import LocalEngine
from clew.lake.places import Place
from clew.store.files import Store
from clew.tables.schema import TABLES
from tests.builder import Builder, call
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from clew.lake.engines import Engine

CORPUS = sorted(path.parent for path in (ROOT / "tests" / "data" / "corpus").glob("*/*/projects"))
KEY = b"a key for tests that is long"

Row = tuple[object, ...]


def copied(source: Path, roots: Sequence[Path] = CORPUS, *, teams: int = 2) -> list[Path]:
    """Copy config folders below a source, each as a developer of one of some teams."""
    made: list[Path] = []
    for number, root in enumerate(roots):
        target = source / f"team{number % teams}" / f"dev{number}"
        shutil.copytree(root, target)
        made.append(target)
    return made


def built(
    source: Path | str,
    lake: Path | str,
    *,
    engine: Engine | None = None,
    key: bytes | None = None,
    options: Iterable[str] = (),
    commit_every: int | None = None,
    prune: bool = False,
) -> Report:
    """Build a lake in this process."""
    wish = Wish(key, prune=prune, commit_every=commit_every, now_ms=1)
    options = tuple(options)
    return build(
        Place.parse(str(source), options), Place.parse(str(lake), options), engine or LocalEngine(1), wish
    )


def rows(lake: Path | str, table: str, *, options: Iterable[str] = ()) -> list[Row]:
    """Return all rows of a table that readers see, with all that the lake adds, in an order of their own."""
    place = Place.parse(str(lake), tuple(options))
    found = table_of(place, visible(place), table).dataset().to_table()
    return sorted(zip(*(column.to_pylist() for column in found.columns), strict=True), key=repr)


def everything(lake: Path | str, *, options: Iterable[str] = ()) -> dict[str, list[Row]]:
    """Return all rows of all tables."""
    return {name: rows(lake, name, options=options) for name in TABLES}


def documented(lake: Path | str, table: str, *, without: Sequence[str] = ()) -> list[Row]:
    """Return the documented columns of a table of a lake, but for some."""
    names = [f'"{name}"' for name in TABLES[table].names if name not in without]
    found = ask_here(Place.parse(str(lake)), f"SELECT {', '.join(names)} FROM {table}")
    return sorted(found.rows, key=repr)


def asked(roots: Sequence[Path], table: str, *, without: Sequence[str] = ()) -> list[Row]:
    """Return the same columns as `clew sql` gives them."""
    names = [name for name in TABLES[table].names if name not in without]
    booleans = [column.name for column in TABLES[table].columns if column.type == "boolean"]
    quoted = ", ".join(f'"{name}"' for name in names)
    query = f"SELECT {quoted} FROM {table}"
    with ask(Store.at([str(root) for root in roots]), query, SqlWish(jobs=1)) as answer:
        found = [
            tuple(
                bool(value) if name in booleans and value is not None else value
                for name, value in zip(names, row, strict=True)
            )
            for row in answer.rows()
        ]
    return sorted(found, key=repr)


def conversation(name: str, *, turns: int = 2, wait: float = 0, prompt: str = "Look at it") -> Builder:
    """Make a session of a few turns, each with a call."""
    made = Builder(name).wait(wait)
    for turn in range(turns):
        made.user(f"{prompt} {turn}")
        made.answer(call(f"{name}-{turn}", "Read", {"file_path": "/tmp/a"}), message_id=f"msg_{name}_{turn}")
        made.result(f"{name}-{turn}")
        made.answer("Done.", message_id=f"msg_{name}_{turn}_end", output=[7])
    return made


def put(root: Path, name: str, data: bytes, folder: str = "-home-ada-lighthouse") -> Path:
    """Write a session file into a config folder."""
    path = root / "projects" / folder / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def forked(source: Path) -> list[Path]:
    """Make developers whose sessions share messages: forks, copies, sub-agents, orphans."""
    first, other = source / "core" / "ada", source / "core" / "ben"
    base = conversation("s1", turns=3)
    put(first, "s1", base.data())
    # A fork goes on with more of a message, and one that is older than what it was made from.
    longer = conversation("s1", turns=3).answer("And more.", message_id="msg_s1_2_end", output=[90])
    put(first, "s2", longer.data())
    put(other, "s0", b'{"type":"summary","timestamp":"2025-01-01T00:00:00Z"}\n' + base.data())
    put(other, "s3", conversation("s3", wait=90_000, turns=1).data())
    agent = (
        conversation("s3", wait=90_100, turns=1).data().replace(b'"isSidechain":false', b'"isSidechain":true')
    )
    put(other, "agent-abc", agent.replace(b"msg_s3", b"msg_agent"), "-home-ada-lighthouse/s3/subagents")
    put(other, "agent-lost", agent.replace(b"msg_s3", b"msg_lost").replace(b'"s3"', b'"gone"'))
    put(other, "agent-flat", agent.replace(b"msg_s3", b"msg_flat"))
    return [first, other]
