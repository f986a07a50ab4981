"""Times as the files write them, as milliseconds since 1970 in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
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
    try:
        moment = _EPOCH + timedelta(milliseconds=ms)
    except OverflowError:
        return None
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
