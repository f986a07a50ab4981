"""Days, weeks, months and blocks in the user's zone, and the moments people write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format.times import iso, milliseconds
from clew.session.periods import BLOCK_MS, DAY_MS, HOUR_MS, UNKNOWN, Blocks, Calendar, moment

NOW = 1_772_614_800_000  # 2026-03-04T09:00:00Z, a Wednesday
ZONES = ["UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "America/St_Johns", "Pacific/Apia"]

_moments = st.datetimes(datetime(1975, 1, 1), datetime(2090, 1, 1)).map(
    lambda moment: int((moment - datetime(1970, 1, 1)) / timedelta(milliseconds=1))
)


@given(st.lists(_moments, max_size=5), st.sampled_from(ZONES))
def test_a_day_is_the_day_of_the_zone_and_a_price_day_that_of_utc(times: list[int], name: str) -> None:
    zone = ZoneInfo(name)
    calendar = Calendar("day", zone)
    for ms in [*times, *times]:
        true = datetime.fromtimestamp(ms / 1000, zone).date().isoformat()
        assert calendar.slot(iso(ms)) == (true, ms // DAY_MS)


@pytest.mark.parametrize("minutes", range(0, 1440, 15))
def test_every_quarter_of_an_hour_of_a_day_with_a_clock_change_is_right(minutes: int) -> None:
    ms = (milliseconds("2026-03-28T12:00:00Z") or 0) + minutes * 60_000
    for name in ZONES:
        true = datetime.fromtimestamp(ms / 1000, ZoneInfo(name)).date().isoformat()
        assert Calendar("day", ZoneInfo(name)).slot(iso(ms))[0] == true


def test_weeks_are_iso_weeks_and_months_are_months() -> None:
    assert Calendar("week", UTC).slot("2026-01-01T00:00:00.000Z")[0] == "2026-W01"
    assert Calendar("week", UTC).slot("2027-01-03T00:00:00.000Z")[0] == "2026-W53"
    assert Calendar("month", UTC).slot("2026-03-04T09:00:00.000Z")[0] == "2026-03"


def test_a_time_in_another_form_or_zone_is_the_same_moment() -> None:
    calendar = Calendar("day", UTC)
    for text in ("2026-03-04T23:30:00.000Z", "2026-03-05T00:30:00+01:00", "2026-03-04T23:30:00Z"):
        assert calendar.slot(text)[0] == "2026-03-04", text


def test_what_is_no_time_has_no_day() -> None:
    for text in (None, "", "soon", "2026-99-04T09:00:00.000Z", "x" * 23 + "Z"):
        assert Calendar("day", UTC).slot(text) == (UNKNOWN, None)


def test_the_same_period_and_day_are_the_same_object() -> None:
    calendar = Calendar("month", UTC)
    assert calendar.slot("2026-03-04T01:00:00.000Z") is calendar.slot("2026-03-04T22:00:00.000Z")


def test_the_machines_own_zone_serves_without_another(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert Calendar("day", None).slot("2026-03-04T20:00:00.000Z")[0] == "2026-03-05"
        assert moment("2026-03-05", now=NOW, zone=None) == milliseconds("2026-03-04T15:00:00Z")
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.lists(st.integers(NOW, NOW + 4 * DAY_MS), min_size=1, max_size=40))
def test_blocks_begin_on_the_hour_last_five_and_hold_every_message(times: list[int]) -> None:
    blocks = Blocks(times)
    assert blocks.starts == sorted(set(blocks.starts))
    for start, after in zip(blocks.starts, blocks.starts[1:], strict=False):
        assert after >= start + BLOCK_MS
    for ms in times:
        assert blocks.start(ms) % HOUR_MS == 0
        assert 0 <= ms - blocks.start(ms) < BLOCK_MS
    assert {blocks.start(ms) for ms in times} == set(blocks.starts), "no block is empty"


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("2d", "2026-03-02T09:00:00Z"),
        ("3h", "2026-03-04T06:00:00Z"),
        ("90m", "2026-03-04T07:30:00Z"),
        ("1w", "2026-02-25T09:00:00Z"),
        ("2026-03-04", "2026-03-03T23:00:00Z"),
        ("20260304", "2026-03-03T23:00:00Z"),
        ("today", "2026-03-03T23:00:00Z"),
        ("yesterday", "2026-03-02T23:00:00Z"),
        ("2026-03-04T10:00", "2026-03-04T09:00:00Z"),
        ("2026-03-04T10:00:00Z", "2026-03-04T10:00:00Z"),
    ],
)
def test_people_write_moments_in_many_ways(text: str, true: str) -> None:
    assert moment(text, now=NOW, zone=ZoneInfo("Europe/Berlin")) == milliseconds(true)


def test_a_day_as_an_end_is_counted_whole() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    start, end = (moment("2026-03-29", now=NOW, zone=berlin, is_end=is_end) for is_end in (False, True))
    assert (end or 0) - (start or 0) == 23 * HOUR_MS, "the day the clocks go forward"
    assert moment("today", now=NOW, zone=UTC, is_end=True) == milliseconds("2026-03-05T00:00:00Z")
    assert moment("2d", now=NOW, zone=UTC, is_end=True) == moment("2d", now=NOW, zone=UTC)


@pytest.mark.parametrize(
    "text", ["", "soon", "2026-13-01", "d", "2x", "99999999d", "0001-01-01", "9999-12-31"]
)
def test_what_is_no_moment_is_none_and_never_an_error(text: str) -> None:
    found = moment(text, now=NOW, zone=ZoneInfo("Asia/Tokyo"), is_end=True)
    assert found is None or isinstance(found, int)
    if not text[:4].isdigit():
        assert found is None
