"""A chat without its terminal: what was typed, what happened, what is asked, and what comes of each.

Keys come by `pressing`, commands are carried out by `orders`, `picture` draws how it all stands.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.faces.cli import words
from clew.faces.cli.chat import slash
from clew.faces.cli.chat.box import spent
from clew.faces.cli.chat.draft import draft_of
from clew.faces.cli.chat.editor import Editor
from clew.faces.cli.chat.engine import Asked, Ended, Heard
from clew.faces.cli.chat.history import keep, read_history
from clew.faces.cli.chat.orders import Undone, carry_out, last_exchange
from clew.faces.cli.chat.questions import Asking, said
from clew.faces.cli.chat.telling import Telling
from clew.faces.cli.styled import Row, cut, safe
from clew.faces.cli.terminal import Span

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from clew.actions.running import Running
    from clew.agent.happenings import Happening
    from clew.faces.cli.chat.engine import Engine


class Talk:
    """How a chat stands."""

    def __init__(self, engine: Engine, *, width: int, folder: str, state: Path) -> None:
        self.engine = engine
        self.telling = Telling(width, folder)
        self.editor = Editor(read_history(state))
        self.asking: Asking | None = None
        """The question that is open."""
        self.stays: list[Row] = []
        """Rows that were not drawn yet, and stay when they are."""
        self.others: tuple[str, ...] = ()
        """What Tab could have meant."""
        self.hint = ""
        self.busy_since: float | None = time.monotonic()
        """Since when the session is at work; None when it waits for the person."""
        self.is_stopping = False
        self.is_over = False
        self.exit_code = 0
        self.error: BaseException | None = None
        """Why there is no chat."""
        self._state = state
        self._is_turn = False

    @property
    def is_busy(self) -> bool:
        """Whether the session is at work."""
        return self.busy_since is not None

    @property
    def running(self) -> Running | None:
        """The session, when it is open."""
        return self.engine.running

    # What the person wants ------------------------------------------------------------------------

    def begin(self) -> None:
        """Note that the session gets to work."""
        self.busy_since, self.is_stopping = time.monotonic(), False

    def stop(self) -> None:
        """Have what runs stopped."""
        self.is_stopping = True
        self.engine.stop()

    def typed(self, text: str) -> None:
        """Take a line that was sent: now, or when the turn is over."""
        keep(self._state, text)
        called = slash.read(text)
        is_now = called is not None and called.name in slash.AT_ONCE
        if self.is_busy and not is_now:
            self.engine.queue(text)
        else:
            self._submit(text)

    def _submit(self, text: str) -> None:
        """Do what was typed: a command of ours, or something to say."""
        called, running = slash.read(text), self.running
        if called is not None and called.is_ours:
            self.stays += self.telling.prompt(text)
            carry_out(self, called)
            return
        if called is not None and running is not None and called.name not in running.commands.found:
            near = slash.near(called.name, running.commands.found)
            meant = f"did you mean {', '.join('/' + one for one in near)}?" if near else "/help lists them"
            self.note(f"there is no command /{called.name}; {meant}")
            self.editor.set(draft_of(text))
            return
        self.stays += self.telling.prompt(text)
        self._is_turn = True
        self.begin()
        self.engine.say(text)

    # What is told ---------------------------------------------------------------------------------

    def tell(self, rows: Iterable[Row]) -> None:
        """Draw something."""
        self.stays += self.telling.rows([*rows])

    def note(self, text: str) -> None:
        """Tell something the person should know."""
        self.stays += self.telling.note(text)

    def fail(self, error: BaseException) -> None:
        """Tell what failed."""
        if isinstance(error, ClewError):
            self.note(error.message + (f"\ntry: {error.hint}" if error.hint else ""))
        elif type(error).__name__ == "CancelledError":
            self.note("stopped")
        else:
            self.note(f"that failed: {error!r}")

    # What happens ---------------------------------------------------------------------------------

    def happened(self, one: Happening | Asked | Heard | Ended, now: float) -> None:
        """Take what happens in the session."""
        match one:
            case Asked():
                self._ask(one, now)
            case Heard():
                self.stays += self.telling.prompt(one.words)
            case Ended():
                self._ended(one)
            case _:
                self.stays += self.telling.hear(one, now)

    def settle(self) -> bool:
        """Close a question that was answered, be it by a wish to stop; say whether one was."""
        if self.asking is None or self.asking.asked.answered is None:
            return False
        told = said(self.asking.asked.answered)
        self.stays += self.telling.rows([(Span(f"  {told}", ("dim",)),)], "answer")
        self.asking = None
        return True

    def _ask(self, asked: Asked, now: float) -> None:
        self.asking = Asking(asked, now)
        self.stays += self.telling.rows([*self.asking.told(self.telling.width)], "question")

    def _ended(self, done: Ended) -> None:
        if done.error is not None and done.job == "open":
            self.is_over, self.error = True, done.error
            return
        is_interrupted = done.job == "say" and bool(getattr(done.value, "is_interrupted", False))
        self.busy_since = None
        self.is_stopping = self._is_turn = False
        self.stays += self.telling.end(is_interrupted=is_interrupted)
        if done.error is not None:
            self.fail(done.error)
            self._next(is_interrupted=True)
            return
        match done.job:
            case "open":
                self._greet()
            case "clear":
                self._count()
                self.tell([(Span("── a new session ──", ("dim",)),)])
            case "undo":
                self._undone(done.value)
            case "set":
                self.tell([(Span(f"{safe(str(done.value))} is asked from here on", ("dim",)),)])
            case _:
                self._count()
        self._next(is_interrupted=is_interrupted)

    def _next(self, *, is_interrupted: bool) -> None:
        """Say what was typed meanwhile; after an interruption it goes back to where it can be changed."""
        while not self.is_busy and not self.is_over and (waiting := self.engine.take_queued()):
            if is_interrupted:
                typed = self.editor.draft.whole
                self.editor.set(draft_of("\n".join([*waiting, *([typed] if typed else [])])))
                return
            first, *rest = waiting
            for text in rest:
                self.engine.queue(text)
            self._submit(first)

    def _count(self) -> None:
        running = self.running
        self.telling.tokens = 0 if running is None else running.crew.loop.tokens

    def _undone(self, undone: Undone) -> None:
        if undone.is_whole:
            self.begin()
            self.engine.clear()
        else:
            self._count()
            self.tell([(Span("── back to before this prompt ──", ("dim",)),)])
        if not self.editor.draft.text:
            self.editor.set(draft_of(undone.prompt))

    # Beginning and end ------------------------------------------------------------------------------

    def _greet(self) -> None:
        running = self.running
        if running is None:
            return
        self._count()
        room, past = self.telling.width, running.transcript.past
        about: list[Row] = [
            cut((Span("clew chat", ("bold",)), Span(f"  {safe(running.transcript.cwd)}", ("dim",))), room)
        ]
        if past is not None:
            title = f" · {past.title}" if past.title else ""
            told = f"going on with {running.session_id[:8]}{title} · {words.count(past.turns, 'prompt')}"
            about.append(cut((Span(safe(told), ("dim",)),), room))
        about.append((Span("/help tells keys and commands", ("dim",)),))
        self.tell(about)
        if not running.sandbox_state.is_on:
            self.note(running.sandbox_state.words)
        for problem in running.commands.problems:
            self.note(problem)
        prompt, answer = last_exchange(running)
        if prompt:
            self.stays += self.telling.prompt(prompt)
        if answer:
            self.stays += self.telling.answer(answer)

    def close(self, seconds: float) -> None:
        """End the session, and tell how to go on with it."""
        is_closed = self.engine.close(seconds)
        now = time.monotonic()
        for one in self.engine.take():
            if not isinstance(one, Asked | Heard | Ended):
                self.stays += self.telling.hear(one, now)
        self.stays += self.telling.end(is_interrupted=self._is_turn)
        running = self.running
        if running is not None and (running.transcript.past is not None or running.budget.requests):
            cost = spent(running.budget.cost_usd, running.budget.unpriced)
            self.tell([(Span(f"{cost} · clew chat --resume {running.session_id[:8]} goes on", ("dim",)),)])
        if not is_closed:
            self.note("what was running did not stop in time")
