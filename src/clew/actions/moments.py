"""A moment in the words a person uses for it: `2h`, `3d`, `today`, `2026-02-03`, `2026-02-03T05:33`."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from clew.errors import UsageError

_AGO: Final = re.compile(r"(\d{1,6})\s*(m|min|h|d|w|y)", re.IGNORECASE)
_SECONDS: Final = {"m": 60, "min": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400, "y": 365 * 86_400}


def moment(text: str, *, now: datetime) -> datetime:
    """Return the moment that `text` names; `now` carries the zone in which a day begins at midnight."""
    words = text.strip().lower()
    ago = _AGO.fullmatch(words)
    try:
        if ago:
            return now - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        if words in {"today", "yesterday"}:
            return midnight - timedelta(days=words == "yesterday")
        found = datetime.fromisoformat(text.strip())
    except (ValueError, OverflowError):
        raise UsageError(
            f"{text!r} is no moment that clew understands", hint="2h, 3d, 1w, today, yesterday or 2026-02-03"
        ) from None
    return found if found.tzinfo is not None else found.replace(tzinfo=now.tzinfo)
