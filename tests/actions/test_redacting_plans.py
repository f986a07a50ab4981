"""What is sent is looked at only where it decides something, and the plan is the same without that."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.actions import redacting
from clew.actions.bundling import bundle
from clew.actions.editing import Wish, work_out
from clew.actions.footprints import open_footprint
from clew.edit.thinking import may_think
from clew.session.session import Session
from clew.store.files import Store
from tests.builder import Builder
from tests.view.sessions import CORPUS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from clew.actions.footprints import Footprint
    from clew.edit.changes import Changes
    from clew.edit.plan import Plan

KEY = b"k" * 32
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NOW = 1_790_000_000_000


def salted(path: Path, target: Path, every: int) -> int:
    """Copy a session with a secret in some of its texts; return how many."""
    count, lines = 0, list[bytes]()
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True)):
        try:
            entry: dict[str, Any] = json.loads(line)
        except ValueError:
            entry = {}
        content: Any = entry.get("message", {}).get("content")
        blocks = cast("list[dict[str, Any]]", content) if isinstance(content, list) else []
        first = next((one for one in blocks if one.get("type") == "text"), None)
        if number % every == 1 and first is not None:
            first["text"] += f" GITHUB_TOKEN={TOKEN}"
            line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
            count += 1
        lines.append(line)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(b"".join(lines))
    return count


def written(root: Path, path: Path) -> tuple[list[bytes], Mapping[str, object], tuple[str, ...]]:
    """What redacting would write of a session."""
    footprint = open_footprint(Store.at([str(root)]), str(path), whole_lines=False)
    wish = Wish("export", path.stem, NOW, root / "state", is_dry=True, force=True)
    with redacting.redacted(footprint, wish, key=KEY) as made:
        return [b"".join(file.pieces()) for file in made.plan.files], made.sides, made.notes


def looking(footprint: Footprint, wish: Wish, make: Callable[[Session], Changes]) -> Plan:
    """The plan of an edit that looks at all that is sent."""
    return work_out(footprint, make, wish, None, make_agent=make).plan


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[Session]:
    """The sessions of which it was asked what is sent."""
    from clew.actions import editing

    seen: list[Session] = []
    context: Callable[..., Any] = editing.context

    def look(session: Session, **options: Any) -> Any:
        seen.append(session)
        return context(session, **options)

    monkeypatch.setattr(editing, "context", look)
    return seen


def test_the_plan_is_that_of_an_edit_that_looks_at_what_is_sent(
    tmp_path: Path, looks: list[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    salt = skipped = 0
    for number, path in enumerate(sorted(CORPUS.glob("*/*/projects/*/*.jsonl"))[::6]):
        root = tmp_path / str(number)
        target = root / "projects" / path.parent.name / path.name
        salt += salted(path, target, 3) > 0
        looks.clear()
        quick = written(root, target)
        skipped += not looks
        with monkeypatch.context() as patched:
            patched.setattr("clew.actions.redacting._planned", looking)
            assert written(root, target) == quick, path
    assert salt >= 10
    assert skipped >= 10


def test_what_is_sent_is_not_looked_at_where_it_decides_nothing(tmp_path: Path, looks: list[Session]) -> None:
    folder = tmp_path / "projects" / "-home-ada-lamp"
    folder.mkdir(parents=True)
    path = folder / "0a1b2c3d-0000-4000-8000-00000000beef.jsonl"
    path.write_bytes(Builder(path.stem).user(f"Use {TOKEN}").answer("I do.").data())
    files, _, notes = written(tmp_path, path)
    assert TOKEN.encode() not in files[0]
    assert notes
    assert looks == []
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    path.write_bytes(Builder(path.stem).user(f"Use {TOKEN}").answer(thinking, "I do.").data())
    files, _, _ = written(tmp_path, path)
    assert b"Hm." not in files[0], "what was sent before it has changed"
    assert looks


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"type":"thinking"}', True),
        (b'{"type": "redacted_thinking"}', True),
        (b'{"type":"\\u0074hinking"}', True),
        (b'{"type":"thinkin\\u0067"}', True),
        (b'{"text":"I say \\"thinking\\" and \\u001b[0m"}', False),
        (b" " * ((1 << 20) - 5) + b'{"type":"thinking"}', True),
        (b"", False),
    ],
)
def test_thinking_is_seen_however_it_is_spelled(line: bytes, expected: bool) -> None:
    assert may_think(Session.read(line + b"\n")) == expected


def test_a_bundle_is_the_same_bytes_as_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = next(iter(sorted(CORPUS.glob("2.1.325/tools/projects/*/*.jsonl"))))
    target = tmp_path / "root" / "projects" / source.parent.name / source.name
    assert salted(source, target, 2)
    store, state = Store.at([str(tmp_path / "root")]), tmp_path / "state"
    state.mkdir()
    for name in ("quick", "slow"):
        if name == "slow":
            monkeypatch.setattr("clew.actions.redacting._planned", looking)
        bundle(store, str(target), tmp_path / name, now_ms=NOW, state=state)
    assert (tmp_path / "quick").read_bytes() == (tmp_path / "slow").read_bytes()
