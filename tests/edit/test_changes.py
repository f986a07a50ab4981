"""Lines that go, and what the others are told of it; judged by the lines themselves."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from clew.edit.changes import Changes, without_blocks
from clew.edit.guards import ambiguities, losses
from clew.edit.paths import sent_rows, settle
from clew.edit.thinking import drop_void, first_difference
from clew.edit.woven import Result, Woven
from clew.session.chain import chain
from clew.session.context import Context, context
from clew.session.eras import rules
from clew.session.session import SALVAGED, Session
from tests.builder import Builder, call, text, thinking
from tests.conformance.generator import generate

TARGET = "new.jsonl"


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]


def after(changes: Changes) -> bytes:
    return b"".join(changes.plan(TARGET).pieces())


def conversation() -> Builder:
    """Two turns, the first with a call and thinking before and after it."""
    return (
        Builder()
        .prompt("first")
        .answer(thinking("how"), call("c1"))
        .result("c1", "a long result")
        .answer(thinking("so"), text("done"))
        .prompt("second")
        .answer("again done")
    )


def contexts(session: Session, result: Result) -> tuple[Context, Context]:
    """What is sent before an edit and after it."""
    return context(session), context(result.session)


@pytest.mark.parametrize("seed", range(60))
def test_whoever_followed_a_line_that_goes_follows_the_nearest_above_that_stays(seed: int) -> None:
    data = generate(seed).data
    session = Session.read(data)
    random = Random(seed)
    changes = Changes(session)
    for row in range(len(session)):
        if random.random() < 0.3:
            changes.drop(row, "chance")
    rows = [session.entry(row).data for row in range(len(session))]
    kept = [dict(one) for row, one in enumerate(rows) if row not in changes.dropped]
    staying = {one["uuid"] for one in kept if isinstance(one.get("uuid"), str)}
    named = [one for one in rows if "uuid" in one]
    above = {one["uuid"]: one.get("parentUuid") or one.get("logicalParentUuid") for one in named}

    def heir(uuid: str | None) -> str | None:
        seen: set[str] = set()
        while uuid is not None and uuid in above and uuid not in staying:
            if uuid in seen:
                return None
            seen.add(uuid)
            uuid = above[uuid]
        return uuid

    found = Result(changes.plan(TARGET)).session
    assert len(found) == len(kept)
    for row, old in enumerate(kept):
        new = dict(found.entry(row).data)
        for name in ("parentUuid", "logicalParentUuid", "leafUuid", "sourceToolAssistantUUID"):
            if name in old:
                assert new.pop(name) == heir(old.pop(name))
        new.pop("compactMetadata", None)
        old.pop("compactMetadata", None)
        assert new == old


@pytest.mark.parametrize("seed", range(60))
def test_the_new_file_is_read_before_it_is_written(seed: int) -> None:
    session = Session.read(generate(seed).data)
    random = Random(seed)
    changes = Changes(session)
    for row in range(len(session)):
        match random.randrange(5):
            case 0:
                changes.drop(row, "chance")
            case 1:
                changes.change(row, lambda raw: raw.replace(b"}", b',"more":1}', 1), "chance")
            case 2:
                changes.add_before(row, {"type": "note", "n": row}, "chance")
            case _:
                pass
    plan = changes.plan(TARGET)
    data = b"".join(plan.pieces())
    woven = Woven(plan)
    assert woven.size == len(data)
    for _ in range(50):
        start = random.randrange(len(data) + 2)
        length = random.randrange(400)
        assert woven.read(start, length) == data[start : start + length]
    result = Result(plan)
    for row in range(len(result.session)):
        old = result.source_row(row)
        entry = result.session.entry(row)
        assert (old is None) == (entry.type == "note")
        if old is not None:
            assert entry.uuid == session.entry(old).uuid
            assert entry.type == session.entry(old).type


def test_one_of_two_lines_with_one_uuid_is_enough() -> None:
    builder = conversation()
    session = builder.again(2).session()
    changes = Changes(session)
    changes.drop(1, "the first copy")
    assert Result(changes.plan(TARGET)).session.entry(1).parent_uuid == session.entry(2).parent_uuid


def test_the_end_of_a_session_is_named_anew() -> None:
    builder = conversation()
    leaf = builder.leaf
    session = builder.line({"type": "last-prompt", "leafUuid": leaf, "sessionId": "s1"}).session()
    changes = Changes(session)
    changes.drop(len(session) - 2, "the last answer")
    assert records(after(changes))[-1]["leafUuid"] == session.entry(len(session) - 3).uuid


def test_what_changes_nothing_keeps_the_very_bytes() -> None:
    session = conversation().session()
    changes = Changes(session)
    changes.change(2, lambda raw: raw, "nothing")
    plan = changes.plan(TARGET)
    assert b"".join(plan.pieces()) == session.source.read(0, session.source.size)
    assert [type(step).__name__ for _, step in plan.steps()] == ["Keep"] * len(session)


def test_thinking_after_the_first_change_goes_and_before_it_stays() -> None:
    session = conversation().session()
    changes = Changes(session)
    changes.change(3, lambda raw: raw.replace(b"a long result", b"cut"), "shorter")
    result = Result(changes.plan(TARGET))
    before, now = contexts(session, result)
    assert first_difference(before, now) == (2, 0)
    assert drop_void(changes, before, result, now) == 1
    assert sorted(changes.dropped) == [4]
    sent = context(Result(changes.plan(TARGET)).session).messages
    assert [block["type"] for one in sent for block in one["content"]].count("thinking") == 1


def test_what_comes_behind_voids_nothing() -> None:
    session = conversation().session()
    changes = Changes(session)
    changes.add({**dict(session.entry(7).data), "uuid": "u99", "parentUuid": session.entry(7).uuid}, "more")
    assert first_difference(*contexts(session, Result(changes.plan(TARGET)))) is None


def test_a_block_goes_and_the_others_stay() -> None:
    raw = b'{"message":{"content":[{"a":1},{"b":2}, {"c":3}]}}'
    assert without_blocks(raw, [0, 2]) == b'{"message":{"content":[{"b":2}]}}'


def test_blocks_go_by_their_first_places_whatever_else_changes() -> None:
    blocks = [call("c1"), thinking("so"), text("done"), text("and more")]
    session = Builder().prompt("hello").entry("assistant", message={"content": blocks}).session()
    changes = Changes(session)
    changes.drop_blocks(1, [0], "one")
    changes.change(1, lambda raw: raw.replace(b"and more", b"no more"), "two")
    assert changes.drop_blocks(1, [0, 1], "three") == 1
    after = Result(changes.copy().plan(TARGET)).session
    assert after.entry(1).content == [text("done"), text("no more")]
    changes.drop_blocks(1, [2, 3], "four")
    assert changes.dropped == {1: "four"}


def test_a_line_is_hung_elsewhere_and_goes_up_with_what_it_hangs_on() -> None:
    session = conversation().session()
    changes = Changes(session)
    changes.hang(7, session.entry(4).uuid)
    assert Result(changes.plan(TARGET)).session.entry(7).parent_uuid == session.entry(4).uuid
    changes.drop(4, "gone")
    assert Result(changes.plan(TARGET)).session.entry(6).parent_uuid == session.entry(3).uuid


@pytest.mark.parametrize(
    ("gone", "left"), [((1,), ["u3", "u4"]), ((3,), ["u2", "u3"]), ((1, 3), ["u3", "u3"]), ((1, 2, 3), None)]
)
def test_what_a_compaction_kept_in_one_piece_is_named_by_what_is_left_of_it(
    gone: tuple[int, ...], left: list[str] | None
) -> None:
    builder = Builder().prompt("one").answer("1").prompt("two").answer("2")
    kept = {"headUuid": "u2", "tailUuid": "u4", "anchorUuid": "u6"}
    builder.system("compact_boundary", parentUuid=None, compactMetadata={"preservedSegment": kept})
    session = builder.user("summary", isCompactSummary=True).session()
    changes = Changes(session)
    for row in gone:
        changes.drop(row, "gone")
    found = Result(changes.plan(TARGET)).session
    metadata = found.entry(len(found) - 2).data["compactMetadata"]
    segment = metadata.get("preservedSegment")
    assert (segment and [segment["headUuid"], segment["tailUuid"]]) == left


@pytest.mark.parametrize("seed", range(60))
def test_a_conversation_stays_on_its_path_whatever_goes(seed: int) -> None:
    session = Session.read(generate(seed).data)
    if [*ambiguities(session)]:
        return
    before = said_on_path(session)
    random = Random(seed)
    gone = {uuid for uuid in before if random.random() < 0.2}
    changes = Changes(session)
    for row in range(len(session)):
        if session.entry(row).uuid in gone and not session.table.flags[row] & SALVAGED:
            changes.drop(row, "chance")
    settle(changes)
    found = said_on_path(Result(changes.plan(TARGET)).session)
    expected = [uuid for uuid in before if uuid not in gone]
    assert found == expected or not expected


def said_on_path(session: Session) -> list[str | None]:
    """Return the messages a conversation leads over; lines of the client's own come and go with the last."""
    newest = rules()
    path = chain(session, newest)
    rows = sent_rows(session, path, newest)  # none where the client refuses
    return [session.entry(row).uuid for row in rows if session.table.kind_of(row) in {"user", "assistant"}]


def lost(changes: Changes) -> list[str]:
    result = Result(changes.plan(TARGET))
    before, now = contexts(changes.session, result)
    return [*losses(changes, before, result, now)]


def test_losses_that_nobody_asked_for_are_named() -> None:
    builder = conversation().line({"type": "permission-mode", "permissionMode": "plan", "sessionId": "s1"})
    session = builder.session()
    nothing = Changes(session)
    assert lost(nothing) == []
    mode = Changes(session)
    mode.drop(8, "")
    assert lost(mode) == ["the last permission mode would be lost"]
    prompt = Changes(session)
    prompt.drop(6, "")
    assert lost(prompt) == ["the last prompt (line 7) would not be sent any more"]
    everything = Changes(session)
    for row in range(8):
        everything.drop(row, "")
    assert lost(everything)[0].startswith("the client would not resume it")


def test_a_line_of_which_a_copy_stays_is_no_loss() -> None:
    builder = conversation().compact().prompt("third").answer("thus")
    twice = builder.again(9).again(11)  # the compaction and the last prompt
    session = twice.session()
    kinds = [session.table.kind_of(row) for row in (8, 12)]
    assert kinds == ["system/compact_boundary"] * 2
    changes = Changes(session)
    for row in (12, 13):
        changes.drop(row, "")
    assert lost(changes) == []
    for row in (8, 10):
        changes.drop(row, "")
    assert lost(changes)[-2:] == [
        "the last prompt (line 14) would not be sent any more",
        "a compaction (line 9) would be lost",
    ]


def test_lines_that_contradict_each_other_are_named() -> None:
    builder = conversation()
    assert not [*ambiguities(builder.session())]
    assert not [*ambiguities(builder.again(3).session())]
    first = builder.session().entry(0).uuid
    other = builder.line({"type": "user", "uuid": first, "message": {"content": "other"}})
    assert [*ambiguities(other.session())] == ["the lines 1 and 10 have one uuid and differ"]
