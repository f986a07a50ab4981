"""New ids for old ones."""

from __future__ import annotations

from uuid import UUID, uuid4

from hypothesis import given
from hypothesis import strategies as st

from clew.edit.ids import derive, sorted_after


@given(st.uuids(), st.uuids())
def test_a_new_session_comes_after_the_one_it_was_made_of(new: UUID, old: UUID) -> None:
    found = sorted_after(str(new), str(old))
    assert UUID(found)
    if not str(old).startswith("ffffffff"):
        assert found > str(old)
        assert found[8:] == str(new)[8:]


def test_an_id_that_is_none_is_no_trouble() -> None:
    assert sorted_after(str(uuid4()), "zzz")
    assert sorted_after("0", "ffffffff-0000")


@given(st.binary(min_size=1, max_size=64), st.text(max_size=40))
def test_ids_are_derived_the_same_each_time_and_look_random(seed: bytes, old: str) -> None:
    assert derive(seed, old) == derive(seed, old)
    assert UUID(derive(seed, old)).version == 4
    assert derive(seed, old) != derive(seed + b"x", old) or len(seed) >= 64
