"""Make the loops of a session: its own, and those of its sub-agents, which may have sub-agents of their own.

They share the door, the budget and who decides about calls. Each has a transcript, a conversation and a
memory of files of its own.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from clew.agent.calls import Caller
from clew.agent.compaction import Compactor
from clew.agent.conversation import Conversation
from clew.agent.happenings import InAgent
from clew.agent.loop import Loop, Parts
from clew.agent.past import messages_to_send
from clew.agent.seen import Seen
from clew.agent.side import SideTranscript, Start
from clew.agent.system_prompt import system_prompt
from clew.agent.tool import Work
from clew.agent.tools.agent import AgentTool, Report, Task
from clew.store.reader import open_session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clew.agent.agent_kinds import AgentKind
    from clew.agent.budget import Budget
    from clew.agent.calls import Gate
    from clew.agent.cancel import Cancel
    from clew.agent.door import Door
    from clew.agent.happenings import Happening, Listener
    from clew.agent.instructions import Instruction
    from clew.agent.loop import Ending
    from clew.agent.system_prompt import Surroundings
    from clew.agent.tool import Tool
    from clew.agent.transcript import Transcript
    from clew.agent.writing import Writing

DEEPEST: Final = 3
"""A sub-agent so deep below the session has no sub-agents."""

_STEPS: Final = 200
"""So many requests a sub-agent may make for one task."""


@dataclass(frozen=True, slots=True)
class Shared:
    """What a session and all its sub-agents have in common."""

    door: Door
    transcript: Transcript
    gate: Gate
    budget: Budget
    listener: Listener
    tools: Mapping[str, Tool]
    """All but the one that starts sub-agents."""

    kinds: Mapping[str, AgentKind]
    surroundings: Callable[[], Surroundings]
    instructions: Sequence[Instruction]
    project: str
    window: int | None = None
    more: str | None = None
    """What the person adds to what the model is told first."""

    server_tools: Sequence[Mapping[str, Any]] = ()
    is_interactive: bool = False
    queued: Callable[[], str | None] = lambda: None
    """Gives what the person said meanwhile."""

    agent_ended: Callable[[SideTranscript, Ending, bool], str | None] = lambda _side, _ending, _again: None
    """Is told that a sub-agent is done, and whether it was sent back before; returns why it is not."""


class Crew:
    """Makes loops."""

    def __init__(self, shared: Shared, *, model: str, seen: Seen, cancel: Callable[[], Cancel]) -> None:
        """`cancel` gives the wish to stop that holds for the turn."""
        self._shared = shared
        self._cancel = cancel
        self.model = model
        transcript = shared.transcript
        past = transcript.past
        self.conversation = Conversation(() if past is None else past.messages, read_again=self._read_again)
        self.compactor = Compactor(
            shared.door, transcript, self.conversation, shared.budget, shared.listener, self._extract
        )
        tools = self._tools_for(transcript, None, 0)
        self.loop = Loop(
            Parts(
                shared.door,
                transcript,
                self.conversation,
                self._caller(tools, transcript, seen, shared.listener),
                tools,
                shared.budget,
                shared.listener,
                lambda: system_prompt(shared.surroundings(), shared.instructions, more=shared.more),
                self.compactor,
                shared.server_tools,
                shared.queued,
            ),
            model=model,
            tokens=0 if past is None else past.tokens,
            window=shared.window,
        )

    def _read_again(self) -> Iterable[Mapping[str, Any]]:
        path = self._shared.transcript.path
        return messages_to_send(open_session(path), model=self.loop.model) if os.path.exists(path) else ()  # noqa: PTH110

    def _extract(self) -> str:
        from clew.edit.extract import extract

        session = open_session(self._shared.transcript.path)
        return extract(session, range(len(session)))

    def _tools_for(self, above: Writing, kind: AgentKind | None, depth: int) -> dict[str, Tool]:
        chosen = None if kind is None else kind.tools
        tools = {name: tool for name, tool in self._shared.tools.items() if chosen is None or name in chosen}
        if depth < DEEPEST and (chosen is None or "Agent" in chosen):
            tool = AgentTool(self._shared.kinds, lambda task, work: self._send(task, work, above, depth))
            tools[tool.name] = tool
        return tools

    def _caller(
        self, tools: Mapping[str, Tool], transcript: Writing, seen: Seen, listener: Listener
    ) -> Caller:
        shared = self._shared
        main = shared.transcript
        folder = os.path.join(main.path.removesuffix(".jsonl"), "tool-results")  # noqa: PTH118

        def work_for(call_id: str) -> Work:
            return Work(
                call_id,
                transcript.cwd,
                shared.project,
                seen,
                self._cancel(),
                folder,
                before_change=main.keep_before,
            )

        def moved(folder: str) -> None:
            transcript.cwd = folder

        return Caller(tools, shared.gate, work_for=work_for, listener=listener, moved=moved)

    def _send(self, task: Task, work: Work, above: Writing, depth: int) -> Report:
        """Have a sub-agent do a task; return what it reports."""
        shared = self._shared
        kind = task.kind
        model = task.model or kind.model or self.loop.model
        start = Start(
            kind.name,
            task.description,
            work.call_id,
            model=model,
            is_built_in=kind.is_built_in,
            is_interactive=shared.is_interactive,
        )
        side = SideTranscript.begin(above, start)
        started = time.monotonic()

        def listener(happening: Happening) -> None:
            shared.listener(InAgent(work.call_id, side.agent_id, happening))

        tools = self._tools_for(side, kind, depth + 1)
        conversation = Conversation()
        here = shared.surroundings()
        parts = Parts(
            shared.door,
            side,
            conversation,
            self._caller(tools, side, Seen(), listener),
            tools,
            shared.budget,
            listener,
            lambda: system_prompt(
                replace(here, cwd=side.cwd), shared.instructions, is_agent=True, role=kind.role
            ),
            is_main=False,
        )
        try:
            side.prompt(task.prompt)
            conversation.say(task.prompt)
            loop = Loop(parts, model=model, most=_STEPS)
            ending = loop.turn(cancel=work.cancel)
            is_again = False
            while not ending.is_interrupted and (more := shared.agent_ended(side, ending, is_again)):
                side.prompt(more, is_meta=True)
                conversation.say(more)
                ending, is_again = loop.turn(cancel=work.cancel), True
        finally:
            side.finish()
        work.cancel.check()
        return Report(side.agent_id, ending, round((time.monotonic() - started) * 1000))
