"""Tokens and money over the sessions of a store: `clew usage`.

The catalog answers where it is as new as the files (`indexed_usage`). Else every file is read once, in
several processes where there is much to read. What counts and what it costs is decided in `session.usage`,
`session.ledger` and `session.accounts`.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.catalog.collector import collector_at_rest
from clew.errors import ClewError, UsageError
from clew.format.times import iso, milliseconds
from clew.session.accounts import Question, account
from clew.session.ledger import Ledger
from clew.session.periods import BLOCK_MS, moment
from clew.session.pricing import DATE, SOURCE
from clew.store.files import Skipped, Store
from clew.store.source import open_regular, reason

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from clew.session.accounts import Account, By, Group, Sum
    from clew.session.answers import Depth
    from clew.store.files import Listing, SessionFile

_WORTH_ANOTHER: Final = 100_000_000
"""Bytes from which a second process pays for its start."""

_PIECE: Final = 1 << 18
"""How much is read at a time: what fits the processor's cache."""

_DEPTHS: Final[Mapping[str, Depth]] = {
    "session": "place", "project": "place", "git-branch": "place", "agent": "place", "tool": "calls",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for."""

    by: By = "day"
    roots: Sequence[str] = ()
    """Config folders; without any the user's own."""

    since: str | None = None
    until: str | None = None
    """A day (both are counted), a moment, or how long ago: `2d`, `3h`, `1w`."""

    tz: str | None = None
    """The name of the zone whose days are meant; the machine's own without one."""

    jobs: int | None = 1
    """How many processes may read; None for as many as pay."""

    use_index: bool = False
    """Whether the catalog may answer."""

    with_models: bool = False
    """Whether each row is to be told by model too."""


@dataclass(frozen=True, slots=True)
class Client:
    """What the client itself says a session cost, beside our own sum."""

    cost_usd: float
    difference_usd: float | None
    """By how much our sum is greater; None where ours is not known."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was used, and what there was to read."""

    account: Account
    tz: str
    files: int
    looked_in: tuple[str, ...]
    skipped: tuple[Skipped, ...] = ()
    """What lies in the store and is no session file."""

    unread: tuple[Skipped, ...] = ()
    """Session files that could not be read."""

    damaged: int = 0
    """Lines that are not exactly one record, among those that may tell of usage; others are not looked at."""

    now: int = 0
    zone: tzinfo | None = None
    projects: Mapping[str, str] = field(default_factory=dict[str, str])
    """By session, if that was asked for, the folder it worked in."""

    clients: Mapping[str, Client] = field(default_factory=dict[str, Client])
    """By session, if that was asked for, the client's own account where it left one."""

    notes: tuple[str, ...] = ()
    """What a person should know of how the figures were made."""

    @property
    def is_flawed(self) -> bool:
        """Whether something could not be read."""
        return self.damaged > 0 or bool(self.unread)

    def rows(self) -> list[dict[str, object]]:
        """Return the groups in the shape of the JSON document."""
        return [self._row(group) for group in self.account.groups]

    def as_json(self) -> dict[str, object]:
        """Return the JSON document."""
        return {
            "by": self.account.by,
            "rows": self.rows(),
            "total": _sum(self.account.total),
            "prices": {"source": SOURCE, "date": DATE},
            "unpriced_models": list(self.account.unpriced_models),
            "tz": self.tz,
            "files": self.files,
            "damaged": self.damaged,
            "unreadable": [{"path": one.path, "reason": one.reason} for one in self.unread],
        }

    def _row(self, group: Group) -> dict[str, object]:
        row: dict[str, object] = {"key": group.key, "models": list(group.sum.models), **_sum(group.sum)}
        if group.models:
            row["by_model"] = [{"model": one.key, **_sum(one.sum)} for one in group.models]
        match self.account.by:
            case "session":
                client = self.clients.get(group.key)
                row["project"] = self.projects.get(group.key)
                row["client_cost_usd"] = client.cost_usd if client else None
                row["difference_usd"] = client.difference_usd if client else None
            case "block":
                start = milliseconds(group.key)
                end = None if start is None else start + BLOCK_MS
                row["started"], row["ended"] = iso(start), iso(end)
                row["active"] = start is not None and start <= self.now < start + BLOCK_MS
            case _:
                pass
        return row


def _sum(total: Sum) -> dict[str, object]:
    tokens = total.tokens
    return {
        "tokens": {
            "input": tokens.input,
            "output": tokens.output,
            "cache_read": tokens.cache_read,
            "cache_write_5m": tokens.cache_write_5m,
            "cache_write_1h": tokens.cache_write_1h,
        },
        "messages": total.messages,
        "cost_usd": total.cost_usd,
        "unpriced_messages": total.unpriced,
        "web_searches": total.web_searches,
        "web_fetches": total.web_fetches,
    }


def usage(
    request: Request, *, now: int | None = None, progress: Callable[[int], object] | None = None
) -> Result:
    """Count what the sessions used. `progress` is told how many files were read since it was last told."""
    with collector_at_rest():
        return _usage(request, now, progress)


def _usage(request: Request, now: int | None, progress: Callable[[int], object] | None) -> Result:
    now = time.time_ns() // 1_000_000 if now is None else now
    zone = zone_of(request.tz)
    since = _moment(request.since, "--since", now, zone)
    until = _moment(request.until, "--until", now, zone, is_end=True)
    store = Store.at([*map(str, request.roots)])
    listing = store.listing()
    period = _Period(zone, since, until, now)
    notes: tuple[str, ...] = ()
    if request.use_index:
        from clew.catalog.current import NotCurrentError

        try:
            return _from_index(request, store, listing, period)
        except NotCurrentError as error:
            notes = (error.note,) if error.note else ()
    return _from_files(request, store, listing, period, progress, notes)


class _Period(NamedTuple):
    """The time that is asked for, and the time it is."""

    zone: tzinfo | None
    since: int | None
    until: int | None
    now: int


def _from_files(
    request: Request,
    store: Store,
    listing: Listing,
    period: _Period,
    progress: Callable[[int], object] | None,
    notes: tuple[str, ...],
) -> Result:
    files = [*listing.sessions, *listing.agents]
    ledger, unread = _read(files, _DEPTHS.get(request.by, "usage"), request.jobs, progress)
    places = _Places(listing, ledger)
    zone, since, until, now = period
    whose = (places.session_of, places.project_of, places.oldest)
    question = Question(request.by, zone, since, until, *whose, with_models=request.with_models)
    answer = account(ledger, question)
    is_by_session = request.by == "session"
    return Result(
        answer,
        request.tz or "local",
        len(files),
        store.roots.looked_in,
        listing.skipped,
        tuple(unread),
        ledger.damaged + _abandoned(ledger.unfinished, store, listing, now),
        now,
        zone,
        {group.key: places.project(group.key) for group in answer.groups} if is_by_session else {},
        _clients(answer, places.client_cost) if is_by_session and ledger.client_costs else {},
        notes,
    )


def _from_index(request: Request, store: Store, listing: Listing, period: _Period) -> Result:
    from clew.actions.indexed_usage import Places, account_of
    from clew.catalog.current import Current
    from clew.catalog.rollups import Rollups

    zone, since, until, now = period
    is_by_session = request.by == "session"
    with Current.opened(store, listing) as current:
        rollups = Rollups(current.database)
        places = Places(rollups)
        answer = account_of(
            rollups,
            request.by,
            zone=zone,
            since=since,
            until=until,
            places=places,
            with_models=request.with_models,
        )
        projects = {group.key: places.project(group.key) for group in answer.groups} if is_by_session else {}
        clients = _clients(answer, places.client_cost) if is_by_session else {}
        damaged = rollups.damaged() + _abandoned(rollups.unfinished(), store, listing, now)
    listed = {file.path for file in (*listing.sessions, *listing.agents)} if current.skipped else set[str]()
    return Result(
        answer,
        request.tz or "local",
        len(listing.sessions) + len(listing.agents),
        store.roots.looked_in,
        listing.skipped,
        tuple(one for one in current.skipped if one.path in listed),
        damaged,
        now,
        zone,
        projects,
        clients,
        current.notes,
    )


def _abandoned(unfinished: Collection[str], store: Store, listing: Listing, now: int) -> int:
    """Count the unfinished ends that are damage, as `clew ls` does: in a live session it is being written."""
    if not unfinished:
        return 0
    from clew.store.signs import signs_of_life

    is_live = signs_of_life(store, now=now / 1000)
    listed = {file.path: file for file in (*listing.sessions, *listing.agents)}
    return sum(path in listed and not is_live(listed[path]) for path in unfinished)


def zone_of(name: str | None) -> tzinfo | None:
    """Return the time zone of a name; None for the one of this machine."""
    if name is None or name == "local":
        return None
    if name.upper() == "UTC":
        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # an unknown zone is a KeyError; a folder's name, an OSError
        raise UsageError(f"there is no time zone {name!r}", hint="--tz Europe/Berlin") from None


def _moment(
    text: str | None, option: str, now: int, zone: tzinfo | None, *, is_end: bool = False
) -> int | None:
    if text is None:
        return None
    found = moment(text, now=now, zone=zone, is_end=is_end)
    if found is None:
        raise UsageError(f"{text!r} is no time", hint=f"{option} 2026-02-03, or {option} 2d for two days ago")
    return found


# --- reading ------------------------------------------------------------------------------------------------

_Files = list[tuple[str, str | None]]
"""Paths, each with the sub-agent it is called after."""


def _read(
    files: Sequence[SessionFile], depth: Depth, jobs: int | None, progress: Callable[[int], object] | None
) -> tuple[Ledger, list[Skipped]]:
    total = sum(file.size for file in files)
    if jobs is None:
        jobs = (os.cpu_count() or 1) if total >= _WORTH_ANOTHER else 1
    shares = _shares(files, min(jobs, len(files)) or 1)
    if len(shares) == 1:
        return _read_share(shares[0], depth, progress)
    import multiprocessing

    # This process reads too. Ledgers may be merged in any order.
    with multiprocessing.Pool(len(shares) - 1) as pool:
        others = [pool.apply_async(_read_alone, (share, depth)) for share in shares[1:]]
        ledger, unread = _read_share(shares[0], depth, progress)
        for other, share in zip(others, shares[1:], strict=True):
            found, more = other.get()
            ledger.merge(found)
            unread += more
            if progress is not None:
                progress(len(share))
    return ledger, unread


def _shares(files: Iterable[SessionFile], count: int) -> list[_Files]:
    """Deal out the files so that every share has about as many bytes."""
    shares: list[_Files] = [[] for _ in range(count)]
    sizes = [0] * count
    for file in files if count == 1 else sorted(files, key=lambda file: (-file.size, file.path)):
        least = sizes.index(min(sizes))
        agent = file.id.removeprefix("agent-") if file.is_agent else None
        shares[least].append((file.path, agent))
        # An empty file has to be opened too.
        sizes[least] += file.size + 50_000
    return shares


def _pieces(path: str) -> Iterator[bytes]:
    descriptor, _ = open_regular(path, is_listed=True)
    try:
        while piece := os.read(descriptor, _PIECE):
            yield piece
    finally:
        os.close(descriptor)


def _read_share(
    files: _Files, depth: Depth, progress: Callable[[int], object] | None = None
) -> tuple[Ledger, list[Skipped]]:
    # Imported here: an answer from the catalog needs nothing of it.
    from clew.session.usage import Folder

    ledger = Ledger()
    unread: list[Skipped] = []
    folder = Folder(depth)
    for path, agent in files:
        try:
            ledger.add(folder.file(path, _pieces(path), agent=agent))
        except ClewError as error:
            unread.append(Skipped(path, error.message))
        except OSError as error:
            unread.append(Skipped(path, reason(error)))
        if progress is not None:
            progress(1)
    return ledger, unread


def _read_alone(files: _Files, depth: Depth) -> tuple[Ledger, list[Skipped]]:
    with collector_at_rest():
        return _read_share(files, depth)


# --- whose files --------------------------------------------------------------------------------------------


class _Places:
    """What session and project a file belongs to; asked only where an answer depends on it."""

    def __init__(self, listing: Listing, ledger: Ledger) -> None:
        self._listing = listing
        self._ledger = ledger
        self._projects: dict[str, str] = {}

    @cached_property
    def _mains(self) -> dict[str, str]:
        """By a session's own file the session."""
        return {file.path: file.id for file in self._listing.sessions}

    @cached_property
    def _agents(self) -> dict[str, str]:
        """By a sub-agent's file the session; some have to be looked into for it."""
        from clew.store.heads import group_agents

        found = {file.path: file.session or file.id for file in self._listing.agents}
        for (_, _, session), files in group_agents(self._listing).by_session.items():
            found |= {file.path: session for file in files}
        return found

    @cached_property
    def _files(self) -> dict[str, list[SessionFile]]:
        """By session its own files."""
        found: dict[str, list[SessionFile]] = {}
        for file in self._listing.sessions:
            found.setdefault(file.id, []).append(file)
        return found

    def _files_of(self, session: str) -> list[SessionFile]:
        """Return a session's own files, else those of its sub-agents: its own may be gone."""
        own = self._files.get(session)
        if own is None:
            agents = self._listing.agents
            own = self._files[session] = [file for file in agents if self._agents[file.path] == session]
        return own

    def session_of(self, path: str) -> str:
        """Return the session a file belongs to."""
        session = self._mains.get(path)
        return self._agents[path] if session is None else session

    def project_of(self, path: str) -> str:
        """Return the project a file belongs to."""
        return self.project(self.session_of(path))

    def project(self, session: str) -> str:
        """Return the folder a session worked in: the one its lines name, else its project folder's name."""
        if session not in self._projects:
            files = self._files_of(session)
            named = (self._ledger.folders.get(file.path) for file in files)
            self._projects[session] = next(filter(None, named), files[0].folder)
        return self._projects[session]

    def oldest(self, session: str) -> int | None:
        """Return the time of a session's oldest line."""
        from clew.session.ages import oldest

        times: list[int] = []
        for file in self._files_of(session):
            try:
                found = oldest(_pieces(file.path))
            except (ClewError, OSError):
                continue
            if found is not None:
                times.append(found)
        return min(times, default=None)

    def client_cost(self, session: str) -> float | None:
        """Return what the client says a session cost."""
        costs = self._ledger.client_costs
        return next((costs[file.path] for file in self._files_of(session) if file.path in costs), None)


def _clients(answer: Account, client_cost: Callable[[str], float | None]) -> dict[str, Client]:
    found: dict[str, Client] = {}
    for group in answer.groups:
        cost = client_cost(group.key)
        if cost is not None:
            ours = group.sum.cost_usd
            found[group.key] = Client(cost, None if ours is None else ours - cost)
    return found
