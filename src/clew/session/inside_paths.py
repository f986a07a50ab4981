"""Where a session's files go inside a folder of somebody's choice: never outside it, whatever a path says.

Paths come from a session and are not to be trusted: they climb, name devices, or hold what no file system
takes.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Final

OUTSIDE: Final = "_outside"
"""The folder for what a session changed outside the folder it worked in."""

_LONGEST: Final = 200
_MOST: Final = 1500
"""Bytes of a whole path; more than that not every system takes below a folder that has a name itself."""

_DEVICES: Final = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_BAD: Final = re.compile(r'[\x00-\x1f\x7f<>:"|?*\\\ud800-\udfff]')
_GITS: Final = frozenset({".git", "git~1"})


class Places:
    """Gives each path of a session its place, the same one every time and no two the same."""

    def __init__(self, cwd: str | None) -> None:
        self._cwd = _parts(cwd) if cwd else []
        self._places: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, path: str) -> str:
        """Return the place of a path, with `/` between its parts and none of them `..`."""
        place = self._places.get(path)
        if place is None:
            place = self._free(self._wanted(path))
            self._taken.add(_folded(place))
            self._places[path] = place
        return place

    def _wanted(self, path: str) -> str:
        parts = _parts(path)
        under = len(self._cwd)
        if under and parts[:under] == self._cwd and len(parts) > under:
            inside = parts[under:]
        else:
            inside = [OUTSIDE, *parts]
        safe = [_safe(part) for part in inside] or ["_"]
        whole = "/".join(safe)
        if len(whole.encode("utf-8", "replace")) > _MOST:
            return f"{OUTSIDE}/{_digest(path)}-{safe[-1]}"
        return whole

    def _free(self, place: str) -> str:
        if _folded(place) not in self._taken:
            return place
        # Where case does not count two names may be one; both files are kept.
        folder, slash, name = place.rpartition("/")
        number = 2
        while _folded(f"{folder}{slash}{name}~{number}") in self._taken:
            number += 1
        return f"{folder}{slash}{name}~{number}"


def relative(path: str, cwd: str | None) -> str:
    """Return a path from the session's folder on where it is in there, else from the root on."""
    start, parts = _parts(cwd) if cwd else [], _parts(path)
    if start and parts[: len(start)] == start and len(parts) > len(start) and ".." not in parts:
        return "/".join(parts[len(start) :])
    return path


def _parts(path: str) -> list[str]:
    is_windows = not path.startswith("/") and "\\" in path
    pieces = re.split(r"[\\/]", path) if is_windows else path.split("/")
    return [piece for piece in pieces if piece not in {"", "."}]


def _safe(part: str) -> str:
    """Return a name that every file system takes and that means nothing to any."""
    name = _BAD.sub("_", part)
    bare = name.rstrip(". ")
    if not bare:
        return "_" * max(1, len(name))
    # Some systems take names for `.git` that only look different, with characters that cannot be seen.
    visible = "".join(char for char in bare if unicodedata.category(char) != "Cf").casefold()
    if visible in _GITS or _DEVICES.fullmatch(bare) or bare != name:
        name = f"_{bare.lstrip('.')}" if visible in _GITS else f"_{bare}"
    if len(name.encode()) > _LONGEST:
        name = f"{_digest(part)}-{name.encode()[-_LONGEST // 2 :].decode('utf-8', 'ignore')}"
    return name


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _folded(place: str) -> str:
    return unicodedata.normalize("NFC", place).casefold()
