"""Edits to be interrupted, and what may be left: a new session of three files, two in place, a move."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.store.commit import Job, Moved, NewFile, Replaced, copied
from clew.store.source import FileSource
from clew.store.writer import Stamp
from tests.store.lines import put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

NOW_MS = 1_790_000_000_000
MAIN = b'{"n":1}\n' * 400
AGENT = b'{"agent":1}\n' * 20
RESULT = b"a long result\n" * 1000
OLD_MAIN = b'{"old":1}\n' * 600
OLD_AGENT = b'{"old-agent":1}\n' * 5

Tree = dict[str, bytes]


def pieces(data: bytes) -> Callable[[], Iterable[bytes]]:
    """The bytes in two parts."""
    return lambda: (data[: len(data) // 2], data[len(data) // 2 :])


def stamp(path: Path) -> Stamp:
    with FileSource(path) as source:
        return Stamp.of(source)


def tree(folder: Path) -> Tree:
    """All files below a folder, and the folders that are empty."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found[str(path.relative_to(folder))] = path.read_bytes()
        elif path.is_dir() and not any(path.iterdir()):
            found[f"{path.relative_to(folder)}/"] = b""
    return found


def old_session(root: Path) -> Path:
    """A session with a sub-agent and a tool result."""
    put(root / "old" / "subagents" / "agent-a.jsonl", OLD_AGENT)
    put(root / "old" / "tool-results" / "r.txt", RESULT)
    return put(root / "old.jsonl", OLD_MAIN)


def new_job(root: Path) -> Job:
    """Make a new session with a sub-agent and a tool result, as a clone does."""
    main = root / "new.jsonl"
    return Job(
        "clone",
        str(root / "old.jsonl"),
        str(main),
        new=(
            NewFile(
                str(root / "new" / "tool-results" / "r.txt"),
                copied(str(root / "old" / "tool-results" / "r.txt")),
            ),
            NewFile(
                str(root / "new" / "subagents" / "agent-a.jsonl"), pieces(AGENT), mtime_ns=NOW_MS * 1_000_000
            ),
            NewFile(str(main), pieces(MAIN)),
        ),
    )


def place_job(root: Path) -> Job:
    """Replace a session's file and its sub-agent's."""
    main, agent = root / "old.jsonl", root / "old" / "subagents" / "agent-a.jsonl"
    return Job(
        "trim",
        str(main),
        replaced=(
            Replaced(str(agent), pieces(AGENT), stamp(agent)),
            Replaced(str(main), pieces(MAIN), stamp(main)),
        ),
    )


def move_job(root: Path) -> Job:
    """Change a session's file, put a note beside it and give it and its folder other names."""
    main = root / "old.jsonl"
    return Job(
        "mv",
        str(main),
        new=(NewFile(str(root / "note" / "n.txt"), pieces(b"moved\n")),),
        replaced=(Replaced(str(main), pieces(MAIN), stamp(main)),),
        moved=(
            Moved(str(root / "old"), str(root / "far" / "old")),
            Moved(str(main), str(root / "far" / "old.jsonl")),
        ),
    )


def after(kind: str) -> Tree:
    """What is below the root when a job is done."""
    old = before()
    if kind == "new":
        return old | {
            "new.jsonl": MAIN,
            "new/subagents/agent-a.jsonl": AGENT,
            "new/tool-results/r.txt": RESULT,
        }
    if kind == "place":
        return old | {"old.jsonl": MAIN, "old/subagents/agent-a.jsonl": AGENT}
    return {
        "far/old.jsonl": MAIN,
        "far/old/subagents/agent-a.jsonl": OLD_AGENT,
        "far/old/tool-results/r.txt": RESULT,
        "note/n.txt": b"moved\n",
    }


def before() -> Tree:
    """What is below the root when nothing was done."""
    return {
        "old.jsonl": OLD_MAIN,
        "old/subagents/agent-a.jsonl": OLD_AGENT,
        "old/tool-results/r.txt": RESULT,
    }


JOBS: dict[str, Callable[[Path], Job]] = {"new": new_job, "place": place_job, "move": move_job}
