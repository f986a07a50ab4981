"""Take a damaged line apart: whole records, and fragments that are none.

The rule invents nothing. Inside a JSON string a quote is always escaped, so a raw `{"` is structure:
the start of a nested object, or of a record spliced onto a torn one. A strict reader stops at a
splice or a few bytes after it, so a record may begin there, or behind a NUL or a `}`, and nowhere else.
And it counts only if the line ends after it, or another record or a run of NULs follows: a nested
object is always followed by more of its parent.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct

from clew.format.decode import Decoded, DecodeError, decode, is_deep

if TYPE_CHECKING:
    from collections.abc import Mapping

PieceKind = Literal["record", "blank", "fragment"]
Damage = Literal["torn", "spliced", "nul", "garbage", "not-a-record", "too-deep", "too-long"]


class Piece(Struct, frozen=True):
    """A stretch of one line. The pieces of a line cover each of its bytes once, in order."""

    kind: PieceKind
    start: int
    """Where the piece starts, counted from the start of its line."""

    end: int
    damage: Damage | None = None
    """Why these bytes are no record; None for records and blanks."""

    decoded: Decoded | None = None
    is_probable: bool = False
    """A fragment that ends in what may be a whole record; it is not taken for one."""


_BLANK: Final = b" \t\r\n"
BOM: Final = b"\xef\xbb\xbf"
_SPACES = re.compile(r"[ \t\r\n]*")
_NULS = re.compile(r"\x00+")
_STRUCTURE = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]]', re.DOTALL)
_MOST_FRAGMENTS: Final = 1000
"""A line in more pieces than this is noise, and is not worth a minute's search."""
_WINDOW: Final = 16 << 10
_SCANNER = json.JSONDecoder(parse_int=float)


def pieces(raw: bytes, *, at_file_start: bool = False) -> tuple[Piece, ...]:
    """Take the line `raw` apart. A healthy line is one record and its ending."""
    start = len(BOM) if at_file_start and raw.startswith(BOM) else 0
    body = raw[start:].rstrip(_BLANK)
    head = [Piece("blank", 0, start)] if start else []
    tail = [Piece("blank", start + len(body), len(raw))] if start + len(body) < len(raw) else []
    if not body:
        return (*head, *tail)
    try:
        decoded = decode(body)
    except DecodeError as error:
        if error.reason == "malformed":
            return (*head, *_Salvage(raw, start, start + len(body)).run(), *tail)
        damage: Damage = "too-deep" if error.reason == "too-deep" else "not-a-record"
        return (*head, Piece("fragment", start, start + len(body), damage), *tail)
    return (*head, Piece("record", start, start + len(body), None, decoded), *tail)


def is_envelope(data: Mapping[str, object]) -> bool:
    """Say whether a mapping looks like a whole record rather than a part of one."""
    if isinstance(data.get("type"), str):
        return any(name in data for name in ("uuid", "sessionId", "leafUuid", "messageId"))
    # Loose records have no type, and are known by the role of their message.
    message = data.get("message")
    return isinstance(message, dict) and "role" in message


class _Salvage:
    """One pass over a damaged line; its cost grows with the line's length, however it is damaged."""

    def __init__(self, raw: bytes, start: int, end: int) -> None:
        self._raw = raw
        self._at = start
        self._end = end
        # Latin-1 gives one character a byte, and no byte above 127 means anything to
        # JSON outside a string: positions in the text are positions in the bytes.
        self._text = raw[:end].decode("latin-1")
        self._found: list[Piece] = []
        self._fragments = 0
        self._marks: dict[str, int] = {}

    def run(self) -> list[Piece]:
        while self._at < self._end:
            self._step()
        return self._found

    def _add(
        self, kind: PieceKind, end: int, damage: Damage | None = None, *, probable: bool = False
    ) -> None:
        self._found.append(Piece(kind, self._at, end, damage, None, probable))
        self._fragments += kind == "fragment"
        self._at = end

    def _step(self) -> None:
        if blank := _SPACES.match(self._text, self._at).end() - self._at:  # pyright: ignore[reportOptionalMemberAccess]  # the pattern matches the empty string
            return self._add("blank", self._at + blank)
        if self._fragments >= _MOST_FRAGMENTS:
            return self._add("fragment", self._end, "garbage")
        if nuls := _NULS.match(self._text, self._at):
            return self._add("fragment", nuls.end(), "nul")
        stop, is_whole = self._scan(self._at)
        if stop < 0:
            return self._add("fragment", self._end, "too-deep")
        if is_whole and self._take(stop):
            return None
        return self._skip(stop, is_torn=not is_whole)

    def _scan(self, at: int) -> tuple[int, bool]:
        """Read an object from `at`: where it ends and True, or where reading stopped and False."""
        stop, is_whole = self._read(at)
        return (-1, False) if stop < 0 or is_deep(self._raw[at:stop]) else (stop, is_whole)

    def _read(self, at: int) -> tuple[int, bool]:
        if self._text[at] != "{":
            return at, False
        # Through a window that grows: an error object counts the lines of the whole text it is
        # given, which made a line of 15,000 torn records take 50 s.
        width = _WINDOW
        while True:
            window = self._text[at : at + width]
            is_all = at + width >= self._end
            try:
                _, end = _SCANNER.raw_decode(window)
            except json.JSONDecodeError as error:
                unfinished = error.msg.startswith("Unterminated string") or error.pos > len(window) - 12
                if is_all or not unfinished:
                    stop = len(window) if error.msg.startswith("Unterminated string") else error.pos
                    return min(at + stop, self._end), False
            except RecursionError:
                return -1, False
            else:
                return at + end, True
            width *= 4

    def _follower(self, end: int) -> str:
        """Return the character after `end` and spaces; none at the end of the line."""
        follow = _SPACES.match(self._text, end).end()  # pyright: ignore[reportOptionalMemberAccess]  # as above
        return self._text[follow : follow + 1]

    def _may_end(self, end: int) -> bool:
        """Say whether a record may end here: a nested object would be followed by more of its parent."""
        return self._follower(end) in ("", "{", "\x00")

    def _take(self, end: int) -> bool:
        """Append the record from here to `end`, if it may be believed."""
        is_clean = self._may_end(end)
        # Just anything may follow the first of a line only, which nothing there can be the parent of.
        if not is_clean and (self._found or self._follower(end) in ",:]}"):
            return False
        try:
            decoded = decode(self._raw[self._at : end])
        except DecodeError:
            return False
        # A stray inner object, or braces out of somebody's text, are no record.
        if not is_envelope(decoded.data):
            return False
        self._found.append(Piece("record", self._at, end, None, decoded))
        self._at = end
        return True

    def _skip(self, stop: int, *, is_torn: bool) -> None:
        """Append the bytes up to the next place where a record may start; reading them stopped at `stop`."""
        if stop < self._end:
            # A splice lies within a few bytes of where reading stopped: two before it (the quote that
            # opens its first key closed a torn string), a few after it (a torn escape or literal).
            nul = self._text.find("\x00", max(stop, self._at + 1), stop + 10)
            splice = self._text.find('{"', max(stop - 2, self._at + 1), nul if nul > 0 else stop + 10)
            if splice > 0 and self._begins(splice):
                return self._cut(splice, "spliced")
            if nul > 0:
                return self._cut(nul, "torn")
            # Further on only what can be no part of a record counts: a NUL, or an object behind another.
            nul = self._next("\x00", stop + 1)
            splice = self._next('}{"', stop)
            if splice < nul:
                return self._cut(splice + 1, "garbage")
            if nul < self._end:
                return self._cut(nul, "garbage")
        return self._cut(self._end, "torn" if is_torn and stop >= self._end else "garbage")

    def _cut(self, end: int, damage: Damage) -> None:
        self._add("fragment", end, damage, probable=self._ends_in_envelope(end))

    def _next(self, mark: str, start: int) -> int:
        """Return where `mark` is next, or the end of the line. The text is searched once, not each time."""
        place = self._marks.get(mark, -1)
        if place < start:
            found = self._text.find(mark, start)
            place = self._marks[mark] = found if found >= 0 else self._end
        return place

    def _begins(self, at: int) -> bool:
        """Say whether a record may begin here: a whole one, or one that is torn in its turn."""
        stop, is_whole = self._scan(at)
        if is_whole:
            return self._may_end(stop)
        return stop > at + 2 or stop >= self._end

    def _ends_in_envelope(self, end: int) -> bool:
        """Say whether a nested object that reaches `end` looks like a record."""
        if self._text[end - 1] == "{":  # all that is there of one more record
            end -= 1
        if self._text[end - 1] != "}" or self._text[self._at] != "{":
            return False
        opened: list[int] = []
        last = -1
        for token in _STRUCTURE.finditer(self._text, self._at, end):
            mark = token.group()
            if mark in "{[":
                opened.append(token.start())
            elif mark in "}]" and opened:
                last = opened.pop()
        try:
            return last > self._at and is_envelope(decode(self._raw[last:end]).data)
        except DecodeError:
            return False
