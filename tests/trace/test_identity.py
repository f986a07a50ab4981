"""The same work has the same ids, whenever and from whichever copy it is read; and it is told whose it is."""

from __future__ import annotations

import json

import pytest

from clew.session.session import Session
from clew.trace.spans import SessionTraces, turn_spans
from tests.builder import Builder, call, text
from tests.trace.recorded import cases
from tests.trace.stories import only, started


def test_what_a_fork_copied_is_history_and_has_the_ids_of_the_original() -> None:
    for version in ("2.0.42", "2.0.76", "2.1.29", "2.1.45", "2.1.150", "2.1.325"):
        found = {case.session.name: case for case in cases() if case.name.startswith(f"{version}/resume/")}
        ids = {name: [turn.trace_id for turn in case.traces().turns()] for name, case in found.items()}
        pairs = [
            (fork, origin)
            for fork in ids
            for origin in ids
            if fork != origin and len(set(ids[fork]) & set(ids[origin])) >= 3
        ]
        assert pairs, version
        for fork, origin in pairs:
            shared = set(ids[fork]) & set(ids[origin])
            there = {turn.trace_id: turn for turn in found[origin].traces().turns()}
            for turn in found[fork].traces().turns():
                if turn.trace_id in shared:
                    mine = {span.span_id for span in turn.spans()}
                    other = {span.span_id for span in there[turn.trace_id].spans()}
                    # Up to 2.1.45 a fork loses calls that were made at the same time as others.
                    assert mine == other or (version < "2.1.80" and (mine < other or other < mine))


@pytest.mark.parametrize("version", ["2.0.42", "2.0.76", "2.1.29", "2.1.45"])
def test_a_fork_that_kept_the_old_session_on_its_prompts_tells_it_by_itself(version: str) -> None:
    owners = {
        (turn.owner, case.session.name)
        for case in cases()
        if case.name.startswith(f"{version}/resume/")
        for turn in case.traces().turns()
    }
    others = [(owner, name) for owner, name in owners if owner is not None]
    assert len(others) == 1
    assert others[0][0] != others[0][1]


def test_the_owner_of_a_message_decides_for_its_spans() -> None:
    builder = Builder().prompt("Go.").answer(call("t1"), stop="tool_use", message_id="m1")
    builder.result("t1").answer("Done.", message_id="m2")
    turn = only(builder, owner_of={"m1": "older", "m2": "s1"}.get)
    assert turn.owner == "older"
    assert [(span.type, span.is_history) for span in turn.spans()] == [
        ("agent", True),
        ("generation", True),
        ("tool", True),
        ("generation", False),
    ]
    assert [one.owner for one in turn.generations()] == ["older", None]


@pytest.mark.parametrize("version", sorted({case.name.split("/")[0] for case in cases()}))
def test_with_owners_each_message_of_a_scenario_is_sent_by_one_session(version: str) -> None:
    """As `M9` gives them: a message belongs to the session whose oldest line is oldest."""
    some = [case for case in cases() if case.name.startswith(f"{version}/resume/")]
    first: dict[str, str] = {}
    ages: dict[str, str] = {}
    for case in some:
        lines = [json.loads(line) for line in case.files[0].read_bytes().splitlines()]
        ages[case.session.name or ""] = min(line["timestamp"] for line in lines if "timestamp" in line)
    for case in some:
        for turn in case.traces().turns():
            for one in turn.generations():
                name = case.session.name or ""
                other = first.get(one.message_id or "", name)
                first[one.message_id or ""] = min(name, other, key=lambda key: (ages[key], key))
    sent = [
        one.message_id
        for case in some
        for turn in case.traces(owner_of=first.get).turns()
        for one in turn.generations()
        if one.owner is None
    ]
    assert sorted(sent, key=str) == sorted(first)
    copies = [turn for case in some for turn in case.traces(owner_of=first.get).turns() if turn.is_history]
    assert copies


def test_a_fork_with_new_uuids_has_the_ids_that_it_says_they_had() -> None:
    uuid = "00000000-1111-4222-8333-444444444444"
    first = only(Builder("older").prompt("Go.", uuid=uuid).answer("Done."))
    fork = Builder("s1").prompt(
        "Go.",
        uuid="99999999-1111-4222-8333-444444444444",
        forkedFrom={"sessionId": "older", "messageUuid": uuid},
    )
    second = only(fork.answer("Done."))
    assert second.owner == "older"
    assert first.trace_id == second.trace_id
    assert [span.span_id for span in first.spans()] == [span.span_id for span in second.spans()]


def test_a_file_that_was_renamed_is_no_copy() -> None:
    (turn,) = turn_spans(Builder("s1").prompt("Go.").answer("Done.").session("backup"))
    assert turn.owner is None


def test_the_same_session_gives_the_same_spans_each_time_and_in_any_order_of_files() -> None:
    for case in cases():
        once = [span for turn in case.traces().turns() for span in turn.spans()]
        again = [span for turn in case.traces().turns() for span in turn.spans()]
        assert once == again
        turned = SessionTraces(case.session, tuple(reversed(case.agents)))
        assert once == [span for turn in turned.turns() for span in turn.spans()]


def test_spans_can_be_asked_for_more_than_once() -> None:
    turn = only(started().result("t1").answer("Done."))
    assert list(turn.spans()) == list(turn.spans())


def test_a_file_read_while_it_grows_gives_the_ids_that_it_gives_at_the_end() -> None:
    """What was seen of a complete turn is never named otherwise later, whatever comes after it."""
    for case in cases():
        data = case.files[0].read_bytes()
        whole = {turn.trace_id: {span.span_id for span in turn.spans()} for turn in case.traces().turns()}
        lines = data.splitlines(keepends=True)
        for cut in {len(lines) // 3, len(lines) // 2, len(lines) - 1}:
            part = Session.read(b"".join(lines[:cut]), name=case.session.name)
            for turn in turn_spans(part):
                ids = {span.span_id for span in turn.spans()}
                assert ids <= whole.get(turn.trace_id, set()), case.name


def test_a_file_whose_beginning_was_cut_off_gives_the_same_ids() -> None:
    for case in cases():
        traces = list(case.traces().turns())
        if len(traces) < 2 or case.agents:
            continue
        whole = {turn.trace_id: [span.span_id for span in turn.spans()] for turn in traces}
        uuid = traces[-1].prompt_uuid
        lines = case.files[0].read_bytes().splitlines(keepends=True)
        at = next(n for n, line in enumerate(lines) if json.loads(line).get("uuid") == uuid)
        part = Session.read(b"".join(lines[at:]), name=case.session.name)
        last = list(turn_spans(part))[-1]
        assert [span.span_id for span in last.spans()] == whole[last.trace_id], case.name


def test_lines_that_a_compaction_writes_again_change_nothing() -> None:
    builder = started().result("t1").answer("Done.")
    before = [span.span_id for span in only(builder).spans()]
    for line in range(1, 6):
        builder.again(line)
    assert [span.span_id for span in only(builder).spans()] == before


def test_two_prompts_or_answers_with_one_uuid_do_not_collide() -> None:
    builder = Builder().prompt("Go.", uuid="same").answer("One.", uuid="same", message_id=None)
    builder.user([text("<task-notification>x</task-notification>")], uuid="same")
    builder.answer("Two.", uuid="same", message_id=None)
    spans = [span for turn in turn_spans(builder.session("s1")) for span in turn.spans()]
    assert len({span.span_id for span in spans}) == len(spans) >= 2


def test_a_uuid_that_is_none_is_taken_with_its_session() -> None:
    ids = {only(Builder(name).prompt("Go.").answer("Done.")).trace_id for name in ("s1", "s2")}
    assert len(ids) == 2
