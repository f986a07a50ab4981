"""Find secrets in a text that can be read plainly: first the words of the rules, all at once, then the rules.

Other spellings are for `secret_forms`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.edit.secret_leads import leads
from clew.edit.secret_rules import REDACTED, RULES
from clew.edit.seldom_letters import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.edit.secret_rules import Rule


class Hit(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    rule: Rule


_FOLLOWED: Final = leads() | {
    "pat": r"[a-z0-9]{14}\.",
    "sk": r"[0-9a-f]{32}",
    "-us": r"\d",
    "-u": r"[ =]",
    "dd_": r"a[p]",
    "dd-": r"a[p]",
    "auth": r"""\\{0,4}"\s{0,3}:""",
    "machine": r"\s+\S{1,200}\s+login\s",
    "-token": r"[\s=%]",
    "-secret": r"[\s=%]",
    "oracle": r"(?:\+\w+)?(?::|%3a)",
    "://": r"[^\s:/@]{0,100}:[^\s/]{3,200}@",
    "eaaa": r"[\w+=-]{60}",
}
"""What must come after words that are common."""

_ENCODED: Final = ("%3a%2f%2f", "sig%3d", "%3aaa")
"""Words in a spelling in which no rule finds them: they say that there is something to decode."""


def _by_word() -> dict[str, list[Rule]]:
    found: dict[str, list[Rule]] = {word: [] for word in _ENCODED}
    for rule in RULES:
        for word in rule.words:
            found.setdefault(word, []).append(rule)
    return found


WORDS: Final = _by_word()
"""The rules by their words, in lower case."""


@cache
def _related(word: str) -> list[str]:
    """Return the words that begin with a word, or that it begins with; itself among them."""
    return [other for other in WORDS if other.startswith(word) or word.startswith(other)]


@cache
def _any() -> Words:
    # Only when it is needed: most sessions are told plain by `secret_glance`.
    return Words(WORDS, _FOLLOWED)


_AFTER: Final = 400
"""How far after a word that stands within a secret that one may go."""


_NO_TEXT: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]|[\udc80-\udcff]{2}")
"""Nobody types this as a password: it stands in what is no text."""


def has_words(text: str) -> bool:
    """Say whether there is anything in a text, however it is escaped, that a rule begins with."""
    return _any().is_in(_lower(text))


def _lower(text: str) -> str:
    # The one letter that becomes two: all places are to stay where they are.
    return text.replace("\u0130", "i").lower()


def hits(text: str) -> Iterator[Hit]:
    """Give the secrets in a text; several rules may find the same."""
    lower = _lower(text)
    whole: list[Rule] = []
    for at, first in _any().find(lower):
        for word in _related(first):
            if not lower.startswith(word, at):
                continue
            for rule in WORDS[word]:
                if rule.before < 0:
                    if rule not in whole:
                        whole.append(rule)
                    continue
                start = at - rule.before if at > rule.before else 0
                end = at + len(word) + _AFTER
                found = rule.pattern.search(text, start, end) if rule.before else rule.pattern.match(text, at)
                if found is not None and (hit := _hit(rule, found)):
                    yield hit
    for rule in whole:
        for found in rule.pattern.finditer(text):
            if hit := _hit(rule, found):
                yield hit


def _hit(rule: Rule, match: re.Match[str]) -> Hit | None:
    start, end = match.span(match.lastindex or 0)
    value = match.string[start:end]
    if rule.is_told:
        # In a sentence the end of it is none of the secret.
        value = value.rstrip(".,:;!?)]}»”’…")
        if _NO_TEXT.search(value) is not None:
            return None
    if rule.is_secret(value) and REDACTED.search(value) is None:
        return Hit(start, start + len(value), rule)
    return None
