"""Days, weeks, months and five-hour blocks, as the user's own zone has them, and the moments people write.

A zone of None is the machine's own. Times are milliseconds since 1970 in UTC, or texts as files have them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final, Literal

from clew.format.times import iso, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import tzinfo

Period = Literal["day", "week", "month"]

Slot = tuple[str, int | None]
"""A period's name, and the UTC day (days since 1970) that a price depends on; None when no time is known."""

UNKNOWN: Final = "unknown"
"""The name of the period of a message that has no time."""

HOUR_MS: Final = 3_600_000
DAY_MS: Final = 24 * HOUR_MS
BLOCK_MS: Final = 5 * HOUR_MS
"""How long the client's usage limits count together."""

_NO_SLOT: Final[Slot] = (UNKNOWN, None)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class Calendar:
    """Finds the period of a time in a zone. Nearly every answer comes from what was found for its hour."""

    def __init__(self, period: Period, zone: tzinfo | None) -> None:
        self._period: Period = period
        self._zone = zone
        self.hours: dict[str, Slot | None] = {}
        """What was found, by the first 13 characters of a time ("2026-02-03T05"): for loops over many."""
        self._minutes: dict[str, Slot] = {}
        self._days: dict[str, tuple[int, int] | None] = {}
        self._slots: dict[tuple[int, int], Slot] = {}

    def slot(self, time: str | None) -> Slot:
        """Return the period of a time as written in a file; the same object for the same period and day."""
        if time is None:
            return _NO_SLOT
        if time[23:] != "Z" or time[10] != "T":
            usual = iso(milliseconds(time))
            if usual is None:
                return _NO_SLOT
            time = usual
        hour = time[:13]
        try:
            found = self.hours[hour]
        except KeyError:
            found = self.hours[hour] = self._of_hour(hour)
        return self._of_minute(time[:16]) if found is None else found

    def _of_hour(self, hour: str) -> Slot | None:
        """Return the period of a whole hour, or None where a new one begins within it (as in India)."""
        day = hour[:10]
        try:
            known = self._days[day]
        except KeyError:
            known = self._days[day] = self._of_day(day)
        if known is None or not hour[11:].isdecimal() or (number := int(hour[11:])) > 23:
            return None
        start = known[0] + number * HOUR_MS
        first, last = (start + known[1]) // DAY_MS, (start + known[1] + HOUR_MS - 1) // DAY_MS
        return self._slot(start, first) if first == last else None

    def _of_day(self, day: str) -> tuple[int, int] | None:
        """Return when a UTC day begins and how far local time is ahead then; None if that changes."""
        ms = milliseconds(f"{day}T00:00:00.000Z")
        if ms is None:
            return None
        ahead, later = (_ahead(moment, self._zone) for moment in (ms, ms + DAY_MS))
        return (ms, ahead) if ahead == later else None

    def _of_minute(self, minute: str) -> Slot:
        try:
            return self._minutes[minute]
        except KeyError:
            ms = milliseconds(f"{minute}:00.000Z")
            found = _NO_SLOT if ms is None else self._slot(ms, (ms + _ahead(ms, self._zone)) // DAY_MS)
            self._minutes[minute] = found
            return found

    def _slot(self, ms: int, day: int) -> Slot:
        """Return the period of a moment whose local day (in days since 1970) is known."""
        place = day, ms // DAY_MS
        found = self._slots.get(place)
        if found is None:
            found = self._slots[place] = self._name(day), ms // DAY_MS
        return found

    def _name(self, day: int) -> str:
        """Return the name of the period that holds a local day: 2026-02-03, 2026-W06 (ISO), 2026-02."""
        date = _EPOCH.date() + timedelta(days=day)
        match self._period:
            case "day":
                return date.isoformat()
            case "week":
                year, week, _ = date.isocalendar()
                return f"{year:04}-W{week:02}"
            case "month":
                return date.isoformat()[:7]


def _ahead(ms: int, zone: tzinfo | None) -> int:
    """Return by how much local time is ahead of UTC at a moment."""
    offset = local_time(ms, zone).utcoffset()
    return 0 if offset is None else offset // timedelta(milliseconds=1)


def local_time(ms: int, zone: tzinfo | None) -> datetime:
    """Return a moment in a zone; in UTC at the ends of the calendar, where that cannot be."""
    moment = _EPOCH + timedelta(milliseconds=ms)
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return moment


class Blocks:
    """The five-hour blocks of some times: one begins with the hour of its first message."""

    def __init__(self, times: Iterable[int]) -> None:
        self.starts: list[int] = []
        for ms in sorted(times):
            if not self.starts or ms - self.starts[-1] >= BLOCK_MS:
                self.starts.append(ms - ms % HOUR_MS)

    def start(self, ms: int) -> int:
        """Return when the block began that holds a moment of those given."""
        return self.starts[bisect_right(self.starts, ms) - 1]


_AGO: Final = re.compile(r"(\d{1,6})\s*(m|min|h|d|w|mo|y)", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-?\d\d-?\d\d", re.ASCII)
_MINUTES: Final = {"m": 1, "min": 1, "h": 60, "d": 1440, "w": 10080, "mo": 43200, "y": 525_600}


def moment(text: str, *, now: int, zone: tzinfo | None, is_end: bool = False) -> int | None:
    """Return the moment a person wrote: `2d` (ago), `2026-02-03`, `today`, an ISO time; else None.

    A day is its beginning in the zone, or with `is_end` its end, so that a day given twice is that day.
    """
    text = text.strip()
    if ago := _AGO.fullmatch(text.lower()):
        return now - int(ago[1]) * _MINUTES[ago[2]] * 60_000
    day = {"today": 0, "yesterday": 1}.get(text.lower())
    try:
        if day is not None:
            written = local_time(now, zone).replace(tzinfo=None) - timedelta(days=day)
            written = datetime(written.year, written.month, written.day)
        else:
            written = datetime.fromisoformat(text)
        if is_end and (day is not None or _DATE.fullmatch(text)):
            written += timedelta(days=1)
        if written.tzinfo is None:
            written = written.replace(tzinfo=zone).astimezone(UTC)
        return round((written - _EPOCH) / timedelta(milliseconds=1))
    except (ValueError, OverflowError, OSError):
        return None
