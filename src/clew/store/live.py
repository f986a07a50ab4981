"""Tell whether someone may be writing a session right now.

Three signs: a running client names the session in `sessions/<pid>.json` (from 2.1.139), a process has it
open for writing, or it was written within ten minutes. No sign is not a proof that no one will write.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, cast

import orjson

from clew.errors import ClewError
from clew.store.signs import RECENT
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.store.files import SessionFile

_LARGEST: Final = 64 << 10
_START_TIME: Final = 22
"""The field of /proc/<pid>/stat that holds when the process started."""


@dataclass(frozen=True, slots=True)
class Live:
    """Whether a session may be being written, and the sign."""

    is_live: bool
    why: Literal["process", "open", "recent", "quiet", "gone"]
    pid: int | None = None


def running(roots: Iterable[str], *, proc: str = "/proc") -> Mapping[str, int]:
    """Return the sessions that running clients name as theirs, with the process id of each."""
    found: dict[str, int] = {}
    for root in roots:
        try:
            paths = sorted(Path(root, "sessions").iterdir())
        except OSError:
            continue
        for path in paths:
            # Keys lie beside these files; nothing but <pid>.json is opened.
            if path.suffix == ".json" and path.stem.isascii() and path.stem.isdigit():
                named = _named(path, proc=proc)
                if named is not None:
                    session, pid = named
                    found[session] = pid
    return found


def liveness(
    file: SessionFile,
    *,
    now: float,
    processes: Mapping[str, int] | None = None,
    look_for_open: bool = True,
    proc: str = "/proc",
) -> Live:
    """Say whether `file` may be being written at the time `now` (seconds since 1970).

    For a list, call `running` once, hand its answer in as `processes` and do not look for open files.
    """
    if processes is None:
        processes = running(() if file.root is None else (file.root,), proc=proc)
    pid = processes.get(file.session or file.id)
    if pid is not None:
        return Live(True, "process", pid)
    try:
        status = Path(file.path).stat()
    except (OSError, ValueError):
        return Live(False, "gone")
    if look_for_open:
        pid = _writer(status.st_dev, status.st_ino, proc=proc)
        if pid is not None:
            return Live(True, "open", pid)
    # A time in the future is a clock that was set, unless it is near.
    if abs(now - status.st_mtime) < RECENT:
        return Live(True, "recent")
    return Live(False, "quiet")


def _named(path: Path, *, proc: str) -> tuple[str, int] | None:
    """Return the session a process file names and the process, if that very process still runs."""
    try:
        with FileSource(path) as source:
            data: object = orjson.loads(source.read(0, _LARGEST))
    except (ClewError, orjson.JSONDecodeError):
        return None
    if not isinstance(data, dict):
        return None
    fields = cast("dict[str, object]", data)
    session, pid = fields.get("sessionId"), fields.get("pid")
    if not isinstance(session, str) or not isinstance(pid, int) or pid <= 0:
        return None
    return (session, pid) if _runs(pid, fields.get("procStart"), proc=proc) else None


def _runs(pid: int, start: object, *, proc: str) -> bool:
    if not Path(proc, "self").exists():
        return _exists(pid)
    try:
        stat = Path(proc, str(pid), "stat").read_bytes()
    except OSError:
        return False
    # The second field is the program's name in brackets and may hold spaces and brackets itself.
    fields = stat.rpartition(b")")[2].split()
    at = _START_TIME - 3
    if not isinstance(start, str | int) or len(fields) <= at:
        return True
    # A process id is given again to others; the start time tells them apart.
    return fields[at].decode("ascii", "replace") == str(start)


def _exists(pid: int) -> bool:
    if os.name == "nt":
        return True  # os.kill() would end the process there; to take it for live is the safe side
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        return True
    return True


def _writer(device: int, inode: int, *, proc: str) -> int | None:
    """Return a process that has the file open for writing. Readers, and this process, do not count."""
    mine = str(os.getpid())
    for process in _entries(proc):
        if not process.name.isdigit() or process.name == mine:
            continue
        for descriptor in _entries(f"{process.path}/fd"):
            try:
                status = descriptor.stat()
            except OSError:
                continue
            is_same = (status.st_dev, status.st_ino) == (device, inode)
            if is_same and _is_writing(Path(process.path, "fdinfo", descriptor.name)):
                return int(process.name)
    return None


def _entries(path: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(path) as entries:
            return list(entries)
    except OSError:  # another user's, gone, or no /proc here
        return []


def _is_writing(path: Path) -> bool:
    try:
        lines = path.read_bytes().splitlines()
    except OSError:
        return True
    flags = [line.partition(b":")[2] for line in lines if line.startswith(b"flags:")]
    return not flags or int(flags[0], 8) & (os.O_WRONLY | os.O_RDWR) != 0
