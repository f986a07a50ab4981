"""Take secrets out of one text, or out of bytes that are no record, and put placeholders in their places.

A placeholder is the same wherever the secret stood, and does not tell it.
"""

from __future__ import annotations

import re
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import orjson

from clew.edit.secret_depths import Beginnings, is_clean
from clew.edit.secret_forms import BEFORE, WHOLE, apart, find_secrets, may_hold, sight
from clew.format.patch import map_strings

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Sequence

    from clew.edit.known_secrets import Found, Secrets
    from clew.edit.secret_forms import Sight, Spans
    from clew.edit.secret_glance import Seen
    from clew.format.patch import Path

ERRORS: Final = "surrogateescape"
"""Bytes that are no UTF-8 come back as they were."""

_ROUNDS: Final = 4
"""How often a text is looked through again: what is taken out may uncover what stood beside it."""

_TELLS: Final = re.compile(r"(?i)pass|pwd|secret|token|credential|key$|authorization")
"""A key that may tell that its value is a secret."""

_LONGEST: Final = 4096
_SAMPLE: Final = 1 << 16
_BESIDE: Final = 1 << 12
_GONE: Final = "[redacted:x:0000]"
_SIGHTS: Final[tuple[Sight | None, ...]] = (None, "plain", "clean", "suspect")
_PLAIN: Final = _SIGHTS.index("plain")
_CLEAN: Final = _SIGHTS.index("clean")


class Cleaner:
    """Finds secrets in texts and takes them out."""

    def __init__(self, secrets: Secrets | None, key: bytes, own: Spans | None) -> None:
        """`secrets` are those to be looked for; None while they are gathered. `own` finds a person's own."""
        self._known = None if secrets is None else secrets.spellings
        self._key = blake2b(key).digest()
        self._own = own

    def may_hold(self, line: str, seen: bytearray, row: int) -> bool:
        """Say whether a line of JSON needs to be taken apart.

        While secrets are gathered it is noted in `seen`, by the row, what was seen in the line; when they are
        known it tells what need not be looked at once more.
        """
        if self._own is not None:
            return True
        if self._known is not None:
            return may_hold(line, self._known, _SIGHTS[seen[row]])
        found = sight(line)
        seen[row] = _SIGHTS.index(found)
        return found == "suspect"

    @property
    def may_glance(self) -> bool:
        """Whether lines in which nothing is seen at a glance can be passed over."""
        return self._own is None and self._known is None

    @cached_property
    def beginnings(self) -> Beginnings | None:
        """What sees that none of the secrets that are known is in a line; None where nothing could."""
        starts = None if self._known is None or self._own is not None else self._known.bare_starts()
        return None if starts is None else Beginnings(starts)

    def passes(self, raw: bytes, seen: int, *, is_near: bool) -> bool:
        """Say at a glance that a line that was looked at before holds no secret that is known.

        `is_near` says whether one may be in it, or in lines beside it, as they are written.
        """
        assert self.beginnings is not None
        if seen == _PLAIN:
            return not is_near or not self.beginnings.are_in(raw)
        return seen == _CLEAN and not self.beginnings.may_be_in(raw)

    def pass_over(self, seen: bytearray, row: int) -> None:
        """Take note of a line in which nothing was seen at a glance."""
        seen[row] = _PLAIN

    def may_hold_seen(self, raw: bytes, what: set[Seen], seen: bytearray, row: int) -> bool:
        """Do as `may_hold` does for a line in which something was seen at a glance."""
        if what == {"read"} or ("more" not in what and is_clean(raw)):
            seen[row] = _CLEAN
            return False
        return self.may_hold(raw.decode("utf-8", ERRORS), seen, row)

    def find(self, path: Path, text: str) -> list[Found]:
        """Return the secrets in a text that stands at a path."""
        name = path[-1] if path else None
        if isinstance(name, str) and len(text) <= _LONGEST and _TELLS.search(name):
            head = f'{name[-64:]}="'
            found = find_secrets(f'{head}{text}"', own=self._own, known=self._known)
            return within(found, len(head), len(head) + len(text))
        return find_secrets(text, own=self._own, known=self._known)

    def note(self, secrets: Secrets, path: Path, text: str) -> None:
        """Take note of the secrets in a text."""
        found = self.find(path, text)
        for _ in range(_ROUNDS):
            if not found:
                return
            secrets.add(text, found)
            text, places = _without(text, found, lambda _one: _GONE)
            found = self._find_near(path, text, places)

    def clean(self, path: Path, text: str, found: list[Found], *, before: str = "") -> str:
        """Return a text, before which `before` stands, without its secrets; those in `found` are known."""
        for _ in range(_ROUNDS):
            if not found:
                break
            text, places = _without(text, found, self._placeholder)
            size = len(before)
            near = self._find_near(path, before + text, [place + size for place in places])
            found = within(near, size, size + len(text))
        return text

    def _find_near(self, path: Path, text: str, places: Sequence[int]) -> list[Found]:
        """Look again where something was taken out; a long text is not gone through again from end to end."""
        if len(text) <= WHOLE:
            return self.find(path, text)
        found: list[Found] = []
        done = 0
        for place in places:
            start, end = max(done, place - BEFORE), place + _BESIDE
            if start < end:
                first = max(0, start - BEFORE)
                here = self.find(path, text[first:end])
                found += (
                    one._replace(start=one.start + first, end=one.end + first)
                    for one in here
                    if one.start + first >= start
                )
                done = end
        return apart(text, found)

    def clean_bytes(self, data: bytes, tally: Counter[str] | None = None) -> bytes:
        """Take secrets out of bytes that are no session: JSON string by string, anything else as a text."""

        def changed(path: Path, text: str) -> str | None:
            found = self.find(path, text)
            if tally is not None:
                tally.update(one.rule for one in found)
            return self.clean(path, text, found) if found else None

        codec = codec_of(data)
        if codec == "utf-8" and is_nested(data):
            return map_strings(data, changed)
        new = changed((), data.decode(codec, ERRORS))
        return data if new is None else new.encode(codec, ERRORS)

    def _placeholder(self, found: Found) -> str:
        value = found.value.encode("utf-8", "surrogatepass")
        return f"[redacted:{found.rule}:{blake2b(value, key=self._key, digest_size=2).hexdigest()}]"


def within(found: Iterable[Found], start: int, end: int) -> list[Found]:
    """Return what was found in a part of a text, as it stands in that part."""
    return [
        one._replace(start=max(one.start, start) - start, end=min(one.end, end) - start)
        for one in found
        if one.end > start and one.start < end
    ]


def _without(text: str, found: Iterable[Found], put: Callable[[Found], str]) -> tuple[str, list[int]]:
    """Put others in the places of secrets; return where those stand, too."""
    parts: list[str] = []
    places: list[int] = []
    at = size = 0
    for one in found:
        new = put(one)
        size += one.start - at
        places.append(size)
        size += len(new)
        parts += (text[at : one.start], new)
        at = one.end
    return "".join((*parts, text[at:])), places


def is_nested(data: bytes) -> bool:
    """Say whether bytes are JSON with strings inside."""
    try:
        return isinstance(orjson.loads(data), dict | list)
    except orjson.JSONDecodeError:
        return False


def codec_of(data: bytes) -> str:
    """Say how a text is written."""
    codec = wide_codec(data)
    if codec is not None:
        try:
            data.decode(codec)
        except UnicodeDecodeError:
            return "utf-8"
    return codec or "utf-8"


def wide_codec(data: bytes) -> str | None:
    """Return in which UTF-16 a text begins, if in any."""
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        # Half of what is written so is zeros, but for scripts far from ours.
        if data.startswith(mark) and data.count(0) * 4 >= len(data):
            return codec
    # Without a mark: letters of ours have a zero each, always on the same side.
    for first, codec in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = data[first:_SAMPLE:2]
        if (
            len(zeros) >= 8
            and zeros.count(0) * 10 > len(zeros) * 9 > data[1 - first : _SAMPLE : 2].count(0) * 90
        ):
            return codec
    return None


def decoded(data: bytes) -> str:
    """Return bytes as a text."""
    return data.decode(codec_of(data), ERRORS)
