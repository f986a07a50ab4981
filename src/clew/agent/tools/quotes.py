"""Curly quotation marks: models write straight ones where a text has curly ones.

A piece that is not in a text as it was written may be there with other marks; what takes its place is then
given curly ones too, so that the text stays of one kind.
"""

from __future__ import annotations

from typing import Final

_STRAIGHT: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_BEFORE_OPENING: Final = frozenset(" \t\n\r([{\u2014\u2013")


def straightened(text: str) -> str:
    """Return a text with straight marks; every character stays where it was."""
    return text.translate(_STRAIGHT)


def curled(text: str, like: str) -> str:
    """Return a text with curly marks of the kinds that `like` has."""
    if any(mark in like for mark in "\u201c\u201d"):
        text = _curl(text, '"', "\u201c", "\u201d")
    if any(mark in like for mark in "\u2018\u2019"):
        text = _curl(text, "'", "\u2018", "\u2019")
    return text


def _curl(text: str, straight: str, opening: str, closing: str) -> str:
    pieces: list[str] = []
    for at, character in enumerate(text):
        if character == straight:
            is_opening = at == 0 or text[at - 1] in _BEFORE_OPENING
            # Between letters it is an apostrophe, which looks like a closing one.
            pieces.append(opening if is_opening else closing)
        else:
            pieces.append(character)
    return "".join(pieces)
