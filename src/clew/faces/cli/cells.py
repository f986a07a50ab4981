"""How many cells of a terminal a text takes, and how to cut it to fewer.

The texts have been through `terminal.one_line`: they hold no controls. Widths follow what current terminals
do: wide East Asian characters and emoji take two cells, combining marks none, and an emoji sequence (joined
people, flags, keycaps) takes two together.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"


@lru_cache(maxsize=8192)
def _char_width(char: str) -> int:
    code = ord(char)
    if code < 0x7F:
        return 1
    # Vowels and final consonants of a Hangul syllable written in parts sit inside the first part.
    if 0x1160 <= code <= 0x11FF or 0xD7B0 <= code <= 0xD7FF:
        return 0
    if unicodedata.category(char) in ("Mn", "Me", "Mc") or char in "\u200c\u200d":
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _is_flag_half(char: str) -> bool:
    return "\U0001f1e6" <= char <= "\U0001f1ff"


def _is_skin(char: str) -> bool:
    return "\U0001f3fb" <= char <= "\U0001f3ff"


def clusters(text: str) -> Iterator[tuple[str, int]]:
    """Take a text apart into what a reader sees as one character, each with its width in cells."""
    at = 0
    end = len(text)
    while at < end:
        first = text[at]
        cells = _char_width(first)
        to = at + 1
        if _is_flag_half(first) and to < end and _is_flag_half(text[to]):
            cells = 2
            to += 1
        while to < end:
            char = text[to]
            if char == _EMOJI_STYLE:
                # A sign that may be drawn either way (a heart, a keycap's digit) is drawn as a wide picture.
                if not first.isalpha() and first != " ":
                    cells = 2
                to += 1
            elif char == _JOINER and not first.isalnum() and to + 1 < end and _joins(text[to + 1]):
                cells = 2
                to += 2
            elif _char_width(char) == 0 or (_is_skin(char) and cells == 2):
                to += 1
            else:
                break
        yield text[at:to], cells
        at = to


def _joins(char: str) -> bool:
    """Whether a character can follow a joiner in an emoji sequence: it is a picture or a sign."""
    return unicodedata.category(char) in ("So", "Sm", "Sk", "Cn")


@lru_cache(maxsize=4096)
def _wide_width(text: str) -> int:
    return sum(cells for _, cells in clusters(text))


def width(text: str) -> int:
    """How many cells the text takes."""
    return len(text) if text.isascii() else _wide_width(text)


def pad(text: str, cells: int, *, right: bool = False) -> str:
    """Fill the text with spaces to so many cells; `right` puts the text at the right, as numbers stand."""
    room = " " * max(0, cells - width(text))
    return room + text if right else text + room


def _head(text: str, cells: int) -> str:
    """As much of the beginning as fits."""
    if text.isascii():
        return text[: max(0, cells)]
    taken = 0
    used = 0
    for cluster, wide in clusters(text):
        if used + wide > cells:
            break
        used += wide
        taken += len(cluster)
    return text[:taken]


def _tail(text: str, cells: int) -> str:
    """As much of the end as fits."""
    if text.isascii():
        return text[len(text) - max(0, min(cells, len(text))) :]
    parts = list(clusters(text))
    used = 0
    at = len(parts)
    while at and used + parts[at - 1][1] <= cells:
        at -= 1
        used += parts[at][1]
    return "".join(cluster for cluster, _ in parts[at:])


def cut_end(text: str, cells: int, *, mark: str = "…") -> str:
    """Cut a title to so many cells at its end. The mark counts; where it does not fit, there is none."""
    if width(text) <= cells:
        return text
    room = cells - width(mark)
    return _head(text, room).rstrip(" ") + mark if room > 0 else _head(mark, cells)


def cut_middle(text: str, cells: int, *, mark: str = "…") -> str:
    """Cut a path to so many cells in its middle: its beginning stays, and more of what it names."""
    if width(text) <= cells:
        return text
    room = cells - width(mark)
    if room <= 0:
        return _head(mark, cells)
    head = _head(text, room // 3)
    return head + mark + _tail(text, room - width(head))


def short_ids(ids: Iterable[str], *, of: Iterable[str] | None = None, least: int = 4) -> dict[str, str]:
    """The shortest beginnings, of `least` characters or more, that tell the ids (or those `of`) apart."""
    ordered = sorted(set(ids))
    found: dict[str, str] = {}
    for id_ in ordered if of is None else of:
        at = bisect_left(ordered, id_)
        beside = (*ordered[at - 1 : at], *ordered[at + 1 : at + 2])
        found[id_] = id_[: max(least, 1 + max((_common(id_, other) for other in beside), default=0))]
    return found


def _common(one: str, other: str) -> int:
    count = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        count += 1
    return count


def bar(share: float, cells: int) -> str:
    """A bar of at most so many cells, drawn in eighths; what is more than nothing shows at least one."""
    eighths = round(min(1.0, max(0.0, share)) * cells * 8)
    if share > 0:
        eighths = max(1, eighths)
    full, rest = divmod(eighths, 8)
    return "█" * full + ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[rest]
