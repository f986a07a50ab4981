"""Text on its way out: whole Unicode, secrets taken out, and never longer than an attribute may be.

Every string of a session that is content goes through a `Scribe`, and through nothing else.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import TYPE_CHECKING, Final, cast

import orjson

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT: Final = 64 * 1024
"""How many bytes one attribute may have: collectors commonly refuse requests of some megabytes."""

_TAIL: Final = 4096
"""So much more of a long text is looked at for secrets than is sent, lest one be cut in two."""

_DEEPEST: Final = 24
_ITEMS: Final = 500
_NODES: Final = 5000
_PICTURE: Final = 8192
"""A picture with more characters of base64 is told by its size alone."""

_SHORTEST: Final = 64
"""No string is cut shorter than this: the words that tell what a part is must stay."""

_CUT: Final = "[cut]"
_NOTE: Final = "… [cut, "


class Scribe:
    """Writes content as attributes hold it."""

    __slots__ = ("_named", "_redact", "limit")

    def __init__(
        self,
        redact: Callable[[str], str] | None = None,
        limit: int = LIMIT,
        *,
        redact_named: Callable[[str, str], str] | None = None,
    ) -> None:
        self._redact = redact
        self._named = redact_named
        self.limit = max(limit, 256)

    def text(self, text: str) -> str:
        """Return a text that may be sent, of at most the limit in bytes."""
        return self.fit(self._clean(text, self.limit), len(text))

    def clean(self, value: object) -> object:
        """Return a decoded value with every string in it clean; what is too deep or too much is left out."""
        return _Cleaning(self._clean, self.limit).clean(value, 0)

    def json(self, value: object, *, ascii_only: bool = False) -> str:
        """Write a clean value as JSON of at most the limit, shortening the strings in it as need be."""
        written = _dumps(value, ascii_only)
        cap = self.limit // 2
        while len(written) > self.limit and cap >= _SHORTEST:
            written = _dumps(_shortened(value, cap), ascii_only)
            cap //= 2
        if len(written) <= self.limit:
            return written.decode()
        return "[]" if isinstance(value, list) else "{}"

    def short(self, text: str, most: int = 256) -> str:
        """Return a name or an id: no content, but it may be anything."""
        text = whole(text[: most + 1])
        return text if len(text) <= most else text[:most]

    def picture(self, base64: str) -> str:
        """Return a picture's text; empty when it is too large or holds what must not be sent."""
        if len(base64) > min(_PICTURE, self.limit // 2):
            return ""
        clean = whole(base64)
        return clean if self._redact is None or self._redact(clean) == clean else ""

    def fit(self, text: str, length: int | None = None) -> str:
        """Cut a clean text to the limit, on a character; `length` is how long it was at first."""
        if len(text) * 3 <= self.limit or _size(text) <= self.limit:
            return text
        note = _note(len(text) if length is None else length)
        # Cut at a byte, then what is left of the character that it cut in two is dropped.
        kept = text[: self.limit].encode()[: self.limit - len(note.encode())]
        return kept.decode("utf-8", "ignore") + note

    def _clean(self, text: str, most: int, name: str | None = None) -> str:
        ahead = whole(text[: most + 2 * _TAIL])
        is_all = len(text) <= most + 2 * _TAIL
        if name is not None and self._named is not None:
            ahead = whole(self._named(name, ahead))
        elif self._redact is not None:
            ahead = whole(self._redact(ahead))
        # The end of what was looked at may be the first half of a secret.
        return ahead if is_all else ahead[: max(0, len(ahead) - _TAIL)]


class _Cleaning:
    """One value being cleaned, with what may still be taken of it."""

    def __init__(self, clean: Callable[[str, int, str | None], str], limit: int) -> None:
        self._clean = clean
        self._most = limit
        self._left = 4 * limit
        self._nodes = _NODES

    def clean(self, value: object, depth: int, name: str | None = None) -> object:
        self._nodes -= 1
        if isinstance(value, str):
            return self._text(value, name)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            # More than a backend's column holds, and than Python writes out in no time.
            return value if abs(value) < 1 << 63 else "[a number of many digits]"
        if isinstance(value, float):
            return value if isfinite(value) else str(value)
        if depth >= _DEEPEST:
            return _CUT
        if isinstance(value, dict):
            return self._mapping(cast("dict[object, object]", value), depth)
        if isinstance(value, list | tuple):
            return self._list(cast("list[object]", value), depth, name)
        return _CUT

    def _text(self, text: str, name: str | None = None) -> str:
        if self._left <= 0:
            return _CUT if text else ""
        most = min(self._most, self._left)
        clean = self._clean(text, most, name)
        self._left -= len(clean)
        return clean if len(clean) <= most else clean[:most] + _note(len(text))

    def _mapping(self, data: dict[object, object], depth: int) -> dict[str, object]:
        picture = data.get("data")
        if isinstance(picture, str) and len(picture) > _PICTURE and "media_type" in data:
            data = {**data, "data": f"[{len(picture)} characters of base64]"}
        found: dict[str, object] = {}
        for key, inner in data.items():
            if len(found) >= _ITEMS or self._nodes <= 0:
                found[_CUT] = f"{len(data) - len(found)} more"
                break
            found[self._text(str(key))] = self.clean(inner, depth + 1, str(key))
        return found

    def _list(self, data: list[object] | tuple[object, ...], depth: int, name: str | None) -> list[object]:
        found: list[object] = []
        for inner in data:
            if len(found) >= _ITEMS or self._nodes <= 0:
                found.append(f"[cut, {len(data) - len(found)} more]")
                break
            found.append(self.clean(inner, depth + 1, name))
        return found


def whole(text: str) -> str:
    """Return a text that every backend can store: halves of surrogate pairs and NUL become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}") if "\0" in text else text


def _shortened(value: object, cap: int) -> object:
    if isinstance(value, str):
        if len(value) <= cap:
            return value
        # One that was cut before has told how long it was.
        noted = value.rfind(_NOTE, len(value) - 64)
        return value[:cap] + (value[noted:] if noted >= 0 else _note(len(value)))
    if isinstance(value, dict):
        inner = cast("dict[str, object]", value)
        return {key[:cap]: _shortened(one, cap) for key, one in list(inner.items())[:cap]}
    if isinstance(value, list):
        return [_shortened(one, cap) for one in cast("list[object]", value)[: cap // 8]]
    return value


def _note(length: int) -> str:
    return f"{_NOTE}{length} characters in all]"


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _dumps(value: object, ascii_only: bool) -> bytes:
    if ascii_only:
        # As the SDK of Langfuse writes it, byte for byte.
        return json.dumps(value).encode("ascii")
    return orjson.dumps(value)
