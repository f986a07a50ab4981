"""Decide whether a call may be made: yes, no, or only if the person says so.

What decides is what the call would touch (`Reach`), the mode, and the rules the person wrote. Nothing that is
read from files, pages or results has a say, and no text of the model's but the input of the call itself.

In this order: a rule that forbids wins over everything, in every mode. A rule that asks comes next, in every
mode. `bypassPermissions` then allows. Files that are protected are not written without asking, whatever rule
allows it. Then come the rules that allow, and what the mode allows by itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from clew.agent.forbidding import Case, Matched, match
from clew.agent.protected import is_inside, protection, real
from clew.agent.rules import (
    Ground,
    Rule,
    Rules,
    fixed_words,
    is_exact,
    matches_command,
    matches_domain,
    matches_path,
    names_tool,
    rule_for_path,
)
from clew.agent.shell_proposals import proposals_for
from clew.agent.shell_reach import Line, understand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clew.agent.shell_reach import Part
    from clew.agent.tool import Reach

Mode = Literal["default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"]
Verdict = Literal["allow", "deny", "ask"]
MODES: Final[tuple[Mode, ...]] = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")


@dataclass(frozen=True, slots=True)
class Decision:
    """What was decided about a call, and why."""

    verdict: Verdict
    reason: str
    rule: str | None = None
    """The rule that decided, as it is written."""

    proposals: tuple[str, ...] = ()
    """Rules under which it would not be asked again; all of them together."""

    is_firm: bool = False
    """Whether no hook can decide otherwise: a rule forbids or asks, or a protected file is written."""


def decide(
    tool_name: str,
    reach: Reach,
    given: Mapping[str, object],
    *,
    mode: str,
    rules: Rules,
    project: str,
    cwd: str,
    readable: Sequence[str] = (),
    folders: Sequence[str] = (),
    protected: Sequence[str] = (),
    home: str | None = None,
) -> Decision:
    """Decide whether a call may be made.

    `folders` are worked in like the project; what is in `readable` may be read; in `protected`, such as the
    config folder with the sessions, nothing is written without asking.
    """
    ground = Ground(*(real(one) for one in (project, cwd, home or os.path.expanduser("~"))))  # noqa: PTH111
    command = reach.command if reach.command is not None else _command(tool_name, given)
    line = None if command is None else understand(command, cwd=ground.cwd, home=ground.home)
    case = Case(tool_name, reach, given, line, ground)
    judge = _Judge(case, mode, rules, readable, folders, protected)
    return judge.decide()


def with_hook(decision: Decision, permission: str | None, reason: str, *, mode: str = "default") -> Decision:
    """Return what comes of a decision when a hook was asked too. A hook's yes never beats what is firm."""
    match permission:
        case "deny":
            return Decision("deny", reason or "a hook forbids it", is_firm=True)
        case "ask" if decision.verdict == "allow":
            verdict: Verdict = "deny" if mode == "dontAsk" else "ask"
            return Decision(verdict, reason or "a hook asks for it", is_firm=True)
        case "allow" if not decision.is_firm and decision.verdict != "allow":
            return Decision("allow", reason or "a hook allows it")
        case _:
            return decision


def is_hidden(path: str, rules: Rules, *, project: str, cwd: str, home: str | None = None) -> bool:
    """Say whether a rule forbids to read a file: searches leave such files out."""
    ground = Ground(*(real(one) for one in (project, cwd, home or os.path.expanduser("~"))))  # noqa: PTH111
    paths = {path, real(path)}
    return any(
        rule.tool == "Read" and any(matches_path(rule, one, ground, is_wide=True) for one in paths)
        for rule in rules.deny
    )


def _command(tool_name: str, given: Mapping[str, object]) -> str | None:
    command = given.get("command")
    return command if tool_name == "Bash" and isinstance(command, str) else None


class _Judge:
    def __init__(
        self,
        case: Case,
        mode: str,
        rules: Rules,
        readable: Sequence[str],
        folders: Sequence[str],
        protected: Sequence[str],
    ) -> None:
        self.case = case
        self.mode: Mode = mode if mode in MODES else "default"
        self.rules = rules
        self.worked_in = [case.ground.project, *(real(one) for one in folders)]
        self.readable = [*self.worked_in, *(real(one) for one in readable)]
        self.protected = protected

    def decide(self) -> Decision:
        found = self._by_rules()
        if found is None and self.mode == "bypassPermissions":
            return Decision("allow", "everything is allowed in this mode")
        if found is None or (found.verdict == "ask" and self.mode == "plan"):
            judged = self._judged()
            found = judged if found is None or judged.verdict == "deny" else found
        if found.verdict == "ask" and self.mode == "dontAsk":
            return replace(found, verdict="deny", reason=f"{found.reason}, and nothing is asked in this mode")
        return found

    def _by_rules(self) -> Decision | None:
        """Look whether a rule forbids, or asks."""
        doubtful: Matched | None = None
        for rule in self.rules.deny:
            found = match(rule, self.case)
            if found.is_certain:
                return Decision("deny", f"the rule {rule.text} forbids {found.what}", rule.text, is_firm=True)
            doubtful = doubtful or (found if found.what else None)
        for rule in self.rules.ask:
            found = match(rule, self.case)
            if found.what:
                return Decision("ask", f"the rule {rule.text} asks for {found.what}", rule.text, is_firm=True)
        if doubtful is not None and doubtful.rule is not None:
            text = doubtful.rule.text
            return Decision("ask", f"the rule {text} may forbid {doubtful.what}", text, is_firm=True)
        return None

    def _judged(self) -> Decision:
        reach, line = self.case.reach, self.case.line
        found: list[Decision] = []
        if line is not None:
            found += self._line(line)
        found += [self._read(path) for path in reach.reads if path not in reach.writes]
        found += [self._write(path) for path in reach.writes]
        if reach.domain is not None:
            found.append(self._domain(reach.domain))
        if reach.searches_web:
            found.append(self._outside("WebSearch", "it searches the web"))
        if reach.is_foreign:
            found.append(self._foreign())
        return _worst(found)

    def _outside(self, rule: str, why: str) -> Decision:
        allowed = self._whole()
        return allowed or Decision("ask", why, proposals=(rule,))

    def _foreign(self) -> Decision:
        if self.mode == "plan":
            return Decision(
                "ask", "nobody knows whether it changes anything, and this is the mode for planning"
            )
        return self._outside(self.case.tool, "another program does it, and nobody knows what that touches")

    def _whole(self) -> Decision | None:
        """Look for a rule that allows all uses of the tool."""
        for rule in self.rules.allow:
            if rule.specifier is None and names_tool(rule, self.case.tool, is_wide=False):
                return _allowed(rule)
        return None

    def _domain(self, host: str) -> Decision:
        for rule in self.rules.allow:
            if names_tool(rule, self.case.tool, is_wide=False) and matches_domain(rule, host, is_wide=False):
                return _allowed(rule)
        return Decision("ask", f"it asks {host} on the network", proposals=(f"WebFetch(domain:{host})",))

    def _read(self, path: str) -> Decision:
        path = real(path)
        if any(is_inside(path, one) for one in self.readable):
            return Decision("allow", "it reads in the project")
        for rule in self.rules.allow:
            # Who may change a file may see it.
            if self._is_for(rule, {"Read", "Edit"}) and matches_path(
                rule, path, self.case.ground, is_wide=False
            ):
                return _allowed(rule)
        is_folder = os.path.isdir(path)  # noqa: PTH112
        proposal = rule_for_path("Read", path, is_folder=is_folder) if path.count("/") > 1 else None
        return Decision("ask", f"it reads {path}, outside of the project", proposals=_some(proposal))

    def _write(self, path: str) -> Decision:
        path, given = real(path), path
        if self.mode == "plan":
            return Decision("deny", f"it changes {path}, and nothing is changed while planning", is_firm=True)
        kind = protection(path, self.protected) or protection(given, self.protected)
        if kind is not None:
            return Decision("ask", f"it changes {path}: {kind}", is_firm=True)
        for rule in self.rules.allow:
            if self._is_for(rule, {"Edit"}) and matches_path(rule, path, self.case.ground, is_wide=False):
                return _allowed(rule)
        is_in = any(is_inside(path, one) for one in self.worked_in)
        if is_in and self.mode == "acceptEdits":
            return Decision("allow", "changes in the project are accepted in this mode")
        proposal = rule_for_path("Edit", path)
        where = "" if is_in else ", outside of the project"
        return Decision("ask", f"it changes {path}{where}", proposals=_some(proposal))

    def _is_for(self, rule: Rule, kinds: set[str]) -> bool:
        """Whether a rule that allows is about files the call touches: of a kind, or of this very tool's."""
        return rule.tool in kinds or (
            rule.tool == self.case.tool and (self.case.line is None or not rule.specifier)
        )

    def _line(self, line: Line) -> list[Decision]:
        if line.problem:
            verdict: Verdict = "deny" if self.mode == "plan" else "ask"
            return [
                Decision(verdict, f"the line is not understood: {line.problem}", is_firm=verdict == "deny")
            ]
        return [found for part in line.parts for found in self._part(part)]

    def _part(self, part: Part) -> list[Decision]:
        found = [self._read(path) for path in part.reads]
        found += [self._write(path) for path in part.writes]
        command = self._command(part)
        found.append(command)
        if part.is_free and command.rule is None:
            found += [self._read(path) for path in part.looks_at]
            found += [self._write(path) for path in part.changes]
        for path in () if part.looks_at else part.named:
            kind = protection(path, self.protected)
            if kind is not None:
                found.append(Decision("ask", f"it names {path}: {kind}", is_firm=True))
        return found

    def _command(self, part: Part) -> Decision:
        """Decide about a command, without the files it names if it is known what it does with them."""
        if self.mode == "plan" and (part.changes or part.doubt or not part.is_free):
            why = f"{part.source} may change something, and nothing is changed while planning"
            return Decision("deny", why, is_firm=True)
        if part.doubt:
            return Decision("ask", f"{part.source}: {part.doubt}")
        if part.is_searching and self._hides_files():
            return Decision("ask", f"{part.source} may show files that a rule forbids to read")
        for rule in self.rules.allow if part.words else ():
            if names_tool(rule, self.case.tool, is_wide=False) and _allows(rule, part):
                return _allowed(rule)
        if part.is_free:
            return Decision("allow", "it only looks, or changes only the files it names")
        return Decision("ask", f"it runs {part.source}", proposals=proposals_for(part, self.case.tool))

    def _hides_files(self) -> bool:
        return any(rule.tool == "Read" and rule.specifier is not None for rule in self.rules.deny)


def _allows(rule: Rule, part: Part) -> bool:
    """Say whether a rule allows a command: all of it, and knowing what it starts."""
    if rule.specifier is None:
        return True
    for text, least in part.texts:
        if not matches_command(rule.specifier, text):
            continue
        if is_exact(rule.specifier):
            return not part.has_tail
        if len(fixed_words(rule.specifier)) >= least and part.mention in rule.specifier:
            return True
    return False


def _allowed(rule: Rule) -> Decision:
    return Decision("allow", f"the rule {rule.text} allows it", rule.text)


def _some(*found: str | None) -> tuple[str, ...]:
    return tuple(one for one in found if one)


def _worst(found: Iterable[Decision]) -> Decision:
    """Return what counts when a call touches several things."""
    order: Callable[[Decision], tuple[bool, bool, bool]] = lambda one: (  # noqa: E731
        one.verdict == "deny",
        one.verdict == "ask",
        one.is_firm,
    )
    every = [*found] or [Decision("allow", "it touches nothing")]
    worst = max(every, key=order)
    if worst.verdict != "ask":
        return worst
    asked = [one for one in every if one.verdict == "ask"]
    # Rules help only if none of the questions would be left.
    if any(not one.proposals for one in asked):
        return replace(worst, proposals=())
    return replace(worst, proposals=tuple(dict.fromkeys(text for one in asked for text in one.proposals)))
