"""Send the turns of all sessions, last year's too: `clew trace backfill`.

It can be interrupted at any moment and begun again: the ledger knows what was sent.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew import __version__
from clew.actions.opening import agent_files, find_file
from clew.actions.stores import open_store
from clew.actions.tracing import NO_ENDPOINT, Request, configured
from clew.actions.tracing_owners import find_owners
from clew.actions.tracing_plans import Plan
from clew.actions.tracing_runs import Run, Sending, send
from clew.actions.tracing_sources import Source, Wish
from clew.errors import UsageError
from clew.session.periods import moment
from clew.store.heads import group_agents
from clew.trace.reach import Terms

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.store.files import Listing, SessionFile, Skipped, Store
    from clew.trace.spans import TurnTrace

_EVER: Final = 365 * 86_400.0
_PATIENCE: Final = 120.0


@dataclass(frozen=True, slots=True)
class Bounds:
    """Which turns are asked for, by when they began."""

    since_ms: int | None = None
    until_ms: int | None = None

    def holds(self, turn: TurnTrace) -> bool:
        """Say whether a turn is asked for; one without a time always is."""
        when = turn.started_ms
        if when is None:
            return True
        return (self.since_ms is None or when >= self.since_ms) and (
            self.until_ms is None or when < self.until_ms
        )


class Backfill:
    """The sessions of a store on their way to the endpoints."""

    def __init__(
        self,
        request: Request,
        *,
        state: Path,
        now_ms: int,
        since: str | None = None,
        until: str | None = None,
        session: str | None = None,
    ) -> None:
        """Look at the store: all of it, or one session."""
        self._request = request
        self._state = state
        self._now_ms = now_ms
        self._settings = configured(request)
        self._bounds = Bounds(
            _moment(since, "--since", now_ms), _moment(until, "--until", now_ms, is_end=True)
        )
        self._store = open_store(request.roots)
        self._listing = self._store.listing()
        self.sources = _sources(self._store, self._listing, session)
        self._is_all = session is None
        if self._bounds.since_ms is not None:
            # A file that was last written before has no turn from then on.
            first = self._bounds.since_ms * 1_000_000
            self.sources = [one for one in self.sources if one.newest_ns >= first]

    @property
    def endpoints(self) -> int:
        """How many endpoints there are."""
        return len(self._settings.endpoints)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know of the configuration."""
        return self._settings.notes

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What lies in the store and is no session."""
        return self._listing.skipped

    def plan(self) -> Plan:
        """Return what would be sent; nothing is asked of anyone."""
        owners = find_owners(self._store, self._listing)
        assert owners is not None
        return Plan(
            self.sources,
            self._settings.endpoints,
            state=self._state,
            now_ms=self._now_ms,
            owner_of=owners.of,
            wants=self._bounds.holds,
            orphans=_orphans(self._listing) if self._is_all else None,
        )

    def send(self, advance: Callable[[], object] = lambda: None) -> Sending:
        """Send; `advance` is told of each session that is done, once for each endpoint."""
        settings, request = self._settings, self._request
        if not settings.endpoints:
            raise UsageError("no endpoint is configured", hint=NO_ENDPOINT)
        owners = find_owners(self._store, self._listing)
        run = Run(
            settings.endpoints,
            Wish(settings.content, settings.redact, self._state),
            self._state,
            Terms(
                time.monotonic() + _EVER,
                patience=_PATIENCE,
                rate=request.rate,
                resend_unknown=request.resend_unknown,
                version=__version__,
            ),
            self._now_ms,
            request.environ,
            None if owners is None else owners.of,
            self._bounds.holds,
            advance=advance,
        )
        return send(run, self.sources)


def _sources(store: Store, listing: Listing, session: str | None) -> list[Source]:
    """Return the sessions, the one written first first: what was copied is then sent where it comes from."""
    if session is not None:
        file = find_file(store, session, listing=listing)
        return [Source(file, agent_files(store, file, listing=listing))]
    agents = group_agents(listing)
    return [Source(file, agents.of(file)) for file in reversed(listing.newest())]


def _orphans(listing: Listing) -> dict[str, list[SessionFile]]:
    """Return the sub-agents whose session is gone, by its id: they are in no turn."""
    listed = {(file.root, file.folder, file.id) for file in listing.sessions}
    found: dict[str, list[SessionFile]] = {}
    for key, files in group_agents(listing).by_session.items():
        if key not in listed:
            found.setdefault(key[2], []).extend(files)
    return found


def _moment(text: str | None, option: str, now_ms: int, *, is_end: bool = False) -> int | None:
    if text is None:
        return None
    found = moment(text, now=now_ms, zone=None, is_end=is_end)
    if found is None:
        raise UsageError(f"{text!r} is no time", hint=f"{option} 2026-02-03, or {option} 2d for two days ago")
    return found
