"""Rules of permission, as they are written in settings: `Bash(npm run:*)`, `Read(./.env)`, `mcp__server`.

A rule is a name of a tool, and perhaps what of it is meant. Here is said what a rule matches; what follows
from that is for `permissions`. Rules that allow are read narrowly, rules that forbid widely.
"""

# ruff: noqa: PTH117

from __future__ import annotations

import fnmatch
import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew.agent.shell_words import Word

READING: Final = frozenset({"Read", "Grep", "Glob", "LS", "NotebookRead"})
WRITING: Final = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
_SAME: Final = {"Agent": "Task"}
_FORM: Final = re.compile(r"([A-Za-z*][A-Za-z0-9_.*\-]*)(?:\((.*)\))?", re.DOTALL)
_LONGEST: Final = 4000


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule."""

    tool: str
    specifier: str | None = None
    """What of the tool is meant; None for all."""

    origin: str = ""
    """The file it is written in, or who gave it."""

    base: str | None = None
    """The folder that a path with one slash in front starts from; the project if it is None."""

    @property
    def text(self) -> str:
        """The rule as it is written."""
        return self.tool if self.specifier is None else f"{self.tool}({self.specifier})"


@dataclass(frozen=True, slots=True)
class Rules:
    """All rules that count."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()

    def with_allowed(self, rules: Iterable[Rule]) -> Rules:
        """Return them with more that allow: the person said so for this session."""
        return replace(self, allow=(*self.allow, *rules))


@dataclass(frozen=True, slots=True)
class Ground:
    """From where the paths of rules start. All are absolute, with links followed."""

    project: str
    cwd: str
    home: str


def parse_rule(text: object, *, origin: str = "", base: str | None = None) -> Rule | None:
    """Read a rule, or return None if it is none."""
    if not isinstance(text, str) or len(text) > _LONGEST:
        return None
    found = _FORM.fullmatch(text.strip())
    if found is None:
        return None
    specifier: str | None = found[2]
    if specifier is not None and specifier.strip() in {"", "*", ":*"}:
        specifier = None
    return Rule(found[1], specifier, origin, base)


def names_tool(rule: Rule, tool: str, *, is_wide: bool) -> bool:
    """Say whether a rule is about a tool. Only a wide rule, one that forbids, may leave open which."""
    name, tool = _SAME.get(rule.tool, rule.tool), _SAME.get(tool, tool)
    if name == tool:
        return True
    if name.startswith("mcp__") and name.count("__") == 1 and tool.startswith(f"{name}__"):
        return True
    if "*" not in name:
        return False
    return (is_wide or name.partition("*")[0].count("__") >= 2) and matches_text(name, tool)


def matches_path(rule: Rule, path: str, ground: Ground, *, is_wide: bool) -> bool:
    """Say whether a rule's path, written as for git's ignore files, means a file, or a folder it lies in."""
    if rule.specifier is None:
        return True
    starts = {ground.project: None, **({ground.cwd: None} if is_wide else {})}
    for start in starts:
        pattern = _components(rule.specifier.strip(), start, rule.base or ground.project, ground.home)
        if pattern is None:
            continue
        parts = [part for part in path.split("/") if part]
        if _matches(pattern, parts):
            return True
        # Where the file system takes upper case for lower, another spelling is the same file.
        if is_wide and _matches(
            [(p.casefold(), plain) for p, plain in pattern], [p.casefold() for p in parts]
        ):
            return True
    return False


def _components(text: str, start: str, base: str, home: str) -> list[tuple[str, bool]] | None:
    """Return a pattern as the names of an absolute path, each with whether it is to be taken literally."""
    is_floating = False
    if text.startswith("//"):
        at, rest = "/", text[2:]
    elif text == "~" or text.startswith("~/"):
        at, rest = home, text[2:]
    elif text.startswith("/"):
        at, rest = base, text[1:]
    elif text.startswith("!"):
        return None
    else:
        at, rest = start, text
        is_floating = "/" not in text.rstrip("/")
    found = [(part, True) for part in at.split("/") if part]
    if is_floating:
        found.append(("**", False))
    for part in rest.split("/"):
        if part == "..":
            del found[-1:]
        elif part not in {"", "."}:
            found.append((part, not set(part) & set("*?[")))
    return found


def _matches(pattern: Sequence[tuple[str, bool]], parts: Sequence[str]) -> bool:
    """Say whether a pattern means a path or a folder it lies in."""
    # The places in the pattern that the names so far may have led to.
    places = _skipped({0}, pattern)
    for part in parts:
        after: set[int] = set()
        for place in places:
            if place == len(pattern):
                return True
            name, is_plain = pattern[place]
            if name == "**" and not is_plain:
                after |= {place, place + 1} if place + 1 == len(pattern) else {place}
            elif name == part if is_plain else fnmatch.fnmatchcase(part, name):
                after.add(place + 1)
        places = _skipped(after, pattern)
        if not places:
            return False
    return len(pattern) in places


def _skipped(places: set[int], pattern: Sequence[tuple[str, bool]]) -> set[int]:
    """Add the places behind a `**` that stands for no folder; one at the end stands for at least one."""
    found = set(places)
    for place in sorted(places):
        while place + 1 < len(pattern) and pattern[place] == ("**", False):
            place += 1
            found.add(place)
    return found


def matches_domain(rule: Rule, host: str, *, is_wide: bool) -> bool:
    """Say whether a rule means a host on the network. One that forbids means those below it too."""
    if rule.specifier is None:
        return True
    kind, _, name = rule.specifier.strip().partition(":")
    name, host = name.strip().casefold().rstrip("."), host.casefold().rstrip(".")
    if kind != "domain" or not name:
        return False
    return (
        matches_text(name, host) if "*" in name else name == host or (is_wide and host.endswith(f".{name}"))
    )


def matches_command(specifier: str, text: str) -> bool:
    """Say whether a rule for a shell means a command: by its start (`npm run:*`), by stars, or exactly."""
    specifier = specifier.strip()
    if specifier.endswith(":*"):
        start = specifier[:-2].rstrip()
        return text == start or text.startswith(f"{start} ")
    if specifier.endswith(" *") and matches_text(specifier[:-2].rstrip(), text):
        return True
    return matches_text(specifier, text)


def fixed_words(specifier: str) -> list[str]:
    """Return the words that a rule for a shell fixes, those before its first star."""
    specifier = specifier.strip().removesuffix(":*")
    before, star, _ = specifier.partition("*")
    words = before.split()
    return words[:-1] if star and words and not before[-1:].isspace() else words


def is_exact(specifier: str) -> bool:
    """Say whether a rule for a shell leaves nothing open."""
    return "*" not in specifier


def may_mean(specifier: str, words: Sequence[Word]) -> bool:
    """Say whether a rule for a shell might mean a command of which some words are only known when it runs."""
    fixed = fixed_words(specifier)
    for number, word in enumerate(words):
        if not word.is_literal:
            return number < max(1, len(fixed))
        if number >= len(fixed) or word.text != fixed[number]:
            return False
    return False


def matches_text(pattern: str, text: str) -> bool:
    """Match a pattern in which a star stands for any text; in time that grows with both lengths only."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == first
    if not text.startswith(first):
        return False
    at = len(first)
    for piece in rest[:-1]:
        found = text.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return len(text) - at >= len(rest[-1]) and text.endswith(rest[-1])


def rule_for_path(tool: str, path: str, *, is_folder: bool = False) -> str | None:
    """Write a rule that means one file, or all in a folder; None if its name cannot be written in one."""
    if set(path) & set("*?[\n()") or not os.path.isabs(path):
        return None
    if os.path.normpath(path) != path or path.strip() != path:  # it would be read as another
        return None
    return f"{tool}(/{path}/**)" if is_folder else f"{tool}(/{path})"
