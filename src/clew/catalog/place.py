"""Where the catalog lies: in the user's cache folder, one folder for each set of config folders.

The layout's version is part of the place, so a newer or older clew simply uses another folder.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from clew.catalog.unavailable import CatalogUnavailableError
from clew.store.source import reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LAYOUT: Final = 2
"""Raised with every change of what is in the databases, or of how text is cut into words."""

SHARDS: Final = 4

_PRIME: Final = (1 << 89) - 1


def user_cache(environ: Mapping[str, str] | None = None, *, platform: str = sys.platform) -> Path:
    """Return the folder in which the user's programs keep what they can make again."""
    variables = os.environ if environ is None else environ
    if named := variables.get("XDG_CACHE_HOME"):
        return Path(named)
    if platform == "win32":
        local = variables.get("LOCALAPPDATA")
        return Path(local) if local else Path("~").expanduser() / "AppData" / "Local"
    return Path("~").expanduser() / ("Library/Caches" if platform == "darwin" else ".cache")


def catalog_folder(roots: Sequence[str], *, cache: Path | None = None) -> Path:
    """Return where the catalog of these config folders lies; the order they are named in is no matter."""
    base = user_cache() if cache is None else cache
    real = sorted({os.fsencode(os.path.realpath(root)) for root in roots})
    # The remainder by a prime: as good a name as a digest, and OpenSSL need not be loaded for it.
    name = int.from_bytes(b"\0".join((b"clew", *real)), "big") % _PRIME
    return base / "clew" / "index" / f"v{LAYOUT}" / f"{name:023x}"


def shard_paths(folder: Path) -> list[Path]:
    """Return the databases of a catalog."""
    return [folder / f"shard-{number}.db" for number in range(SHARDS)]


def path_value(path: str) -> str | bytes:
    """Return a path as it is kept: a name that is no UTF-8 as bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return path


def make_private(folder: Path) -> None:
    """Make the folder of a catalog, which no one else may look into, whatever the umask says."""
    try:
        _make(folder)
        # Below the one called `index` everything is the catalog's own.
        for each in (folder, folder.parent, folder.parent.parent):
            _close_to_others(each)
    except OSError as error:
        raise CatalogUnavailableError(f"{folder} cannot be made: {reason(error)}") from error


def _make(folder: Path) -> None:
    if folder.is_dir():
        return
    _make(folder.parent)
    with contextlib.suppress(FileExistsError):  # another clew was quicker
        folder.mkdir(mode=0o700)
        folder.chmod(0o700)


def _close_to_others(folder: Path) -> None:
    status = folder.stat()
    if os.name == "posix" and status.st_uid == os.getuid() and stat.S_IMODE(status.st_mode) != 0o700:
        folder.chmod(0o700)


def make_file(path: Path) -> None:
    """Make an empty file that only its owner may read; SQLite gives its other files the same mode."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(path, flags, 0o600)
    try:
        if os.name == "posix" and stat.S_IMODE(os.fstat(descriptor).st_mode) != 0o600:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def remove_database(path: Path) -> None:
    """Remove a database with the files that belong to it."""
    for ending in ("-wal", "-shm", "-journal", ""):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{ending}").unlink()


def remove_all(cache: Path | None = None) -> list[str]:
    """Remove every catalog there is, so that nothing of a text is left in one; they are made anew."""
    base = (user_cache() if cache is None else cache) / "clew" / "index"
    gone: list[str] = []
    for path in sorted(base.rglob("*")) if base.is_dir() else ():
        if path.is_file() or path.is_symlink():
            path.unlink(missing_ok=True)
            gone.append(str(path))
    return gone
