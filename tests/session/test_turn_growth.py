"""Turns that were gone on with are those of the whole session, or none are told."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.session.chain import chain
from clew.session.eras import rules
from clew.session.said import said
from clew.session.session import Session
from clew.session.turn_growth import Calls, Growth, grown
from clew.session.turns import main_rows, turns
from tests.builder import Builder, call, text
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

CORPUS = sorted((ROOT / "tests" / "data" / "corpus").rglob("*.jsonl"))


def gone_on(before: bytes, after: bytes) -> Growth | None:
    """Go on from what was read to what there is now."""
    early, late = Session.read(before), Session.read(after)
    leaf = chain(early, rules()).leaf
    if leaf is None:
        return None
    calls = Calls.of(said(early, main_rows(early)).pairs)
    return grown(late, turns(early), old=len(early), leaf=leaf, calls=calls)


def same(before: bytes, after: bytes) -> bool:
    """Hold what is told against the whole; say whether anything was."""
    found = gone_on(before, after)
    if found is None:
        return False
    whole = Session.read(after)
    assert [(turn, list(turn.rows)) for turn in found.turns] == [
        (turn, list(turn.rows)) for turn in turns(whole)
    ]
    assert found.turns[: found.kept] == turns(Session.read(before))[:-1]
    assert found.calls == Calls.of(said(whole, main_rows(whole)).pairs)
    return True


@pytest.mark.parametrize("seed", range(4))
def test_sessions_of_real_clients_are_gone_on_with(seed: int) -> None:
    draw = random.Random(seed)
    told = tried = 0
    for path in draw.sample(CORPUS, 25):
        lines = path.read_bytes()[:200_000].splitlines(keepends=True)
        for _ in range(4):
            if len(lines) > 2:
                first = draw.randrange(1, len(lines))
                last = min(len(lines), first + draw.choice([1, 1, 2, 7]))
                tried += 1
                told += same(b"".join(lines[:first]), b"".join(lines[:last]))
    assert told > tried / 4, f"{told} of {tried}"


STEPS: dict[str, Callable[[Builder, int], object]] = {
    "prompt": lambda made, _: made.user("more"),
    "late prompt": lambda made, _: made.wait(1000).user("later"),
    "answer": lambda made, _: made.answer("so"),
    "call": lambda made, at: made.answer(text("let me see"), call(f"c{at}", "Bash", {"command": "ls"})),
    "result": lambda made, at: made.result(f"c{at - 1}", "a b c"),
    "old result": lambda made, _: made.result("c0", "at last"),
    "again": lambda made, _: made.again(1),
    "back": lambda made, _: made.rewind("u1").answer("another way"),
    "note": lambda made, _: made.system("local_command", content="<command-name>/x</command-name>"),
    "meta": lambda made, _: made.meta("a caveat"),
    "compaction": lambda made, _: made.compact(),
    "agent": lambda made, at: made.answer(call(f"c{at}", "Task", {"prompt": "go"})),
    "side": lambda made, _: made.answer("inside", isSidechain=True),
    "hint": lambda made, _: made.line({"type": "last-prompt", "leafUuid": made.leaf}),
    "old hint": lambda made, _: made.line({"type": "last-prompt", "leafUuid": "u1"}),
    "title": lambda made, _: made.line({"type": "ai-title", "aiTitle": "x"}),
    "nameless": lambda made, _: made.answer("who?", message_id=None),
    "same message": lambda made, _: made.answer("more of it", message_id="msg_1"),
    "orphan": lambda made, _: made.user("lost", parentUuid="nowhere"),
    "root": lambda made, _: made.rewind(None).user("anew"),
    "broken": lambda made, _: made.raw(b'{"type": "user"} {"type"\n'),
}


@settings(max_examples=30)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=2, max_size=14), st.data())
def test_whatever_is_added_it_is_told_rightly_or_not_at_all(steps: list[str], data: st.DataObject) -> None:
    made = Builder("s").user("one").answer(call("c0", "Read", {"file_path": "/x"}))
    ends: list[int] = []
    for at, step in enumerate(steps, 1):
        STEPS[step](made, at)
        ends.append(len(made.data()))
    cut = data.draw(st.sampled_from(ends[:-1]))
    for end in ends:
        if end > cut:
            same(made.data()[:cut], made.data()[:end])


def test_what_only_goes_on_is_always_told() -> None:
    made = Builder("s").user("one").answer(call("c0", "Read", {"file_path": "/x"}))
    for at, step in enumerate(("result", "answer", "title", "prompt", "call", "result", "late prompt"), 1):
        before = made.data()
        STEPS[step](made, at)
        assert same(before, made.data()), step


def test_it_says_what_has_to_be_looked_at_again() -> None:
    made = Builder("s").user("one").answer("1")
    before = made.data()
    agent = gone_on(before, made.answer(call("c1", "Task", {"prompt": "go"})).data())
    assert agent is not None
    assert agent.touches_agents
    assert not agent.may_branch
    fork = gone_on(before, Builder("s").user("one").answer("1").rewind("u1").answer("2").data())
    assert fork is not None
    assert fork.may_branch


def test_without_a_prompt_there_is_nothing_to_go_on_from() -> None:
    made = Builder("s").answer("an answer before any prompt")
    assert gone_on(made.data(), made.answer("more").data()) is None
    assert gone_on(b"", made.data()) is None
