"""The facts of a session, kept up to date line by line."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from clew.format.lines import BytesSource
from clew.format.records import scan
from clew.session.calls import pairs
from clew.session.fold import Extent, Facts, Pr, Summary, fold
from clew.session.inventory import Counts, Inventory, total
from clew.session.messages import messages
from clew.session.prompts import read
from clew.session.session import HUMAN, SIDECHAIN, Session
from clew.session.tallies import MOST_NAMES
from clew.session.titles import title
from clew.session.turns import turns
from tests.builder import Builder, call, image, text

DATA = Path(__file__).parent.parent / "data"
RECORDED = sorted(DATA.glob("corpus/*/*/projects/**/*.jsonl")) + sorted(DATA.glob("made/**/*.jsonl"))


def both(data: bytes) -> tuple[Counts, Facts]:
    inventory, summary = Inventory(), Summary()
    extent = fold(BytesSource(data), inventory, summary)
    return inventory.result(extent), summary.result(extent)


def counts(builder: Builder) -> Counts:
    return both(builder.data())[0]


def facts(builder: Builder) -> Facts:
    return both(builder.data())[1]


def agree(data: bytes) -> None:
    """Hold the folds against what is computed from the whole session."""
    inventory, summary = both(data)
    session = Session.read(data)
    table = session.table
    found = pairs(session)
    told = messages(session)
    assert inventory.messages == summary.messages == len(told)
    assert inventory.message_stop_reasons == Counter(m.stop_reason or "null" for m in told)
    assert inventory.tool_calls == summary.tool_calls == len(found.calls)
    assert inventory.unpaired_calls == len(found.unpaired_calls)
    assert inventory.unpaired_results == len(found.unpaired_results)
    assert summary.failed_calls == sum(each.is_error for each in found.calls)
    assert sum(inventory.entry_types.values()) == len(session)
    # Once each: a prompt written again is the same prompt.
    humans = [
        row for row in range(len(table)) if table.flags[row] & HUMAN and not table.flags[row] & SIDECHAIN
    ]
    assert inventory.human_turns == len({table.uuid[row] or -1 - row for row in humans})
    cut = turns(session)
    assert summary.turns == len(cut)
    best = title(session)
    assert (summary.title, summary.title_source) == ((best.text, best.source) if best else (None, None))
    if summary.first_prompt is not None and not session.fragments:
        first = next(turn for turn in cut if turn.n == 1)
        assert first.prompt_row is not None
        assert (
            table.uuid[first.prompt_row]
            or read(session.entry(first.prompt_row)).words == summary.first_prompt
        )


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: str(path.relative_to(DATA)))
def test_folding_a_recorded_session_equals_reading_it_whole(path: Path) -> None:
    agree(path.read_bytes())


_ID = st.sampled_from([None, "", "a", "b", "c", 7])
_TEXT = st.sampled_from(
    ["hi", "", "<command-name>/cost</command-name>", "[Request interrupted by user]", "Tea?"]
)
_BLOCK = st.one_of(
    st.builds(text, _TEXT),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["tool_use", "tool_result", "server_tool_use", "thinking", None]),
            "id": _ID,
            "tool_use_id": _ID,
            "is_error": st.sampled_from([True, False, None, "yes"]),
        }
    ),
    st.sampled_from(["bare", 7, None]),
)
_CONTENT = st.one_of(_TEXT, st.none(), st.lists(_BLOCK, max_size=3))
_FLAG = st.sampled_from([None, None, False, True])


@st.composite
def _entry(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(
        st.sampled_from(["user", "assistant", "assistant", None, "system", "summary", "custom-title", 3])
    )
    entry: dict[str, Any] = {
        "type": kind,
        "uuid": draw(_ID),
        "parentUuid": draw(_ID),
        "isSidechain": draw(_FLAG),
        "isMeta": draw(_FLAG),
        "requestId": draw(_ID),
        "agentId": draw(_ID),
        "message": {
            "role": draw(st.sampled_from(["user", "assistant", None])),
            "id": draw(_ID),
            "model": draw(st.sampled_from([None, "m", "<synthetic>"])),
            "stop_reason": draw(st.sampled_from([None, "end_turn", "tool_use"])),
            "content": draw(_CONTENT),
        },
        "summary": draw(_TEXT),
        "customTitle": draw(_TEXT),
        "leafUuid": draw(_ID),
        "timestamp": draw(st.sampled_from([None, "2026-03-04T09:00:00Z", "2026-03-04T09:10:00Z", 7])),
    }
    return {name: value for name, value in entry.items() if value is not None}


_LINE = st.one_of(
    _entry().map(lambda entry: json.dumps(entry).encode() + b"\n"),
    st.sampled_from([b"\n", b"  \r\n", b"torn\n", b'{"type":"user"', b"\x00\x00\n", b'{"a":1}{"b":2}\n']),
)


@given(st.lists(_LINE, max_size=12).map(b"".join))
def test_folding_any_lines_equals_reading_them_whole(data: bytes) -> None:
    agree(data)


_SIDE = _entry().map(lambda entry: json.dumps(entry | {"isSidechain": True}).encode() + b"\n")


@given(st.lists(_SIDE, max_size=12).map(b"".join))
def test_folding_a_sub_agents_lines_in_any_order_equals_reading_them_whole(data: bytes) -> None:
    agree(data)


@given(st.lists(_LINE, max_size=8).map(b"".join), st.sets(st.integers(0, 12)))
def test_looking_in_between_changes_nothing(data: bytes, looks: set[int]) -> None:
    inventory, summary = Inventory(), Summary()
    for number, item in enumerate(scan(BytesSource(data))):
        if number in looks:
            inventory.result()
            summary.result()
        inventory.add(item)
        summary.add(item)
    whole = both(data)
    extent = Extent(len(data), whole[0].lines)
    assert (inventory.result(extent), summary.result(extent)) == whole


@given(st.lists(_LINE, max_size=8).map(b"".join))
def test_lines_are_counted_as_wc_does_with_one_more_for_an_unfinished_one(data: bytes) -> None:
    extent = fold(BytesSource(data), Inventory())
    assert extent.bytes == len(data)
    assert extent.lines == data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))


@pytest.mark.parametrize(
    "data", [b"", b"\n", b"\n\n", b"  ", b"{}", b"{}\n", b"{}\r\n", b"{}\n\n", b"{}\n \n ", b"x\n\n"]
)
def test_blank_lines_at_the_end_are_lines(data: bytes) -> None:
    lines = data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))
    assert fold(BytesSource(data)) == Extent(len(data), lines)


def test_without_an_extent_the_end_of_the_last_record_is_the_end() -> None:
    inventory = Inventory()
    for item in scan(BytesSource(b'{"type":"user"}\n{"type":"x"}\n\n\n')):
        inventory.add(item)
    assert (inventory.result().lines, inventory.result().bytes) == (2, 29)


def test_the_inventory_has_the_shape_of_the_command() -> None:
    builder = (
        Builder(version="2.1.29").prompt([text("Tea?"), image()]).answer("Yes.", call("t1"), stop="tool_use")
    )
    builder.result("t1").result("t9").answer("Here.", message_id="m9").raw(b"torn\n")
    assert counts(builder).as_dict() == {
        "bytes": len(builder.data()),
        "lines": 7,
        "entry_types": {"user": 3, "assistant": 3},
        "versions": {"2.1.29": 6},
        "models": {"claude-sonnet-4-5-20250929": 3},
        "stop_reasons": {"null": 1, "tool_use": 1, "end_turn": 1},
        "blocks": {"text": 3, "image": 1, "tool_use": 1, "tool_result": 2},
        "human_turns": 1,
        "tool_calls": 1,
        "tool_results": 2,
        "unpaired_calls": 0,
        "unpaired_results": 1,
        "session_ids": {"s1": 6},
        "damaged": 1,
        "messages": {"count": 2, "stop_reasons": {"tool_use": 1, "end_turn": 1}},
    }


def test_a_block_without_a_type_is_counted() -> None:
    assert counts(Builder().prompt([{"text": "a"}]).answer({"text": "b"})).blocks == {"?": 2}


def test_inventories_add_up() -> None:
    one = counts(Builder().prompt("a").answer("b"))
    two = counts(Builder().prompt("c").answer(call("t1"), stop="tool_use").raw(b"x\n"))
    both_of_them = total([one, two])
    assert (both_of_them.bytes, both_of_them.lines) == (one.bytes + two.bytes, 5)
    assert both_of_them.entry_types == {"user": 2, "assistant": 2}
    assert both_of_them.message_stop_reasons == {"end_turn": 1, "tool_use": 1}
    assert (both_of_them.human_turns, both_of_them.unpaired_calls, both_of_them.damaged) == (2, 1, 1)
    assert total([]).as_dict()["messages"] == {"count": 0, "stop_reasons": {}}


def test_a_damaged_line_counts_once_however_many_pieces_it_has() -> None:
    glued = b'{"type":"user","uuid":"a"}{"type":"user","uuid":"b"}\n'
    nuls = b'\x00\x00{"type":"user","uuid":"c"}\x00\n'
    assert counts(Builder().raw(glued).raw(nuls).raw(b"\n").raw(b'{"type":"user","uuid":"d"}\n')).damaged == 2


def test_an_unfinished_last_line_is_told() -> None:
    assert facts(Builder().prompt("a").raw(b'{"type":"us')).is_unfinished
    assert not facts(Builder().prompt("a").raw(b"torn\n")).is_unfinished


def test_names_without_end_do_not_take_memory_without_end() -> None:
    builder = Builder()
    for number in range(MOST_NAMES + 50):
        builder.line({"type": f"t{number}"})
        builder.line({"type": "assistant", "message": {"id": str(number), "stop_reason": f"s{number}"}})
        builder.line({"type": "pr-link", "prNumber": number})
    builder.line({"type": "x" * 1000})
    inventory, summary = both(builder.data())
    assert len(inventory.entry_types) == MOST_NAMES + 1
    assert len(inventory.message_stop_reasons) == MOST_NAMES + 1
    assert sum(inventory.message_stop_reasons.values()) == MOST_NAMES + 50
    assert len(summary.prs) == MOST_NAMES


def test_a_list_of_sessions_is_told_what_it_shows() -> None:
    builder = Builder("s1", version="2.1.150").prompt("Light the lamp.", slug="a-quiet-lamp")
    builder.answer(call("t1"), call("t2"), stop="tool_use").result("t1", is_error=True).result("t2")
    builder.answer("Lit.", version="2.1.325", gitBranch="lamp").answer("Hush.", model="<synthetic>")
    builder.answer("Out.", model="other", sessionId="s2")
    builder.line({"type": "pr-link", "prNumber": 7, "prUrl": "u", "prRepository": "ada/lamp"})
    builder.line({"type": "pr-link", "prNumber": 7, "prUrl": "u", "prRepository": "ada/lamp"})
    told = facts(builder)
    assert replace(told, bytes=0, started=None, ended=None, oldest=None) == Facts(
        title="Light the lamp.",
        title_source="prompt",
        first_prompt="Light the lamp.",
        started=None,
        ended=None,
        turns=1,
        messages=4,
        tool_calls=2,
        failed_calls=1,
        models=("claude-sonnet-4-5-20250929", "other"),
        git_branch="main",
        versions=("2.1.150", "2.1.325"),
        session_ids=("s1", "s2"),
        first_session_id="s1",
        agent_id=None,
        slug="a-quiet-lamp",
        cwd="/home/ada/lighthouse",
        kind="conversation",
        damaged=0,
        is_unfinished=False,
        bytes=0,
        lines=10,
        prs=(Pr(7, "u", "ada/lamp"),),
        summaries={},
        oldest=None,
    )
    assert (told.started, told.ended) == (1_772_614_801_000, 1_772_614_808_000)
    assert told.oldest == told.started


def test_the_times_are_the_earliest_and_the_latest_of_what_was_said() -> None:
    told = facts(Builder().prompt("a").wait(-100).answer("b").prompt("c", timestamp="never"))
    assert told.started is not None
    assert told.ended == told.started + 99_000
    silent = facts(Builder().line({"type": "queue-operation", "timestamp": "2026-03-04T09:00:00Z"}))
    assert (silent.started, silent.ended) == (None, None)


def test_the_session_on_most_lines_comes_first_and_the_first_line_tells_what_it_continues() -> None:
    builder = Builder("before").prompt("a").line({"type": "user", "sessionId": "now"})
    told = facts(builder.line({"type": "user", "sessionId": "now"}))
    assert (told.session_ids, told.first_session_id) == (("now", "before"), "before")


@pytest.mark.parametrize(
    ("builder", "kind"),
    [
        (Builder(), "empty"),
        (Builder().line({"type": "queue-operation"}), "empty"),
        (Builder().line({"type": "summary", "summary": "x", "leafUuid": "y"}), "summary"),
        (Builder().line({"type": "summary"}).prompt("a"), "mixed"),
        (Builder().prompt("a").line({"type": "summary"}), "conversation"),
        (Builder().prompt("a"), "conversation"),
        (Builder().prompt("a", isSidechain=True), "agent"),
        (Builder().prompt("a", isSidechain=True).prompt("b"), "conversation"),
    ],
)
def test_a_file_is_of_the_kind_its_lines_say(builder: Builder, kind: str) -> None:
    assert facts(builder).kind == kind


def test_a_sub_agents_own_file_tells_of_the_agent() -> None:
    told = facts(Builder().prompt("Count.", isSidechain=True, agentId="a1").answer("3", isSidechain=True))
    assert (told.agent_id, told.turns, told.first_prompt, told.title) == ("a1", 1, "Count.", "Count.")


def test_a_summary_of_another_file_can_be_the_title() -> None:
    summary = Summary()
    fold(BytesSource(Builder().prompt("a", uuid="here").data()), summary)
    assert summary.result(summaries={"here": "From afar"}).title_source == "summary"
    pointing = facts(Builder().line({"type": "summary", "summary": "x", "leafUuid": "y"}))
    assert pointing.summaries == {"y": "x"}
