"""A text as it reads where escapes are taken back: those of JSON, addresses and pages, once and again.

A view knows where in the text each of its characters comes from, so what is found in it is found in the text.
"""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class View:
    """A text made of another one by putting shorter stretches in the place of longer ones."""

    def __init__(
        self, text: str, above: View | None = None, pieces: Sequence[tuple[int, int, int]] = ()
    ) -> None:
        self.text = text
        self._above = above
        self._pieces = pieces
        """Where a piece begins here, where it does above, and where it ends there; -1 for as long as here."""
        self._starts = [piece[0] for piece in pieces]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a stretch of the view stands in the text that all came from."""
        if self._above is None:
            return start, end
        begin, source, stop = self._pieces[bisect_right(self._starts, start) - 1]
        first = source if stop >= 0 else source + start - begin
        begin, source, stop = self._pieces[bisect_right(self._starts, end - 1) - 1]
        last = stop if stop >= 0 else source + end - begin
        return self._above.span(first, last)

    def changed(self, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> View | None:
        """Return a view with other text in the place of what matches; None where nothing does."""
        parts: list[str] = []
        pieces: list[tuple[int, int, int]] = []
        at = size = 0
        for match in pattern.finditer(self.text):
            start, end = match.span()
            if start > at:
                pieces.append((size, at, -1))
                parts.append(self.text[at:start])
                size += start - at
            new = change(match)
            if new:
                pieces.append((size, start, end))
                parts.append(new)
                size += len(new)
            at = end
        if not parts and not at:
            return None
        pieces.append((size, at, -1))
        parts.append(self.text[at:])
        return View("".join(parts), self, pieces)


_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[^\r\n])")
_NAMED: Final = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
# What begins with a fixed letter is looked for several times as fast.
_PERCENT: Final = re.compile(r"%(?:[0-7][0-9a-fA-F]|[89a-fA-F][0-9a-fA-F](?:%[89a-fA-F][0-9a-fA-F])*)")
_FORM: Final = re.compile(rf"{_PERCENT.pattern}|\+")
_ENTITY: Final = re.compile(r"&(?:amp|lt|gt|quot|apos|#\d{1,5}|#x[0-9a-fA-F]{1,4});")
_NEXT: Final = r"\\?\r?\n(?:[ \t]*\d+[→|:])?[ \t]*"
GOES_ON: Final = re.compile(
    r"[\\`^]\r?\n(?:[ \t]*\d+[→|:])?[ \t]*"
    rf"""|(["'])[ \t]*(?:[+.&][ \t]*(?:{_NEXT})?|{_NEXT}(?:[+.&][ \t]*)?)\1"""
)
"""A line that goes on in the next one, or a string that goes on in another."""


def _unescape(match: re.Match[str]) -> str:
    mark = match.group()[1:]
    if len(mark) > 1:
        return chr(int(mark[1:], 16))
    return _NAMED.get(mark, mark)


def _unquote(match: re.Match[str]) -> str:
    if match.group() == "+":
        return " "
    return bytes.fromhex(match.group().replace("%", "")).decode("utf-8", "replace")


class Glance(View):
    """A text of which only what is in it is asked for, not where: that is several times as quick."""

    def __init__(self, text: str) -> None:
        super().__init__(text)

    def changed(self, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> View | None:
        """Return a view with other text in the place of what matches; None where nothing does."""
        if pattern is _ESCAPE and "\0" not in self.text:
            new = _unescaped(self.text)
            return None if new == self.text else Glance(new)
        if pattern is _FORM:
            new = _PERCENT.sub(change, self.text.replace("+", " "))
            return None if new == self.text else Glance(new)
        new, count = pattern.subn(change, self.text)
        return Glance(new) if count else None


def _unescaped(text: str) -> str:
    """Take back all escapes at once; the common ones without looking at each."""
    text = text.replace("\\\\", "\0")
    for mark, plain in (('\\"', '"'), ("\\n", "\n"), ("\\t", "\t"), ("\\r", "\r")):
        text = text.replace(mark, plain)
    if "\\" in text:
        text = _ESCAPE.sub(_unescape, text)
    return text.replace("\0", "\\")


def views_of(view: View, escapes: int = 3) -> list[View]:
    """Return a text as it stands and as it reads where escapes are taken back, once and again."""
    views = [view]
    if "\\" in view.text:
        for _ in range(escapes):
            inner = views[-1].changed(_ESCAPE, _unescape)
            if inner is None:
                break
            views.append(inner)
    for view in tuple(views):
        ways: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = []
        if "%" in view.text:
            ways += (
                [(_PERCENT, _unquote)] if "+" not in view.text else [(_PERCENT, _unquote), (_FORM, _unquote)]
            )
        if "&" in view.text:
            ways.append((_ENTITY, _entity))
        for pattern, change in ways:
            inner = view.changed(pattern, change)
            again = None if inner is None else inner.changed(pattern, change)
            views += [one for one in (inner, again) if one is not None]
    return views


def _entity(match: re.Match[str]) -> str:
    return html.unescape(match.group())


def nothing(_match: re.Match[str]) -> str:
    """Put nothing in the place of what matches."""
    return ""
