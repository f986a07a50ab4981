"""Decide about calls for a whole session: by the person's rules, their hooks, or else by asking them.

One question at a time, whoever asks. What the person allows for the session holds for it and its sub-agents.
"""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clew.agent.asking import question, settle
from clew.agent.calls import Verdict
from clew.agent.happenings import Noted
from clew.agent.hooks import Situation, run
from clew.agent.permissions import MODES, decide, is_hidden, with_hook
from clew.agent.setting_files import remember
from clew.agent.settings import rule_grant
from clew.errors import ClewError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from clew.agent.asking import Asker, Settled
    from clew.agent.calls import Call
    from clew.agent.cancel import Cancel
    from clew.agent.happenings import Listener
    from clew.agent.hook_answers import Answer
    from clew.agent.permissions import Decision
    from clew.agent.rules import Rules
    from clew.agent.setting_files import Hook
    from clew.agent.settings import Counted
    from clew.agent.tool import Outcome, Tool, Work
    from clew.agent.trust import Trust


class SessionGate:
    """Decides about the calls of one session."""

    def __init__(
        self,
        counted: Counted,
        *,
        asker: Asker,
        listener: Listener,
        situation: Callable[[], Situation],
        project: Path,
        trust: Trust,
        mode: str,
        readable: Sequence[str] = (),
        protected: Sequence[str] = (),
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """`situation` says where the session stands, for hooks."""
        self._counted = counted
        self._rules: Rules = counted.rules
        self._asker = asker
        self._listener = listener
        self._situation = situation
        self._project = project
        self._trust = trust
        self._readable = readable
        self._protected = protected
        self._environ = dict(os.environ if environ is None else environ)
        self._asking = threading.Lock()
        self.mode = mode

    @property
    def mode(self) -> str:
        """What may be done without asking."""
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        if mode not in MODES:
            raise UsageError(f"no mode is called {mode!r}", hint=f"one of: {', '.join(MODES)}")
        if mode == "bypassPermissions" and self._counted.forbids_bypass:
            raise UsageError("the settings forbid the mode in which everything is allowed")
        self._mode = mode

    # Calls ----------------------------------------------------------------------------------------

    def permit(self, call: Call, tool: Tool, work: Work) -> Verdict:
        """Say whether a call may run."""
        said = self.happened(
            "PreToolUse",
            {"tool_name": call.name, "tool_input": dict(call.given), "tool_use_id": call.id},
            work.cancel,
        )
        given = call.given if said.updated_input is None else said.updated_input
        self._stop_if(said, work)

        def judged() -> Decision:
            found = self._decide(call.name, tool, given, work)
            return with_hook(found, said.permission, said.permission_reason, mode=self._mode)

        decision = judged()
        if decision.verdict == "ask":
            with self._asking:
                # Somebody may have allowed it for the session while this one waited.
                decision = judged()
                if decision.verdict == "ask":
                    return self._asked(call, tool, given, work, decision)
        return self._verdict(decision, given)

    def _stop_if(self, said: Answer, work: Work) -> None:
        """End the turn where a hook says that everything is to stop."""
        if said.stopped is not None:
            self._listener(Noted(f"a hook of yours stopped the turn: {said.stopped}"))
            work.cancel.ask()
            work.cancel.check()

    def _decide(self, name: str, tool: Tool, given: Mapping[str, object], work: Work) -> Decision:
        return decide(
            name,
            tool.reach(given, work),
            given,
            mode=self._mode,
            rules=self._rules,
            project=str(self._project),
            cwd=work.cwd,
            readable=(*self._readable, work.results_folder),
            folders=self._counted.folders,
            protected=self._protected,
        )

    def _verdict(self, decision: Decision, given: Mapping[str, object]) -> Verdict:
        extra = {
            "permissionDecision": {
                "decision": "accept" if decision.verdict == "allow" else "reject",
                "source": "config",
                "reasonType": "mode" if decision.rule is None else "rule",
            }
        }
        if decision.verdict == "allow":
            return Verdict(is_allowed=True, given=given, extra=extra)
        return Verdict(is_allowed=False, words=f"Permission denied: {decision.reason}.", extra=extra)

    def _asked(
        self, call: Call, tool: Tool, given: Mapping[str, object], work: Work, decision: Decision
    ) -> Verdict:
        asked = question(call.name, given, tool.reach(given, work), decision, call_id=call.id)
        settled = settle(asked, self._asker.ask(asked, work.cancel))
        work.cancel.check()
        self._learn(settled)
        if not settled.is_allowed:
            return Verdict(is_allowed=False, words=settled.told)
        return Verdict(is_allowed=True, given=given)

    def _learn(self, settled: Settled) -> None:
        if settled.session_rules:
            self._rules = replace(self._rules, allow=(*self._rules.allow, *settled.session_rules))
        if settled.kept_rules:
            try:
                remember(self._project, settled.kept_rules)
                self._trust.accept(self._project, [rule_grant(text) for text in settled.kept_rules])
            except (ClewError, OSError) as error:
                self._listener(Noted(f"the rule holds for this session, but could not be kept: {error}"))

    def ended(self, call: Call, given: Mapping[str, object], outcome: Outcome, work: Work) -> Outcome:
        """Hear what came of a call; hooks may add to what the model is told."""
        said = self.happened(
            "PostToolUse",
            {
                "tool_name": call.name,
                "tool_input": dict(given),
                "tool_use_id": call.id,
                "tool_response": outcome.structured,
            },
            work.cancel,
        )
        if said.stopped is not None:
            self._listener(Noted(f"a hook of yours stopped the turn: {said.stopped}"))
            work.cancel.ask()  # the result is written first
        more = [*said.context] if said.blocked is None else [said.blocked, *said.context]
        if not more:
            return outcome
        content: list[dict[str, Any]] = (
            [{"type": "text", "text": outcome.content}]
            if isinstance(outcome.content, str)
            else [*outcome.content]
        )
        content += [
            {"type": "text", "text": f"<system-reminder>\n{words}\n</system-reminder>"} for words in more
        ]
        return replace(outcome, content=content)

    def is_hidden(self, path: str) -> bool:
        """Say whether a rule forbids to read a file."""
        return is_hidden(path, self._rules, project=str(self._project), cwd=str(self._project))

    # Hooks ----------------------------------------------------------------------------------------

    @property
    def hooks(self) -> Sequence[Hook]:
        """The hooks that count."""
        return self._counted.hooks

    def happened(self, event: str, told: Mapping[str, object], cancel: Cancel) -> Answer:
        """Run the hooks of an event; what they say to the person is told."""
        here = replace(self._situation(), permission_mode=self._mode)
        answer = run(
            self._counted.hooks,
            event,
            here,
            told,
            project=str(self._project),
            environ=self._environ,
            cancel=cancel,
        )
        for words in (*answer.messages, *answer.notes):
            self._listener(Noted(words))
        return answer
