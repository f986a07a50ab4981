"""What happens is told in few rows: answers as they come, a line for each call, sub-agents below theirs."""

from __future__ import annotations

from typing import Any

import pytest

from clew.agent.happenings import (
    Answered,
    BlockDone,
    CallBegan,
    CallEnded,
    CallReported,
    Compacted,
    Compacting,
    Happening,
    InAgent,
    Noted,
    Said,
    Thought,
    Waits,
)
from clew.agent.tool import Outcome
from clew.faces.cli.chat.telling import Telling
from clew.faces.cli.styled import Row, text_of, width


def use(name: str, given: dict[str, Any], call_id: str = "c1") -> BlockDone:
    return BlockDone({"type": "tool_use", "id": call_id, "name": name, "input": given}, "u")


def ended(name: str, content: str, call_id: str = "c1", **more: Any) -> CallEnded:
    return CallEnded(call_id, name, Outcome(content, **more), "u")


def told(telling: Telling, *happenings: Happening, now: float = 0.0) -> list[str]:
    rows: list[Row] = []
    for one in happenings:
        rows += telling.hear(one, now)
    return [text_of(row).rstrip() for row in rows]


def live(telling: Telling, now: float = 0.0, room: int = 20) -> list[str]:
    return [text_of(row).rstrip() for row in telling.live(now, room)]


@pytest.fixture
def telling() -> Telling:
    return Telling(60, "/maze")


def test_an_answer_is_drawn_line_by_line_and_its_end_as_it_comes(telling: Telling) -> None:
    assert told(telling, Said("\n\nfirst li")) == []
    assert live(telling) == ["first li"]
    assert told(telling, Said("ne\nsecond")) == ["first line"]
    assert live(telling) == ["second"]
    assert told(telling, BlockDone({"type": "text", "text": "…"}, "u")) == ["second"]
    assert live(telling) == []


def test_a_thought_is_its_first_words(telling: Telling) -> None:
    assert told(telling, Thought("I **should** "), Thought("look.\nThen act.")) == []
    assert live(telling) == ["thinking: I **should** look. Then act."]
    assert told(telling, Said("Well\n")) == ["thought: I should look. Then act.", "", "Well"]


def test_a_call_shows_its_last_lines_while_it_runs_and_a_line_when_it_is_done(telling: Telling) -> None:
    told(telling, use("Bash", {"command": "make"}), CallBegan("c1", "Bash", {"command": "make"}))
    assert live(telling) == ["● Bash make"]
    told(telling, *(CallReported("c1", f"line {number}") for number in range(10)))
    assert live(telling, now=3.2) == [
        "● Bash make · 3 s",
        "  │ 7 lines before",
        "  │ line 7",
        "  │ line 8",
        "  │ line 9",
    ]
    assert told(telling, ended("Bash", "…"), now=4.0) == [
        "✓ Bash make · 10 lines · 4 s",
        "  │ 7 lines before",
        "  │ line 7",
        "  │ line 8",
        "  │ line 9",
    ]
    assert live(telling) == []


def test_a_failed_call_shows_why(telling: Telling) -> None:
    shown = told(
        telling,
        use("Bash", {"command": "false"}),
        CallBegan("c1", "Bash", {"command": "false"}),
        ended("Bash", "Exit code 1\n" + "\n".join(map(str, range(20))), is_error=True),
    )
    assert shown[0] == "✗ Bash false · exit 1"
    assert shown[-1] == "  │ 19"
    assert len(shown) == 9


def test_a_call_that_was_refused_needs_no_reason(telling: Telling) -> None:
    words = "The user doesn't want to proceed with this tool use. …"
    shown = told(
        telling,
        use("Write", {"file_path": "/maze/a.txt", "content": ""}),
        ended("Write", words, is_error=True),
    )
    assert shown == ["✗ Write a.txt · refused"]


def test_what_came_of_a_call_stays_where_its_argument_is_cut(telling: Telling) -> None:
    shown = told(
        telling,
        use("Read", {"file_path": "/maze/" + "long/" * 30}),
        CallBegan("c1", "Read", {}),
        ended("Read", "one\ntwo"),
    )
    assert shown[0].endswith("… · 2 lines")
    assert len(shown[0]) <= 60


def test_the_calls_of_a_sub_agent_stand_below_it(telling: Telling) -> None:
    def inside(happening: Happening) -> InAgent:
        return InAgent("c1", "a1", happening)

    told(telling, use("Agent", {"description": "look", "prompt": "x"}), CallBegan("c1", "Agent", {}))
    told(telling, inside(Said("I look.")))
    assert live(telling) == ["● Agent look", "  I look."]
    told(telling, inside(use("Grep", {"pattern": "x"}, "c2")), inside(CallBegan("c2", "Grep", {})))
    assert live(telling) == ["● Agent look", "  └ ● Grep x"]
    told(telling, inside(ended("Grep", "a\nb", "c2")))
    told(telling, inside(use("Agent", {"description": "deeper"}, "c3")), inside(CallBegan("c3", "Agent", {})))
    told(telling, InAgent("c3", "a2", use("Read", {"file_path": "/maze/a"}, "c4")))
    assert live(telling) == [
        "● Agent look",
        "  └ ✓ Grep x · 2 lines",
        "  └ ● Agent deeper",
        "      └ ● Read a",
    ]
    told(telling, InAgent("c3", "a2", ended("Read", "no such file", "c4", is_error=True)))
    told(telling, inside(ended("Agent", "done", "c3")))
    assert told(telling, ended("Agent", "done")) == [
        "✓ Agent look · 2 calls",
        "  └ ✓ Grep x · 2 lines",
        "  └ ✓ Agent deeper · 1 call",
        "      └ ✗ Read a · failed",
        "          │ no such file",
    ]


def test_a_turn_that_is_stopped_leaves_nothing_open(telling: Telling) -> None:
    told(telling, Said("half an ans"), use("Bash", {"command": "sleep"}), CallBegan("c1", "Bash", {}))
    rows = [text_of(row) for row in telling.end(is_interrupted=True)]
    assert rows == ["", "✗ Bash sleep · interrupted", "", "── interrupted ──"]
    assert live(telling) == []


def test_waiting_and_summing_up_are_told(telling: Telling) -> None:
    told(telling, Waits(2.4, "the API is busy", 1, 5))
    assert live(telling) == ["! the API is busy; trying again in 2 s (1 of 5)"]
    assert told(telling, Said("x")) == []
    assert live(telling) == ["x"]
    rows = told(telling, Compacting("auto"), Compacted("auto", 150_000, 2_000, is_extract=False))
    assert rows[-1] == "── summed up: 150k → ≈2.0k tokens ──"
    assert told(telling, Noted("a hook failed\nbadly")) == ["", "! a hook failed", "  badly"]


def test_how_long_the_conversation_is_follows_the_answers(telling: Telling) -> None:
    told(telling, Answered("m", "x", "end_turn", {}, 0.1, 0.1, 1234))
    assert telling.tokens == 1234


def test_no_row_is_too_wide_and_no_text_acts(telling: Telling) -> None:
    evil = "\x1b[2J漢" * 50
    rows: list[Row] = []
    for one in (
        Noted(evil),
        use(evil, {"command": evil}),
        CallBegan("c1", evil, {}),
        CallReported("c1", evil + "\n" + evil),
    ):
        rows += telling.hear(one, 0.0)
    rows += telling.live(0.0, 20)
    rows += telling.hear(ended(evil, evil, is_error=True), 0.0)
    rows += telling.prompt(evil)
    assert all("\x1b" not in text_of(row) for row in rows)
    assert all(width(row) <= 60 for row in rows if "● " not in text_of(row) and "✗ " not in text_of(row))


def test_happenings_about_calls_nobody_heard_of_do_no_harm(telling: Telling) -> None:
    told(
        telling, CallReported("x", "y"), InAgent("z", "a", Said("w")), InAgent("z", "a", ended("R", "", "q"))
    )
    assert told(telling, ended("Read", "one", "new")) == ["✓ Read · 1 line"]
