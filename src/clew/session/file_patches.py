"""What an edit made of a text: by the pieces it replaced, and by the hunks the client noted.

The client's rules, measured on 1.0.35 to 2.1.325: an edit that puts nothing in the place of a piece takes the
line end behind the piece too; hunks are for the eye, and show each tab a line begins with as two spaces.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.session.file_contents import plain
from clew.session.line_diffs import cut_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.format.results import Hunk

_TABS: Final = re.compile("^\t+", re.MULTILINE)
_NUMBERED: Final = re.compile(r" *([0-9]{1,9})(?:→|\t|$)")
_NO_END: Final = "\\"


class Piece(NamedTuple):
    """A piece that was replaced, and by what."""

    old: str
    new: str
    every: bool = False


class Patched(NamedTuple):
    """A text with hunks applied."""

    text: str
    is_exact: bool
    """Whether no line of it may have lost its tabs."""


def edited(base: str, pieces: Sequence[Piece], hunks: Sequence[Hunk], *, is_sure: bool) -> str | None:
    """Return what an edit made of `base`; None when it cannot have been made on it.

    `is_sure` says that `base` is what the client itself noted: then the edit must fit, somehow.
    """
    told = replaced(base, pieces, is_sure=is_sure) if pieces else None
    shown = patched(base, hunks) if hunks else None
    if told is None:
        return shown.text if shown is not None and shown.is_exact else None
    if shown is None:
        # Where the client noted hunks that do not fit, the text is another one.
        return told if is_sure or not hunks else None
    # Quotation marks are put as the text has them, and a person may change an edit: only the hunks say so.
    if told == shown.text or not shown.is_exact or _untabbed(told) == _untabbed(shown.text):
        return told
    return shown.text


def replaced(base: str, pieces: Sequence[Piece], *, is_sure: bool = False) -> str | None:
    """Return `base` with the pieces replaced, one after the other; None when one is not there as it must."""
    text = base
    for piece in pieces:
        old, new = plain(piece.old), plain(piece.new)
        if not old:
            if text.strip():
                return None
            text = new
            continue
        found = text.count(old)
        if not found or (found > 1 and not piece.every and not is_sure):
            return None
        if not new and not old.endswith("\n") and f"{old}\n" in text:
            old = f"{old}\n"
        text = text.replace(old, new, -1 if piece.every else 1)
    return text


def patched(base: str, hunks: Sequence[Hunk]) -> Patched | None:
    """Return `base` with hunks applied; None when they do not fit."""
    lines = cut_lines(base)
    out: list[str] = []
    is_exact = True
    done = 0
    for hunk in hunks:
        start = max(0, hunk.old_start - 1)
        if start < done or start > len(lines):
            return None
        out += lines[done:start]
        done = start
        rows = hunk.lines
        for at, row in enumerate(rows):
            mark, words = row[:1] or " ", row[1:]
            ended = not rows[at + 1].startswith(_NO_END) if at + 1 < len(rows) else True
            if mark == "+":
                out.append(words + ("\n" if ended else ""))
            elif mark in {" ", "-"}:
                if done >= len(lines):
                    return None
                line = lines[done].removesuffix("\n")
                if line != words and plain(f"{line}\n") != plain(f"{words}\n"):
                    if _untabbed(line) != words:
                        return None
                    is_exact = False
                if mark == " ":
                    out.append(lines[done])
                done += 1
            elif mark != _NO_END:
                return None
    out += lines[done:]
    # A new line among those that begin with tabs may have begun with some as well.
    return Patched("".join(out), is_exact and not ("\t" in base and _TABS.search(base)))


class Shown(NamedTuple):
    """Lines of a file as they were shown to the model."""

    first: int
    """The number of the first of them."""

    lines: list[str]
    below: str
    """What stands under them."""


def numbered(text: str) -> Shown | None:
    """Read lines as the client shows them, `     7→words` or `7<tab>words`; None if they are not such."""
    rows = text.split("\n")
    found: list[str] = []
    first = 0
    for row in rows:
        match = _NUMBERED.match(row)
        if match is None:
            break
        number = int(match[1])
        if not found:
            first = number
        elif number != first + len(found):
            break
        found.append(row[match.end() :])
    return Shown(first, found, "\n".join(rows[len(found) :]).strip()) if found else None


def _untabbed(text: str) -> str:
    return _TABS.sub(lambda tabs: "  " * len(tabs[0]), text)
