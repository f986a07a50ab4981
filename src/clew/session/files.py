"""The files a session touched: by calls that write, and by the copies the client made before."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from clew.format.kinds import FileHistoryDelta, FileHistorySnapshot
from clew.session.calls import Call, call_block, pairs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.session.session import Session

PATHS: Final[Mapping[str, str]] = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "Write": "file_path",
}
"""The tools that change a file, and where their input names it."""

_ABSOLUTE = re.compile(r"/|\\\\|[A-Za-z]:[\\/]")


@dataclass(frozen=True, slots=True)
class File:
    """One file."""

    path: str
    """Absolute where that can be told."""

    calls: tuple[Call, ...] = ()
    """The calls that wrote it, or tried to."""

    snapshot_rows: tuple[int, ...] = ()
    """The entries that name a copy of it."""


@dataclass(slots=True)
class _Draft:
    calls: list[Call] = field(default_factory=list[Call])
    rows: list[int] = field(default_factory=list[int])


def files(session: Session, *, calls: Sequence[Call] | None = None) -> tuple[File, ...]:
    """Return the files a session touched, in the order it first wrote or copied them.

    `calls` are all its calls, where they were paired already.
    """
    found: dict[str, _Draft] = {}
    cwd = start_folder(session)
    touched: list[tuple[int, str, Call | None]] = []
    for call in pairs(session).calls if calls is None else calls:
        name = PATHS.get(call.name or "")
        given = None if name is None else call_block(session, call).input.get(name)
        if isinstance(given, str) and given:
            touched.append((call.row, given, call))
    touched += [(row, path, None) for row, path in _copies(session)]
    for row, path, call in sorted(touched, key=lambda item: item[0]):
        draft = found.setdefault(absolute(path, cwd), _Draft())
        if call is not None:
            draft.calls.append(call)
        elif row not in draft.rows[-1:]:
            draft.rows.append(row)
    return tuple(File(path, tuple(draft.calls), tuple(draft.rows)) for path, draft in found.items())


def _copies(session: Session) -> Iterator[tuple[int, str]]:
    table = session.table
    for row in range(len(table)):
        match table.kind_of(row):
            case "file-history-snapshot":
                for path in FileHistorySnapshot(session.entry(row).data).backups:
                    yield row, path
            case "file-history-delta":
                path = FileHistoryDelta(session.entry(row).data).path
                if path:
                    yield row, path
            case _:
                pass


def start_folder(session: Session) -> str | None:
    """Return the folder the session began in."""
    table = session.table
    for row in range(len(table)):
        if table.kind_of(row) in {"user", "assistant"}:
            return session.entry(row).cwd
    return None


def absolute(path: str, cwd: str | None) -> str:
    """Join a path to the folder in the folder's own style, whatever system this runs on."""
    if _ABSOLUTE.match(path) or not cwd:
        return path
    separator = "\\" if "\\" in cwd and "/" not in cwd else "/"
    return cwd.rstrip("/\\") + separator + path
