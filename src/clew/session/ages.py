"""How old a file is: the time of the oldest of its lines."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from clew.format.lines import stretches
from clew.format.salvage import BOM
from clew.format.times import iso, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

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


def oldest(pieces: Iterable[bytes]) -> int | None:
    """Return the time of the oldest line of a file, given in pieces of any size, in milliseconds."""
    from clew.session.answers import time_of, times_of  # with their decoders, which a fold brings itself

    best = Oldest()
    for raw in chain.from_iterable(
        data[start:end].split(b"\n") for data, start, end in stretches(_without_bom(pieces))
    ):
        if not raw:
            continue
        try:
            best.add(time_of(raw))
        except (ValueError, RecursionError):
            for text in times_of(raw):
                best.add(text)
    return best.ms


def _without_bom(pieces: Iterable[bytes]) -> Iterator[bytes]:
    pull = iter(pieces)
    yield beginning(pull).removeprefix(BOM)
    yield from pull


def beginning(pull: Iterator[bytes]) -> bytes:
    """Take pieces until there is enough to see a byte order mark."""
    # A function of its own: a generator that held on to the first piece would slow down the reading.
    head = b""
    for piece in pull:
        head += piece
        if len(head) >= len(BOM):
            break
    return head
