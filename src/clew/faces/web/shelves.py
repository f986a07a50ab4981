"""The sessions there are, by the keys that stand in addresses.

A key is looked up among the files that were found, and never made part of a path. It is the session's id
where that is plain and no other session has it, else something made of its path.
"""

from __future__ import annotations

import os
import re
import stat
import threading
import time
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from clew.errors import UnknownSessionError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.store.files import Listing, SessionFile, Store

_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")
_FRESH: Final = 0.5
"""Seconds for which a list of files is good enough to look up a key that is in it."""


class Shelf:
    """The files of a store at one moment, by their keys."""

    def __init__(self, store: Store, listing: Listing) -> None:
        self.store = store
        self.listing = listing
        count: dict[str, int] = {}
        files = (*listing.sessions, *listing.agents)
        for file in files:
            count[file.id] = count.get(file.id, 0) + 1
        self.keys: Mapping[str, str] = {
            file.path: file.id if count[file.id] == 1 and _PLAIN.fullmatch(file.id) else _made(file)
            for file in files
        }
        """By the path of a file its key."""
        self._files = {self.keys[file.path]: file for file in files}

    def file(self, key: str) -> SessionFile:
        """Return the file that a key stands for."""
        found = self._files.get(key)
        if found is None:
            raise UnknownSessionError(key[:128])
        return found

    def has(self, key: str) -> bool:
        """Say whether a key stands for a file."""
        return key in self._files

    def key_of(self, path: str) -> str | None:
        """Return the key of the file at a path."""
        return self.keys.get(path)

    def session_key(self, session: str, near: str) -> str | None:
        """Return the key of a session by its id: of several, that in the project folder of a file nearby."""
        found = [file for file in self.listing.sessions if file.id == session]
        beside = self._files.get(self.keys.get(near, ""))
        if len(found) > 1 and beside is not None:
            place = (beside.root, beside.folder)
            found = [file for file in found if (file.root, file.folder) == place] or found
        return self.keys[found[0].path] if found else None


def seen_again(file: SessionFile) -> SessionFile | None:
    """Return a file as it is now; None where it is gone, or no plain file any more."""
    try:
        status = os.stat(file.path)  # noqa: PTH116  # of many files, again and again
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return file._replace(
        size=status.st_size, mtime_ns=status.st_mtime_ns, inode=status.st_ino, device=status.st_dev
    )


def _made(file: SessionFile) -> str:
    digest = blake2b(file.path.encode("utf-8", "surrogateescape"), digest_size=10).hexdigest()
    return f"{'-'.join(re.findall('[A-Za-z0-9_]+', file.id))[:80]}~{digest}"


class Shelves:
    """Keeps the list of files for a moment: a page asks for many things at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: tuple[float, Shelf] | None = None

    def now(self, store: Store) -> Shelf:
        """List the files of a store anew."""
        began = time.monotonic()
        listing = store.listing()
        with self._lock:
            kept = None if self._kept is None else self._kept[1]
        is_same = kept is not None and kept.store == store and kept.listing == listing
        shelf = kept if kept is not None and is_same else Shelf(store, listing)
        with self._lock:
            self._kept = (began, shelf)
        return shelf

    def since(self, moment: float) -> Shelf | None:
        """Return a list that was begun after a moment, if there is one, and it is hardly old."""
        with self._lock:
            kept = self._kept
        if kept is None or kept[0] <= moment or time.monotonic() - kept[0] > _FRESH:
            return None
        return kept[1]

    def last(self, store: Store) -> Shelf | None:
        """Return the list that was made last of a store, however old it is."""
        with self._lock:
            kept = self._kept
        return None if kept is None or kept[1].store != store else kept[1]

    def with_key(self, store: Store, key: str) -> Shelf:
        """Return a list that has a key in it, if there is one."""
        with self._lock:
            kept = self._kept
        if kept is not None and time.monotonic() - kept[0] < _FRESH and kept[1].has(key):
            return kept[1]
        return self.now(store)
