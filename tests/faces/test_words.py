"""Numbers are said in the few words a person reads at a glance."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli import words

NOW = datetime(2026, 2, 3, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (None, "–"), (0, "0"), (92, "92"), (999, "999"), (1000, "1.0k"), (1234, "1.2k"), (36_800, "36.8k"),
        (99_949, "99.9k"), (99_960, "100k"), (614_200, "614k"), (999_499, "999k"), (999_500, "1.0 M"),
        (57_900_000, "57.9 M"), (1_200_000_000, "1.2 G"), (5_000_000_000_000_000, "5000 T"), (-1234, "-1.2k"),
    ],
)  # fmt: skip
def test_tokens_have_three_figures(n: int | None, said: str) -> None:
    assert words.tokens(n) == said


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (None, "–"), (0, "$0.00"), (0.0001, "<$0.01"), (0.0099, "<$0.01"), (0.01, "$0.01"), (0.124, "$0.12"),
        (4.1, "$4.10"), (1234.5, "$1,234.50"), (float("nan"), "–"), (float("inf"), "–"), (-0.5, "-$0.50"),
    ],
)  # fmt: skip
def test_money_is_dollars_and_never_zero_for_something(usd: float | None, said: str) -> None:
    assert words.money(usd) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-500, "now"), (0, "now"), (59, "now"), (60, "1m"), (58 * 60, "58m"), (3599, "59m"), (3600, "1h"),
        (7300, "2h"), (86_399, "23h"), (86_400, "1d"), (3 * 86_400, "3d"), (13.9 * 86_400, "13d"),
        (14 * 86_400, "2w"), (36 * 86_400, "5w"), (363 * 86_400, "51w"), (800 * 86_400, "2y"),
    ],
)  # fmt: skip
def test_an_age_is_one_figure_and_one_letter(seconds: float, said: str) -> None:
    assert words.age(NOW - timedelta(seconds=seconds), now=NOW) == said


def test_an_age_compares_moments_whatever_their_zones() -> None:
    tokyo = timezone(timedelta(hours=9))
    assert words.age(datetime(2026, 2, 3, 19, 0, tzinfo=tokyo), now=NOW) == "2h"
    assert words.age(datetime(2026, 2, 3, 10, 0), now=NOW) == "2h"
    assert words.age(None, now=NOW) == "–"


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [
        (None, "–"), (-5, "0 ms"), (88, "88 ms"), (999.4, "999 ms"), (999.6, "1.0s"), (1400, "1.4s"),
        (9949, "9.9s"), (9950, "10s"), (45_000, "45s"), (59_499, "59s"), (59_500, "1m 00s"),
        (65_000, "1m 05s"), (3_599_600, "1h 00m"), (7_620_000, "2h 07m"), (273_600_000, "3d 04h"),
        (float("nan"), "–"),
    ],
)  # fmt: skip
def test_a_duration_has_at_most_two_units(milliseconds: float | None, said: str) -> None:
    assert words.duration(milliseconds) == said


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (None, "–"), (0, "0 B"), (412, "412 B"), (999, "999 B"), (1000, "1.0 KB"), (9600, "9.6 KB"),
        (96_000, "96 KB"), (999_400, "999 KB"), (999_600, "1.0 MB"), (12_300_000, "12 MB"),
        (1_200_000_000, "1.2 GB"),
    ],
)  # fmt: skip
def test_a_size_is_said_in_bytes(n: int | None, said: str) -> None:
    assert words.size(n) == said


def test_a_count_agrees_with_its_noun() -> None:
    assert words.count(1, "session") == "1 session"
    assert words.count(2, "session") == "2 sessions"
    assert words.count(0, "entry", "entries") == "0 entries"
    assert words.count(1482, "line") == "1,482 lines"
    assert words.number(1482) == "1,482"
    assert words.number(None) == "–"


@pytest.mark.parametrize(
    ("part", "whole", "said"),
    [(96, 100, "96%"), (1, 1000, "<1%"), (999, 1000, "99%"), (5, 5, "100%"), (0, 5, "0%"), (0, 0, "–")],
)
def test_a_share_is_whole_only_when_it_is_everything(part: int, whole: int, said: str) -> None:
    assert words.percent(part, whole) == said


def test_moments_are_said_in_utc_or_in_the_zone_asked_for() -> None:
    moment = datetime(2026, 2, 3, 23, 33, 12, 345_678, tzinfo=UTC)
    tokyo = timezone(timedelta(hours=9))
    assert words.iso(moment.astimezone(tokyo)) == "2026-02-03T23:33:12.345Z"
    assert words.clock(moment) == "23:33"
    assert words.clock(moment, zone=tokyo) == "08:33"
    assert words.day(moment, zone=tokyo) == "2026-02-04"
    assert (words.iso(None), words.clock(None), words.day(None)) == ("–", "–", "–")


@given(
    st.datetimes(
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))])
    )
)
def test_no_moment_of_the_calendar_is_refused(moment: datetime) -> None:
    assert words.day(moment, zone=timezone(timedelta(hours=14)))
    assert words.iso(moment)
    assert words.age(moment, now=NOW)


@given(st.integers(0, 10**17), st.integers(0, 10**17))
def test_more_tokens_are_never_said_as_fewer(one: int, other: int) -> None:
    few, many = sorted((one, other))
    assert _value(words.tokens(few)) <= _value(words.tokens(many))


def _value(said: str) -> float:
    for unit, factor in (("k", 1e3), (" M", 1e6), (" G", 1e9), (" T", 1e12)):
        if said.endswith(unit):
            return float(said.removesuffix(unit)) * factor
    return float(said)
