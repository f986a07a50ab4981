"""See in many lines of a session at once which of them need a look for secrets: most of them do not.

This looks at bytes, and at no line by itself. It sees too much rather than too little: of a line in which it
sees nothing, `secret_forms.sight` says that it is plain.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Final, Literal

from clew.edit.secret_base64 import (
    ALPHABET,
    IN_RUN,
    RUN,
    RUN_TO_ESCAPE,
    is_broken,
    runs,
    unpacked,
)
from clew.edit.secret_leads import leads
from clew.edit.secret_words import WORDS, has_words
from clew.edit.text_views import GOES_ON

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ahocorasick_rs import BytesAhoCorasick

Seen = Literal["word", "read", "text", "more"]
"""A word of a rule; base64 that can be read but holds nothing; two texts of a message; or more than that."""

# In bytes a space or a digit of another script is some of these; a character has up to four of them.
_FAR: Final = r"\x80-\xff"
SPACE: Final = rf"[\s\x1c-\x1f{_FAR}]"

FOLLOWED: Final[Mapping[str, str]] = {
    **leads(_FAR),
    "pat": r"[a-z0-9]{14}\.",
    "sk": r"[0-9a-f]{32}",
    "-us": rf"[\d{_FAR}]",
    "-u": r"[ =]",
    "dd_": r"ap",
    "dd-": r"ap",
    "auth": rf"""\\{{0,4}}"{SPACE}{{0,12}}:""",
    "machine": rf"{SPACE}",
    "-token": rf"(?:{SPACE}|[=%])",
    "-secret": rf"(?:{SPACE}|[=%])",
    "oracle": rf"(?:\+[\w{_FAR}]+)?(?::|%3a)",
    "://": r"[^\s:/@]{0,400}:[^\s/]{3,800}@",
    "eaaa": rf"[\w+={_FAR}-]{{60}}",
}
"""What must come after words that are common: no less than what `secret_words` asks for."""

_TOKEN_ENDS: Final = tuple(
    bytes((byte,))
    for byte in range(256)
    if byte > 127 or chr(byte) in "\\\"'`]:=>,%&+" or chr(byte).isspace()
)
"""What comes next behind `token`."""

# Lines that go on -------------------------------------------------------------------------------

_BLANK: Final = r"[ \t]{0,8}[+.&]?[ \t]{0,8}"
_MARGIN: Final = rf"(?:[ \t\d|:+.&{_FAR}]|\\t|\\u2192)*+"
_ENDED: Final = r"(?:\\\\)?(?:\\r)?\\n"
_LISTED: Final = rf'"{SPACE}*,{SPACE}*"'


def _compiled(pattern: str) -> re.Pattern[bytes]:
    return re.compile(pattern.encode("ascii"))


_GOES_ON: Final = tuple(
    map(
        _compiled,
        (
            rf"""'{_BLANK}(?:{_ENDED}(?={_MARGIN}')|(?<=[+.& \t])'|{_LISTED})""",
            rf"""`(?:(?:\\r)?\\n|{_BLANK}{_LISTED})""",
            rf"""\^(?:(?:\\r)?\\n|{_BLANK}{_LISTED})""",
        ),
    )
)
"""As in `secret_forms`."""

_SLASHED: Final = _compiled(rf"""\\\\{_BLANK}(?:{_ENDED}|(?<=[+.& \t])\\"|{_LISTED})""")
_SLASHES: Final = tuple(
    rf"\\{mark}".encode("ascii")
    for mark in ("+", ".", "&", '"', r"\r", r"\n", r"\\", *map("".join, product(" \t", ' \t+.&\\"')))
)
"""How that may begin."""

_QUOTED: Final = _compiled(rf"""\\"{_BLANK}(?:{_ENDED}(?={_MARGIN}\\")|(?<=[+.& \t])\\"|{_LISTED})""")
_QUOTES: Final = (
    *(rf"\"{mark}".encode("ascii") for mark in (" ", "\t", "+", ".", "&", '"', r"\r\n", r"\\\r", r"\\\n")),
    *(rb"\"\n" + bytes((byte,)) for byte in (*b" \t0123456789|:+.&\\", *range(128, 256))),
)
"""How that may begin: few of all escaped quotes do."""

# Base64 -----------------------------------------------------------------------------------------

_BREAK: Final = re.compile(
    rb"\\(?:\\{0,3}(?:/|(?:r\\{1,4})?n|u00))|%(?:\\{0,3}(?:/|(?:r\\{1,4})?n|u00)|2[BFbf]|3[Dd]|0[AaDd])"
)


_ESCAPES: Final = frozenset(b"\\%")
_RUN: Final = len(RUN)
_BROKEN_RUN: Final = RUN_TO_ESCAPE[:-1]


def _letters(*numbers: int) -> bytes:
    """Return a class of the letters of base64 that stand for numbers."""
    return b"[" + re.escape(bytes(ALPHABET[number] for number in numbers)) + b"]"


def _readable_groups() -> re.Pattern[bytes]:
    first = {byte >> 2 for byte in (*range(32, 127), 9, 10, 13)}
    second = {number for number in range(64) if number & 15 in {0, 2, 3, 4, 5, 6, 7}}
    third = {number for number in range(64) if number & 3 < 2}
    # `-` and `_` are 62 and 63 in another alphabet; no first letter of a group, nor a second, nor a third.
    ways = b"".join(_letters(*sorted(numbers)) for numbers in (first, second, third))
    return re.compile(b"(?:" + ways + rb"[\w+/-]){3}")


_READABLE: Final = _readable_groups()
"""Three groups of base64, which stand for nine bytes, may be readable; of twelve bytes three are whole."""


def base64_at(data: bytes) -> tuple[list[int], list[int]]:
    """Return where there is base64 in which something can be read: what may be a secret, and what is none."""
    found, dull, _ = runs_at(data)
    return found, dull


def runs_at(data: bytes, *, broken: bool = False) -> tuple[list[int], list[int], int]:
    """Return the same, and how long the longest run is.

    With `broken` the places where escapes break a run, a shorter one too, are among what may be a secret.
    """
    found: list[int] = []
    dull: list[int] = []
    longest = 0
    find = data.translate(IN_RUN).find
    least = _BROKEN_RUN if broken else RUN
    size = len(least)
    start = find(least)
    while start >= 0:
        end = find(b" ", start + size)
        if end < 0:
            end = len(data)
        elif broken and data[end] in _ESCAPES and _is_broken_at(data, end):
            found.append(end)
        length = end - start
        if length >= _RUN:
            run = data[start:end]
            # Names, paths and ids are all in small letters, mostly.
            if not run.islower() and not run.isupper() and _READABLE.search(run) is not None:
                is_dull = [_is_dull(text) for text, _, _ in unpacked(run.decode("ascii"))]
                if is_dull:
                    (dull if all(is_dull) else found).append(start)
            if length > longest:
                longest = length
        start = find(least, end)
    return found, dull, longest


def _is_broken_at(data: bytes, at: int) -> bool:
    """Say whether the escape in a place breaks a run of base64."""
    before = data[at - len(_BROKEN_RUN) : at]
    return _BREAK.match(data, at) is not None and b"-" not in before and b"_" not in before


def _is_dull(text: str) -> bool:
    """Say whether there is nothing in what base64 holds, nor in a part of it, to be looked at once more."""
    if has_words(text) or is_broken(text) or GOES_ON.search(text) is not None:
        return False
    return all(run.islower() or run.isupper() or run.isdigit() for _, run in runs(text))


# All of it --------------------------------------------------------------------------------------

_LETTERS: Final = "\u0130\u212a"
"""The two that become letters of ours when they are made small."""

_TEXT: Final = '"text"'
TEXTS: Final = 4
"""From so many marks of texts on there are two blocks of them, and one secret may be in both."""

_Then = tuple[Seen, "re.Pattern[bytes] | None", int]
"""What is seen, what must come with it, and how far behind its start."""


@cache
def _finder() -> tuple[BytesAhoCorasick, tuple[_Then, ...]] | None:
    try:
        from ahocorasick_rs import BytesAhoCorasick, Implementation
    except ImportError:
        return None
    then: dict[bytes, _Then] = {letter.encode(): ("more", None, 0) for letter in _LETTERS}
    for word in WORDS:
        followed = FOLLOWED.get(word)
        seen: _Then = ("word", None if followed is None else _compiled(followed), len(word))
        # Counts of tokens are in every line.
        ends = _TOKEN_ENDS if word == "token" else (b"",)
        then |= {word.encode("ascii") + end: seen for end in ends}
    then |= dict.fromkeys(_QUOTES, ("more", _QUOTED, 0))
    then |= dict.fromkeys(_SLASHES, ("more", _SLASHED, 0))
    then[_TEXT.encode("ascii")] = ("text", None, 0)
    return BytesAhoCorasick(then, implementation=Implementation.DFA), tuple(then.values())


def is_quick() -> bool:
    """Say whether this can be done here."""
    return _finder() is not None


def glance(data: bytes, starts: Sequence[int]) -> dict[int, set[Seen]]:
    """Return what is seen in lines that begin at `starts`, by their number; nothing of plain ones."""
    finder = _finder()
    assert finder is not None
    ways, then = finder
    lower = data.lower()
    texts: list[int] = []
    more, dull, _ = runs_at(data, broken=True)
    found: dict[Seen, list[int]] = {"word": [], "read": dull, "text": texts, "more": more}
    for which, start, _ in ways.find_matches_as_indexes(lower, overlapping=True):
        what, pattern, size = then[which]
        if pattern is None or pattern.match(lower, start + size) is not None:
            found[what].append(start)
    for pattern in _GOES_ON:
        more += (match.start() for match in pattern.finditer(data))
    seen: dict[int, set[Seen]] = {}
    for what in ("word", "read", "more"):
        for row in {bisect_right(starts, place) - 1 for place in found[what]}:
            seen.setdefault(row, set()).add(what)
    if len(texts) >= TEXTS:
        for row, count in Counter(bisect_right(starts, place) - 1 for place in texts).items():
            if count >= TEXTS:
                seen.setdefault(row, set()).add("text")
    return seen
