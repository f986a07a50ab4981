"""Secrets that were found, and every spelling they may stand in where nothing tells that they are secrets."""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote, quote_plus

from clew.edit.secret_looks import key_lines, may_spread
from clew.edit.secret_rules import ORDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.session.session import Session

KEY_RULES: Final = frozenset({"private-key", "ssh-key", "putty-key"})
"""Keys of several lines."""


class Found(NamedTuple):
    """A secret in a text."""

    start: int
    end: int
    rule: str
    value: str
    """The secret itself, plainly spelled."""


class Secrets:
    """Secrets that were found, each with the rule that found it."""

    def __init__(self, values: dict[str, str] | None = None) -> None:
        self.values: dict[str, str] = values or {}
        """The rule by the secret, plainly spelled; only those that may be looked for anywhere."""
        self.seen = len(self.values)
        """How many were seen, those that may not be looked for elsewhere too."""
        self.sights: dict[Session, bytearray] = {}
        """What was seen in the lines of the sessions that were gone through, for `secret_cleaner`."""

    def __len__(self) -> int:
        return len(self.values)

    def __or__(self, other: Secrets) -> Secrets:
        merged = Secrets(dict(self.values))
        merged.seen = self.seen + other.seen
        merged.sights = self.sights | other.sights
        for value, rule in other.values.items():
            merged._put(value, rule)
        return merged

    def add(self, text: str, found: Iterable[Found]) -> None:
        """Take note of what was found in a text."""
        for one in found:
            self.seen += 1
            if one.rule in KEY_RULES:
                for line in {*key_lines(text[one.start : one.end]), *key_lines(one.value)}:
                    if len(line) <= 100:
                        self._put(line, one.rule)
            elif may_spread(one.value):
                self._put(one.value, one.rule)

    def _put(self, value: str, rule: str) -> None:
        old = self.values.get(value)
        if old is None or ORDER.get(rule, len(ORDER)) < ORDER.get(old, len(ORDER)):
            self.values[value] = rule

    @cached_property
    def spellings(self) -> Spellings:
        """Every form of every one; ask when all are there."""
        return Spellings(self.values)


_ANCHOR: Final = 8
_SHORTEST: Final = 4


class Spellings:
    """Finds known secrets in any spelling."""

    def __init__(self, values: dict[str, str]) -> None:
        self._values = values
        self._by_start: dict[str, list[tuple[str, str, str]]] = {}
        for value, rule in values.items():
            for form in spelled(value):
                self._by_start.setdefault(form[:_ANCHOR], []).append((form, rule, value))
        for forms in self._by_start.values():
            forms.sort(key=lambda one: -len(one[0]))
        self._starts = re.compile(_any_of(self._by_start)) if self._by_start else None

    def bare_starts(self) -> set[bytes] | None:
        """Return how they begin where backslashes are left out; None if some cannot be told by that.

        A letter far from ours and a space may be spelled in ways that leave nothing of them.
        """
        found = {
            form.replace("\\", "")[:_ANCHOR] for forms in self._by_start.values() for form, _, _ in forms
        }
        if any(len(start) < _SHORTEST or not start.isascii() for start in found):
            return None
        if any(not value.isascii() or not value.isprintable() or " " in value for value in self._values):
            return None
        return {start.encode("ascii") for start in found}

    def find(self, text: str) -> Iterator[Found]:
        """Give the places of known secrets in a text."""
        if self._starts is None:
            return
        match = self._starts.search(text)
        while match is not None:
            at = match.start()
            following = at + 1
            for form, rule, value in self._by_start[match.group()]:
                if text.startswith(form, at):
                    yield Found(at, at + len(form), rule, value)
                    following = at + len(form)
                    break
            match = self._starts.search(text, following)


def _any_of(starts: Iterable[str]) -> str:
    """Return a pattern for beginnings, all of a length, that tries what they share once and not for each."""
    groups: dict[str, list[str]] = {}
    for start in sorted(starts):
        groups.setdefault(start[:1], []).append(start[1:])
    ways = [re.escape(first) + (_any_of(rest) if first else "") for first, rest in groups.items()]
    return ways[0] if len(ways) == 1 else f"(?:{'|'.join(ways)})"


_SHELL: Final = re.compile(r"([^\w@%+=:,./-])")
_FOR_HTML: Final = re.compile(r"[<>&='+]")


def spelled(value: str) -> set[str]:
    """Return a secret in every spelling: escaped for JSON, addresses, pages and shells, base64 and hex."""
    forms = {value}
    once = {json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]}
    once |= {form.replace("/", "\\/") for form in once}
    once |= {_FOR_HTML.sub(_as_escape, form) for form in once}
    forms |= once | {json.dumps(form)[1:-1] for form in once}
    # Halves of surrogate pairs have no bytes.
    data = value.encode("utf-8", "surrogatepass")
    for coded in (quote(data, safe=""), quote(data), quote_plus(data)):
        lower = re.sub(r"%[0-9A-F]{2}", lambda match: match.group().lower(), coded)
        forms |= {coded, lower, quote(coded, safe="")}
    forms |= {html.escape(value), value.replace("'", "'\\''"), _SHELL.sub(r"\\\1", value)}
    for shift in range(3):
        packed = b64encode(bytes(shift) + data).decode("ascii")
        body = packed[-(-shift * 4 // 3) : (shift + len(data)) * 4 // 3]
        forms |= {body, body.replace("+", "-").replace("/", "_")}
    forms |= {data.hex(), data.hex().upper()}
    return {form for form in forms if len(form) >= _ANCHOR}


def _as_escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"
