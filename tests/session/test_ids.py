"""The index of ids: what was gone on with is what is made anew."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from clew.format.lines import BytesSource, readline_from
from clew.session.ids import NONE, IdIndex
from clew.session.session import Session, TableBuilder
from tests.builder import Builder

KEYS = st.lists(st.integers(0, 12) | st.integers(-(2**63), 2**63 - 1), max_size=60)


@settings(max_examples=30)
@given(KEYS, KEYS)
def test_an_index_that_grew_is_the_one_of_the_whole_column(before: list[int], more: list[int]) -> None:
    keys = [*before, *more]
    old = IdIndex(before)
    found = old.grown(keys)
    if found is None:
        assert 3 * len(keys) > 2 * (2 * len(before) + 1)
        return
    whole = IdIndex(keys)
    assert list(found.earlier) == list(whole.earlier)
    for key in {*keys, 99}:
        assert found.last(key) == whole.last(key)
    for key in before:
        rows = [row for row, one in enumerate(before) if one == key and key]
        assert old.last(key) == (rows[-1] if rows else NONE), "the old one is as it was"


def test_one_that_would_be_too_full_is_made_anew() -> None:
    assert IdIndex([1, 2, 3]).grown([*range(1, 50)]) is None


def test_a_table_that_goes_on_is_the_table_of_all_lines() -> None:
    made = Builder("s").user("one").answer("1").user("two").answer("2")
    data = made.data()
    cut = data.index(b"\n", len(data) // 2) + 1
    early, whole = Session.read(data[:cut]), Session.read(data)
    early.table.ids()
    builder = TableBuilder(early.table.beginning(len(early)))
    builder.read(readline_from(BytesSource(data), start=cut), start=cut, number=len(early) + 1)
    for name in ("offset", "length", "number", "kind", "flags", "uuid", "parent", "message", "time"):
        assert list(getattr(builder.table, name)) == list(getattr(whole.table, name)), name
    assert list(builder.table.ids().earlier) == list(whole.table.ids().earlier)
    assert len(early) < len(whole), "the one before is as it was"
