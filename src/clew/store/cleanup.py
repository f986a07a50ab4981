"""Tell what the client's clean-up will delete, and when. Nothing here deletes.

Measured with 2.1.325. Once a day, some seconds after it started, the client deletes for good: sessions last
changed more than `cleanupPeriodDays` ago, with everything in their folder, however new that is; and of
sessions that stay, tool results, todos, file history and tasks that are as old. A period that is no whole
number from 1 on, or settings that are no JSON, stop it altogether (2.0.76 took 0 for: everything).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, cast

import orjson

from clew.errors import ClewError
from clew.store.sides import side_files
from clew.store.source import FileSource

if TYPE_CHECKING:
    from clew.store.files import SessionFile, Store

DEFAULT_DAYS: Final = 30
_DAY: Final = 86_400.0
_LARGEST: Final = 4 << 20
_FOR_EVER: Final = 10_000_000
"""Days after which it does not matter any more: 27,000 years."""


class Period(NamedTuple):
    """After how many days the client deletes, and who says so."""

    days: int | None
    """None if it deletes nothing."""

    source: Literal["default", "settings", "unusable"]


class Doomed(NamedTuple):
    """A session file, and when it may be deleted."""

    file: SessionFile
    deleted_after: float
    """The time, in seconds since 1970, from which on the client's next clean-up takes it."""

    days_left: float
    """Below zero if that time is past."""


class DoomedSide(NamedTuple):
    """A file of a session that goes before the session itself does."""

    path: str
    session: SessionFile
    deleted_after: float
    days_left: float


def period(root: str) -> Period:
    """Read from the settings of a config folder after how many days the client deletes what is in it."""
    path = os.path.join(root, "settings.json")  # noqa: PTH118
    if not os.path.lexists(path):
        return Period(DEFAULT_DAYS, "default")
    try:
        with FileSource(path) as source:
            settings: object = orjson.loads(source.read(0, _LARGEST))
    except (ClewError, ValueError):
        return Period(None, "unusable")
    if not isinstance(settings, dict):
        return Period(None, "unusable")
    known = cast("dict[str, object]", settings)
    if "cleanupPeriodDays" not in known:
        return Period(DEFAULT_DAYS, "default")
    days = known["cleanupPeriodDays"]
    # As for the client, 5.0 is 5.
    if isinstance(days, bool) or not isinstance(days, int | float) or days < 1 or days != days // 1:
        return Period(None, "unusable")
    return Period(int(min(days, _FOR_EVER)), "settings")


def doomed(store: Store, *, now: float, within_days: float | None = None) -> list[Doomed]:
    """Return the session files of a store that will be deleted, those that go first first.

    `now` is in seconds since 1970; with `within_days`, only those that go within that time. A sub-agent in
    its session's folder goes with the session, be it ever so new.
    """
    listing = store.listing()
    found: list[Doomed] = []
    mains = {(file.root, file.folder, file.id): file for file in listing.sessions}
    days = {root: period(root).days for root in store.roots.found}
    for file in (*listing.sessions, *listing.agents):
        kept = days.get(file.root or "")
        if kept is None:
            continue
        deciding = mains.get((file.root, file.folder, file.session or ""), file)
        after, left = _when(deciding.mtime_ns, kept, now)
        if within_days is None or left <= within_days:
            found.append(Doomed(file, after, left))
    return sorted(found, key=lambda one: (one.deleted_after, one.file.path))


def doomed_sides(store: Store, *, now: float, within_days: float | None = None) -> list[DoomedSide]:
    """Return what sessions will lose before they go themselves: tool results, todos, file history, tasks."""
    found: list[DoomedSide] = []
    days = {root: period(root).days for root in store.roots.found}
    for file in store.listing().sessions:
        kept = days.get(file.root or "")
        if kept is None:
            continue
        last, _ = _when(file.mtime_ns, kept, now)
        for side in side_files(file).files:
            if side.kind in {"tool-result", "todo"}:
                age = side.mtime_ns
            elif side.kind in {"file-history", "task"}:
                age = _folder_time(file, "tasks" if side.kind == "task" else side.kind)
            else:
                continue
            after, left = _when(age, kept, now)
            if after < last and (within_days is None or left <= within_days):
                found.append(DoomedSide(side.path, file, after, left))
    return sorted(found, key=lambda one: (one.deleted_after, one.path))


def _when(mtime_ns: int, days: int, now: float) -> tuple[float, float]:
    after = mtime_ns / 1e9 + days * _DAY
    return after, (after - now) / _DAY


def _folder_time(file: SessionFile, kind: str) -> int:
    """Return the time of a folder that goes as a whole, whatever the times of the files in it."""
    try:
        return os.stat(os.path.join(file.root or "", kind, file.id)).st_mtime_ns  # noqa: PTH116, PTH118
    except OSError:  # gone meanwhile
        return file.mtime_ns
