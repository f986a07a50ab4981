"""Find out whether a rule that forbids, or that asks, means a call.

Such a rule is read widely: a command is known under all its names and inside whatever wraps it, a file by
whatever tool or command touches it. What cannot be known for certain is told as a doubt.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.agent.protected import real
from clew.agent.rules import (
    READING,
    WRITING,
    Ground,
    Rule,
    matches_command,
    matches_domain,
    matches_path,
    matches_text,
    may_mean,
    names_tool,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.agent.shell_reach import Line, Part
    from clew.agent.tool import Reach

_CHANGERS: Final = frozenset(
    {
        "tee",
        "sed",
        "cp",
        "mv",
        "rm",
        "dd",
        "truncate",
        "install",
        "ln",
        "chmod",
        "chown",
        "touch",
        "mkdir",
        "rmdir",
    }
    | {"rsync", "patch", "shred", "unlink", "perl", "gawk"}
)
"""Commands that change files they name."""

_INPUTS: Final = {"Task": "subagent_type", "Agent": "subagent_type", "Skill": "skill"}
"""Where the input of a tool says what a rule may be about."""


@dataclass(frozen=True, slots=True)
class Case:
    """A call, and all that is known of it."""

    tool: str
    reach: Reach
    given: Mapping[str, object]
    line: Line | None
    """Its line for a shell, if it has one."""

    ground: Ground


@dataclass(frozen=True, slots=True)
class Matched:
    """Whether a rule means a call."""

    what: str = ""
    """What of the call it means; nothing if it does not."""

    is_certain: bool = False
    rule: Rule | None = None


def match(rule: Rule, case: Case) -> Matched:
    """Find out whether a rule that forbids or asks means a call."""
    path = _file(rule, case)
    if path is not None:
        return Matched(path, is_certain=True, rule=rule)
    if case.line is not None and case.line.problem and _may_touch(rule, case.line):
        return Matched(f"a file in this line, which is not understood ({case.line.problem})", rule=rule)
    if not names_tool(rule, case.tool, is_wide=True):
        return Matched()
    if rule.specifier is None:
        return Matched(case.tool, is_certain=True, rule=rule)
    if case.line is not None:
        return _command(rule, rule.specifier, case.line)
    if rule.tool in READING or rule.tool in WRITING:
        return Matched()
    if case.reach.domain is not None:
        is_meant = matches_domain(rule, case.reach.domain, is_wide=True)
        return Matched(case.reach.domain, is_certain=True, rule=rule) if is_meant else Matched()
    return _input(rule, rule.specifier, case)


def _command(rule: Rule, specifier: str, line: Line) -> Matched:
    for part in line.parts:
        if any(matches_command(specifier, form) for form in part.forms):
            return Matched(part.source, is_certain=True, rule=rule)
    for text in line.fragments:
        if matches_command(specifier, text):
            return Matched(text, is_certain=True, rule=rule)
    if line.problem:
        return Matched(f"this line, which is not understood ({line.problem})", rule=rule)
    for part in line.parts:
        if part.runs_unknown or (part.words and may_mean(specifier, part.words)):
            return Matched(part.source, rule=rule)
    return Matched()


def _input(rule: Rule, specifier: str, case: Case) -> Matched:
    value = case.given.get(_INPUTS.get(case.tool, ""))
    if isinstance(value, str):
        is_meant = matches_text(specifier.removesuffix(":*"), value) or matches_command(specifier, value)
        return Matched(value, is_certain=True, rule=rule) if is_meant else Matched()
    return Matched(f"a call of {case.tool}", rule=rule)


def _file(rule: Rule, case: Case) -> str | None:
    """Return the file a call touches that the rule is about, or None."""
    if rule.tool in WRITING:
        paths = [*case.reach.writes, *_changed(case.line)]
    elif rule.tool in READING:
        paths = list(case.reach.reads)
        if rule.specifier is not None:
            # A tool that changes a file shows what is in it.
            paths += [*case.reach.writes, *_seen(case.line)]
    else:
        return None
    if (
        rule.specifier is None
        and not names_tool(rule, case.tool, is_wide=True)
        and rule.tool not in {"Read", "Edit"}
    ):
        return None
    for path in _spellings(paths):
        if matches_path(rule, path, case.ground, is_wide=True):
            return path
    return None


def _may_touch(rule: Rule, line: Line) -> bool:
    """Say whether a line that is not understood mentions what a rule about files is about."""
    if rule.specifier is None or not (rule.tool in READING or rule.tool in WRITING):
        return False
    names = [name for name in rule.specifier.split("/") if name and not set(name) & set("*?[~.") - {"."}]
    return not names or any(names[-1].strip(".") in text for text in line.fragments)


def _changed(line: Line | None) -> Iterable[str]:
    for part in line.parts if line else ():
        yield from part.writes
        yield from part.changes
        if _is_changer(part):
            yield from part.named


def _is_changer(part: Part) -> bool:
    return bool(part.words) and os.path.basename(part.words[0].text) in _CHANGERS  # noqa: PTH119


def _seen(line: Line | None) -> Iterable[str]:
    for part in line.parts if line else ():
        yield from part.reads
        yield from part.named


def _spellings(paths: Iterable[str]) -> Iterable[str]:
    """Yield each path as it was given and with its links followed."""
    for path in paths:
        yield path
        yield real(path)
