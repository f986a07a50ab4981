"""Times are read as they are written, and written as the client writes them."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format.times import iso, milliseconds


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00.000Z", 0),
        ("2026-01-02T03:04:05.678Z", 1_767_323_045_678),
        ("2026-01-02T03:04:05.678", 1_767_323_045_678),
        ("2026-01-02T05:04:05.678+02:00", 1_767_323_045_678),
        ("2026-01-02T03:04:05.678901234Z", 1_767_323_045_678),
        ("1969-12-31T23:59:59.999Z", -1),
        ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ],
)
def test_a_time_is_read_to_the_millisecond(text: str, expected: int) -> None:
    assert milliseconds(text) == expected


@pytest.mark.parametrize(
    "text", [None, "", "yesterday", "0000-01-01T00:00:00Z", "2026-13-45", "\ud800", "9" * 5000]
)
def test_what_names_no_time_has_none(text: str | None) -> None:
    assert milliseconds(text) is None


@given(st.integers(-62_135_596_800_000, 253_402_300_799_999))
def test_writing_and_reading_a_time_gives_the_same(ms: int) -> None:
    text = iso(ms)
    assert text is not None
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text)
    assert milliseconds(text) == ms


@given(st.text())
def test_no_text_raises(text: str) -> None:
    ms = milliseconds(text)
    assert ms is None or isinstance(iso(ms), str | None)


def test_a_time_outside_the_calendar_is_not_written() -> None:
    assert iso(None) is None
    assert iso(10**18) is None
    # East of Greenwich the year 1 begins before it does in UTC.
    assert iso(milliseconds("0001-01-01T00:00:00+23:59")) is None
