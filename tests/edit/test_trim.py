"""Trim: calls and results go, or whole turns; every word that was said stays."""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from clew.edit.guards import ambiguities, losses
from clew.edit.trim import trim
from clew.edit.woven import Result
from clew.session.context import context
from clew.session.session import Session
from tests.builder import Builder, call, image, text, thinking
from tests.conformance.generator import generate
from tests.edit.laws import (
    CLIENTS,
    TARGET,
    Edited,
    Said,
    check_laws,
    corpus,
    is_within,
    reasons,
    result_of,
    sent,
    sent_by,
    texts,
)

if TYPE_CHECKING:
    from collections.abc import Callable

CALLS = ("tool_use", "tool_result")
NOTE = "[result removed by clew: "

OPTIONS: dict[str, dict[str, Any]] = {
    "all": {},
    "named": {"tools": frozenset({"Bash", "mcp__*"})},
    "results": {"results_only": True},
    "old": {"older_than": 2},
    "large": {"larger_than": 25},
    "large results": {"results_only": True, "larger_than": 5},
    "last turn": {"keep_turns": 1},
    "last turns": {"keep_turns": 2},
    "last turns, named": {"keep_turns": 2, "tools": frozenset({"Read"})},
}


def is_clear(session: Session) -> bool:
    """Say whether it can be resumed and no lines contradict each other: else an edit is refused anyway."""
    return sent_by(session).refused is None and not [*ambiguities(session)]


def lost(edited: Edited, *, turns: bool) -> list[str]:
    result = Result(edited.changes.plan(TARGET))
    before, after = sent_by(edited.before), sent_by(edited.after)
    found = losses(edited.changes, before, result, after, may_drop_turns=turns, may_drop_boundaries=turns)
    return [*found]


def check_words_stayed(edited: Edited) -> None:
    if is_clear(edited.before):
        before, after = texts(sent_by(edited.before).messages), texts(sent_by(edited.after).messages)
        assert is_within(before, after)
        assert lost(edited, turns=False) == []


def check_calls_went(edited: Edited, names: tuple[str, ...]) -> None:
    """Check that no call of such a tool is sent."""
    check_words_stayed(edited)
    if is_clear(edited.before):
        for message in sent_by(edited.after).messages:
            for block in message["content"]:
                assert block["type"] != "tool_use" or not block["name"].startswith(names)


def check_results_went(edited: Edited) -> None:
    check_words_stayed(edited)
    if is_clear(edited.before):
        before, after = sent(sent_by(edited.before).messages), sent(sent_by(edited.after).messages)
        assert [one for one in after if not is_of_results(one)] == [
            one for one in before if not is_of_results(one)
        ]
        results = [json.loads(one.value).get("content") for one in after if one.kind == "tool_result"]
        assert all(not one or one.startswith(NOTE) for one in results)


def is_of_results(one: Said) -> bool:
    """Say whether a block is a result, or a call whose note stands for both."""
    return one.kind.endswith("tool_result") or one.kind == "server_tool_use" or one.value.startswith(NOTE)


def is_prompt(one: Said) -> bool:
    return one.role == "user" and one.kind == "text" and one.value.startswith(("ask-", "note-"))


def check_last_turns_stayed(edited: Edited, turns: int) -> None:
    """Check that all after the prompt is sent, and before it nothing but a summary.

    Counted, not in order: a prompt that was written in the midst of an answer parts that.
    """
    if not is_clear(edited.before):
        return
    assert lost(edited, turns=True) == []
    before, after = sent(sent_by(edited.before).messages), sent(sent_by(edited.after).messages)
    prompts = [at for at, one in enumerate(before) if is_prompt(one)]
    if len(prompts) <= turns:
        return
    first = prompts[-turns]
    kept = before[first - (first > 0 and before[first - 1].kind == "image") :]
    assert not Counter(kept) - Counter(after)
    others = Counter(after) - Counter(kept)
    assert all(one.value.startswith("summary-") or one.kind in CALLS for one in others)
    assert sum(is_prompt(one) for one in after) == turns


CHECKS: dict[str, Callable[[Edited], None]] = {
    "all": partial(check_calls_went, names=("",)),
    "named": partial(check_calls_went, names=("Bash", "mcp__")),
    "results": check_results_went,
    "last turn": partial(check_last_turns_stayed, turns=1),
    "last turns": partial(check_last_turns_stayed, turns=2),
    "last turns, named": lambda _: None,
}


def check(data: bytes, name: str) -> None:
    edited = check_laws(data, lambda session: trim(session, **OPTIONS[name]))
    CHECKS.get(name, check_words_stayed)(edited)


@pytest.mark.parametrize("seed", range(60))
def test_the_laws_hold_for_made_sessions(seed: int) -> None:
    check_some(seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(60, 600))
def test_so_they_do_for_many(seed: int) -> None:
    check_some(seed)


def check_some(seed: int) -> None:
    data = generate(seed).data
    # Each gets some of the options; over all seeds every option meets every feature.
    for at, name in enumerate(OPTIONS):
        if (seed + at) % 2 == 0 or name == "all":
            check(data, name)


@pytest.mark.parametrize(
    ("seed", "name"),
    [
        (247, "all"),
        (603, "all"),
        (6, "large"),
        (12, "large"),
        (124, "large"),
        (9, "last turn"),
        (77, "last turn"),
        (91, "last turn"),
        (554, "last turn"),
        (617, "last turns"),
    ],
)
def test_the_laws_hold_where_a_simpler_way_once_broke_them(seed: int, name: str) -> None:
    check(generate(seed).data, name)


@pytest.mark.parametrize("part", range(8))
def test_the_laws_hold_for_recorded_sessions(part: int) -> None:
    for at, path in enumerate(corpus()[part::8]):
        data = path.read_bytes()
        if b"tool_use" in data:
            for name in ("all", "results"):
                check(data, name)
        name = ("named", "old", "large", "last turn", "last turns")[at % 5]
        edited = check_laws(data, lambda session, name=name: trim(session, **OPTIONS[name]))
        if "turn" not in name:
            check_words_stayed(edited)


def blocks(session: Session) -> list[Any]:
    return [block for message in context(session).messages for block in message["content"]]


def two_calls() -> Builder:
    return (
        Builder()
        .prompt("first")
        .answer(text("I look"), call("c1", "Read", {"file_path": "/home/ada/lighthouse/src/app.py"}))
        .result("c1", "x" * 8000, toolUseResult={"file": {"content": "x" * 8000}})
        .answer(call("c2", "mcp__sea__tide", {"query": "high"}))
        .result("c2", "at noon")
        .answer("done")
        .prompt("second")
        .answer("again done")
    )


def test_both_the_call_and_its_result_go() -> None:
    edited = check_laws(two_calls().data(), lambda session: trim(session, tools=frozenset({"Read"})))
    names = [block["name"] for block in blocks(edited.after) if block["type"] == "tool_use"]
    assert names == ["mcp__sea__tide"]
    assert b"xxxx" not in edited.data
    assert sum(block["type"] == "tool_result" for block in blocks(edited.after)) == 1


@pytest.mark.parametrize(
    ("tools", "left"),
    [("mcp__sea__*", ["Read"]), ("mcp__*", ["Read"]), ("*", []), ("read", ["Read", "mcp__sea__tide"])],
)
def test_a_star_in_a_name_stands_for_anything(tools: str, left: list[str]) -> None:
    after = result_of(trim(two_calls().session(), tools=frozenset({tools})))
    assert [block["name"] for block in blocks(after) if block["type"] == "tool_use"] == left


def test_a_note_says_what_a_result_was() -> None:
    edited = check_laws(two_calls().data(), lambda session: trim(session, results_only=True, larger_than=100))
    results = [block for block in blocks(edited.after) if block["type"] == "tool_result"]
    assert [one["content"] for one in results] == [f"{NOTE}1,000 tokens, Read src/app.py]", "at noon"]
    # The client's own record of it is gone too, and nothing else.
    old, new = dict(edited.before.entry(3).data), dict(edited.after.entry(3).data)
    del old["toolUseResult"], old["message"], new["message"]
    assert new == old


def test_pictures_in_a_result_go_with_it() -> None:
    data = (
        Builder()
        .prompt("look")
        .answer(call("c1"))
        .result("c1", [image(), text("a gull")])
        .answer("I see")
        .data()
    )
    edited = check_laws(data, lambda session: trim(session, results_only=True))
    assert b"base64" not in edited.data


def test_turns_are_counted_from_the_end() -> None:
    builder = Builder()
    for number in range(5):
        builder.prompt(f"turn {number}").answer(call(f"c{number}")).result(f"c{number}").answer("done")
    session = builder.session()
    for older_than in range(1, 7):
        after = result_of(trim(session, older_than=older_than))
        left = [block["id"] for block in blocks(after) if block["type"] == "tool_use"]
        assert left == [f"c{number}" for number in range(max(0, 5 - older_than), 5)]


def test_a_call_that_never_came_back_goes_too() -> None:
    builder = two_calls().prompt("third").answer(text("wait"), call("c3"))
    edited = check_laws(builder.data(), trim)
    assert [block["id"] for block in blocks(edited.after) if block["type"] == "tool_use"] == []
    assert text("wait") in blocks(edited.after)
    builder.user("never mind").answer("gladly")
    edited = check_laws(builder.data(), trim)
    assert [block["id"] for block in blocks(edited.after) if block["type"] == "tool_use"] == []
    assert text("wait") in blocks(edited.after)


def test_an_answer_of_which_only_thinking_is_left_goes() -> None:
    data = Builder().prompt("one").answer(thinking("a"), call("c1")).result("c1").answer("done").data()
    edited = check_laws(data, trim)
    assert blocks(edited.after) == [text("one"), text("done")]
    assert len(edited.after) == 2


def test_tools_of_the_api_s_own_servers_go_with_their_results() -> None:
    search = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "gulls"}}
    hits = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result"}]}
    data = Builder().prompt("gulls?").answer(search, hits, "many").data()
    edited = check_laws(data, trim)
    assert blocks(edited.after) == [text("gulls?"), text("many")]
    # Such a result has a form of its own, in which no note can stand.
    edited = check_laws(data, lambda session: trim(session, results_only=True))
    assert blocks(edited.after) == [text("gulls?"), text(f"{NOTE}7 tokens, web_search gulls]"), text("many")]


def test_calls_of_sub_agents_in_the_same_file_go_too() -> None:
    builder = Builder(version="1.0.128").prompt("one").answer(call("c1", "Task"))
    builder.user("look", isSidechain=True, parentUuid=None).answer(call("c2"), isSidechain=True)
    builder.result("c2", isSidechain=True).answer("seen", isSidechain=True)
    builder.rewind("u2").result("c1").answer("done")
    edited = check_laws(builder.data(), trim)
    assert b"tool_use" not in edited.data
    assert b"seen" in edited.data


def test_the_first_turn_kept_begins_the_conversation() -> None:
    builder = Builder()
    for number in range(4):
        builder.prompt(f"ask-{number}").answer(call(f"c{number}")).result(f"c{number}").answer("done")
    builder.line({"type": "permission-mode", "permissionMode": "plan", "sessionId": "s1"})
    edited = check_laws(builder.data(), lambda session: trim(session, keep_turns=2))
    check_last_turns_stayed(edited, 2)
    assert edited.after.entry(0).parent_uuid is None
    assert edited.after.table.kind_of(len(edited.after) - 1) == "permission-mode"
    assert len(edited.after) == 9


def test_the_summary_before_the_first_turn_kept_stays() -> None:
    builder = Builder().prompt("ask-0").answer("0").compact("summary-1")
    builder.entry("attachment", attachment={"type": "invoked_skills"})
    builder.prompt("ask-1").answer("1").prompt("ask-2").answer("2")
    edited = check_laws(builder.data(), lambda session: trim(session, keep_turns=1))
    assert [one.value for one in sent(sent_by(edited.after).messages)] == ["summary-1", "ask-2", "2"]
    kinds = [edited.after.table.kind_of(row) for row in range(len(edited.after))]
    assert kinds[:3] == ["system/compact_boundary", "user", "attachment/invoked_skills"]


def test_turns_before_compactions_that_go_do_not_come_back() -> None:
    builder = Builder()
    for number in range(4):
        builder.prompt(f"ask-{number}").answer(f"{number}").compact(f"summary-{number}")
    builder.prompt("ask-4").answer("4").prompt("ask-5").answer("5")
    edited = check_laws(builder.data(), lambda session: trim(session, keep_turns=1))
    for client in CLIENTS:
        told = [one.value for one in sent(sent_by(edited.after, client).messages)]
        assert told == ["summary-3", "ask-5", "5"]
    kinds = [edited.after.table.kind_of(row) for row in range(len(edited.after))]
    assert kinds.count("system/compact_boundary") == 1
    assert not any(f"ask-{number}".encode() in edited.data for number in range(5))


def test_turns_of_another_branch_stay() -> None:
    builder = Builder().prompt("ask-0").answer("0").prompt("ask-1").answer("1")
    builder.rewind("u2").prompt("ask-2").answer("2").prompt("ask-3").answer("3")
    edited = check_laws(builder.data(), lambda session: trim(session, keep_turns=1))
    assert [one.value for one in sent(sent_by(edited.after).messages)] == ["ask-3", "3"]
    assert b"ask-1" in edited.data
    assert b"ask-2" not in edited.data


def test_no_turn_at_all_cannot_be_kept() -> None:
    with pytest.raises(ValueError, match="at least one turn"):
        trim(two_calls().session(), keep_turns=0)


def test_keeping_turns_leaves_their_calls_alone_unless_they_are_meant_too() -> None:
    session = two_calls().session()
    assert not trim(session, keep_turns=5)
    assert trim(session, keep_turns=5, tools=frozenset({"*"}))


def test_a_long_session_is_at_least_halved_and_every_word_is_kept() -> None:
    builder = Builder()
    for turn in range(200):
        builder.prompt(f"ask-{turn} please look at the lamp")
        for step in range(3):
            name = f"c{turn}-{step}"
            builder.answer(text(f"I look {turn} {step}"), call(name, "Read", {"file_path": f"/lamp/{name}"}))
            builder.result(name, f"line of the log {name}\n" * (4 if step else 120))
        builder.answer(f"the lamp is lit {turn}")
    session = builder.session()
    after = result_of(trim(session, results_only=True, larger_than=200))
    before, now = context(session).messages, context(after).messages
    assert texts(before) == texts(now)
    assert [one for one in sent(now) if one.kind == "tool_use"] == [
        one for one in sent(before) if one.kind == "tool_use"
    ]
    assert len(json.dumps(now)) * 2 <= len(json.dumps(before))


@pytest.mark.parametrize(
    "block",
    [
        {"type": "tool_use"},
        {"type": "tool_use", "id": 7, "name": ["x"], "input": "y"},
        {"type": "tool_result", "tool_use_id": None, "content": {"a": 1}},
        {"type": "tool_use", "id": "c9", "name": "\ud800", "input": {"file_path": "\ud800"}},
        {"type": ["tool_use"]},
        None,
    ],
)
def test_odd_blocks_do_no_harm(block: object) -> None:
    builder = Builder().prompt("one")
    builder.entry("assistant", message={"id": "m", "role": "assistant", "content": [block, text("so")]})
    builder.user([block, {"type": "tool_result", "tool_use_id": "c9", "content": "r" * 99}]).answer("done")
    ways: list[dict[str, Any]] = [{}, {"results_only": True}, {"tools": frozenset({"*"})}, {"keep_turns": 1}]
    for options in ways:
        edited = Session.read(builder.data())
        after = result_of(trim(edited, **options))
        assert text("done") in blocks(after)
    assert "a call is taken out with its result" in reasons(trim(builder.session()))
