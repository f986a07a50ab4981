"""Two sessions in one: parts of one, forks, and two that have nothing to do with each other."""

from __future__ import annotations

import pytest

from clew.edit.merge import merge
from clew.edit.plan import Add, Keep, Patch
from clew.edit.split import split
from clew.errors import RefusedError, UsageError
from clew.session.context import context
from clew.session.session import Session
from clew.session.turns import turns
from tests.builder import Builder, call, thinking
from tests.conformance.generator import generate
from tests.edit.laws import CLIENTS, check_bytes, corpus, said


def written(first: Session, second: Session, *, keep_thinking: bool = False) -> Session:
    """The merged file, written out and read; it must be what was read before."""
    joined = merge(first, second, keep_thinking=keep_thinking)
    data = b"".join(joined.pieces())
    before = joined.read()
    assert before.source.read(0, before.source.size + 1) == data
    assert before.source.size == len(data)
    return Session.read(data)


def check_whole(data: bytes) -> int:
    """Check that the parts of a session make the same conversation again; return how often."""
    session = Session.read(data)
    whole = context(session)
    count = 0
    for turn in [turn.n for turn in turns(session)]:
        try:
            found = split(session, turn=turn)
        except (RefusedError, UsageError):
            continue
        first, second = (Session.read(check_bytes(data, part)) for part in found)
        again = written(first, second)
        assert context(again).messages == whole.messages
        twice = written(again, second)
        assert twice.source.read(0, twice.source.size) == again.source.read(0, again.source.size)
        count += 1
    return count


@pytest.mark.parametrize("start", range(0, 120, 20))
def test_the_parts_of_a_session_make_the_same_conversation_again(start: int) -> None:
    assert sum(check_whole(generate(seed).data) for seed in range(start, start + 20)) > 20


def test_the_parts_of_real_sessions_make_the_same_conversations_again() -> None:
    assert sum(check_whole(path.read_bytes()) for path in corpus()) > 100


def test_the_parts_of_a_plain_session_make_the_very_same_file() -> None:
    data = (
        Builder()
        .prompt("ask 1")
        .answer("say 1")
        .prompt("ask 2")
        .answer(call("c1"))
        .result("c1")
        .answer("x")
        .data()
    )
    first, second = (Session.read(check_bytes(data, part)) for part in split(Session.read(data), turn=2))
    again = written(first, second)
    lines = again.source.read(0, again.source.size)
    assert lines == data


def test_a_session_that_has_nothing_to_do_with_the_first_goes_on_where_that_ended() -> None:
    first = Builder().prompt("ask 1").answer("say 1").session()
    builder = Builder().wait(60).entry("user", uuid="v1", message={"content": "ask 2"})
    second = builder.answer("say 2", uuid="v2", message_id="m2").session()
    for client in CLIENTS:
        assert said(written(first, second), client=client) == ["ask 1", "say 1", "ask 2", "say 2"]


def fork() -> tuple[Builder, Builder]:
    """Two sessions that share a beginning."""
    one, other = Builder("s1"), Builder("s2")
    for builder in (one, other):
        builder.prompt("ask 1").answer("say 1")
    one.prompt("left alone").answer("left too").line(
        {"type": "last-prompt", "leafUuid": "u4", "sessionId": "s1"}
    )
    other.wait(60).entry("user", uuid="v1", message={"content": "ask 2"}).answer(
        "say 2", uuid="v2", message_id="m2"
    )
    return one, other


def test_forks_share_their_beginning_and_it_ends_where_the_second_ended() -> None:
    one, other = fork()
    joined = merge(one.session(), other.session())
    assert [type(step) for _, step in joined.steps()].count(Keep) == 7
    assert not [step for _, step in joined.steps() if isinstance(step, Patch)]
    for client in CLIENTS:
        assert said(joined.read(), client=client) == ["ask 1", "say 1", "ask 2", "say 2"]
    assert said(written(other.session(), one.session())) == ["ask 1", "say 1", "left alone", "left too"]


def test_a_copy_that_says_something_else_is_refused() -> None:
    one, other = fork()
    other.user("something else", uuid="u3")
    with pytest.raises(RefusedError, match="line 3 of the first session and line 5 of the second"):
        merge(one.session(), other.session())


def test_a_copy_written_by_a_fork_is_known_though_its_envelope_differs() -> None:
    first = Builder("s1").prompt("ask 1").answer("say 1").session()
    second = (
        Builder("s2").prompt([{"type": "text", "text": "ask 1"}]).answer("say 1").prompt("ask 2").session()
    )
    joined = merge(first, second)
    assert joined.counts().kept == 3
    assert said(joined.read()) == ["ask 1", "say 1", "ask 2"]


def test_what_adds_nothing_changes_nothing() -> None:
    one, _ = fork()
    beginning = Builder("s1").prompt("ask 1").answer("say 1").raw(b'{"type":"us').session()
    data = one.data()
    assert b"".join(merge(one.session(), beginning).pieces()) == data
    assert b"".join(merge(one.session(), one.session()).pieces()) == data


def test_thinking_goes_where_it_follows_something_new_and_stays_where_it_did() -> None:
    first = Builder().prompt("ask 1").answer("say 1").session()
    builder = Builder().entry("user", uuid="v1", message={"content": "ask 2"})
    builder.answer(thinking("hm"), uuid="v2", message_id="m").answer("say 2", uuid="v3", message_id="m")
    joined = merge(first, builder.session())
    assert joined.thinking_dropped == 1
    assert said(joined.read()) == ["ask 1", "say 1", "ask 2", "say 2"]
    assert "thinking" in str(context(written(first, builder.session(), keep_thinking=True)).messages)
    whole = Builder().prompt("ask 1").answer("say 1").prompt("ask 2").answer(thinking("hm"), "say 2").data()
    parts = [Session.read(check_bytes(whole, part)) for part in split(Session.read(whole), turn=2)]
    assert merge(*parts).thinking_dropped == 0


@pytest.mark.parametrize("ending", [b"", b'{"type":"us', b"\n\n"])
def test_the_end_of_the_first_file_and_the_beginning_of_the_second_do_not_run_into_each_other(
    ending: bytes,
) -> None:
    one, other = fork()
    first = Session.read(one.data().rstrip(b"\n") + ending)
    second = Session.read(b"\xef\xbb\xbf" + other.data())
    assert said(written(first, second)) == ["ask 1", "say 1", "ask 2", "say 2"]


def test_counts_are_those_of_both_files() -> None:
    one, other = fork()
    joined = merge(one.session(), other.session())
    counts = joined.counts()
    steps = [step for _, step in joined.steps()]
    assert counts.kept == sum(isinstance(step, Keep) for step in steps)
    assert counts.added == sum(isinstance(step, Add) for step in steps) == 1
    assert counts.bytes_after == sum(map(len, joined.pieces()))
