"""What a hook leaves for the worker, and how it is sure that one comes: the folder `trace` of the state.

`intents` is added to by any number of hooks and taken away by the worker, without either waiting for the
other. `pending` is what the worker has taken and not finished. `worker.lock` is held by the worker as long as
it lives. Standard library only, as little of it as will do: a hook imports this while the client waits.

Sessions may be of projects that send to different places by their environment. A worker knows one
environment, so each has files of its own (`mark`), and nothing goes where another project's is sent.
"""

from __future__ import annotations

import errno
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

LARGEST_SPOOL = 8 << 20
"""Some thirty thousand intents. It takes a machine on which no worker ever starts to come to that."""

LARGEST_LOG = 256 << 10
LONGEST_LINE = 16 << 10

_PREFIXES = ("CLEW_", "OTEL_", "LANGFUSE_", "PHOENIX_")
_NAMES = ("CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME")
"""What may tell where something is sent. By which way it goes there, as a proxy, is no matter here."""

_SHOW = ("CLEW_COLOR", "CLEW_ASCII")
"""Such have nothing to do with it."""

_TRIES = 8
_APPEND = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe in its place must not hang us
    | getattr(os, "O_BINARY", 0)
)
_LOCK = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Spool:
    """The files of one environment."""

    __slots__ = ("folder", "intents", "last", "lock", "log", "mark", "pending")

    def __init__(self, folder: str, mark: str = "") -> None:
        ending = f"-{mark}" if mark else ""
        self.folder = folder
        self.mark = mark
        self.intents = os.path.join(folder, f"intents{ending}")  # noqa: PTH118
        self.pending = os.path.join(folder, f"pending{ending}")  # noqa: PTH118
        self.lock = os.path.join(folder, f"worker{ending}.lock")  # noqa: PTH118
        self.last = os.path.join(folder, f"last{ending}")  # noqa: PTH118
        self.log = os.path.join(folder, "hook.log")  # noqa: PTH118


def spool_of(environ: Mapping[str, str]) -> Spool:
    """Return the spool of an environment; nothing of it need be there."""
    return Spool(os.path.join(state_folder(environ), "trace"), mark(environ))  # noqa: PTH118


def state_folder(environ: Mapping[str, str]) -> str:
    """Return the folder for the user's state, as `store.state` does, which takes longer to import."""
    named = environ.get("XDG_STATE_HOME", "")
    if named and os.path.isabs(named):  # noqa: PTH117
        return os.path.join(named, "clew")  # noqa: PTH118
    home = environ.get("HOME") or os.path.expanduser("~")  # noqa: PTH111
    if sys.platform == "win32":
        local = environ.get("LOCALAPPDATA")
        return os.path.join(local or os.path.join(home, "AppData", "Local"), "clew", "state")  # noqa: PTH118
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "clew")  # noqa: PTH118
    return os.path.join(home, ".local", "state", "clew")  # noqa: PTH118


def mark(environ: Mapping[str, str]) -> str:
    """Return what tells this environment from others that may send elsewhere; empty where nothing is set."""
    told = sorted(
        f"{name}={value}"
        for name, value in environ.items()
        if (name.startswith(_PREFIXES) or name in _NAMES) and name not in _SHOW
    )
    if not told:
        return ""
    from hashlib import blake2b  # keys may be among the values, so nothing weaker than this

    text = "\0".join(told).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=8, person=b"clew-spool").hexdigest()


def digest(text: str) -> str:
    """Return what tells an answer from others without holding any of it."""
    from hashlib import blake2b

    return blake2b(text.strip().encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def make_folder(folder: str) -> None:
    """Make a folder and those above it; only their owner may look into them."""
    try:
        os.mkdir(folder, 0o700)  # noqa: PTH102
    except FileExistsError:
        return
    except FileNotFoundError:
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            raise
        make_folder(above)
        make_folder(folder)


def append(spool: Spool, line: bytes) -> None:
    """Add an intent, so that the worker that takes the file next finds it."""
    for _ in range(_TRIES):
        descriptor = _open_end(spool.folder, spool.intents)
        try:
            status = os.fstat(descriptor)
            if status.st_size > LARGEST_SPOOL:
                raise OSError(errno.EFBIG, "too many intents wait", spool.intents)
            # A line cut by a full disk has no end: the next one begins on a line of its own for that.
            _write(descriptor, b"\n" + line + b"\n")
            try:
                now = os.stat(spool.intents)  # noqa: PTH116
            except FileNotFoundError:
                continue
            # While it is open its number cannot be another file's. If the name is still its own, the worker
            # takes it later than this, and with it the line. If not, it may have been read already.
            if (now.st_dev, now.st_ino) == (status.st_dev, status.st_ino):
                return
        finally:
            os.close(descriptor)
    raise OSError(errno.EAGAIN, "the spool is taken away each time", spool.intents)


def _open_end(folder: str, path: str) -> int:
    try:
        return os.open(path, _APPEND, 0o600)
    except FileNotFoundError:
        make_folder(folder)
        return os.open(path, _APPEND, 0o600)


def _write(descriptor: int, data: bytes) -> None:
    """Write in one call; a full disk may take a part without a word."""
    if os.write(descriptor, data) != len(data):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def try_lock(spool: Spool) -> int | None:
    """Become the one that may run the worker; None if somebody is. What is returned is kept open for that."""
    try:
        descriptor = os.open(spool.lock, _LOCK, 0o600)
    except FileNotFoundError:
        make_folder(spool.folder)
        descriptor = os.open(spool.lock, _LOCK, 0o600)
    try:
        _lock(descriptor)
    except OSError as error:
        os.close(descriptor)
        if error.errno in {errno.EAGAIN, errno.EACCES, errno.EDEADLK}:
            return None
        raise
    return descriptor


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        # Of the open file, not of the process: the worker inherits it and there is no moment without.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def has_new(spool: Spool) -> bool:
    """Say whether a hook has left something that no worker has taken."""
    try:
        return os.stat(spool.intents).st_size > 0  # noqa: PTH116
    except OSError:
        return False


def log(spool: Spool, words: str) -> None:
    """Add a line to the log, which only its owner may read and which stays small; if it fails, it fails."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    text = "".join(c if c.isprintable() else " " for c in words[:500])
    try:
        descriptor = _open_end(spool.folder, spool.log)
        try:
            full = os.fstat(descriptor).st_size > LARGEST_LOG
            os.write(descriptor, f"{when} {os.getpid()} {text}\n".encode("utf-8", "replace"))
        finally:
            os.close(descriptor)
        if full:
            os.replace(spool.log, f"{spool.log}.1")  # noqa: PTH105
    except OSError:
        return
