"""Replace a piece of a text by another, leaving every byte around it alone."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.agent.tools.quotes import curled, straightened
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.agent.tools.texts import Text


class MismatchError(ClewError):
    """The piece is not in the text, or is there more than once."""

    code = "mismatch"


@dataclass(frozen=True, slots=True)
class Replaced:
    """A text after a piece of it was replaced."""

    text: Text
    old: str
    """The piece as the text had it, which may have other quotation marks than the one asked for."""

    times: int


def replaced(text: Text, old: str, new: str, *, every: bool = False) -> Replaced:
    """Replace a piece, which must be there once, or every one of them. Raise `MismatchError`."""
    new = new.replace("\r\n", "\n")
    if old not in text.plain:  # a line may have a carriage return left that belongs to no line end
        old = old.replace("\r\n", "\n")
    if not old:
        raise MismatchError("the piece to replace is empty")
    found, new = _found(text.plain, old, new)
    if found is None:
        raise MismatchError(f"String to replace not found in file.\nString: {old}")
    starts, length = list(_starts(text.plain, found)), len(found)
    if len(starts) > 1 and not every:
        raise MismatchError(
            f"Found {len(starts)} matches of the string to replace, but replace_all is false. To replace all "
            "occurrences, set replace_all to true. To replace only one occurrence, please provide more "
            "context to "
            f"uniquely identify the instance.\nString: {old}"
        )
    if not new and not found.endswith("\n") and f"{found}\n" in text.plain:
        # As the client does it: what is taken out takes its line end along. Of several pieces those without
        # one stay.
        starts, length = list(_starts(text.plain, f"{found}\n")), length + 1
    return Replaced(text.with_whole(_put(text, starts, length, new)), found, len(starts))


def _found(plain: str, old: str, new: str) -> tuple[str | None, str]:
    """Return the piece as the text has it, and what to put there."""
    if old in plain:
        return old, new
    at = straightened(plain).find(straightened(old))
    if at < 0:
        return None, new
    found = plain[at : at + len(old)]
    return found, curled(new, found)


def _starts(plain: str, piece: str) -> Iterator[int]:
    at = plain.find(piece)
    while at >= 0:
        yield at
        at = plain.find(piece, at + len(piece))


def _put(text: Text, starts: list[int], length: int, new: str) -> str:
    """Put something in the place of pieces of the plain text, in the text as it is written."""
    returns = _returns(text)
    parts: list[str] = []
    done = 0
    for at in starts:
        start = at + bisect_left(returns, at)
        end = at + length + bisect_left(returns, at + length)
        parts += [text.whole[done:start], _ended(new, text, text.whole[start:end])]
        done = end
    parts.append(text.whole[done:])
    return "".join(parts)


def _returns(text: Text) -> list[int]:
    """Return where in the plain text a line ends that is written with a carriage return."""
    ends: list[int] = []
    at = text.whole.find("\r\n")
    while at >= 0:
        ends.append(at - len(ends))
        at = text.whole.find("\r\n", at + 2)
    return ends


def _ended(new: str, text: Text, place: str) -> str:
    """Write line ends as the piece had them that is replaced, or as most lines of the text have them."""
    returned = place.count("\r\n")
    plain = place.count("\n") - returned
    end = text.line_end if returned == plain else "\r\n" if returned > plain else "\n"
    return new if end == "\n" else new.replace("\n", end)
