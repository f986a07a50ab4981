"""Numbers, money, ages, durations and sizes in the few words a person reads at a glance.

Everything here is pure: the present moment is an argument. What is unknown is a dash, never a zero.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo

UNKNOWN = "–"

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_WEEK = 7 * _DAY


def number(n: int | None) -> str:
    """A count in full: 1,482."""
    return UNKNOWN if n is None else f"{n:,}"


def count(n: int, one: str, many: str | None = None) -> str:
    """A count with its noun: "1 session", "2 sessions", "0 entries"."""
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def tokens(n: int | None) -> str:
    """Tokens to three figures: 92, 1.2k, 36.8k, 614k, 57.9 M."""
    if n is None:
        return UNKNOWN
    if abs(n) < 1000:
        return str(n)
    return _scaled(n, 1000, ("k", " M", " G", " T"))


def size(n: int | None) -> str:
    """Bytes: 412 B, 9.6 KB, 96 KB, 1.2 MB."""
    if n is None:
        return UNKNOWN
    if abs(n) < 1000:
        return f"{n} B"
    return _scaled(n, 10, (" KB", " MB", " GB", " TB"))


def _scaled(n: int, tenths_below: int, units: tuple[str, ...]) -> str:
    """Divide by thousands; a tenth is shown for small amounts, below 100 or below `tenths_below`."""
    tenths_below = min(tenths_below, 100)
    value = float(n)
    for unit in units:
        value /= 1000
        tenth = f"{value:.1f}"
        text = tenth if abs(float(tenth)) < tenths_below else f"{value:.0f}"
        # 999,950 is 1.0 M and not 1000k: the rounded figure decides the unit.
        if abs(float(text)) < 1000 or unit == units[-1]:
            return text + unit
    raise AssertionError("there is always a last unit")


def money(usd: float | None) -> str:
    """US dollars: $0.12, <$0.01 for less than a cent, a dash when the price is not known."""
    if usd is None or not math.isfinite(usd):
        return UNKNOWN
    if usd < 0:
        return f"-{money(-usd)}"
    if usd == 0:
        return "$0.00"
    return "<$0.01" if usd < 0.01 else f"${usd:,.2f}"


def percent(part: float, whole: float) -> str:
    """A share: 96%; a dash of nothing. Only everything is 100%, and only nothing is 0%."""
    if whole <= 0:
        return UNKNOWN
    share = 100 * part / whole
    if 0 < share < 1:
        return "<1%"
    if 99 < share < 100:
        return "99%"
    return f"{share:.0f}%"


def age(then: datetime | None, *, now: datetime) -> str:
    """How long ago: now, 58m, 2h, 3d, 5w, 2y. A time to come (a clock that runs ahead) is now."""
    if then is None:
        return UNKNOWN
    seconds = (_aware(now) - _aware(then)).total_seconds()
    for below, unit, letter in (
        (_HOUR, _MINUTE, "m"),
        (_DAY, _HOUR, "h"),
        (2 * _WEEK, _DAY, "d"),
        (52 * _WEEK, _WEEK, "w"),
        (math.inf, 52 * _WEEK, "y"),
    ):
        if seconds < below:
            amount = int(max(0.0, seconds) // unit)
            return f"{amount}{letter}" if amount else "now"
    raise AssertionError("everything is less than infinity")


def duration(milliseconds: float | None) -> str:
    """How long: 88 ms, 1.4s, 45s, 1m 05s, 2h 07m, 3d 04h. Less than nothing is 0 ms."""
    if milliseconds is None or not math.isfinite(milliseconds):
        return UNKNOWN
    rounded = round(max(0.0, milliseconds))
    if rounded < 1000:
        return f"{rounded} ms"
    if rounded < 9950:
        return f"{rounded / 1000:.1f}s"
    seconds = (rounded + 500) // 1000
    if seconds < _MINUTE:
        return f"{seconds}s"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE}m {seconds % _MINUTE:02}s"
    if seconds < _DAY:
        return f"{seconds // _HOUR}h {seconds % _HOUR // _MINUTE:02}m"
    return f"{seconds // _DAY}d {seconds % _DAY // _HOUR:02}h"


def iso(moment: datetime | None) -> str:
    """A moment as JSON gives it: ISO 8601 in UTC, to the millisecond."""
    if moment is None:
        return UNKNOWN
    return _local(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def clock(moment: datetime | None, *, zone: tzinfo = UTC) -> str:
    """The time of day: 05:33."""
    return UNKNOWN if moment is None else f"{_local(moment, zone):%H:%M}"


def day(moment: datetime | None, *, zone: tzinfo = UTC) -> str:
    """The day: 2026-02-03."""
    return UNKNOWN if moment is None else _local(moment, zone).date().isoformat()


def _aware(moment: datetime) -> datetime:
    """A time that names no zone is taken as UTC, as the session files mean it."""
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


def _local(moment: datetime, zone: tzinfo) -> datetime:
    """The moment in a zone; at the very ends of the calendar, where that cannot be, as it is."""
    try:
        return _aware(moment).astimezone(zone)
    except OverflowError:
        return _aware(moment)
