"""Find secrets in all their spellings: escaped, encoded, cut in two by a line that goes on.

A text is looked at as it stands and through views in which escapes are taken back (`text_views`). A secret
that is known is looked for in every form, so that a copy is found where nothing tells that it is one
(`known_secrets`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, Literal

from clew.edit.known_secrets import KEY_RULES, Found
from clew.edit.secret_base64 import WRAPPED, is_broken, runs, unpacked
from clew.edit.secret_looks import key_lines
from clew.edit.secret_rules import ORDER, REDACTED, URL_RULES
from clew.edit.secret_words import has_words, hits
from clew.edit.text_views import GOES_ON, Glance, View, nothing, views_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.edit.known_secrets import Spellings

PATTERN: Final = "pattern"
"""The name of what a person's own pattern finds."""

_DEEPEST: Final = 3
"""How often a text is unwrapped: base64 in base64 in JSON in a JSON string."""


# Finding -----------------------------------------------------------------------------------------


Spans = Callable[[str], Iterable[tuple[int, int]]]
"""Says where in a text a person's own patterns match."""

WHOLE: Final = 1 << 16
"""A longer text is looked at in parts: only those that may hold something are taken apart."""

WINDOW: Final = 1 << 13
BEFORE: Final = 1 << 10
"""How far before its part there may be what tells that it is one."""

_NEAR: Final = 3 << 10
"""How far beyond its part a secret may go."""

AHEAD: Final = 1 << 16
"""How far one may go that says at its beginning that it is long: a private key may have 40,000 characters."""

_LONG: Final = ("-----begin", "private-lines", "eyj", "ls0tls1c", "0tls0tqk", "tls0tluj")
"""What a long one begins with, in lower case; the last three are the first in base64."""


def find_secrets(text: str, *, own: Spans | None = None, known: Spellings | None = None) -> list[Found]:
    """Return the secrets in a text, in order, none within another.

    `own` finds what a person's own patterns say; `known` are secrets found elsewhere. In a long text a
    person's own are looked for as it stands, and other spellings of what they find are for `known`.
    """
    if "\0" in text and _is_binary(text):
        found = [one for run in _READABLE_RUN.finditer(text) for one in _in_run(run, own, known)]
    elif len(text) <= WHOLE:
        found = list(_in_part(text, own, known))
    else:
        found = list(_in_long(text, own, known))
    return apart(text, found) if found else found


_READABLE_RUN: Final = re.compile(r"[\t\r\n -~]{12,}")
_NO_TEXT: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\udc80-\udcff]")
_SAMPLE: Final = 1 << 16
_GLANCED: Final = 1 << 12


def _is_binary(text: str) -> bool:
    """Say whether this is no text but a program, a picture, a database: there the readable parts count."""
    start = text[:_SAMPLE]
    return len(_NO_TEXT.findall(start)) * 10 > len(start)


def _in_run(run: re.Match[str], own: Spans | None, known: Spellings | None) -> Iterator[Found]:
    first, text = run.start(), run.group()
    for one in _in_part(text, own, known) if len(text) <= WHOLE else _in_long(text, own, known):
        yield one._replace(start=one.start + first, end=one.end + first)


def _in_part(text: str, own: Spans | None, known: Spellings | None) -> Iterator[Found]:
    # Most have none, which is quicker seen than where one is.
    if len(text) > _GLANCED and next(_Search(own, known, is_exact=False).find(text), None) is None:
        return iter(())
    return _Search(own, known).find(text)


def _in_long(text: str, own: Spans | None, known: Spellings | None) -> Iterator[Found]:
    if own is not None:
        yield from _by_patterns(View(text), own)
    for at, first, part in _windows(text):
        for one in _in_part(part, None, known):
            if at <= one.start + first < at + WINDOW:
                yield one._replace(start=one.start + first, end=one.end + first)


def _windows(text: str) -> Iterator[tuple[int, int, str]]:
    """Give the parts of a long text: where one begins, and where what is looked at with it does."""
    for at in range(0, len(text), WINDOW):
        first = max(0, at - BEFORE)
        part = text[first : at + WINDOW + _NEAR]
        lower = part.lower()
        if any(mark in lower for mark in _LONG):
            part = text[first : at + WINDOW + AHEAD]
        yield at, first, part


def by_patterns(patterns: Sequence[re.Pattern[str]]) -> Spans:
    """Return what finds the matches of patterns; where one has a group `secret`, that group counts."""
    ways = [(pattern, "secret" if "secret" in pattern.groupindex else 0) for pattern in patterns]

    def spans(text: str) -> list[tuple[int, int]]:
        return [match.span(group) for pattern, group in ways for match in pattern.finditer(text)]

    return spans


_BLANK: Final = r"[ \t]{0,8}[+.&]?[ \t]{0,8}"
_MARGIN: Final = r"(?:[ \t\d→|:+.&]|\\t|\\u2192)*+"
_ENDED: Final = r"(?:\\\\)?(?:\\r)?\\n"
_LISTED: Final = r'"\s*,\s*"'
"""From one string of a list to the next."""

# One for each mark that it begins with: what begins with fixed letters is looked for several times as fast.
_MAY_GO_ON: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"""\\\\{_BLANK}(?:{_ENDED}|(?<=[+.& \t])\\"|{_LISTED})""",
        rf"""\\"{_BLANK}(?:{_ENDED}(?={_MARGIN}\\")|(?<=[+.& \t])\\"|{_LISTED})""",
        rf"""'{_BLANK}(?:{_ENDED}(?={_MARGIN}')|(?<=[+.& \t])'|{_LISTED})""",
        rf"""`(?:(?:\\r)?\\n|{_BLANK}{_LISTED})""",
        rf"""\^(?:(?:\\r)?\\n|{_BLANK}{_LISTED})""",
    )
)
"""In a line of JSON: what may be a line that goes on in the next one."""

Sight = Literal["plain", "clean", "suspect"]
"""What is seen in a line: nothing but what is plainly spelled, or no secret, or that it may hold one."""


def sight(line: str) -> Sight:
    """Say what is seen in a line of JSON; only a suspect one need be taken apart."""
    if any(pattern.search(line) is not None for pattern in _MAY_GO_ON):
        return "suspect"
    is_plain = True
    for part in _parts(line):
        search = _Search(None, None, is_exact=False)
        if next(search.find(part, escapes=_INNER, joins=False), None) is not None:
            return "suspect"
        is_plain = is_plain and search.is_plain
    return "plain" if is_plain else "clean"


def may_hold(line: str, known: Spellings, seen: Sight | None = None) -> bool:
    """Say whether the strings of a line of JSON may hold secrets, known ones or others.

    `seen` is what is seen in it without those that are known, if it was looked at.
    """
    if seen == "suspect" or (seen is None and any(one.search(line) is not None for one in _MAY_GO_ON)):
        return True
    if seen == "plain":
        return any(next(known.find(part), None) is not None for part in _parts(line))
    searches = ((_Search(None, known, is_exact=False, is_clean=seen == "clean"), one) for one in _parts(line))
    found = (search.find(part, escapes=_INNER, joins=False) for search, part in searches)
    return any(next(one, None) is not None for one in found)


_INNER: Final = 4
"""In a line of JSON there is one escape more than in its strings themselves."""


def _parts(line: str) -> Iterator[str]:
    return iter((line,)) if len(line) <= WHOLE else (part for _, _, part in _windows(line))


class _Search:
    """Looks for secrets in one text, and in what is packed in it."""

    def __init__(
        self, own: Spans | None, known: Spellings | None, *, is_exact: bool = True, is_clean: bool = False
    ) -> None:
        """Unless `is_exact`, only whether there is one counts, and not where.

        `is_clean` says that no rule finds anything in the text, so that only those that are known are left.
        """
        self._own = own
        self._is_exact = is_exact
        self._is_clean = is_clean
        self._known = known
        self._runs: dict[str, list[tuple[str, int, int]]] = {}
        """What runs of base64 hold: in each view of a text most of them are the same."""
        self._unpacked: dict[str, list[Found]] = {}
        """What was found in those."""
        self.is_plain = True
        """Whether there is nothing in the text that could be spelled another way."""

    def find(self, text: str, *, depth: int = 0, escapes: int = 3, joins: bool = True) -> Iterator[Found]:
        """Give the secrets in a text; the same one may be given several times.

        `joins` says whether to look at lines that go on in the next one as if they were one.
        """
        is_hit = has_words(text)
        breaks = depth < _DEEPEST and is_broken(text)
        goes_on = joins and ("\n" in text or "+" in text) and GOES_ON.search(text) is not None
        views = [View(text) if self._is_exact else Glance(text)]
        if is_hit or self._own is not None or breaks:
            self.is_plain = False
            views = views_of(views[0], escapes)
        for view in tuple(views) if joins and (goes_on or len(views) > 1) else ():
            inner = view.changed(GOES_ON, nothing)
            if inner is not None:
                views.append(inner)
        for at, view in enumerate(views):
            for start, end, rule in hits(view.text) if (is_hit or at) and not self._is_clean else ():
                yield Found(*view.span(start, end), rule.name, plain(rule.name, view.text[start:end]))
            if self._own is not None:
                yield from _by_patterns(view, self._own)
            if self._known is not None:
                for start, end, name, value in self._known.find(view.text):
                    yield Found(*view.span(start, end), name, value)
            if depth < _DEEPEST:
                yield from self._in_base64(view, depth + 1)

    def _in_base64(self, view: View, depth: int) -> Iterator[Found]:
        has_lines = "\n" in view.text or "\r" in view.text
        unwrapped = view.changed(WRAPPED, nothing) if has_lines else None
        for one in (view,) if unwrapped is None else (view, unwrapped):
            for run, packed in runs(one.text):
                # Names, paths and ids, which are most; base64 of any text has letters of both cases.
                if packed.islower() or packed.isupper() or packed.isdigit():
                    continue
                texts = self._runs.get(packed)
                if texts is None:
                    texts = self._runs[packed] = list(unpacked(packed))
                for inner, shift, first in texts:
                    self.is_plain = False
                    for start, end, rule, value in self._in_text(inner, depth):
                        # Whole characters of base64, so that no bit of the secret is left.
                        begin = run + shift + (first + start) * 4 // 3
                        stop = run + shift + -(-(first + end) * 4 // 3)
                        yield Found(*one.span(begin, min(stop, len(one.text))), rule, value)

    def _in_text(self, inner: str, depth: int) -> list[Found]:
        found = self._unpacked.get(inner)
        if found is None:
            found = self._unpacked[inner] = list(self.find(inner, depth=depth))
        return found


def _by_patterns(view: View, own: Spans) -> Iterator[Found]:
    for start, end in own(view.text):
        if 0 <= start < end and not REDACTED.search(view.text, start, end):
            yield Found(*view.span(start, end), PATTERN, view.text[start:end])


def plain(rule: str, value: str) -> str:
    """Return a secret in the form in which all its spellings are the same."""
    if rule in KEY_RULES:
        return "".join(key_lines(value))
    return value.removesuffix("@") if rule in URL_RULES else value


def apart(text: str, found: Iterable[Found]) -> list[Found]:
    """Join what overlaps, under the name that says most; what was put in the place of a secret stays."""
    kept = [match.span() for match in REDACTED.finditer(text)]
    merged: list[Found] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if any(start < one.end and one.start < end for start, end in kept):
            continue
        last = merged[-1] if merged else None
        if last is None or one.start >= last.end:
            merged.append(one)
            continue
        better = min(last, one, key=_rank)
        merged[-1] = better._replace(start=last.start, end=max(last.end, one.end))
    return merged


def _rank(found: Found) -> tuple[int, int]:
    return ORDER.get(found.rule, len(ORDER)), found.start - found.end
