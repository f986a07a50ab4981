"""Strip: what is not words goes, what is sent stays as it was but for what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.edit.guards import ambiguities
from clew.edit.strip import strip
from clew.session.context import context
from tests.builder import Builder, call, text, thinking
from tests.conformance.generator import generate
from tests.edit.laws import (
    Edited,
    check_laws,
    check_nothing_else_is_sent,
    corpus,
    reasons,
    result_of,
    sent,
    sent_by,
)

if TYPE_CHECKING:
    from pathlib import Path

THOUGHTS = ("thinking", "redacted_thinking")


def check_only_thinking_went(edited: Edited) -> None:
    """Compare what is sent by itself; where lines contradict each other an edit is refused anyway."""
    before, after = sent_by(edited.before), sent_by(edited.after)
    assert not [one for one in sent(after.messages) if one.kind in THOUGHTS]
    if before.refused is None and not [*ambiguities(edited.before)]:
        assert sent(after.messages) == [one for one in sent(before.messages) if one.kind not in THOUGHTS]


def check_only_images_went(edited: Edited) -> None:
    before, after = sent_by(edited.before), sent_by(edited.after)
    assert b'"type":"image"' not in edited.data
    left = [one for one in sent(after.messages) if "[image removed" not in one.value]
    assert left == [one for one in sent(before.messages) if '"type": "image"' not in one.value]


def check_all(data: bytes) -> None:
    check_nothing_else_is_sent(check_laws(data, lambda session: strip(session, bulk=True)))
    check_only_thinking_went(check_laws(data, lambda session: strip(session, thinking=True)))


@pytest.mark.parametrize("seed", range(64))
def test_the_laws_hold_for_made_sessions(seed: int) -> None:
    check_some(seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(64, 640))
def test_so_they_do_for_many(seed: int) -> None:
    check_some(seed)


def check_some(seed: int) -> None:
    data = generate(seed).data
    check_all(data)
    if seed % 2 == 0:
        check_only_thinking_went(check_laws(data, lambda session: strip(session, thinking=True, bulk=True)))
    if seed % 4 == 1:
        check_laws(data, lambda session: strip(session, images="drop"))


@pytest.mark.parametrize("seed", [339, 352, 327, 983, 601])
def test_the_laws_hold_where_a_simpler_way_once_broke_them(seed: int) -> None:
    check_all(generate(seed).data)


@pytest.mark.parametrize("part", range(8))
def test_the_laws_hold_for_recorded_sessions(part: int) -> None:
    files = corpus()
    assert len(files) > 500
    for path in files[part::8]:
        _check_recorded(path)


def _check_recorded(path: Path) -> None:
    data = path.read_bytes()
    check_nothing_else_is_sent(check_laws(data, lambda session: strip(session, bulk=True)))
    if b"thinking" in data:
        check_only_thinking_went(check_laws(data, lambda session: strip(session, thinking=True)))
    if b'"image"' in data:
        check_only_images_went(check_laws(data, lambda session: strip(session, images="drop")))


def test_nothing_asked_for_changes_nothing() -> None:
    assert not strip(Builder().prompt("hello").answer(thinking("so"), "hi").session())


def kinds(data: bytes) -> list[str]:
    session = Builder().raw(data).session()
    return [session.table.kind_of(row) for row in range(len(session))]


def test_records_of_requests_go() -> None:
    builder = Builder().prompt("hello").answer("hi")
    for kind in (
        "api-request",
        "api-request-shape",
        "api-request-blob",
        "file-history-snapshot",
        "of-tomorrow",
    ):
        builder.line({"type": kind, "sessionId": "s1"})
    edited = check_laws(builder.data(), lambda session: strip(session, bulk=True))
    assert kinds(edited.data) == ["user", "assistant", "file-history-snapshot", "of-tomorrow"]


def test_the_last_line_of_a_kind_stays_for_each_session() -> None:
    builder = Builder().prompt("hello").answer("hi")
    leaf = builder.leaf
    for session, title in (("s1", "a"), ("s2", "b"), ("s1", "c"), ("s1", "d")):
        builder.line({"type": "custom-title", "customTitle": title, "sessionId": session})
    builder.line({"type": "last-prompt", "lastPrompt": "hello", "leafUuid": "u1", "sessionId": "s1"})
    builder.line({"type": "last-prompt", "lastPrompt": "hello", "leafUuid": leaf, "sessionId": "s1"})
    builder.line({"type": "last-prompt", "lastPrompt": "hello", "sessionId": "s1"})
    edited = check_laws(builder.data(), lambda session: strip(session, bulk=True))
    left = [edited.after.entry(row).data for row in range(2, len(edited.after))]
    assert [one.get("customTitle") for one in left[:2]] == ["b", "d"]
    # The last of all has no leaf, so the one before it still says where the session ends.
    assert [one.get("leafUuid") for one in left[2:]] == [leaf, None]


def test_what_followed_progress_follows_what_that_followed() -> None:
    builder = Builder(version="2.1.45").prompt("hello").answer(call("c1"))
    for _ in range(3):
        builder.entry("progress", data={"type": "bash_progress"}, toolUseID="c1")
    builder.result("c1").answer("done")
    edited = check_laws(builder.data(), lambda session: strip(session, bulk=True))
    check_nothing_else_is_sent(edited)
    assert kinds(edited.data) == ["user", "assistant", "user", "assistant"]
    assert edited.after.entry(2).parent_uuid == "u2"
    # Only the line that followed it was changed.
    assert reasons(edited.changes).count("the line it followed is gone") == 1


def test_progress_that_says_where_a_session_ends_stays() -> None:
    builder = Builder().prompt("one").answer("1")
    builder.entry("progress", data={"type": "hook_progress"}, toolUseID="c1")
    named = builder.leaf
    builder.rewind("u1").answer("2")
    builder.line({"type": "last-prompt", "leafUuid": named, "sessionId": "s1"})
    edited = check_laws(builder.data(), lambda session: strip(session, bulk=True))
    check_nothing_else_is_sent(edited)
    assert not edited.changes


def test_lines_that_were_written_again_go_where_no_client_minds() -> None:
    builder = Builder().prompt("one").answer("1").prompt("two").answer("2")
    for line in (1, 2, 3):
        builder.again(line)
    builder.compact().prompt("three").answer("3")
    edited = check_laws(builder.data(), lambda session: strip(session, bulk=True))
    check_nothing_else_is_sent(edited)
    assert reasons(edited.changes) == ["written before, byte for byte"] * 3


def test_the_line_a_conversation_ends_in_is_named_anew_when_it_goes() -> None:
    builder = Builder().prompt("one").answer("1")
    fork = builder.leaf
    builder.prompt("two").answer("2").rewind(fork).prompt("three").answer("3")
    end = builder.leaf
    builder.rewind("u4").prompt("four").rewind(end).answer(thinking("cut off while thinking"))
    session = builder.session()
    after = result_of(strip(session, thinking=True))
    assert [one.value for one in sent(context(after).messages)] == ["one", "1", "three", "3"]
    assert after.entry(len(after) - 1).data["leafUuid"] == end


def test_thinking_goes_on_every_branch_and_of_sub_agents_too() -> None:
    builder = Builder().prompt("one").answer(thinking("a"), text("1"))
    builder.rewind("u1").answer(thinking("b"), text("2"))
    builder.entry("assistant", isSidechain=True, message={"content": [thinking("c"), text("3")]})
    builder.entry("assistant", message={"content": [{"type": "redacted_thinking", "data": "x"}, text("4")]})
    edited = check_laws(builder.data(), lambda session: strip(session, thinking=True))
    assert b"thinking" not in edited.data
    assert len(edited.after) == 5


def test_an_answer_of_which_only_white_space_is_left_goes() -> None:
    data = Builder().prompt("one").answer(thinking("a"), text("\n\n")).prompt("two").answer("2").data()
    edited = check_laws(data, lambda session: strip(session, thinking=True))
    assert kinds(edited.data) == ["user", "user", "assistant"]


def test_lines_without_a_message_of_their_own_lose_their_thinking_too() -> None:
    data = Builder().prompt("one").entry("assistant", content=[thinking("a"), text("1")]).data()
    edited = check_laws(data, lambda session: strip(session, thinking=True))
    assert edited.after.entry(1).data["content"] == [text("1")]


@pytest.mark.parametrize("content", [None, "words", 7, [], [None, 3, "x"], {"type": "thinking"}, [[]]])
def test_odd_content_is_left_alone(content: object) -> None:
    data = Builder().prompt(content).entry("assistant", message={"content": content}).answer("hi").data()
    edited = check_laws(data, lambda one: strip(one, thinking=True, bulk=True, images="drop"))
    assert edited.data == data
