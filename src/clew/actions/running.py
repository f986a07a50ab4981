"""Begin a session or go on with one, without the vendor's program: put the parts together, and let them talk.

What happens is told to a listener; questions go to an asker. Nothing is printed here.
"""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from clew.actions.opening import find_file
from clew.actions.run_beginnings import (
    checked_id,
    config_folder,
    git_branch,
    mode_of,
    platform_words,
    with_options,
    working_folder,
)
from clew.actions.run_tools import make_tools
from clew.actions.stores import open_store
from clew.agent.agent_kinds import BUILT_IN
from clew.agent.budget import Budget
from clew.agent.cancel import Cancel
from clew.agent.commands import find as find_commands
from clew.agent.crew import Crew, Shared
from clew.agent.door import Door
from clew.agent.gate import SessionGate
from clew.agent.happenings import CallBegan, CallReported, InAgent, Noted
from clew.agent.hooks import Situation
from clew.agent.instructions import read_instructions
from clew.agent.keys import base_url, find_key
from clew.agent.seen import Seen
from clew.agent.settings import load
from clew.agent.system_prompt import Surroundings
from clew.agent.transcript import Transcript, now_ms
from clew.agent.trust import Trust
from clew.agent.trust import settle as settle_trust
from clew.session.eras import MODEL
from clew.store.growing import PartlyWrittenError
from clew.store.state import state_folder
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from typing import Self

    from clew.actions.run_requests import RunRequest
    from clew.agent.asking import Asker
    from clew.agent.happenings import Happening, Listener
    from clew.agent.loop import Ending
    from clew.agent.sandbox import State
    from clew.agent.settings import Grant
    from clew.agent.side import SideTranscript
    from clew.store.files import SessionFile

_BLOCKED: Final = "a hook of yours blocked the prompt"


class Running:
    """A session that is going on. Close it: nothing it started is left then."""

    def __init__(
        self,
        request: RunRequest,
        *,
        version: str,
        listener: Listener,
        asker: Asker,
        ask_trust: Callable[[Sequence[Grant]], bool] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """`version` is clew's own; `ask_trust` asks whether a project's own settings count."""
        self._request = request
        self._listener = listener
        self._environ = dict(os.environ if environ is None else environ)
        self._held = ExitStack()
        self._cancel = Cancel()
        self._is_started = False
        self._has_said = self._has_called = False
        self._queue: list[str] = []
        address = base_url(self._environ) if request.base_url is None else request.base_url
        key = find_key(self._environ)
        try:
            self._assemble(
                request,
                Door(address, key, user_agent=f"clew/{version}", environ=self._environ),
                asker,
                ask_trust,
            )
        except BaseException:
            self._held.close()
            raise

    def _assemble(
        self,
        request: RunRequest,
        door: Door,
        asker: Asker,
        ask_trust: Callable[[Sequence[Grant]], bool] | None,
    ) -> None:
        self._held.callback(door.close)
        config = config_folder(request, self._environ)
        file = None if request.resume is None else find_file(open_store(request.roots), request.resume)
        cwd = working_folder(request, file)
        self._project = Path(cwd)
        self.transcript = self._held.enter_context(self._transcript(request, config, file, cwd))
        past = self.transcript.past
        settings = load(Path(config), self._project)
        trust = Trust(state_folder(self._environ))
        trusted = settle_trust(trust, settings, ask=ask_trust, assume=request.trust_project)
        counted = settings.counted(trusted)
        for problem in settings.problems:
            self._listener(Noted(problem))
        if counted.left_out and ask_trust is None:
            count = len(counted.left_out)
            self._listener(
                Noted(f"{count} of the project's own settings do not count: nobody said that they may")
            )
        model = request.model or (past.model if past else None) or counted.model
        self.budget = Budget(max_cost=request.max_cost, max_turns=request.max_turns)
        self.gate = SessionGate(
            with_options(counted, request),
            asker=asker,
            listener=self._listener,
            situation=self._situation,
            project=self._project,
            trust=trust,
            mode=mode_of(request, past.permission_mode if past else None, counted),
            readable=tuple(request.folders),
            protected=(config, str(state_folder(self._environ))),
            environ=self._environ,
        )
        seen = Seen()
        for one in past.files if past else ():
            if one.text is not None:
                seen.remember(one.path, one.text)
        chosen = model or self._environ.get("ANTHROPIC_MODEL") or MODEL
        made = make_tools(
            door,
            self.gate,
            counted,
            model=chosen,
            project=cwd,
            environ=self._environ,
            sandbox=request.sandbox,
            writable=(*counted.folders, *request.folders),
            hidden=(config,),
            budget=self.budget,
            listener=self._listener,
            held=self._held,
        )
        self.sandbox_state: State = made.sandbox
        self.tools = tuple(made.tools)
        """The names of the tools the model has."""
        self.commands = find_commands(Path(config), self._project)
        branch = git_branch(self._project)
        shared = Shared(
            door,
            self.transcript,
            self.gate,
            self.budget,
            self._hear,
            made.tools,
            BUILT_IN,
            lambda: Surroundings(
                self.transcript.cwd,
                platform_words(),
                datetime.now().astimezone().date().isoformat(),
                branch,
                made.sandbox.words,
            ),
            read_instructions(config, cwd),
            cwd,
            window=request.window,
            more=request.more_system,
            is_interactive=request.is_interactive,
            queued=self._next_queued,
            agent_ended=self._agent_objection,
        )
        self.crew = Crew(shared, model=chosen, seen=seen, cancel=lambda: self._cancel)

    def _transcript(self, request: RunRequest, config: str, file: SessionFile | None, cwd: str) -> Transcript:
        options: dict[str, Any] = {
            "ids": lambda: str(uuid4()),
            "clock": now_ms,
            "git_branch": git_branch(Path(cwd)),
            "entrypoint": "cli" if request.is_interactive else "sdk-cli",
            "state": state_folder(self._environ),
        }
        if file is None:
            return Transcript.begin(config, cwd, session_id=checked_id(request.session_id), **options)
        return Transcript.resume(
            file.path,
            cwd=cwd,
            at=request.at,
            fork_to=cwd if request.fork else None,
            model=request.model,
            force=request.force,
            **options,
        )

    # Talking --------------------------------------------------------------------------------------

    @property
    def model(self) -> str:
        """The model that is asked."""
        return self.crew.loop.model

    @model.setter
    def model(self, model: str) -> None:
        self.crew.loop.model = model
        self.crew.conversation.reload()

    @property
    def session_id(self) -> str:
        """The id under which the session can be gone on with."""
        return self.transcript.session_id

    def say(self, words: str | list[dict[str, Any]]) -> Ending | None:
        """Say something and let the model answer; None where a hook of the person's blocked it."""
        started = time.monotonic()
        self._cancel = Cancel()
        self.budget.begin_turn()
        begun, submitted = self._begun(), self._submitted(words)
        if submitted is None:
            return None
        with self._truly_told():
            return self._turn(words, (*begun, *submitted), started)

    def _turn(self, words: str | list[dict[str, Any]], notes: Sequence[str], started: float) -> Ending:
        self._write_prompt(words, notes)
        try:
            ending = self.crew.loop.turn(cancel=self._cancel)
            more = self._objection(ending, is_again=False)
            while more is not None:
                self._write_prompt(more, (), is_meta=True)
                ending = self.crew.loop.turn(cancel=self._cancel)
                more = self._objection(ending, is_again=True)
        finally:
            if self._request.is_interactive:
                self.transcript.turn_duration(round((time.monotonic() - started) * 1000))
            self.transcript.last_prompt()
            self.transcript.sync()
        return ending

    def stop(self) -> None:
        """Ask what is running to stop; the session stays, and can be gone on with."""
        self._cancel.ask()

    def queue(self, words: str) -> None:
        """Say something while the model is at work: it hears it after the calls that run now."""
        self.transcript.queue("enqueue", words)
        self._queue.append(words)

    def compact(self, more: str | None = None) -> int:
        """Sum up the conversation, as the person asks for; return about how many tokens are left."""
        loop = self.crew.loop
        self._cancel = Cancel()
        with self._truly_told():
            loop.tokens = self.crew.compactor.compact(
                model=loop.model,
                system=(),
                trigger="manual",
                tokens=loop.tokens,
                cancel=self._cancel,
                more=more,
            )
        return loop.tokens

    def rewind(self, uuid: str) -> None:
        """Go back to a line; what came behind it stays in the file, on another branch."""
        past = self.transcript.rewind(uuid)
        self.crew.conversation.reload()
        self.crew.loop.tokens = past.tokens

    # What surrounds a turn ------------------------------------------------------------------------

    def _begun(self) -> tuple[str, ...]:
        if self._is_started:
            return ()
        self._is_started = True
        source = "startup" if self._request.resume is None else "resume"
        return self.gate.happened("SessionStart", {"source": source}, self._cancel).context

    def _submitted(self, words: str | list[dict[str, Any]]) -> tuple[str, ...] | None:
        text = words if isinstance(words, str) else "\n".join(str(one.get("text", "")) for one in words)
        said = self.gate.happened("UserPromptSubmit", {"prompt": text}, self._cancel)
        if said.blocked is not None or said.stopped is not None:
            self._listener(Noted(f"{_BLOCKED}: {said.blocked or said.stopped}"))
            return None
        return said.context

    def _write_prompt(
        self, words: str | list[dict[str, Any]], notes: Sequence[str], *, is_meta: bool = False
    ) -> None:
        told: list[tuple[str | list[dict[str, Any]], bool]] = [(words, is_meta)]
        expansion = self.commands.expand(words) if isinstance(words, str) and not is_meta else None
        if expansion is not None:
            told = [(expansion.prompt, False), (expansion.text, True)]
        told += [(f"<system-reminder>\n{note}\n</system-reminder>", True) for note in notes]
        for content, is_note in told:
            self.transcript.prompt(content, permission_mode=self.gate.mode, is_meta=is_note)
            self._has_said = True
            self.crew.conversation.say(content)

    def _objection(self, ending: Ending, *, is_again: bool) -> str | None:
        """Return why a hook of the person's does not let the turn end, if one does not.

        A hook is told whether one objected before: so it knows when to let go.
        """
        if ending.is_interrupted:
            return None
        told = {"stop_hook_active": is_again, "last_assistant_message": ending.text}
        said = self.gate.happened("Stop", told, self._cancel)
        return None if said.stopped is not None else said.blocked

    def _agent_objection(self, side: SideTranscript, ending: Ending, is_again: bool) -> str | None:
        """Do so for a sub-agent."""
        told = {
            "stop_hook_active": is_again,
            "agent_id": side.agent_id,
            "agent_type": side.start.agent_type,
            "agent_transcript_path": side.path,
            "last_assistant_message": ending.text,
        }
        said = self.gate.happened("SubagentStop", told, self._cancel)
        return None if said.stopped is not None else said.blocked

    def _next_queued(self) -> str | None:
        if not self._queue:
            return None
        words = self._queue.pop(0)
        self.transcript.queue("dequeue")
        self.transcript.prompt(words, permission_mode=self.gate.mode)
        return words

    @contextmanager
    def _truly_told(self) -> Generator[None]:
        """Say of a session that can no longer be written what is so: what was done before is done."""
        try:
            yield
        except NotWrittenError as error:
            if self._has_said and not isinstance(error, PartlyWrittenError):
                error.hint = "the session tells what came before, and can be gone on with"
            if self._has_called:
                error.hint = f"{error.hint}; what its calls did stays done"
            raise

    def _hear(self, happening: Happening) -> None:
        inner = happening
        while isinstance(inner, InAgent):
            inner = inner.happening
        self._has_called = self._has_called or isinstance(inner, CallBegan)
        if self._request.progress_lines and isinstance(happening, CallReported):
            self.transcript.progress(happening.call_id, {"type": "bash_progress", "output": happening.text})
        self._listener(happening)

    def _situation(self) -> Situation:
        return Situation(self.transcript.session_id, self.transcript.path, self.transcript.cwd)

    def close(self) -> None:
        """End the session: nothing that was started for it runs on."""
        if self._is_started:
            self._is_started = False
            self.gate.happened("SessionEnd", {"reason": "other"}, Cancel())
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
