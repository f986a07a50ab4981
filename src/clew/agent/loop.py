"""Go on with a session: ask the model, write what it says as it says it, run its calls, ask again.

Each block of an answer is a line as soon as it is known that another follows; the last one waits for the
end of the answer, which tells what it used. What is sent is always what the file says, so that the real
client would send the same. Nothing is printed: whatever happens is told to a listener.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from clew.agent.api_errors import ApiError, TooLongError
from clew.agent.calls import call_of
from clew.agent.cancel import Cancel, CancelledError
from clew.agent.compaction import is_due, tokens_of
from clew.agent.happenings import Answered, BlockDone, CallEnded, Noted, Said, Thought, Waits
from clew.agent.requests import build
from clew.agent.stream_events import BlockEnded, BlockStarted, Ended, Piece, Started
from clew.agent.tool import Outcome
from clew.format.compose import tool_result

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.agent.budget import Budget
    from clew.agent.calls import Call, Caller
    from clew.agent.compaction import Compactor
    from clew.agent.conversation import Conversation
    from clew.agent.door import Door
    from clew.agent.happenings import Listener
    from clew.agent.tool import Block, Tool
    from clew.agent.trying import Waiting
    from clew.agent.writing import Writing

_NO_ANSWER: Final = "API Error: "


@dataclass(frozen=True, slots=True)
class Parts:
    """What a loop works with."""

    door: Door
    transcript: Writing
    conversation: Conversation
    caller: Caller
    tools: Mapping[str, Tool]
    budget: Budget
    listener: Listener
    system: Callable[[], Sequence[Mapping[str, Any]]]
    """Makes what the model is told first; asked before each request."""

    compactor: Compactor | None = None
    server_tools: Sequence[Mapping[str, Any]] = ()
    """Tools that the API runs itself."""

    queued: Callable[[], str | None] = lambda: None
    """Gives what the person said meanwhile, one after the other."""

    is_main: bool = True
    """Whether it is a session, and no sub-agent of one."""


@dataclass(slots=True)
class Ending:
    """How a turn ended."""

    stop_reason: str | None = None
    text: str = ""
    """What the model said last."""

    requests: int = 0
    calls: int = 0
    tokens: int = 0
    """How long the conversation is."""

    used: int = 0
    """All tokens of all requests."""

    is_interrupted: bool = False
    was_too_long: bool = False
    """Whether the API found the conversation too long, so that it was summed up."""

    usage: dict[str, Any] = field(default_factory=dict[str, Any])
    """Of the last answer."""


class Loop:
    """One session, or one sub-agent, going on."""

    def __init__(
        self,
        parts: Parts,
        *,
        model: str,
        tokens: int = 0,
        window: int | None = None,
        most: int | None = None,
    ) -> None:
        """`tokens` is how long the conversation is already, `window` how long it may be at most.

        `most` is how many requests a turn may have; it ends then with what was said last.
        """
        self._parts = parts
        self.model = model
        self.tokens = tokens
        self._window = window
        self._most = most

    def turn(self, *, cancel: Cancel) -> Ending:
        """Let the model answer what was said last, with as many requests as that takes.

        Where the person stops it, that is written and told; where the API fails or the budget is spent, that
        is raised, and what there is by then is kept.
        """
        ending = Ending(tokens=self.tokens)
        parts = self._parts
        try:
            while True:
                self._make_room(cancel)
                if not self._ask(ending, cancel) or ending.requests == self._most:
                    break
        except CancelledError:
            ending.is_interrupted = True
            parts.transcript.interrupted(in_tool=bool(parts.transcript.open_calls))
            parts.conversation.reload()
        except ApiError as error:
            parts.transcript.api_error(_NO_ANSWER + error.message)
            parts.conversation.reload()
            raise
        finally:
            ending.tokens = self.tokens
            parts.transcript.sync()
        return ending

    # One request ----------------------------------------------------------------------------------

    def _make_room(self, cancel: Cancel) -> None:
        compactor = self._parts.compactor
        if compactor is None or not is_due(self.tokens, self.model, window=self._window):
            return
        self.tokens = compactor.compact(
            model=self.model, system=self._parts.system(), trigger="auto", tokens=self.tokens, cancel=cancel
        )

    def _ask(self, ending: Ending, cancel: Cancel) -> bool:
        """Make one request and run its calls; say whether another one is to follow."""
        parts = self._parts
        cancel.check()
        parts.budget.ask(counts=parts.is_main)
        request = build(
            model=self.model,
            messages=parts.conversation.messages,
            system=parts.system(),
            tools=[*map(_described, parts.tools.values()), *parts.server_tools],
        )
        try:
            answer = self._heard(request, cancel)
        except TooLongError:
            # What the model can read was misjudged: once, with a summary in the place of what is too long.
            if parts.compactor is None or ending.was_too_long:
                raise
            ending.was_too_long = True
            self.tokens = parts.compactor.compact(
                model=self.model, system=parts.system(), trigger="auto", tokens=self.tokens, cancel=cancel
            )
            return True
        ending.requests += 1
        ending.stop_reason = answer.stop_reason
        ending.usage = answer.usage
        ending.used += tokens_of(answer.usage)
        self.tokens = tokens_of(answer.usage)
        ending.text = answer.text
        parts.conversation.answer(answer.blocks)
        if answer.calls:
            ending.calls += len(answer.calls)
            self._carry_out(answer.calls)
            self._hear_queued()
            return True
        return answer.stop_reason == "pause_turn" or self._hear_queued()

    def _carry_out(self, calls: Sequence[Call]) -> None:
        parts = self._parts
        results: list[Block] = []
        for call, outcome in parts.caller.run(calls):
            content = outcome.content or "(no output)"
            try:
                uuid = self._write_result(call, content, outcome)
            except (ValueError, TypeError, RecursionError) as error:  # it cannot be read again, or written
                content = f"Error: what came of the call is left out: {error}"
                outcome = Outcome(content, structured=content, is_error=True)
                uuid = self._write_result(call, content, outcome)
            results.append(tool_result(call.id, content, is_error=outcome.is_error))
            parts.listener(CallEnded(call.id, call.name, outcome, uuid))
        parts.conversation.say(results)

    def _write_result(self, call: Call, content: str | Sequence[Block], outcome: Outcome) -> str:
        return self._parts.transcript.result(
            call.id,
            content,
            structured=outcome.structured,
            is_error=outcome.is_error,
            extra=outcome.extra,
        )

    def _hear_queued(self) -> bool:
        """Add what the person said meanwhile; say whether there was anything."""
        parts = self._parts
        is_any = False
        while (words := parts.queued()) is not None:
            parts.conversation.say(words)
            is_any = True
        return is_any

    # One answer -----------------------------------------------------------------------------------

    def _heard(self, request: Mapping[str, Any], cancel: Cancel) -> _Answer:
        """Hear an answer to its end, writing each block of it."""
        parts = self._parts
        answer = _Answer(parts, self.model)
        events = parts.door.stream(request, cancel=cancel, waiting=self._tell_waiting)
        try:
            for event in events:
                answer.hear(event)
                cancel.check()
        except (CancelledError, ApiError):
            answer.break_off()
            raise
        return answer

    def _tell_waiting(self, waiting: Waiting) -> None:
        self._parts.listener(Waits(waiting.seconds, waiting.reason, waiting.attempt, waiting.tries))


class _Answer:
    """An answer that is being heard."""

    def __init__(self, parts: Parts, asked_model: str) -> None:
        self._parts = parts
        self._asked_model = asked_model
        self._started: Started | None = None
        self._waiting: tuple[Block, str | None] | None = None
        """The last whole block, with what is wrong with its input; not written yet."""
        self._open: dict[int, list[str]] = {}
        """The texts of blocks that are not whole."""
        self.blocks: list[Block] = []
        self.calls: list[Call] = []
        self.stop_reason: str | None = None
        self.usage: dict[str, Any] = {}

    @property
    def text(self) -> str:
        """All that was said."""
        return "".join(str(block.get("text", "")) for block in self.blocks if block.get("type") == "text")

    def hear(self, event: object) -> None:
        """Take the next event."""
        match event:
            case Started():
                self._started, self.usage = event, dict(event.usage)
            case BlockStarted():
                self._write_waiting()
                if event.block.get("type") == "text":
                    self._open[event.index] = []
            case Piece():
                self._tell(event)
            case BlockEnded():
                self._open.pop(event.index, None)
                self._write_waiting()
                if not _is_blank(event.block):
                    self._waiting = event.block, event.broken_input
            case Ended():
                self.stop_reason, self.usage = event.stop_reason, dict(event.usage)
                self._write_waiting(stop_reason=event.stop_reason, stop_sequence=event.stop_sequence)
                self._tell_end()
            case _:
                pass

    def break_off(self) -> None:
        """Keep what came: whole blocks, and the beginning of a text. A call that will not be run goes."""
        waiting = self._waiting
        if waiting is not None and waiting[0].get("type") == "tool_use":
            self._waiting = None
        self._write_waiting(is_aborted=True)
        for pieces in self._open.values():
            text = "".join(pieces)
            if text.strip():
                self._waiting = {"type": "text", "text": text}, None
                self._write_waiting(is_aborted=True)

    def _tell(self, piece: Piece) -> None:
        if piece.index in self._open and piece.kind == "text":
            self._open[piece.index].append(piece.text)
        match piece.kind:
            case "text":
                self._parts.listener(Said(piece.text))
            case "thinking":
                self._parts.listener(Thought(piece.text))
            case _:
                pass

    def _write_waiting(
        self, *, stop_reason: str | None = None, stop_sequence: str | None = None, is_aborted: bool = False
    ) -> None:
        started, waiting = self._started, self._waiting
        if waiting is None or started is None:
            return
        self._waiting = None
        block, broken = waiting
        is_call = block.get("type") == "tool_use"
        if is_call and any(call.id == block.get("id") for call in self.calls):
            self._parts.listener(Noted("the model made two calls under one id: the second is left out"))
            return

        def write(block: Block) -> str:
            return self._parts.transcript.block(
                block,
                message_id=started.message_id,
                model=started.model,
                request_id=started.request_id,
                usage=self.usage,
                stop_reason=stop_reason,
                stop_sequence=stop_sequence,
                requested_model=self._asked_model,
                is_aborted=is_aborted,
            )

        try:
            uuid = write(block)
        except (ValueError, RecursionError) as error:  # it nests too deep to be read again
            if not is_call:
                self._parts.listener(Noted(f"a part of the answer is left out: {error}"))
                return
            block, broken = {**block, "input": dict[str, Any]()}, str(error)
            uuid = write(block)
        self.blocks.append(block)
        if is_call:
            self.calls.append(call_of(block, broken))
        self._parts.listener(BlockDone(block, uuid))

    def _tell_end(self) -> None:
        started, budget = self._started, self._parts.budget
        if started is None:
            return
        cost = budget.spend(started.model, self.usage, time_ms=time.time_ns() // 1_000_000)
        self._parts.listener(
            Answered(
                started.message_id,
                started.model,
                self.stop_reason,
                self.usage,
                cost,
                budget.cost_usd,
                tokens_of(self.usage),
            )
        )


def _described(tool: Tool) -> Mapping[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.schema}


def _is_blank(block: Mapping[str, Any]) -> bool:
    """Say whether a block is a text of blanks alone, which the API would refuse when it comes back."""
    return block.get("type") == "text" and not str(block.get("text") or "").strip()
