"""Edits of one session as a person asks for them: what is refused, what is not, what is left beside it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from clew.actions.dividing import split_session
from clew.actions.editing import NO_CHANGE, UNFINISHED, Wish
from clew.actions.edits import repair_session, trim_session
from clew.actions.naming import rename_session
from clew.actions.redacting import redact_session
from clew.errors import RefusedError
from clew.session.context import context
from clew.store.files import Store
from clew.store.reader import open_session
from tests.builder import Builder, call
from tests.edit.laws import said, sent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.actions.outcomes import Outcome

ONE = "11111111-1111-4111-8111-111111111111"
NEW = "22222222-2222-4222-8222-222222222222"
NOW = 1_800_000_000
TOKEN = "ghp_" + "q7Rk2mXv9LpZt4Wc8NfYb3Hs6Jd1Ga5Te0Uo"


class Place:
    """A store with one session, and edits of it."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "config"
        self.state = folder / "state"
        self.path = self.root / "projects" / "-p" / f"{ONE}.jsonl"
        self.path.parent.mkdir(parents=True)
        self.store = Store.at([str(self.root)])

    def put(self, data: bytes, *, age: int = 3600) -> None:
        """Write the session, so long ago."""
        self.path.write_bytes(data)
        os.utime(self.path, (NOW - age, NOW - age))

    def wish(self, *, is_dry: bool = False, in_place: bool = False, force: bool = False) -> Wish:
        return Wish("edit", NEW, NOW * 1000, self.state, is_dry=is_dry, in_place=in_place, force=force)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def said_by(outcome: Outcome) -> list[str]:
    return said(open_session(outcome.path))


def compacted(times: int) -> Builder:
    builder = Builder(ONE)
    for number in range(times):
        builder.prompt(f"ask-{number}").answer(f"say-{number}").compact(f"summary-{number}")
    return builder.prompt("ask-8").answer("say-8").prompt("ask-9").answer("say-9")


def test_keeping_the_last_turns_is_not_refused_for_the_compactions_among_the_others(place: Place) -> None:
    place.put(compacted(3).data())
    outcome = trim_session(place.store, ONE, place.wish(), keep_turns=1)
    assert outcome.refused == ()
    assert said_by(outcome) == ["summary-2", "ask-9", "say-9"]
    assert said(open_session(str(place.path)))[0] == "summary-2"


def test_what_is_not_to_be_lost_is_refused_and_told_by_a_dry_run(place: Place) -> None:
    data = compacted(1).answer(call("c1", "Bash")).result("c1").answer("done").data()
    place.put(data)
    outcome = trim_session(place.store, ONE, place.wish(is_dry=True), tools=frozenset({"Bash"}))
    assert outcome.refused == ()
    assert outcome.done is None
    reasons = {step.reason for step in outcome.steps()}
    assert "a call is taken out with its result" in reasons
    assert place.path.read_bytes() == data


def test_an_emptied_result_is_told_once(place: Place) -> None:
    builder = Builder(ONE).prompt("look").answer(call("c1", "Bash"))
    place.put(builder.result("c1", "r" * 99, toolUseResult={"stdout": "r" * 99}).answer("so").data())
    outcome = trim_session(place.store, ONE, place.wish(is_dry=True), results_only=True)
    assert [step.reason for step in outcome.steps()] == ["what a call gave back is taken out"]


def test_nothing_to_change_writes_nothing(place: Place) -> None:
    place.put(compacted(0).data())
    for outcome in (
        trim_session(place.store, ONE, place.wish(), tools=frozenset({"Bash"})),
        repair_session(place.store, ONE, place.wish(), seed=b"s" * 32),
        redact_session(place.store, ONE, place.wish(), key=b"k" * 32),
    ):
        assert outcome.done is None
        assert outcome.notes[-1] == NO_CHANGE
    assert [*place.path.parent.iterdir()] == [place.path]


def test_in_place_a_session_that_is_being_written_is_refused_but_not_its_name(place: Place) -> None:
    data = compacted(1).data()
    place.put(data, age=1)
    with pytest.raises(RefusedError, match="may be writing"):
        trim_session(place.store, ONE, place.wish(in_place=True), keep_turns=1)
    told = rename_session(place.store, ONE, place.wish(is_dry=True), title="Lamp")
    assert place.path.read_bytes() == data
    assert getattr(told, "refused", None) == ()
    rename_session(place.store, ONE, place.wish(), title="Lamp")
    assert place.path.read_bytes().startswith(data)
    assert b"Lamp" in place.path.read_bytes()[len(data) :]


def test_a_name_changes_nothing_that_is_sent(place: Place) -> None:
    place.put(compacted(1).data())
    told = rename_session(place.store, ONE, place.wish(), title="Lamp")
    assert not isinstance(told, tuple) or getattr(told, "refused", ()) == ()
    now = open_session(str(place.path))
    assert sent(context(now).messages)[-1].value == "say-9"
    assert (place.path.parent / ONE / "custom-title.json").read_bytes() == b'{"customTitle":"Lamp"}'


def test_redacting_tells_how_far_it_is(place: Place) -> None:
    place.put(compacted(2).prompt(f"token {TOKEN}").data())
    size = place.path.stat().st_size
    done: list[int] = []
    totals: list[int] = []

    def start(total: int) -> Callable[[int], None]:
        totals.append(total)
        return done.append

    redact_session(place.store, ONE, place.wish(), key=b"k" * 32, progress=start)
    assert totals == [2 * size]
    assert 0.9 * totals[0] < sum(done) <= totals[0]


def torn(word: str) -> bytes:
    """A damaged line in the midst of a session, and an end that is being written."""
    first = compacted(0).data()
    damaged = b'{"type":"user","uuid":"x","message":{"content":"' + word.encode() + b"\n"
    return damaged + first + b'{"type":"assistant","mess'


def test_a_secret_in_a_damaged_line_goes_although_the_end_is_still_being_written(place: Place) -> None:
    place.put(torn(f"token {TOKEN}"), age=1)
    outcome = redact_session(place.store, ONE, place.wish(), key=b"k" * 32)
    with open(outcome.path, "rb") as file:  # noqa: PTH123
        data = file.read()
    assert TOKEN.encode() not in data
    assert data.endswith(b"\n")
    assert UNFINISHED in {step.reason for step in outcome.steps()}


def test_a_damaged_line_goes_to_one_part_although_the_end_is_still_being_written(place: Place) -> None:
    place.put(torn("half a line"), age=1)
    third = "33333333-3333-4333-8333-333333333333"
    outcomes = split_session(place.store, ONE, place.wish(), turn=2, second_id=third)
    found = [(place.path.parent / f"{one.id}.jsonl").read_bytes() for one in outcomes]
    assert [data.count(b"half a line") for data in found] == [1, 0]
    assert all(data.endswith(b"\n") for data in found)
