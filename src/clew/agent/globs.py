"""Patterns for the names of files, as `.gitignore` files and ripgrep have them.

A pattern without a slash is for names at any depth, one with a slash for paths from its folder on. `*` and
`?` stay within a name, `**` goes over folders, `[a-z]` and `{one,two}` are as in a shell, `!` turns a pattern
around, and a slash at the end asks for a folder.

Patterns come from the model and from projects, so each is compiled such that matching takes time in
proportion to the path and the pattern: what a star skips is settled when what follows it was first found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_MOST: Final = 4096
_MOST_CHOICES: Final = 512
_END: Final = r"(?=/|\Z)"


class GlobError(ClewError):
    """The pattern is none."""

    code = "bad-glob"

    def __init__(self, pattern: str, why: str) -> None:
        super().__init__(f"error parsing glob '{pattern}': {why}")
        self.pattern = pattern


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern."""

    paths: re.Pattern[str]
    is_negated: bool
    only_folders: bool

    def matches(self, path: str, *, is_folder: bool) -> bool:
        """Say whether a path is meant, given from the pattern's folder on, with slashes."""
        return (is_folder or not self.only_folders) and self.paths.match(path) is not None


@dataclass(frozen=True, slots=True)
class Rules:
    """Several patterns, of which the last that matches counts."""

    rules: tuple[Rule, ...]

    def judge(self, path: str, *, is_folder: bool) -> bool | None:
        """Say whether a path is meant: yes, no by a pattern that was turned around, or nothing at all."""
        for rule in reversed(self.rules):
            if rule.matches(path, is_folder=is_folder):
                return not rule.is_negated
        return None


@dataclass(frozen=True, slots=True)
class Choice:
    """Patterns that say which files are wanted; those that begin with `!`, which are not."""

    rules: Rules

    def judge(self, path: str, *, is_folder: bool) -> bool | None:
        """Say whether a path is wanted. Of a folder no pattern names nothing is said: files may be in it."""
        found = self.rules.judge(path, is_folder=is_folder)
        if found is not None:
            return found
        return False if not is_folder and any(not rule.is_negated for rule in self.rules.rules) else None


def choice(patterns: Iterable[str]) -> Choice:
    """Compile patterns that say which files are wanted. Raise `GlobError`."""
    return Choice(Rules(tuple(rule(pattern) for pattern in patterns)))


def ignored(lines: Iterable[str]) -> Rules:
    """Compile the lines of an ignore file. Lines that are no patterns are left out, as git does."""
    found: list[Rule] = []
    for line in lines:
        line = line.rstrip("\n").removesuffix("\r")
        if not line.endswith("\\ "):
            line = line.rstrip(" \t")
        if not line or line.startswith("#"):
            continue
        try:
            found.append(rule(line))
        except GlobError:
            continue
    return Rules(tuple(found))


def rule(pattern: str) -> Rule:
    """Compile a pattern. Raise `GlobError`."""
    if len(pattern) > _MOST:
        raise GlobError(pattern[:80], "it is too long")
    is_negated = pattern.startswith("!")
    rest = pattern[1:] if is_negated else pattern
    only_folders = rest.endswith("/")
    rest = rest.removesuffix("/")
    is_rooted = rest.startswith("/")
    rest = rest.removeprefix("/")
    if not rest:
        raise GlobError(pattern, "it is empty")
    any_depth = not is_rooted and "/" not in rest
    choices = [_compiled(one, pattern, any_depth=any_depth) for one in _spread(rest, pattern)]
    try:
        return Rule(re.compile("|".join(choices), re.DOTALL), is_negated, only_folders)
    except re.error as error:
        raise GlobError(pattern, str(error)) from None


def has_magic(name: str) -> bool:
    """Say whether a name is a pattern, and not just a name."""
    return any(character in name for character in "*?[]{}\\")


def _spread(pattern: str, whole: str) -> list[str]:
    """Write out the choices of a pattern, `{a,b}`, as patterns without any."""
    done: list[str] = []
    waiting = [pattern]
    while waiting:
        one = waiting.pop()
        span = _braces(one, whole)
        if span is None:
            done.append(one)
        else:
            start, cuts, end = span
            inner = [start, *cuts, end]
            pieces = [one[a + 1 : b] for a, b in pairwise(inner)]
            waiting += [one[:start] + piece + one[end + 1 :] for piece in reversed(pieces)]
        if len(done) + len(waiting) > _MOST_CHOICES:
            raise GlobError(whole, "it has too many choices")
    return done


def _braces(pattern: str, whole: str) -> tuple[int, list[int], int] | None:
    """Find the first choice of a pattern: where it begins, its commas, and where it ends."""
    start, depth, cuts = -1, 0, list[int]()
    for at, character in _plain(pattern):
        if character == "{":
            start = at if depth == 0 else start
            depth += 1
        elif character == "}":
            depth -= 1
            if depth < 0:
                raise GlobError(whole, "unopened alternate group; missing '{'")
            if depth == 0:
                return start, cuts, at
        elif character == "," and depth == 1:
            cuts.append(at)
    if depth:
        raise GlobError(whole, "unclosed alternate group; missing '}'")
    return None


def _plain(pattern: str) -> Iterator[tuple[int, str]]:
    """Give the characters of a pattern that mean something: not those after a backslash or in brackets."""
    at = 0
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 2
        elif pattern[at] == "[" and (end := _closing(pattern, at)) is not None:
            at = end + 1
        else:
            yield at, pattern[at]
            at += 1


def _closing(pattern: str, at: int) -> int | None:
    """Find the bracket that closes a class."""
    start = at + 2 if pattern[at + 1 : at + 2] in ("!", "^") else at + 1
    end = pattern.find("]", start + 1)
    return None if end < 0 else end


def _compiled(pattern: str, whole: str, *, any_depth: bool) -> str:
    """Write a pattern without choices as a regular expression for a whole path."""
    groups: list[list[str]] = [[]]
    for name in pattern.split("/"):
        if name == "**":
            if groups[-1] or len(groups) == 1:
                groups.append([])
        else:
            groups[-1].append(_name(name, whole))
    if any_depth and len(groups) == 1:
        groups.insert(0, [])
    return _joined(groups)


def _joined(groups: Sequence[Sequence[str]]) -> str:
    """Join stretches of names, with any number of folders between each and the next."""
    parts = ["".join(f"{name}/" for name in groups[0])] if len(groups) > 1 else ["/".join(groups[0])]
    parts += [rf"(?>(?:[^/]+/)*?{''.join(f'{name}/' for name in group)})" for group in groups[1:-1]]
    if len(groups) > 1:
        # Nothing behind the last `**` is everything that is in there.
        parts.append(rf"(?:[^/]+/)*{'/'.join(groups[-1])}" if groups[-1] else ".+")
    return rf"(?:{''.join(parts)})\Z"


def _name(name: str, whole: str) -> str:
    """Write the pattern of one name. It has no choices and no slash, but maybe stars."""
    pieces: list[str] = [""]
    at = 0
    while at < len(name):
        character = name[at]
        if character == "*":
            pieces.append("")
            at += len(name[at:]) - len(name[at:].lstrip("*"))
            continue
        if character == "?":
            piece, at = "[^/]", at + 1
        elif character == "[":
            piece, at = _class(name, at, whole)
        elif character == "\\":
            if at + 1 == len(name):
                raise GlobError(whole, "dangling '\\'")
            piece, at = re.escape(name[at + 1]), at + 2
        else:
            piece, at = re.escape(character), at + 1
        pieces[-1] += piece
    middle = "".join(rf"(?>[^/]*?{piece})" for piece in pieces[1:-1])
    return pieces[0] + middle + (rf"[^/]*{pieces[-1]}{_END}" if len(pieces) > 1 else "")


def _class(name: str, at: int, whole: str) -> tuple[str, int]:
    end = _closing(name, at)
    if end is None:
        raise GlobError(whole, "unclosed character class; missing ']'")
    inner = name[at + 1 : end]
    is_negated = inner.startswith(("!", "^"))
    inner = inner[1:] if is_negated else inner
    for first, last in re.findall(r"(.)-(.)", inner, re.DOTALL):
        if first > last:
            raise GlobError(whole, f"invalid range; '{first}' > '{last}'")
    escaped = re.sub(r"([\\\[\]^&~|])", r"\\\1", inner)
    return (f"[^/{escaped}]" if is_negated else f"(?!/)[{escaped}]"), end + 1
