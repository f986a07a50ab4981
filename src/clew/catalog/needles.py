r"""What the raw bytes of a line must hold for a text in it to be found.

A literal may be spelled in several ways in JSON: quotes, backslashes and controls are escaped, other
characters may be (`é`, `\u00e9`, `\u00E9`; `\/`; some writers escape `<`, `>`, `&`, `'`, `+` and the
backtick). A needle is a part of it for which all spellings are known, so that a line without any of them
cannot hold the literal. No writer escapes the letters, digits and spaces of ASCII, and all of one sort (see
`_sort`) are escaped or none is. Whoever uses a needle decodes the lines it points to and looks again.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# What `re` takes a pattern apart with; there is no public door to it.
_PARSER: Final[Any] = import_module("re._parser")
_OPS: Final[Any] = import_module("re._constants")

_Sort = Literal["ascii", "plane", "beyond"]

_LONGEST: Final = 48
"""Characters of a literal that are looked for; more make nothing rarer or quicker."""

_ESCAPED: Final = frozenset("\"\\/<>&'+`\x7f")
_FOLDED: Final = frozenset("iksIKS")
"""Letters that ignoring case also finds as `ı`, `ſ` and the sign for kelvin."""

_COMMON: Final = frozenset("etaoinsrhldcu ")


@dataclass(frozen=True, slots=True)
class Needle:
    """Every line that holds what is looked for has one of the spellings in its bytes."""

    spellings: tuple[bytes, ...]
    ignores_case: bool = False
    """The spellings are in small letters, and so must the bytes be made (ASCII's, by `bytes.lower`)."""

    @property
    def longest(self) -> int:
        """The length of the longest spelling."""
        return max(map(len, self.spellings))


def for_literal(text: str, *, ignore_case: bool = False) -> Needle | None:
    """Return the needle for a literal; None if no part of it has few spellings."""
    return _needle([(text,)], ignore_case=ignore_case)


def for_pattern(pattern: re.Pattern[str]) -> Needle | None:
    """Return a needle that is in whatever the pattern matches; None if there is none that is plain to see."""
    try:
        tree = _PARSER.parse(pattern.pattern, pattern.flags)
    except (re.error, RecursionError, OverflowError):  # it was compiled, so it parses; but not for sure here
        return None
    ignore_case = bool(pattern.flags & re.IGNORECASE)
    return _needle(_Literals(ignore_case=ignore_case).of(tree), ignore_case=ignore_case)


class _Run(NamedTuple):
    """A part of a literal that can be looked for."""

    weight: float
    sort: _Sort
    text: str


_Choice = tuple[str, ...]
"""Literals of which one is there."""


def _needle(choices: Iterable[_Choice], *, ignore_case: bool) -> Needle | None:
    best = _best(choices, ignore_case=ignore_case)
    if best is None:
        return None
    spellings = [one for run in best for one in _spellings(run.sort, run.text, ignore_case=ignore_case)]
    return Needle(tuple(dict.fromkeys(spellings)), ignore_case)


def _best(choices: Iterable[_Choice], *, ignore_case: bool) -> list[_Run] | None:
    """Return the parts of the choice that is rarest and cheapest to look for."""
    best: list[_Run] | None = None
    most = float("-inf")
    for choice in choices:
        runs = [_rarest(literal, ignore_case=ignore_case) for literal in choice]
        known = [run for run in runs if run is not None]
        if len(known) == len(runs):
            weight = min(run.weight for run in known) - len(known)
            if weight > most:
                most, best = weight, known
    return best


def _rarest(literal: str, *, ignore_case: bool) -> _Run | None:
    runs = (_Run(_weight(text, sort), sort, text) for sort, text in _runs(literal, ignore_case=ignore_case))
    return max(runs, default=None, key=lambda run: run.weight)


def _spellings(sort: _Sort, run: str, *, ignore_case: bool) -> list[bytes]:
    if sort == "ascii":
        return [(run.lower() if ignore_case else run).encode("ascii")]
    units = run.encode("utf-16-be")
    escapes = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
    small = "".join(f"\\u{one}" for one in escapes)
    capital = "".join(f"\\u{one.upper()}" for one in escapes)
    # In bytes made small, all that are no ASCII letters are what they were.
    spellings = [run.encode("utf-8"), small.encode("ascii")]
    return spellings if ignore_case else [*spellings, capital.encode("ascii")]


def _runs(literal: str, *, ignore_case: bool) -> Iterator[tuple[_Sort, str]]:
    run, last = "", None
    for character in literal:
        sort = _sort(character, ignore_case=ignore_case)
        if sort != last or len(run) == _LONGEST:
            if last is not None:
                yield last, run
            run, last = "", sort
        run += character
    if last is not None:
        yield last, run


def _weight(run: str, sort: _Sort) -> float:
    """Say how rare a run is, roughly, and how cheap to look for."""
    if sort == "ascii":
        return sum(1 if character in _COMMON else 1.5 for character in run)
    # Other characters are rare, but have to be looked for two or three times.
    return 2.5 + 0.1 * len(run)


def _sort(character: str, *, ignore_case: bool) -> _Sort | None:
    """Return with which others a character is escaped or not; None where too much is possible."""
    if character.isascii():
        is_plain = character.isprintable() and character not in _ESCAPED
        return "ascii" if is_plain and not (ignore_case and character in _FOLDED) else None
    if (
        not character.isprintable() or character == "\ufffd"
    ):  # that one also stands for bytes that are no UTF-8
        return None
    if ignore_case and unicodedata.category(character) not in {"Lo", "Po", "Ps", "Pe", "Sm", "Nd"}:
        return None  # it may have another case
    return "plane" if character <= "\uffff" else "beyond"


class _Literals:
    """The literals that are in whatever a pattern matches."""

    def __init__(self, *, ignore_case: bool) -> None:
        self._ignore_case = ignore_case
        self._found: list[_Choice] = []
        self._run: list[str] = []

    def of(self, tree: Any) -> list[_Choice]:
        self._sequence(tree)
        self._cut()
        return self._found

    def _cut(self) -> None:
        if self._run:
            self._found.append(("".join(self._run),))
            self._run = []

    def _sequence(self, tree: Any) -> None:
        for operation, argument in cast("Iterable[tuple[Any, Any]]", tree):
            if operation is _OPS.LITERAL:
                self._run.append(chr(argument))
            elif operation is _OPS.SUBPATTERN:
                _, added, taken, inner = argument
                if added or taken:  # other rules for case in there
                    self._cut()
                else:
                    self._sequence(inner)
            elif operation in _REPEATS:
                self._repeat(*argument)
            elif operation is _OPS.ATOMIC_GROUP:
                self._sequence(argument)
            elif operation is _OPS.BRANCH:
                self._cut()
                self._branch(argument[1])
            elif operation not in _NO_WIDTH:
                self._cut()

    def _repeat(self, least: int, most: int, inner: Any) -> None:
        if least == most == 1:
            self._sequence(inner)
            return
        self._cut()
        if least:
            self._sequence(inner)
            self._cut()

    def _branch(self, branches: Any) -> None:
        """Take one literal of every branch; one without any can match without."""
        choice: list[str] = []
        for branch in branches:
            inner = _Literals(ignore_case=self._ignore_case).of(branch)
            best = _best(inner, ignore_case=self._ignore_case)
            if best is None:
                return
            choice += [run.text for run in best]
        if len(choice) <= _BRANCHES:
            self._found.append(tuple(choice))


_BRANCHES: Final = 6
"""Alternatives that are looked for one by one; with more of them, decoding everything is as quick."""

_REPEATS: Final = (_OPS.MAX_REPEAT, _OPS.MIN_REPEAT, _OPS.POSSESSIVE_REPEAT)
_NO_WIDTH: Final = (_OPS.AT, _OPS.ASSERT, _OPS.ASSERT_NOT)
"""What comes before and after these still stands side by side."""
