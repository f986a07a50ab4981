"""A file in which some lines are others reads like the one that would have been written."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.edit.changes import Changes
from clew.edit.overlay import Overlay
from clew.edit.plan import Patch
from clew.session.session import Session

if TYPE_CHECKING:
    from clew.edit.plan import Step
    from clew.format.records import Fragment

WORDS = st.text('ab\n"\\é', max_size=12)


def _line(word: str) -> bytes:
    import json

    return json.dumps({"type": "user", "uuid": word or "x", "w": word}).encode() + b"\n"


def _other(new: str) -> bytes:
    return _line(new).rstrip()


@settings(max_examples=30)
@given(st.lists(st.tuples(WORDS, st.none() | WORDS), max_size=8), st.booleans(), st.data())
def test_any_stretch_of_it_is_as_in_the_file_that_is_written(
    lines: list[tuple[str, str | None]], is_damaged: bool, data: st.DataObject
) -> None:
    old = b"".join(_line(word) for word, _ in lines) + (b'{"torn": ' if is_damaged else b"")
    session = Session.read(old)
    changes = Changes(session)
    for row, (_, new) in enumerate(lines):
        if new is not None:
            changes.change(row, lambda _raw, new=new: _other(new), "other")

    def mended(_fragment: Fragment) -> Step:
        return Patch(b"whole", "mended")

    changes.mend(mended)
    plan = changes.plan("new")
    written = b"".join(plan.pieces())
    overlay = Overlay(plan)
    assert overlay.size == len(written)
    assert overlay.read(0, overlay.size + 5) == written
    start = data.draw(st.integers(0, len(written)))
    length = data.draw(st.integers(0, 60))
    assert overlay.read(start, length) == written[start : start + length]


def test_a_long_change_is_made_again_when_it_is_read_and_not_held() -> None:
    random = Random(1)
    long = "".join(random.choice("abc") for _ in range(60_000))
    session = Session.read(_line("a") + _line("b") + _line("c"))
    changes = Changes(session)
    calls: list[int] = []

    def made(_raw: bytes) -> bytes:
        calls.append(1)
        return _other(long)

    changes.change(1, made, "long")
    plan = changes.plan("new")
    written = b"".join(plan.pieces())
    overlay = Overlay(plan)
    calls.clear()
    pieces = [overlay.read(at, 1000) for at in range(0, overlay.size, 1000)]
    assert b"".join(pieces) == written
    assert len(calls) == 1


def test_a_plan_that_drops_lines_is_none_for_it() -> None:
    session = Session.read(_line("a"))
    changes = Changes(session)
    changes.drop(0, "away")
    with pytest.raises(ValueError, match="more than change"):
        Overlay(changes.plan("new"))
