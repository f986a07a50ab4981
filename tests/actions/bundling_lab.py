"""Bundles that are made and taken, and what a store is held against afterwards."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.actions.bundling import bundle
from clew.actions.editing import Wish
from clew.actions.importing import Landing, import_bundle
from clew.store.files import Store
from tests.store.lines import ONE

if TYPE_CHECKING:
    from clew.actions.import_outcomes import Imported

CORPUS = Path(__file__).parents[1] / "data" / "corpus"

NOW = 1_790_000_000_000

NEW_ID = "ffffffff-0000-4000-8000-00000000000f"

SECRET = "AKIA2E0A8F3B244C9986"


def wish(state: Path, **other: Any) -> Wish:
    return Wish("import", NEW_ID, NOW, state, **other)


def packed(root: Path, name: str, state: Path, *, redact: bool = False, **other: Any) -> bytes:
    out = io.BytesIO()
    options: dict[str, Any] = {"now_ms": NOW, **other}
    bundle(Store.at([str(root)]), name, out, state=state, redact=redact, **options)
    return out.getvalue()


def taken(data: bytes, root: Path, state: Path, landing: Landing = Landing(), **other: Any) -> Imported:  # noqa: B008
    root.mkdir(exist_ok=True)
    return import_bundle(
        Store.at([str(root)]),
        "x.clew",
        wish(state, **other),
        landing=landing,
        seed=b"seed",
        read=io.BytesIO(data).read,
    )


def aged(folder: Path) -> None:
    """Give every file a time of its own, in the last days."""
    for number, path in enumerate(sorted(folder.rglob("*"))):
        if path.is_file():
            then = (NOW - number * 1_000_000) * 1_000_000 + number
            os.utime(path, ns=(then, then))
            path.chmod(0o600)


def facts(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Every file below a folder: its digest, its rights and its time."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mode & 0o777,
            path.stat().st_mtime_ns,
        )
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def belonging(root: Path) -> set[str]:
    """Every file of the sessions whose own file is there: transcripts, and what is called by such an id."""
    ids = {path.stem for path in root.glob("projects/*/*.jsonl")}
    names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    return {
        name
        for name in names
        if any(id_ in name for id_ in ids) or re.fullmatch(r"projects/[^/]+/agent-[^/]+\.jsonl", name)
    }


def scenarios() -> list[Path]:
    return sorted(path.parent for path in CORPUS.glob("*/*/projects"))


def moved_over(scenario: Path, place: Path) -> tuple[int, int]:
    """Bundle every session of a scenario and import it elsewhere; return how many, of how many files."""
    there, here = place / "there", place / "here"
    shutil.copytree(scenario, there)
    aged(there)
    before = facts(there)
    sessions = [
        path for path in sorted(there.glob("projects/*/*.jsonl")) if not path.name.startswith("agent-")
    ]
    seen: set[str] = set()
    for path in sessions:
        data = packed(there, str(path), place / "state")
        done = taken(data, here, place / "state")
        assert done.path == str(here / path.relative_to(there))
        seen |= {str(Path(one).relative_to(here)) for one in done.new}
    assert facts(there) == before, "the sessions are only read"
    after = facts(here)
    assert after == {name: before[name] for name in after}
    # Sub-agents of no session that is there are of no bundle.
    assert {name for name in belonging(there) - {*after} if not Path(name).name.startswith("agent-")} == set()
    assert seen == {*after}
    return len(sessions), len(after)


def told(data: bytes) -> list[str | None]:
    return [json.loads(line).get("cwd") for line in data.splitlines()]


def lines_in(*folders: str | None, session: str = ONE) -> bytes:
    lines = [
        {"type": "user", "uuid": f"u{n}", "sessionId": session, "cwd": cwd} for n, cwd in enumerate(folders)
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
