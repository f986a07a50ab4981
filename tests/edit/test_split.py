"""A session in two parts, each of which can be resumed."""

from __future__ import annotations

import json

import pytest

from clew.edit.split import split
from clew.errors import RefusedError, UsageError
from clew.session.context import context
from clew.session.session import Session
from clew.session.turns import turns
from tests.builder import Builder, call
from tests.conformance.generator import generate
from tests.edit.laws import CLIENTS, check_bytes, corpus, result_of, said, sent


def conversation() -> Builder:
    """Three turns, with a title and a mode."""
    builder = Builder().line({"type": "custom-title", "customTitle": "Lamp", "sessionId": "s1"})
    builder.prompt("ask 1").answer("say 1").line({"type": "permission-mode", "permissionMode": "plan"})
    return (
        builder.prompt("ask 2")
        .answer(call("c1"))
        .result("c1")
        .answer("say 2")
        .prompt("ask 3")
        .answer("say 3")
    )


def parts(session: Session, turn: int) -> tuple[Session, Session]:
    """Both parts, read."""
    first, second = split(session, turn=turn)
    return result_of(first), result_of(second)


@pytest.mark.parametrize("client", CLIENTS)
def test_each_part_sends_what_was_said_in_it(client: str) -> None:
    session = conversation().session()
    whole = said(session, client=client)
    first, second = parts(session, 3)
    assert said(first, client=client) == whole[:-2]
    assert said(second, client=client) == whole[-2:]
    first, second = parts(session, 2)
    assert said(first, client=client) == ["ask 1", "say 1"]
    assert said(second, client=client) == whole[2:]


def test_the_second_part_says_where_it_hung() -> None:
    _, second = parts(conversation().session(), 2)
    root = next(entry for entry in second.entries() if entry.uuid)
    assert root.parent_uuid is None
    assert root.logical_parent_uuid == "u2"


def test_what_a_session_is_called_and_how_it_is_set_goes_to_both_parts() -> None:
    for part in parts(conversation().session(), 2):
        kinds = [entry.type for entry in part.entries()]
        assert kinds.count("custom-title") == 1
        assert kinds.count("permission-mode") == 1


def test_every_line_is_in_one_of_the_parts() -> None:
    data = conversation().data()
    first, second = split(Session.read(data), turn=2)
    old = {json.loads(line).get("uuid") for line in data.splitlines()}
    new = [
        json.loads(line).get("uuid")
        for part in (first, second)
        for line in check_bytes(data, part).splitlines()
    ]
    assert set(new) == old
    uuids = [uuid for uuid in new if uuid]
    assert len(uuids) == len(set(uuids))


def test_a_summary_that_the_second_part_hung_on_comes_along() -> None:
    builder = Builder().prompt("ask 1").answer("say 1").compact("Summary.").prompt("ask 2").answer("say 2")
    first, second = parts(builder.session(), 2)
    assert said(first) == ["ask 1", "say 1"]
    assert said(second) == ["Summary.", "ask 2", "say 2"]


def test_a_session_is_split_before_its_compaction_too() -> None:
    builder = Builder().prompt("ask 1").answer("say 1").prompt("ask 2").answer("say 2")
    builder.compact("Summary.").prompt("ask 3").answer("say 3")
    first, second = parts(builder.session(), 2)
    assert said(first) == ["ask 1", "say 1"]
    assert said(second) == ["Summary.", "ask 3", "say 3"]


@pytest.mark.parametrize("turn", [0, 1, 4, -1])
def test_a_turn_that_is_not_there_or_the_first_is_an_error(turn: int) -> None:
    with pytest.raises(UsageError):
        split(conversation().session(), turn=turn)


def test_a_turn_on_another_branch_is_an_error() -> None:
    builder = Builder().prompt("ask 1").answer("say 1").prompt("left alone").answer("left too")
    builder.rewind("u2").prompt("ask 2").answer("say 2")
    with pytest.raises(UsageError, match="branch"):
        split(builder.session(), turn=2)
    first, second = parts(builder.session(), 3)
    assert said(first) == ["ask 1", "say 1"]
    assert said(second) == ["ask 2", "say 2"]


def test_a_call_is_not_parted_from_its_result() -> None:
    builder = Builder().prompt("ask 1").answer(call("c1")).prompt("by the way").result("c1").answer("done")
    with pytest.raises(RefusedError, match="result"):
        split(builder.session(), turn=2)


def test_a_session_that_cannot_be_resumed_is_refused() -> None:
    with pytest.raises(RefusedError):
        split(Builder(loose=True).prompt("ask 1").answer("say 1").prompt("ask 2").session(), turn=2)


def check_parts(data: bytes) -> int:
    """Check both parts at every turn; return how often there were two."""
    session = Session.read(data)
    whole = context(session)
    count = 0
    for turn in [turn.n for turn in turns(session)]:
        try:
            found = split(session, turn=turn)
        except (RefusedError, UsageError):
            continue
        count += 1
        before, after = (context(Session.read(check_bytes(data, part))) for part in found)
        assert before.refused is None
        assert after.refused is None
        assert before.messages
        said_after, said_whole = sent(after.messages), sent(whole.messages)
        assert said_after == said_whole[len(said_whole) - len(said_after) :]
    return count


@pytest.mark.parametrize("start", range(0, 120, 20))
def test_made_sessions_come_apart(start: int) -> None:
    assert sum(check_parts(generate(seed).data) for seed in range(start, start + 20)) > 20


def test_sessions_of_real_clients_come_apart() -> None:
    assert sum(check_parts(path.read_bytes()) for path in corpus()) > 100


def test_a_line_of_the_first_part_that_is_written_again_later_stays_there() -> None:
    builder = conversation()
    data = builder.data() + builder.data().splitlines(keepends=True)[2]
    first, second = parts(Session.read(data), 3)
    uuids = [{entry.uuid for entry in part.entries() if entry.uuid} for part in (first, second)]
    assert uuids[0].isdisjoint(uuids[1])
    assert said(second) == ["ask 3", "say 3"]
