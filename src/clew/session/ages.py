"""How old a file is: the time of the oldest of its lines."""

from __future__ import annotations

from typing import Final

from clew.format.times import iso, milliseconds

_LATEST: Final = "~"
"""Comes after every time as text."""


class Oldest:
    """The oldest of the times it is fed."""

    __slots__ = ("_text", "ms")

    def __init__(self, ms: int | None = None) -> None:
        """`ms` is the oldest of those before."""
        self.ms = ms
        """In milliseconds; None as long as there was none."""
        self._text = iso(ms) or _LATEST

    def add(self, text: str | None) -> None:
        """Take in a time as written; one that says nothing is passed over."""
        # Nearly all are written in one form, in which they can be compared as they are. A day of a week
        # (2026-W10-3) and a time without separators may be as long, but have other characters there.
        if text is None or (text >= self._text and text[23:] == "Z" and text[4:11:3] == "--T"):
            return
        ms = milliseconds(text)
        if ms is not None and (self.ms is None or ms < self.ms):
            self.ms = ms
            self._text = iso(ms) or _LATEST
