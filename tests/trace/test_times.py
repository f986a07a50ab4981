"""When the work of a span began and ended, as far as the lines tell."""

from __future__ import annotations

import json

import pytest

from clew.session.session import Session
from clew.trace.spans import turn_spans
from tests.builder import START_MS, Builder, call, text
from tests.trace.stories import NS, only, started, with_agents


def test_an_answer_begins_with_what_it_answers_and_ends_with_its_last_line() -> None:
    turn = only(started().wait(5).result("t1").wait(2).answer(text("One."), text("Two.")))
    spans = list(turn.spans())
    seconds = [
        ((span.start_ns // NS - START_MS) / 1000, (span.end_ns // NS - START_MS) / 1000) for span in spans
    ]
    assert seconds == [(1, 13), (1, 3), (3, 9), (9, 13)]
    assert all("clew.time_estimated" not in span.attributes for span in spans)


def test_the_turn_lasts_as_long_as_its_sub_agents() -> None:
    builder = Builder().prompt("Go.").answer(call("t1", "Task"), stop="tool_use")
    builder.result("t1", toolUseResult={"agentId": "a1"}).answer("Done.")
    own = (
        Builder()
        .wait(3600)
        .prompt("Work.", isSidechain=True)
        .answer("Done.", message_id="x", isSidechain=True)
    )
    root = next(with_agents(builder, a1=own.session()).spans())
    assert root.end_ns == (START_MS + 3_602_000) * NS


@pytest.mark.parametrize("time", [..., None, 17, "yesterday", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_line_without_a_time_takes_that_of_the_line_before_it_and_is_marked(time: object) -> None:
    builder = Builder().prompt("Go.").answer(call("t1"), stop="tool_use").result("t1", timestamp=time)
    turn = only(builder.answer("Done.", timestamp=time))
    _, _, tool, last = turn.spans()
    assert (tool.end_ns // NS - START_MS, last.end_ns // NS - START_MS) == (2000, 2000)
    assert tool.attributes["clew.time_estimated"] is last.attributes["clew.time_estimated"] is True


def test_a_stand_in_for_a_lost_result_says_nothing_of_when_the_tool_ended() -> None:
    lost = "[Tool call interrupted: the session ended before this call's result was recorded]"
    turn = only(started().wait(90_000).result("t1", lost, is_error=True).answer("Done."))
    tool = next(span for span in turn.spans() if span.type == "tool")
    assert tool.start_ns == tool.end_ns
    assert tool.attributes["clew.tool.is_answered"] is False


def test_times_that_run_backwards_never_end_a_span_before_it_starts() -> None:
    lines = started().result("t1").answer("Done.").data().splitlines(keepends=True)
    turned: list[bytes] = []
    for line, other in zip(lines, reversed(lines), strict=True):
        turned.append(
            json.dumps({**json.loads(line), "timestamp": json.loads(other)["timestamp"]}).encode() + b"\n"
        )
    (turn,) = turn_spans(Session.read(b"".join(turned), name="s1"))
    spans = list(turn.spans())
    assert len(spans) == 4
    assert all(span.start_ns <= span.end_ns for span in spans)


def test_a_session_without_any_time_still_has_its_spans() -> None:
    builder = Builder().prompt("Go.", timestamp=...).answer(call("t1"), timestamp=..., stop="tool_use")
    spans = list(only(builder.result("t1", timestamp=...)).spans())
    assert [(span.type, span.start_ns, span.end_ns) for span in spans] == [
        ("agent", 0, 0),
        ("generation", 0, 0),
        ("tool", 0, 0),
    ]
