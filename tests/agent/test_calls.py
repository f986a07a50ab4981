"""Running the calls of one answer: order, what runs at once, and that nothing in a call ends the session."""

# ruff: noqa: ARG002  # the arguments are those of a tool and a gate

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.calls import AT_ONCE, Call, Caller, Verdict, call_of
from clew.agent.cancel import Cancel, CancelledError
from clew.agent.happenings import CallBegan, CallReported
from clew.agent.seen import Seen
from clew.agent.tool import Outcome, Work
from tests.agent.looping import Echo, Free

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clew.agent.calls import Gate
    from clew.agent.happenings import Happening
    from clew.agent.tool import Tool


class Alone(Echo):
    """A tool that runs by itself."""

    name = "Alone"

    def is_parallel(self, given: Mapping[str, object]) -> bool:
        return False


class Bench:
    """A caller with what it tells."""

    def __init__(self, *tools: Tool, gate: Gate | None = None) -> None:
        self.told: list[Happening] = []
        self.moves: list[str] = []
        self.cancel = Cancel()
        self.caller = Caller(
            {tool.name: tool for tool in tools},
            gate or Free(),
            work_for=lambda call_id: Work(call_id, "/a", "/a", Seen(), self.cancel, "/r"),
            listener=self.told.append,
            moved=self.moves.append,
        )

    def run(self, *calls: Call) -> list[Outcome]:
        return [outcome for _, outcome in self.caller.run(calls)]


def call(number: int, name: str = "Echo", **given: object) -> Call:
    return Call(f"toolu_{number}", name, given or {"words": f"w{number}"})


def acting(act: Callable[[Mapping[str, object], Work], Outcome], kind: type[Echo] = Echo) -> Echo:
    return kind(act)


def test_results_come_in_the_order_of_the_calls_however_long_each_takes() -> None:
    first_may_end = threading.Event()

    def act(given: Mapping[str, object], _work: Work) -> Outcome:
        if given["words"] == "w0":
            assert first_may_end.wait(10)
        else:
            first_may_end.set()
        return Outcome(str(given["words"]))

    outcomes = Bench(acting(act)).run(call(0), call(1), call(2))
    assert [one.content for one in outcomes] == ["w0", "w1", "w2"]


def test_calls_that_change_something_run_alone_and_after_those_before_them() -> None:
    running: set[str] = set()
    beside: dict[str, set[str]] = {}
    lock = threading.Lock()

    def act(given: Mapping[str, object], work: Work) -> Outcome:
        with lock:
            beside[work.call_id] = set(running)
            running.add(work.call_id)
        work.cancel.wait(0.02)
        with lock:
            running.discard(work.call_id)
        return Outcome("ok")

    Bench(acting(act), acting(act, Alone)).run(
        call(0), call(1), call(2, "Alone"), call(3, "Alone"), call(4), call(5)
    )
    assert beside["toolu_2"] == beside["toolu_3"] == set()
    assert beside["toolu_4"] <= {"toolu_5"}


def test_no_more_than_a_few_calls_run_at_once() -> None:
    lock, most, now = threading.Lock(), 0, 0

    def act(_given: Mapping[str, object], work: Work) -> Outcome:
        nonlocal most, now
        with lock:
            now += 1
            most = max(most, now)
        work.cancel.wait(0.01)
        with lock:
            now -= 1
        return Outcome("ok")

    assert len(Bench(acting(act)).run(*(call(number) for number in range(3 * AT_ONCE)))) == 3 * AT_ONCE
    assert 1 < most <= AT_ONCE


@pytest.mark.parametrize("error", [ValueError("odd"), OSError(5, "gone"), RecursionError(), KeyError("x")])
def test_whatever_a_tool_raises_is_an_error_result(error: Exception) -> None:
    def act(_given: Mapping[str, object], _work: Work) -> Outcome:
        raise error

    (outcome,) = Bench(acting(act)).run(call(0))
    assert outcome.is_error
    assert str(outcome.content).startswith("Error: ")
    assert len(str(outcome.content)) > len("Error: ")


class Raising(Free):
    """A gate that fails at one of its doors."""

    def __init__(self, at: str) -> None:
        self.at = at

    def permit(self, call: Call, tool: Tool, work: Work) -> Verdict:
        if self.at == "permit":
            raise ValueError("the gate fell")
        return super().permit(call, tool, work)

    def ended(self, call: Call, given: Mapping[str, object], outcome: Outcome, work: Work) -> Outcome:
        if self.at == "ended":
            raise ValueError("the gate fell")
        return outcome


def test_a_call_nobody_can_decide_about_does_not_run() -> None:
    ran: list[object] = []

    def act(given: Mapping[str, object], _work: Work) -> Outcome:
        ran.append(given)
        return Outcome("ok")

    (outcome,) = Bench(acting(act), gate=Raising("permit")).run(call(0))
    assert outcome.is_error
    assert "the gate fell" in str(outcome.content)
    assert not ran


def test_what_fails_behind_a_call_does_not_take_its_result_away() -> None:
    (outcome,) = Bench(Echo(), gate=Raising("ended")).run(call(0))
    assert outcome.content == "w0"
    assert not outcome.is_error


class Odd(Echo):
    """A tool that cannot say whether it may run beside others."""

    def is_parallel(self, given: Mapping[str, object]) -> bool:
        raise TypeError("what is this?")


def test_a_tool_that_cannot_say_whether_it_runs_alone_does() -> None:
    assert [one.content for one in Bench(Odd()).run(call(0), call(1))] == ["w0", "w1"]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (Call("toolu_0", "Nope", {}), "No such tool available: Nope"),
        (Call("toolu_0", "Echo", {}, broken='{"a": '), "is no JSON object"),
        (Call("toolu_0", "Echo", {}, broken="x" * 100_000), "is no JSON object"),
    ],
)
def test_a_call_that_is_none_is_told_and_asks_nobody(made: Call, words: str) -> None:
    (outcome,) = Bench(Echo(), gate=Raising("permit")).run(made)
    assert outcome.is_error
    assert words in str(outcome.content)
    assert len(str(outcome.content)) < 400


class Refusing(Free):
    """A gate that lets nothing through."""

    def permit(self, call: Call, tool: Tool, work: Work) -> Verdict:
        return Verdict(is_allowed=False, words="No.", extra={"toolDenialKind": "user-rejected"})


def test_a_call_that_may_not_run_does_not_and_says_so() -> None:
    bench = Bench(Echo(lambda _given, _work: pytest.fail("it ran")), gate=Refusing())
    (outcome,) = bench.run(call(0))
    assert (outcome.content, outcome.is_error) == ("No.", True)
    assert outcome.extra == {"toolDenialKind": "user-rejected"}
    assert not [one for one in bench.told if isinstance(one, CallBegan)]


class Changing(Free):
    """A gate that changes what a call is given."""

    def permit(self, call: Call, tool: Tool, work: Work) -> Verdict:
        return Verdict(is_allowed=True, given={"words": "other"}, extra={"a": 1, "b": 1})


def test_a_call_runs_with_what_the_gate_made_of_it() -> None:
    bench = Bench(Echo(lambda given, _: Outcome(str(given["words"]), extra={"b": 2})), gate=Changing())
    (outcome,) = bench.run(call(0))
    assert outcome.content == "other"
    assert outcome.extra == {"a": 1, "b": 2}
    (began,) = [one for one in bench.told if isinstance(one, CallBegan)]
    assert began.given == {"words": "other"}


def test_a_wish_to_stop_ends_the_calls_that_run_and_begins_no_other() -> None:
    begun: list[str] = []
    bench: Bench

    def act(_given: Mapping[str, object], work: Work) -> Outcome:
        begun.append(work.call_id)
        bench.cancel.ask()
        work.cancel.check()
        return Outcome("never")

    bench = Bench(acting(act, Alone))
    with pytest.raises(CancelledError):
        bench.run(call(0, "Alone"), call(1, "Alone"))
    assert begun == ["toolu_0"]


def test_what_a_call_tells_and_where_it_goes_is_heard() -> None:
    def act(_given: Mapping[str, object], work: Work) -> Outcome:
        work.report("a line")
        work.cwd = "/a/b"
        return Outcome("ok")

    bench = Bench(acting(act, Alone))
    bench.run(call(0, "Alone"))
    assert [one.text for one in bench.told if isinstance(one, CallReported)] == ["a line"]
    assert bench.moves == ["/a/b"]


@pytest.mark.parametrize("block", [{}, {"id": 7, "name": None, "input": []}, {"input": "x"}])
def test_any_block_can_be_read_as_a_call(block: dict[str, Any]) -> None:
    found = call_of(block, None)
    assert found.given == {}
    assert isinstance(found.id, str)
