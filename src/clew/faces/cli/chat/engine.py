"""The session behind the screen: one thread in which it is opened, talks and is closed, job by job.

What happens there is put into a box that the screen empties; questions wait there for their answers. What the
person says meanwhile is handed over in the very moment in which the model can hear it, so that it never waits
inside a turn that was stopped.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from clew.agent.asking import Answer
from clew.agent.happenings import Answered, BlockDone, CallEnded
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.actions.run_requests import RunRequest
    from clew.actions.running import Running
    from clew.agent.asking import Question
    from clew.agent.cancel import Cancel
    from clew.agent.happenings import Happening
    from clew.agent.settings import Grant

Job = Literal["open", "say", "compact", "undo", "clear", "set"]


@dataclass(slots=True)
class Asked:
    """A question to the person, with the place for the answer."""

    question: Question | tuple[Grant, ...]
    _answers: queue.SimpleQueue[Answer | bool] = field(default_factory=queue.SimpleQueue["Answer | bool"])
    answered: Answer | bool | None = None
    """What the answer was; a wish to stop is one too."""

    def answer(self, answer: Answer | bool) -> None:
        """Give the answer; a second one is not heard."""
        if self.answered is None:
            self.answered = answer
            self._answers.put(answer)

    def wait(self) -> Answer | bool:
        """Wait for the answer."""
        return self._answers.get()


@dataclass(frozen=True, slots=True)
class Heard:
    """The model hears something now that the person said while it was at work."""

    words: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A job is done, or failed."""

    job: Job
    value: Any = None
    error: BaseException | None = None


class Engine:
    """Runs one session at a time."""

    def __init__(
        self,
        request: RunRequest,
        *,
        version: str,
        wake: Callable[[], None],
        environ: Mapping[str, str] | None = None,
    ) -> None:
        """`wake` is called when something was put into the box."""
        self._request = request
        self._version = version
        self._wake = wake
        self._environ = environ
        self._box: deque[Happening | Asked | Heard | Ended] = deque()
        self._jobs: queue.SimpleQueue[tuple[Job, Callable[[], Any]] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="clew-chat", daemon=True)
        self._open_calls = 0
        self._is_stopped = False
        self.running: Running | None = None
        self.queued: list[str] = []
        """What the person said while the model is at work, and it has not heard yet."""
        self._queue_lock = threading.Lock()
        self._waiting: Asked | None = None

    def start(self) -> None:
        """Begin to open the session."""
        self._thread.start()
        self._jobs.put(("open", self._opened))

    def take(self) -> list[Happening | Asked | Heard | Ended]:
        """Empty the box."""
        taken: list[Happening | Asked | Heard | Ended] = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self._box.popleft())
        return taken

    # What can be asked of it, from the screen's thread ------------------------------------------------

    def do(self, job: Job, work: Callable[[Running], Any]) -> None:
        """Have something done with the session."""

        def act() -> Any:
            if self.running is None:
                raise ClewError("there is no session")
            return work(self.running)

        self._jobs.put((job, act))

    def say(self, words: str) -> None:
        """Have something said."""

        def act(running: Running) -> Any:
            self._open_calls, self._is_stopped = 0, False  # a turn that was stopped may have left some
            return running.say(words)

        self.do("say", act)

    @property
    def window(self) -> int | None:
        """How long a conversation may be, where the person said so."""
        return self._request.window

    def clear(self) -> None:
        """Begin a new session in the place of this one."""
        self._request = replace(self._request, resume=None, at=None, fork=False, session_id=None)
        self._jobs.put(("clear", self._opened))

    def stop(self) -> None:
        """Ask what runs to stop. What waits to be heard waits on."""
        self._is_stopped = True
        if self.running is not None:
            self.running.stop()
        waiting = self._waiting
        if waiting is not None:
            waiting.answer(False if isinstance(waiting.question, tuple) else Answer("no"))

    def queue(self, words: str) -> None:
        """Keep something for when the model can hear it."""
        with self._queue_lock:
            self.queued.append(words)

    def take_queued(self) -> list[str]:
        """Take back what the model has not heard."""
        with self._queue_lock:
            taken, self.queued[:] = [*self.queued], []
            return taken

    def close(self, seconds: float) -> bool:
        """End the session; say whether it ended in that time."""
        self.stop()
        self._jobs.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    # Its own thread -----------------------------------------------------------------------------------

    def _work(self) -> None:
        try:
            while (job := self._jobs.get()) is not None:
                name, act = job
                try:
                    self._put(Ended(name, act()))
                except BaseException as error:  # whatever it is, the screen tells it
                    self._put(Ended(name, error=error))
        finally:
            if self.running is not None:
                with contextlib.suppress(ClewError, OSError):
                    self.running.close()

    def _opened(self) -> Running:
        from clew.actions.running import Running

        before, self.running = self.running, None
        if before is not None:
            before.close()
        self._open_calls = 0
        self.running = Running(
            self._request,
            version=self._version,
            listener=self._hear,
            asker=self,
            ask_trust=self._ask_trust,
            environ=self._environ,
        )
        return self.running

    def _put(self, one: Happening | Asked | Heard | Ended) -> None:
        self._box.append(one)
        self._wake()

    def _hear(self, happening: Happening) -> None:
        self._put(happening)
        match happening:
            case BlockDone() if happening.block.get("type") == "tool_use":
                self._open_calls += 1
            case CallEnded():
                self._open_calls -= 1
                if self._open_calls == 0:
                    self._hand_over()
            case Answered() if self._open_calls == 0 and happening.stop_reason != "pause_turn":
                self._hand_over()
            case _:
                pass

    def _hand_over(self) -> None:
        """Give the model what waits: it looks right after this. Not where it will not get to answer."""
        if self._is_stopped:
            return
        with self._queue_lock:
            # What begins with a slash is for us when the turn is over, and what comes behind it waits too.
            while self.running is not None and self.queued and not self.queued[0].startswith("/"):
                words = self.queued.pop(0)
                self.running.queue(words)
                self._put(Heard(words))

    # Questions ------------------------------------------------------------------------------------------

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        """Ask the person whether a call may be made; a wish to stop is a no."""
        asked = Asked(question)
        forget = cancel.on_ask(lambda: asked.answer(Answer("no")))
        try:
            answer = self._wait_for(asked)
        finally:
            forget()
        return answer if isinstance(answer, Answer) else Answer("no")

    def _ask_trust(self, grants: Sequence[Grant]) -> bool:
        return self._wait_for(Asked(tuple(grants))) is True

    def _wait_for(self, asked: Asked) -> Answer | bool:
        self._waiting = asked
        self._put(asked)
        try:
            return asked.wait()
        finally:
            self._waiting = None
            self._wake()
