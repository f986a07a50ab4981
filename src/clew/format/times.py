"""Times as the files write them, as milliseconds since 1970 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds(text: str | None) -> int | None:
    """Return the time `text` names, or None if it names none. Without a zone it is taken as UTC."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    # Not datetime.timestamp(): it raises for years its C library does not know.
    delta = moment - _EPOCH
    return (delta.days * 86_400 + delta.seconds) * 1000 + delta.microseconds // 1000


def iso(ms: int | None) -> str | None:
    """Write a time as ISO 8601 in UTC, as the client does; None for a time outside the years 1 to 9999."""
    if ms is None:
        return None
    day, rest = divmod(ms, 86_400_000)
    date = _date(day)
    if date is None:
        return None
    minutes, rest = divmod(rest, 60_000)
    seconds = rest // 1000
    return f"{date}T{minutes // 60:02}:{minutes % 60:02}:{seconds:02}.{rest - seconds * 1000:03}Z"


@lru_cache(4096)
def _date(day: int) -> str | None:
    """Write a day; many times in a row are of few days."""
    try:
        return (_EPOCH + timedelta(day)).date().isoformat()
    except OverflowError:
        return None
