"""Let only one of us at a time edit a session.

The system's own file locks do it: they end with the process that holds them, however it ends, so that a
killed one blocks nobody. A lock file also says who holds it, by process id and start time. Only where a file
system knows no locks is that what counts; a holder that is no more, or whose id somebody else has by now, is
then passed over.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import RefusedError
from clew.store.disk import DISK
from clew.store.source import read_at, reason
from clew.store.state import make_private
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Generator

    from clew.store.disk import Disk

_STEP: Final = 0.03
_WIDTH: Final = 160
"""How long what a lock file says is: always the same, so that one writing covers all of the one before."""

_START: Final = 22
"""The field of /proc/<pid>/stat that holds when the process started."""

_NO_LOCKS: Final = frozenset({errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL})

_guard: Final = threading.Lock()
_held: Final[set[str]] = set()
"""What this process holds: on some network file systems its threads would not exclude one another."""


class BusyError(RefusedError):
    """Another process, or another thread of this one, is editing the same session."""

    code = "busy"

    def __init__(self, path: str, pid: int | None) -> None:
        who = "another process" if pid is None else f"process {pid}"
        super().__init__(f"{path} is being edited by {who}", hint="try again when it is done")
        self.path = path
        self.pid = pid


class Process(NamedTuple):
    """A process, told apart from a later one with the same id."""

    pid: int
    start: str
    """When it started, as the system says it; empty where it does not say."""

    space: str
    """Where the id counts: another container, another machine or the time before a restart has its own."""

    @classmethod
    def this(cls) -> Process:
        """Return the one that runs this."""
        pid = os.getpid()
        return cls(pid, started(pid) or "", _space())

    def is_running(self) -> bool | None:
        """Say whether it still runs; None if it cannot be known from here."""
        if self.space != _space():
            return None
        now = started(self.pid)
        return now is not None and (not now or not self.start or now == self.start)


def _space() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        return f"{boot}/{Path('/proc/self/ns/pid').readlink()}"
    except (OSError, ValueError):
        import platform

        return platform.node()


def started(pid: int, *, proc: str = "/proc") -> str | None:
    """Say when a process started: nothing if there is none, an empty text if it cannot be known."""
    if Path(proc, "self").exists():
        try:
            stat = Path(proc, str(pid), "stat").read_bytes()
        except OSError:
            return None
        # The second field is the program's name in brackets and may hold spaces and brackets itself.
        fields = stat.rpartition(b")")[2].split()
        if len(fields) <= _START - 3:
            return ""
        # A killed process is listed until its parent has asked how it ended; it does nothing any more.
        return None if fields[0] in {b"Z", b"X"} else fields[_START - 3].decode("ascii", "replace")
    if os.name != "posix":
        return ""  # os.kill() would end it there; to take it for running is the safe side
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return None
    except OSError:
        pass  # another user's
    import subprocess

    try:
        return subprocess.run(  # noqa: S603  # nothing but a number goes into it
            ["/bin/ps", "-o", "lstart=", "-p", str(pid)],
            capture_output=True,
            text=True,
            timeout=1,
            check=False,
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


@contextmanager
def hold(
    path: str | os.PathLike[str], *, state: Path, wait: float = 1.5, disk: Disk = DISK
) -> Generator[None]:
    """Be the only one at `path` for a while; if somebody else is and stays so for `wait` seconds, raise."""
    named = os.fspath(path)
    place = lock_file(named, state)
    try:
        make_private(state / "locks", disk)
    except OSError as error:
        raise NotWrittenError(place, reason(error)) from error
    ends_at = time.monotonic() + wait
    while True:
        taken = _take(place, disk)
        if isinstance(taken, _Taken):
            break
        if time.monotonic() >= ends_at:
            raise BusyError(named, taken.pid)
        time.sleep(_STEP)
    try:
        yield
    finally:
        _let_go(place, taken.descriptor, disk)


def lock_file(path: str, state: Path) -> str:
    """Return the file that stands for `path`, by whichever of its names it is called."""
    from hashlib import blake2b

    real = os.path.realpath(path)
    return str(state / "locks" / f"{blake2b(os.fsencode(real), digest_size=16).hexdigest()}.lock")


class _Taken(NamedTuple):
    descriptor: int


class _Other(NamedTuple):
    pid: int | None


def _take(place: str, disk: Disk) -> _Taken | _Other:
    with _guard:
        if place in _held:
            return _Other(os.getpid())
        _held.add(place)
    descriptor = -1
    try:
        descriptor = disk.open_lock(place)
        other = _lock(descriptor, place, disk)
    except BaseException as error:
        _forget(place, descriptor)
        if isinstance(error, OSError):
            raise NotWrittenError(place, reason(error)) from error
        raise
    if other is None:
        return _Taken(descriptor)
    _forget(place, descriptor)
    return other


def _lock(descriptor: int, place: str, disk: Disk) -> _Other | None:
    """Lock an open file; return who has it, if somebody has."""
    is_kept = True
    try:
        _lock_now(descriptor)
    except OSError as error:
        if error.errno in {errno.EAGAIN, errno.EACCES, errno.EWOULDBLOCK}:
            holder = _holder(descriptor)
            return _Other(None if holder is None else holder.pid)
        if error.errno not in _NO_LOCKS:
            raise
        is_kept = False
        holder = _holder(descriptor)
        # What this process holds was looked at before: its own id here is of a lock it could not remove.
        if holder is not None and holder != Process.this() and holder.is_running() is not False:
            return _Other(holder.pid)
    if not _is_same(descriptor, place):
        return _Other(None)  # its holder has just removed it: there may be another by now
    pid, start, space = Process.this()
    me = f"{pid} {space or '-'} {start}"
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        disk.write(descriptor, f"{me:<{_WIDTH - 1}.{_WIDTH - 1}}\n".encode())
    except OSError:
        if not is_kept:
            raise
    return None


def _lock_now(descriptor: int) -> None:
    if os.name == "posix":
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    else:
        import msvcrt

        # Far behind what is written there: a locked part cannot be read by others.
        os.lseek(descriptor, 1 << 20, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)


def _holder(descriptor: int) -> Process | None:
    try:
        pid, space, start = (
            read_at(descriptor, _WIDTH, 0).decode("utf-8", "replace").rstrip("\n").split(" ", 2)
        )
        return Process(int(pid), start.strip(), space)
    except (OSError, ValueError):
        return None


def _is_same(descriptor: int, place: str) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(place))  # noqa: PTH116
    except OSError:
        return False


def _let_go(place: str, descriptor: int, disk: Disk) -> None:
    try:
        # First the name, then the lock: whoever waits for it sees that the file is gone, and makes another.
        with suppress(OSError):
            disk.unlink(place)
    finally:
        _forget(place, descriptor)


def _forget(place: str, descriptor: int) -> None:
    with suppress(OSError):
        if descriptor >= 0:
            os.close(descriptor)
    with _guard:
        _held.discard(place)
