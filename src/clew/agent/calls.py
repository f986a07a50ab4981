"""Run the calls of one answer: those that change nothing at once, the others one by one, each if it may.

Whatever goes wrong in a call is its result: an unknown tool, input that is none, a refusal, a fault in a
tool. Only a wish to stop ends the rest.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from clew.agent.cancel import CancelledError
from clew.agent.happenings import CallBegan, CallReported, Noted
from clew.agent.tool import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clew.agent.happenings import Listener
    from clew.agent.tool import Tool, Work

AT_ONCE: Final = 8
"""So many calls run beside each other."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call the model made."""

    id: str
    name: str
    given: Mapping[str, object]
    broken: str | None = None
    """What the model wrote as the input, where that is no JSON object."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a call may run."""

    is_allowed: bool
    words: str = ""
    """What the model is told where it may not."""

    given: Mapping[str, object] | None = None
    """Other input to run it with, where somebody changed it."""

    extra: Mapping[str, object] = field(default_factory=dict[str, object])
    """Further fields of the line that holds the result."""


class Gate(Protocol):
    """Decides about calls, and hears of what came of them."""

    def permit(self, call: Call, tool: Tool, work: Work) -> Verdict:
        """Say whether a call may run. Asks the person if need be; one question at a time."""
        ...

    def ended(self, call: Call, given: Mapping[str, object], outcome: Outcome, work: Work) -> Outcome:
        """Hear what came of a call that ran; return what the model is told."""
        ...


class Caller:
    """Runs calls."""

    def __init__(
        self,
        tools: Mapping[str, Tool],
        gate: Gate,
        *,
        work_for: Callable[[str], Work],
        listener: Listener,
        moved: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`work_for` makes what a call is given; `moved` is told when a shell went to another folder."""
        self._tools = tools
        self._gate = gate
        self._work_for = work_for
        self._listener = listener
        self._moved = moved

    def run(self, calls: Sequence[Call]) -> Iterator[tuple[Call, Outcome]]:
        """Run calls and give what came of each, in their order, as soon as those before it are done."""
        for is_parallel, group in groupby(calls, self._is_parallel):
            together = list(group)
            if not is_parallel or len(together) == 1:
                for call in together:
                    yield call, self._run(call)
                continue
            # Questions come one by one, before anything runs.
            ready = [self._permitted(call) for call in together]
            with ThreadPoolExecutor(min(AT_ONCE, len(together)), "clew-call") as pool:
                running = [pool.submit(one) for one in ready]
                for call, future in zip(together, running, strict=True):
                    yield call, future.result()

    def _is_parallel(self, call: Call) -> bool:
        tool = self._tools.get(call.name)
        if tool is None or call.broken is not None:
            return False
        try:
            return tool.is_parallel(call.given)
        except Exception:  # what is wrong with the input is told when it runs
            return False

    def _run(self, call: Call) -> Outcome:
        return self._permitted(call)()

    def _permitted(self, call: Call) -> Callable[[], Outcome]:
        """Decide about a call; return what is left to do."""
        tool = self._tools.get(call.name)
        if tool is None:
            return _failing(f"Error: No such tool available: {call.name}")
        if call.broken is not None:
            return _failing(f"InputValidationError: the input is no JSON object: {call.broken[:200]}")
        work = self._work_for(call.id)
        work.cancel.check()
        try:
            verdict = self._gate.permit(call, tool, work)
        except CancelledError:
            raise
        except Exception as error:  # a call never ends a session
            return _failing(f"Error: {_words(error)}")
        if not verdict.is_allowed:
            refused = Outcome(
                verdict.words, structured=f"Error: {verdict.words}", is_error=True, extra=verdict.extra
            )
            return lambda: refused
        given = call.given if verdict.given is None else verdict.given
        return lambda: self._carried_out(call, tool, given, work, verdict.extra)

    def _carried_out(
        self, call: Call, tool: Tool, given: Mapping[str, object], work: Work, extra: Mapping[str, object]
    ) -> Outcome:
        self._listener(CallBegan(call.id, call.name, given))

        def report(text: str) -> None:
            self._listener(CallReported(call.id, text))

        work.report = report
        before = work.cwd
        try:
            outcome = tool.run(given, work)
        except CancelledError:
            raise
        except Exception as error:
            words = f"Error: {_words(error)}"
            outcome = Outcome(words, structured=words, is_error=True)
        if work.cwd != before:
            self._moved(work.cwd)
        try:
            outcome = self._gate.ended(call, given, outcome, work)
        except CancelledError:
            raise
        except Exception as error:  # the call ran: what came of it is told all the same
            self._listener(Noted(f"what follows on {call.name} failed: {_words(error)}"))
        if extra:
            outcome = Outcome(
                outcome.content,
                outcome.structured,
                is_error=outcome.is_error,
                extra={**extra, **outcome.extra},
            )
        return outcome


def call_of(block: Mapping[str, Any], broken: str | None) -> Call:
    """Read a call from a block of the model's answer."""
    given: object = block.get("input")
    return Call(
        str(block.get("id") or ""),
        str(block.get("name") or ""),
        cast("dict[str, object]", given) if isinstance(given, dict) else {},
        broken,
    )


def _failing(words: str) -> Callable[[], Outcome]:
    outcome = Outcome(words, structured=words, is_error=True)
    return lambda: outcome


def _words(error: Exception) -> str:
    said = str(error).strip()
    return said or type(error).__name__
