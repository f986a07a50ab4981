"""Replace or remove one value inside a raw record, leaving every other byte alone.

The record is never decoded and written anew: key order, spaces, escapes, repeated keys, line endings and
bytes that are no UTF-8 stay as they are. One pass, whatever the path. The bytes are taken to be a record that
`format.decode` accepts.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from clew.format.decode import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

Path = tuple[str | int, ...]
"""Keys and indexes from the outermost object inwards: `("message", "content", 0, "text")`."""

_TOKEN: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]++', re.DOTALL)
_OPEN: Final = frozenset(b"{[")
_CLOSE: Final = frozenset(b"}]")
_COMMA: Final = ord(",")
_COLON: Final = ord(":")
_OBJECT: Final = ord("{")
_QUOTE: Final = ord('"')


class NoSuchPathError(LookupError):
    """The record has no value at that path."""

    def __init__(self, path: Sequence[str | int]) -> None:
        super().__init__(".".join(str(part) for part in path))
        self.path = tuple(path)


def span(raw: bytes, path: Sequence[str | int]) -> tuple[int, int]:
    """Return where the value at `path` starts and ends; of a repeated key the last one, as readers do."""
    found = _search(raw, path)[-1]
    return found.start, found.end


def value_at(raw: bytes, path: Sequence[str | int]) -> bytes:
    """Return the bytes of the value at `path`, as they are written."""
    start, end = span(raw, path)
    return raw[start:end]


def replace(raw: bytes, path: Sequence[str | int], value: object) -> bytes:
    """Put `value` in the place of the one at `path`."""
    return replace_bytes(raw, path, encode(value))


def replace_bytes(raw: bytes, path: Sequence[str | int], value: bytes) -> bytes:
    """Put `value`, which is JSON already, in the place of the one at `path`."""
    start, end = span(raw, path)
    return raw[:start] + value + raw[end:]


def remove(raw: bytes, path: Sequence[str | int]) -> bytes:
    """Take the value at `path` out with its key and one comma; a repeated key is taken out each time."""
    kept: list[bytes] = []
    at = 0
    for member in _search(raw, path):
        if member.has_kept_before:
            start, end = member.comma, member.end
        else:
            start, end = member.first, member.following
        kept.append(raw[at:start])
        at = end
    kept.append(raw[at:])
    return b"".join(kept)


@dataclass(slots=True)
class _Member:
    """A value found, and what stands around it."""

    first: int
    """Where the member starts: its key, or in a list the value itself."""

    comma: int
    """Where the comma before it is, if there is one."""

    has_kept_before: bool
    start: int = -1
    end: int = -1
    following: int = -1
    """Where the next member starts; without one, where this one ends."""


@dataclass(slots=True)
class _Level:
    """A container on the way to the path."""

    is_object: bool
    wanted: str | int
    index: int = 0
    comma: int = -1
    first: int = -1
    is_match: bool = False
    is_value: bool = False
    """The next token starts a value, not a key."""
    kept: int = 0
    members: list[_Member] = field(default_factory=list[_Member])
    last: _Member | None = None


def _search(raw: bytes, path: Sequence[str | int]) -> list[_Member]:
    """Return every member of the innermost container that `path` names; the last one counts."""
    if not path:
        raise NoSuchPathError(path)
    found = _Search(path)
    for token in _TOKEN.finditer(raw):
        if found.take(raw, token.start(), token.end()):
            break
    if not found.members or found.members[-1].end < 0:
        raise NoSuchPathError(path)
    return found.members


class _Search:
    """Follows the tokens of a record; only containers on the way to the path are looked into."""

    def __init__(self, path: Sequence[str | int]) -> None:
        self._path = path
        self._levels: list[_Level] = []
        self._below = 0
        """How deep the current token is inside a container that is not on the way."""
        self.members: list[_Member] = []

    def take(self, raw: bytes, start: int, end: int) -> bool:
        """Take the next token; say whether the record is over."""
        mark = raw[start]
        if self._below:
            self._below += (mark in _OPEN) - (mark in _CLOSE)
            if not self._below:
                self._end_value(self._levels[-1], end)
            return False
        if not self._levels:
            self._open(mark)
            return False
        level = self._levels[-1]
        if mark in _CLOSE:
            return self._close(level)
        if mark == _COMMA:
            level.comma, level.first, level.is_value = start, -1, not level.is_object
            level.index += 1
        elif mark == _COLON:
            level.is_value = True
        elif level.is_value:
            self._value(level, mark, start, end)
        else:
            self._member(level, start)
            level.is_match = _is_key(raw[start:end], level.wanted)
        return False

    def _open(self, mark: int) -> None:
        if mark in _OPEN:
            is_object = mark == _OBJECT
            self._levels.append(_Level(is_object, self._path[len(self._levels)], is_value=not is_object))

    def _member(self, level: _Level, start: int) -> None:
        level.first = start
        if level.last is not None and level.last.following < 0:
            level.last.following = start

    def _value(self, level: _Level, mark: int, start: int, end: int) -> None:
        if not level.is_object:
            self._member(level, start)
            level.is_match = level.wanted == level.index and not isinstance(level.wanted, bool)
        level.is_value = False
        is_innermost = len(self._levels) == len(self._path)
        if level.is_match:
            # A later value of a repeated key hides the earlier one, and all that was found in it.
            if is_innermost:
                level.last = _Member(level.first, level.comma, level.kept > 0, start)
                level.members.append(level.last)
            else:
                self.members = []
        else:
            level.kept += 1
        if mark not in _OPEN:
            self._end_value(level, end)
        elif level.is_match and not is_innermost:
            self._open(mark)
        else:
            self._below = 1

    def _end_value(self, level: _Level, end: int) -> None:
        if level.is_match and level.last is not None and level.last.end < 0:
            level.last.end = end

    def _close(self, level: _Level) -> bool:
        if level.last is not None and level.last.following < 0:
            level.last.following = level.last.end
        if len(self._levels) == len(self._path):
            self.members = level.members
        self._levels.pop()
        return not self._levels


def _is_key(token: bytes, wanted: str | int) -> bool:
    if not isinstance(wanted, str):
        return False
    text = token.decode("utf-8", "replace")
    if "\\" not in text:
        return text[1:-1] == wanted
    try:
        return cast("object", json.loads(text)) == wanted
    except ValueError:
        return False


def map_strings(
    raw: bytes,
    change: Callable[[Path, str], str | None],
    *,
    skip: Collection[Path] = (),
) -> bytes:
    """Put other strings in the place of some, in one pass; every other byte stays as it is.

    `change` is given each string that is a value, with its path, and returns another or None. What lies at a
    path in `skip`, and below it, is passed over.
    """
    kept: list[bytes] = []
    at = below = 0
    levels: list[_Place] = []
    for token in _TOKEN.finditer(raw):
        start = token.start()
        mark = raw[start]
        if below:
            below += (mark in _OPEN) - (mark in _CLOSE)
        elif mark in _OPEN:
            if levels and tuple(level.key for level in levels) in skip:
                below = 1
            else:
                levels.append(_Place(mark == _OBJECT))
        elif mark in _CLOSE:
            levels.pop()
        elif not levels:
            break  # no record
        elif mark == _COMMA:
            levels[-1].go_on()
        elif mark == _COLON:
            levels[-1].is_value = True
        elif mark == _QUOTE and levels[-1].is_value:
            new = _changed(raw[start : token.end()], tuple(level.key for level in levels), change, skip)
            if new is not None:
                kept += (raw[at:start], new)
                at = token.end()
        elif mark == _QUOTE:
            levels[-1].key = _text(raw[start : token.end()])
    return b"".join((*kept, raw[at:])) if kept else raw


class _Place:
    """Where in a container the next value stands."""

    __slots__ = ("is_object", "is_value", "key")

    def __init__(self, is_object: bool) -> None:
        self.is_object = is_object
        self.is_value = not is_object
        self.key: str | int = "" if is_object else 0

    def go_on(self) -> None:
        """Take note of a comma."""
        if isinstance(self.key, int):
            self.key += 1
        else:
            self.is_value = False


def _changed(
    token: bytes, path: Path, change: Callable[[Path, str], str | None], skip: Collection[Path]
) -> bytes | None:
    if path in skip:
        return None
    new = change(path, _text(token))
    return None if new is None else encode(new)


def _text(token: bytes) -> str:
    text = token.decode("utf-8", "surrogateescape")
    if "\\" not in text:
        return text[1:-1]
    try:
        found = cast("object", json.loads(text, strict=False))
    except ValueError:
        return text[1:-1]
    return found if isinstance(found, str) else text[1:-1]


def same_start(one: bytes, other: bytes) -> int:
    """Return how many bytes two begin with are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
