"""A document in pieces is the document, however odd what it holds is, and its lists are never held."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.format.json_pieces import pieces, whole

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def told(document: object) -> Any:
    return json.loads("".join(pieces(document)))


@settings(max_examples=30)
@given(values)
def test_any_value_is_what_it_was(value: object) -> None:
    assert json.loads(whole(value)) == value
    assert told(value) == value
    assert told({"a": value, "rows": iter([value, {"deep": iter([value])}])}) == {
        "a": value,
        "rows": [value, {"deep": [value]}],
    }


def test_lists_are_written_as_they_come() -> None:
    taken: list[int] = []

    def rows() -> Any:
        for n in range(3):
            taken.append(n)
            yield {"n": n}

    found = pieces({"rows": rows(), "end": 1})
    assert next(found) == '{"rows":['
    assert taken == []
    assert next(found) == '{"n":0}'
    assert taken == [0]
    assert "".join(found) == ',{"n":1},{"n":2}],"end":1}'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        ([math.inf, 1.5], [None, 1.5]),
        (2**70, 2**70),
        ({"half": "\ud800", "empty": {}, "none": []}, {"half": "\ud800", "empty": {}, "none": []}),
        ((1, "\udfff"), [1, "\udfff"]),
        ({1: "\ud800"}, {"1": "\ud800"}),
        ([b"x", "\ud800"], ["b'x'", "\ud800"]),
    ],
)
def test_what_json_cannot_say_is_said_as_well_as_can_be(value: object, expected: object) -> None:
    assert told(value) == expected


def test_a_nest_deeper_than_calls_may_be_is_written() -> None:
    value: object = 2**70
    for _ in range(5000):
        value = [value]
    assert whole(value) == "[" * 5000 + str(2**70) + "]" * 5000
