"""Find what belongs to a session beside its own file: tool results, titles, file history, todos and the like.

Links are not followed here: what belongs to a session is copied and packed, and must not reach outside.
"""

from __future__ import annotations

import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from clew.store.files import Skipped
from clew.store.source import reason, what_is

if TYPE_CHECKING:
    from clew.store.files import SessionFile

SideKind = Literal["meta", "tool-result", "title", "file-history", "todo", "task", "other"]

_DEEPEST: Final = 8
_OURS: Final = re.compile(r"\.clew(?:-new|-backup|-kept|-kept-copy)?$")


@dataclass(frozen=True, slots=True)
class SideFile:
    """A file that is no session file but belongs to one."""

    path: str
    kind: SideKind
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class SideFiles:
    """The side files of one session or sub-agent, in the order of their paths."""

    files: tuple[SideFile, ...]
    skipped: tuple[Skipped, ...]


def side_files(file: SessionFile) -> SideFiles:
    """Find the side files of a session; of a sub-agent, its metadata."""
    search = _Search()
    # A name may be hostile: `...jsonl` is the id `..`, whose folder would be the one above.
    if file.id not in {"", ".", ".."}:
        here = Path(file.path).parent
        if file.is_agent:
            search.collect(here / f"{file.id}.meta.json", "meta")
        else:
            search.collect(here / file.id, None)
            if file.root is not None:
                root = Path(file.root)
                search.collect(root / "file-history" / file.id, "file-history")
                search.collect(root / "tasks" / file.id, "task")
                search.todos(root / "todos", f"{file.id}-agent-")
    return SideFiles(
        tuple(sorted(search.found, key=lambda side: side.path)),
        tuple(sorted(search.skipped, key=lambda note: note.path)),
    )


@dataclass(slots=True)
class _Search:
    found: list[SideFile] = field(default_factory=list[SideFile])
    skipped: list[Skipped] = field(default_factory=list[Skipped])

    def todos(self, folder: Path, start: str) -> None:
        try:
            paths = list(folder.iterdir())
        except OSError:
            return
        for path in paths:
            if path.name.startswith(start):
                self.collect(path, "todo")

    def collect(self, path: Path, kind: SideKind | None, *, inside: tuple[str, ...] = ()) -> None:
        """Take a file, or all that is in a folder; without a `kind` the place inside the folder tells it."""
        try:
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode) and len(inside) < _DEEPEST:
                for child in path.iterdir():
                    self.collect(child, kind, inside=(*inside, child.name))
                return
        except FileNotFoundError:
            return
        except OSError as error:
            self.skipped.append(Skipped(str(path), reason(error)))
            return
        if path.name.startswith(".") and _OURS.search(path.name):
            return  # what an edit that was cut short left behind, or keeps
        what = "a link" if stat.S_ISLNK(status.st_mode) else what_is(status.st_mode)
        if what is not None:
            self.skipped.append(Skipped(str(path), what))
        elif kind is not None:
            self.found.append(SideFile(str(path), kind, status.st_size, status.st_mtime_ns))
        elif not (inside[:1] == ("subagents",) and path.name.endswith(".jsonl")):
            self.found.append(SideFile(str(path), _kind(inside), status.st_size, status.st_mtime_ns))


def _kind(inside: tuple[str, ...]) -> SideKind:
    match inside:
        case ("custom-title.json",):
            return "title"
        case ("tool-results", *_):
            return "tool-result"
        case ("subagents", *_, name) if name.endswith(".meta.json"):
            return "meta"
        case _:
            return "other"
