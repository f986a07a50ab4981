"""What would be sent, span by span, and what of the usage is in no trace, by reason: `--dry-run`."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from clew.actions.reading import Opened, sub_agents
from clew.actions.token_documents import tokens_document
from clew.actions.tracing_sources import Open, Wish
from clew.errors import ClewError
from clew.format.times import iso
from clew.session.session import Session
from clew.session.spending import Spent
from clew.store.files import Skipped
from clew.trace.ledger import Ledger
from clew.trace.ledger_file import ledger_path
from clew.trace.spans import SessionTraces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from clew.actions.tracing_sources import Source
    from clew.store.files import SessionFile
    from clew.trace.endpoints import Endpoint
    from clew.trace.span import Span
    from clew.trace.spans import Generation, TurnTrace

_DRY: Final = Wish(content=False, redact=False)


@dataclass(slots=True)
class Share:
    """Some messages together."""

    messages: int = 0
    spent: Spent = field(default_factory=Spent)
    unpriced: int = 0

    def add(self, spent: Spent) -> None:
        """Add one."""
        self.messages += 1
        if spent.cost_usd is None:
            self.unpriced += 1
            spent = Spent(spent.tokens, 0.0)
        self.spent += spent

    def as_dict(self) -> dict[str, object]:
        """Return the shape of JSON."""
        return {
            "messages": self.messages,
            "tokens": tokens_document(self.spent.tokens),
            "cost_usd": self.spent.cost_usd,
            "unpriced_messages": self.unpriced,
        }


@dataclass(slots=True)
class Totals:
    """What a run would do."""

    sessions: int = 0
    turns: int = 0
    """That would be sent."""

    spans: int = 0
    already: int = 0
    pending: Counter[str] = field(default_factory=Counter[str])
    """Turns that are not complete, by reason."""

    sent: Share = field(default_factory=Share)
    """What the messages in the turns that would be sent used."""

    rest: dict[str, Share] = field(default_factory=dict[str, Share])
    """What all others used, by reason."""

    skipped: list[Skipped] = field(default_factory=list[Skipped])


class Plan:
    """What would be sent of some sessions to some endpoints; without any endpoint, all of them."""

    def __init__(
        self,
        sources: Sequence[Source],
        endpoints: Sequence[Endpoint],
        *,
        state: Path,
        now_ms: int,
        owner_of: Callable[[str], Callable[[str], str | None]],
        wants: Callable[[TurnTrace], bool] = lambda _: True,
        orphans: Mapping[str, Sequence[SessionFile]] | None = None,
    ) -> None:
        """`orphans` are sub-agents whose session is not there, by its id."""
        self._sources = sources
        self._orphans = orphans or {}
        self._endpoints = endpoints
        self._state = state
        self._now_ms = now_ms
        self._owner_of = owner_of
        self._wants = wants

    def totals(self, advance: Callable[[], object] = lambda: None) -> Totals:
        """Count."""
        found = Totals()
        with _Known(self._state, self._endpoints) as known:
            for source in self._sources:
                try:
                    self._count(source, found, known)
                except ClewError as error:
                    found.skipped.append(Skipped(source.file.path, error.message))
                found.sessions += 1
                advance()
        for session, files in self._orphans.items():
            self._count_orphans(session, files, found)
        return found

    def traces(self) -> Iterator[dict[str, object]]:
        """Give the traces that would be sent, one at a time."""
        with _Known(self._state, self._endpoints) as known:
            for source in self._sources:
                try:
                    yield from self._traces(source, known)
                except ClewError:
                    continue

    def _open(self, source: Source) -> Open:
        return Open(source, _DRY, owner_of=self._owner_of(source.file.id))

    def _count(self, source: Source, found: Totals, known: _Known) -> None:
        opened = self._open(source)
        try:
            for turn in opened.traces.turns():
                is_first = known.is_first(turn)
                missing = known.missing(turn)
                reason = self._reason(opened, turn, missing)
                own = [one for one in turn.generations() if one.owner is None]
                if reason == "would_send":
                    known.take(missing)
                    found.turns += is_first
                    found.spans += len(missing)
                    self._share(own, missing, found)
                    continue
                share = found.rest.setdefault(reason, Share())
                for one in own:
                    share.add(one.spent)
                if is_first and not known.is_history(turn):
                    found.already += reason == "already_sent"
                    found.pending[reason] += reason not in {"already_sent", "not_asked_for"}
            owner_of = self._owner_of(source.file.id)
            for left in opened.traces.rest():
                owner = None if left.message_id is None else owner_of(left.message_id)
                if left.reason != "copy" and owner in (None, source.file.id):
                    found.rest.setdefault(left.reason, Share()).add(left.spent)
        finally:
            opened.close()

    def _count_orphans(self, session: str, files: Sequence[SessionFile], found: Totals) -> None:
        owner_of = self._owner_of(session)
        empty = Session.read(b"", name=session)
        traces = SessionTraces(empty, sub_agents(Opened(files[0], empty, tuple(files))), session_id=session)
        for left in traces.rest():
            owner = None if left.message_id is None else owner_of(left.message_id)
            if left.reason != "copy" and owner in (None, session):
                found.rest.setdefault("no_session", Share()).add(left.spent)

    def _share(self, own: Iterable[Generation], missing: set[str], found: Totals) -> None:
        for one in own:
            is_new = one.span_id in missing
            share = found.sent if is_new else found.rest.setdefault("already_sent", Share())
            share.add(one.spent)

    def _traces(self, source: Source, known: _Known) -> Iterator[dict[str, object]]:
        opened = self._open(source)
        try:
            for turn in opened.traces.turns():
                missing = known.missing(turn)
                if self._reason(opened, turn, missing) == "would_send":
                    known.take(missing)
                    yield trace_document(source, turn, missing)
        finally:
            opened.close()

    def _reason(self, opened: Open, turn: TurnTrace, missing: set[str]) -> str:
        if not self._wants(turn):
            return "not_asked_for"
        if not missing:
            return "already_sent"
        return "would_send" if opened.is_ready(turn, self._now_ms) else turn.reason or "running"


class _Known:
    """What the endpoints have, as the ledger tells; where there is no ledger, nothing."""

    def __init__(self, state: Path, endpoints: Sequence[Endpoint]) -> None:
        is_there = ledger_path(state).exists() and bool(endpoints)
        self._ledger = Ledger.open(state) if is_there else None
        self._numbers = [] if self._ledger is None else [self._ledger.endpoint(one) for one in endpoints]
        self._taken: set[int] = set()
        self._traces: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._ledger is not None:
            self._ledger.close()

    def is_first(self, turn: TurnTrace) -> bool:
        """Say whether no other file had the turn before."""
        trace = int(turn.trace_id, 16)
        is_first = trace not in self._traces
        self._traces.add(trace)
        return is_first

    def take(self, spans: Iterable[str]) -> None:
        """Take note that spans would be sent, and not again with another file's copy."""
        self._taken.update(int(span, 16) for span in spans)

    def is_history(self, turn: TurnTrace) -> bool:
        """Say whether all of a turn is another session's."""
        return all(is_history for _, is_history in turn.outline())

    def missing(self, turn: TurnTrace) -> set[str]:
        """Return the spans of a turn, this session's own, that some endpoint has not got."""
        own = {
            span for span, is_history in turn.outline() if not is_history and int(span, 16) not in self._taken
        }
        if self._ledger is None:
            return own
        trace = bytes.fromhex(turn.trace_id)
        missing: set[str] = set()
        for number in self._numbers:
            missing |= own - {span.hex() for span in self._ledger.known(number, trace)}
        return missing


def trace_document(source: Source, turn: TurnTrace, wanted: set[str] | None = None) -> dict[str, object]:
    """Return one trace in the shape of JSON; of its spans those that are wanted."""
    used = {one.span_id: one.spent for one in turn.generations()}
    spans = [
        span_document(span, used.get(span.span_id))
        for span in turn.spans()
        if wanted is None or span.span_id in wanted
    ]
    total = Spent()
    for span_id, spent in used.items():
        if wanted is None or span_id in wanted:
            total += spent
    return {
        "trace_id": turn.trace_id,
        "session": source.file.id,
        "path": source.file.path,
        "turn": turn.n,
        "started": iso(turn.started_ms),
        "ended": iso(turn.ended_ms),
        "complete": turn.is_complete,
        "reason": turn.reason,
        "tokens": tokens_document(total.tokens),
        "cost_usd": total.cost_usd,
        "spans": spans,
    }


def span_document(span: Span, spent: Spent | None) -> dict[str, object]:
    """Return one span in the shape of JSON, without what was said."""
    return {
        "span_id": span.span_id,
        "parent_id": span.parent_id,
        "name": span.name,
        "label": span.label,
        "type": span.type,
        "start": iso(span.start_ns // 1_000_000),
        "end": iso(span.end_ns // 1_000_000),
        "duration_ms": (span.end_ns - span.start_ns) // 1_000_000,
        "status": span.status,
        "history": span.is_history,
        "tokens": None if spent is None else tokens_document(spent.tokens),
        "cost_usd": None if spent is None else spent.cost_usd,
    }


def plan_document(plan: Plan, totals: Totals) -> dict[str, object]:
    """Return what would be sent in the shape of JSON; the traces are made as they are written."""
    usage = Share(totals.sent.messages, totals.sent.spent, totals.sent.unpriced)
    for share in totals.rest.values():
        usage.messages += share.messages
        usage.spent += share.spent
        usage.unpriced += share.unpriced
    return {
        "turns_sent": 0,
        "spans_sent": 0,
        "already_sent": totals.already,
        "pending": totals.turns + totals.pending.total(),
        "failed": [{"where": one.path, "reason": one.reason, "turns": 0} for one in totals.skipped],
        "dry_run": True,
        "sessions": totals.sessions,
        "would_send": {"turns": totals.turns, "spans": totals.spans, **totals.sent.as_dict()},
        "incomplete_turns": dict(totals.pending),
        "rest": [
            {"reason": reason, **share.as_dict()}
            for reason, share in sorted(totals.rest.items())
            if share.messages
        ],
        "usage": usage.as_dict(),
        "traces": plan.traces(),
    }
