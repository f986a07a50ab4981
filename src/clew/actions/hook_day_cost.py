"""What today has cost so far, for the status line: from the index as it lies there, or not at all.

The index is only read, with the standard library's SQLite, and only if it was brought up to date today. What
the running session has cost since is known from the client. Nothing here takes long: after a few hundredths
of a second it gives up.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.catalog.place import catalog_folder, shard_paths
from clew.session.pricing import Tokens, Usage, cost_of
from clew.store.roots import find_roots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

LIMIT: Final = 0.05
"""Seconds."""

FRESH: Final = 600
"""Seconds for which nothing of note is taken to have happened elsewhere since the index was written."""

_STEPS: Final = 2000
_TODAY: Final = """
SELECT x.key, x.time_ms, m.text, t.text, x.input, x.output, x.cache_read, x.cache_5m, x.cache_1h
FROM source f JOIN message x ON x.source = f.id JOIN name t ON t.id = x.terms
LEFT JOIN name m ON m.id = x.model
WHERE coalesce(f.newest_ms, f.mtime_ns / 1000000) >= :start AND x.time_ms >= :start AND x.marks & 1
"""
_SESSION: Final = (
    "SELECT coalesce(sum(x.cost_usd), 0) FROM source f JOIN session x ON x.source = f.id WHERE f.session = ?"
)


class DayCost(NamedTuple):
    """What today has cost."""

    dollars: float
    is_exact: bool
    """Whether the index is so fresh that no more than that was spent."""


def day_cost(
    environ: Mapping[str, str], *, session: str, spent: float | None, now: float, limit: float = LIMIT
) -> DayCost | None:
    """Return what was spent since midnight, or None if that is not to be had at once.

    `spent` is what the client says that the running session has cost, of which the index may know a part.
    """
    end = time.monotonic() + limit
    roots = find_roots(environ=environ, home=environ.get("HOME")).found
    paths = shard_paths(catalog_folder(roots)) if roots else []
    start = _midnight(now)
    updated = max((_written(path) for path in paths), default=0.0)
    if updated < start:
        return None
    costs: dict[str, float] = {}
    known = 0.0
    for path in paths:
        found = _ask(path, session, int(start * 1000), end)
        if found is None:
            return None
        costs |= found[0]
        known += found[1]
    since = max(0.0, spent - known) if spent is not None else 0.0
    return DayCost(sum(costs.values()) + since, now - updated <= FRESH)


def _midnight(now: float) -> float:
    today = time.localtime(now)
    return time.mktime((today.tm_year, today.tm_mon, today.tm_mday, 0, 0, 0, 0, 0, -1))


def _written(path: Path) -> float:
    found = 0.0
    for ending in ("", "-wal"):
        try:
            found = max(found, os.stat(f"{path}{ending}").st_mtime)  # noqa: PTH116
        except OSError:
            continue
    return found


def _ask(path: Path, session: str, start_ms: int, end: float) -> tuple[dict[str, float], float] | None:
    """Return by message what it cost, and what the session cost that the index knows of."""
    # Where no log lies beside it nobody is writing, and without one it can be read in this way alone.
    is_still = not os.path.exists(f"{path}-wal")  # noqa: PTH110
    address = f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if is_still else ''}"
    try:
        database = sqlite3.connect(address, uri=True, timeout=0.0)
        try:
            database.set_progress_handler(lambda: int(time.monotonic() > end), _STEPS)
            known = database.execute(_SESSION, (session,)).fetchone()[0] if session else 0.0
            return dict(_priced(database.execute(_TODAY, {"start": start_ms}), end)), float(known)
        finally:
            database.close()
    except (sqlite3.Error, ValueError, TypeError, TimeoutError):
        return None


def _priced(rows: sqlite3.Cursor, end: float) -> Iterator[tuple[str, float]]:
    for number, (key, time_ms, model, terms, *counts) in enumerate(rows):
        if not number % 100 and time.monotonic() > end:
            raise TimeoutError
        tier, speed, place, searches, fetches, told = json.loads(terms)
        advisors = tuple((one["model"], Tokens(*(one[f"{name}_tokens"] for name in _KINDS))) for one in told)
        usage = Usage(Tokens(*counts), searches, fetches, tier, speed, place, advisors)
        cost = cost_of(model, usage, time_ms=time_ms)
        if cost is not None:
            yield key, cost


_KINDS: Final = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
