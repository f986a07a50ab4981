"""What tables share is made once, and changes no row: with it they are what they are without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.session.messages import messages
from clew.session.session import Session
from clew.session.turns import turns
from clew.session.usage import Folder
from clew.tables import rows
from clew.tables.rows import Home, Shared
from tests.builder import Builder, call
from tests.tables.recorded import AT, MADE, RECORDED, home, read

if TYPE_CHECKING:
    import pytest


def same_rows(session: Session, at: Home, data: bytes) -> int:
    """Make the rows of all tables in both ways, and compare them; return how many there are."""
    shared, count = Shared(session), 0
    for make in (rows.turn_rows, rows.call_rows, rows.file_rows):
        found = list(make(session, at, shared=shared))
        assert found == list(make(session, at))
        count += len(found)
    assert list(rows.turn_rows(session, at, shared=shared)) == list(
        rows.turn_rows(session, at, found=turns(session))
    )
    usage = Folder("calls").file("x", [data])
    made = list(rows.message_rows(usage, at, session, shared=shared))
    assert made == list(rows.message_rows(usage, at, session))
    return count + len(made)


def test_rows_of_recorded_sessions_are_the_same_with_it() -> None:
    assert sum(same_rows(read(path), home(path), path.read_bytes()) for path in RECORDED[::4]) > 500
    for path in MADE[::3]:
        same_rows(read(path), home(path), path.read_bytes())


def test_answers_before_any_prompt_and_beside_the_turns_are_among_its_messages() -> None:
    early = Builder().answer("I begin.", message_id="early").user("Go on").answer("Yes.", message_id="late")
    written = Builder().answer("API Error", message_id="own", model="<synthetic>").user("Hello")
    aside = Builder().user("Go").answer(call("c1"), message_id="m1", isSidechain=True).result("c1")
    aside.answer("Done.", message_id="m2")
    for built in (early, written, aside, Builder()):
        session = built.session()
        assert [one.id for one in Shared(session).messages] == [one.id for one in messages(session)]
        same_rows(session, AT, built.data())


def test_a_line_that_only_its_role_says_to_be_an_answer_has_its_calls() -> None:
    built = Builder().user("Go").answer(call("c1"), message_id="m1").result("c1")
    data = built.data().replace(b'"type":"assistant",', b"", 1)
    session = Session.read(data)
    assert [one.id for one in Shared(session).calls] == ["c1"]
    same_rows(session, AT, data)


def test_a_line_is_asked_for_as_often_for_all_tables_as_for_the_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    built = Builder().user("Go").answer(call("c1"), message_id="m1").result("c1").answer("Done.")
    session, asked = built.session(), list[int]()
    entry = Session.entry

    def counting(self: Session, row: int) -> object:
        asked.append(row)
        return entry(self, row)

    monkeypatch.setattr(Session, "entry", counting)
    shared = Shared(session)
    assert len(shared.turns) == 1
    before = len(asked)
    assert [one.id for one in shared.calls] == ["c1"]
    assert len(shared.messages) == 2
    assert len(asked) == before
