"""What was sent where, and what waits: `clew trace status`; and a session's spans: `clew trace show`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.actions.opening import agent_files, find_file
from clew.actions.stores import open_store
from clew.actions.tracing import Request, configured
from clew.actions.tracing_plans import trace_document
from clew.actions.tracing_sources import Open, Source, Wish
from clew.errors import UsageError
from clew.format.times import iso
from clew.trace.ledger import EndpointState, Ledger
from clew.trace.ledger_file import ledger_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from clew.trace.spans import TurnTrace


@dataclass(frozen=True, slots=True)
class Status:
    """One endpoint, and whether it is configured now."""

    state: EndpointState
    is_configured: bool

    def as_dict(self) -> dict[str, object]:
        """Return the shape of JSON."""
        state = self.state
        return {
            "endpoint": state.label,
            "backend": state.backend,
            "service": state.service,
            "configured": self.is_configured,
            "traces": state.traces,
            "spans": state.spans,
            "pending_turns": state.waiting_turns,
            "pending_sessions": state.waiting_sessions,
            "unknown_spans": state.unknown_spans,
            "refused_spans": state.refused_spans,
            "rejected_spans": state.rejected_spans,
            "last_answer": iso(state.answered_ms),
            "last_error": state.error,
            "last_error_at": iso(state.error_ms),
        }


@dataclass(frozen=True, slots=True)
class Statuses:
    """All endpoints that are configured, or that something was sent to."""

    listed: tuple[Status, ...]
    notes: tuple[str, ...]


def read_status(request: Request, *, state: Path) -> Statuses:
    """Return what the ledger tells. Nothing is asked of anyone, and no ledger is begun."""
    settings = configured(request)
    states: dict[str, EndpointState] = {}
    note: str | None = None
    if ledger_path(state).exists():
        with Ledger.open(state) as ledger:
            states = ledger.states()
            note = ledger.note
    configured_keys = {one.key for one in settings.endpoints}
    for one in settings.endpoints:
        if one.key not in states:
            fresh = EndpointState(one.label, one.backend, one.service)
            states[one.key] = fresh
    listed = tuple(Status(found, key in configured_keys) for key, found in states.items())
    return Statuses(listed, (*settings.notes, *([note] if note else ())))


class Shown:
    """A session's traces, to be looked at."""

    def __init__(self, roots: Sequence[Path], name: str, *, turn: int | None = None) -> None:
        store = open_store(roots)
        listing = store.listing()
        file = find_file(store, name, listing=listing)
        self._source = Source(file, agent_files(store, file, listing=listing))
        self._opened = Open(self._source, Wish(content=False, redact=False))
        self._turn = turn
        self.session = file.id
        numbers = [one.n for one in self._opened.traces.turns()]
        if turn is not None and turn not in numbers:
            told = f"the turns here are {numbers[0]} to {numbers[-1]}" if numbers else None
            raise UsageError(f"there is no turn {turn}", hint=told)

    def turns(self) -> Iterator[TurnTrace]:
        """Give the turns that were asked for."""
        return (one for one in self._opened.traces.turns() if self._turn in (None, one.n))

    def as_dict(self) -> dict[str, object]:
        """Return the shape of JSON; the traces are made as they are written."""
        traces = (trace_document(self._source, turn) for turn in self.turns())
        return {"session": self.session, "traces": traces}
