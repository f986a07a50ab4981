"""One run: the turns of some sessions to all endpoints at once, so that a dead one holds up no other."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.actions.tracing_sources import Open
from clew.errors import ClewError
from clew.store.source import reason
from clew.trace.deliver import Delivery
from clew.trace.ledger import Ledger
from clew.trace.ledger_file import DamagedLedgerError, put_aside
from clew.trace.tally import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from clew.actions.tracing_sources import Source, Wish
    from clew.trace.endpoints import Endpoint
    from clew.trace.reach import Terms
    from clew.trace.spans import TurnTrace
    from clew.trace.tally import Fate, Report


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that could not be done: an endpoint that did not take what it was sent, or a file."""

    where: str
    """The endpoint without its secrets, or the path of the file."""

    reason: str
    turns: int = 0
    """How many turns wait for it."""

    def as_dict(self) -> dict[str, object]:
        """Return the shape of JSON."""
        return {"where": self.where, "reason": self.reason, "turns": self.turns}


@dataclass(frozen=True, slots=True)
class Sending:
    """What was sent, and what was not."""

    turns_sent: int = 0
    """Turns that an endpoint got now; with several endpoints each turn counts once."""

    spans_sent: int = 0
    already_sent: int = 0
    """Turns that every endpoint had before."""

    pending: int = 0
    """Turns that are not complete, or that an endpoint has not taken yet; they are sent next time."""

    unknown: int = 0
    """Turns of which nobody knows whether they arrived."""

    failed: tuple[Failure, ...] = ()
    endpoints: int = 0
    """How many endpoints there are; with none nothing is sent, and that is no failure."""

    reports: tuple[Report, ...] = ()
    """What became of them at each endpoint."""

    notes: tuple[str, ...] = ()
    """What a person should know."""

    def as_dict(self) -> dict[str, object]:
        """Return the shape of JSON."""
        return {
            "turns_sent": self.turns_sent,
            "spans_sent": self.spans_sent,
            "already_sent": self.already_sent,
            "pending": self.pending,
            "unknown": self.unknown,
            "failed": [one.as_dict() for one in self.failed],
            "endpoints": [
                {
                    "endpoint": one.label,
                    "turns_sent": one.count("sent"),
                    "spans_sent": one.spans_sent,
                    "already_sent": one.count("already"),
                    "pending": one.count("pending"),
                    "unknown": one.count("unknown"),
                    "refused": one.count("refused"),
                    "rejected_spans": one.rejected,
                    "error": one.error,
                }
                for one in self.reports
            ],
        }


@dataclass(frozen=True, slots=True)
class Run:
    """What is to be sent, and how."""

    endpoints: Sequence[Endpoint]
    wish: Wish
    state: Path
    terms: Terms
    now_ms: int
    environ: Mapping[str, str]
    owner_of: Callable[[str], Callable[[str], str | None]] | None = None
    """By a session's id what tells whose its messages are."""

    wants: Callable[[TurnTrace], bool] = field(default=lambda _: True)
    """Whether a turn is asked for at all."""

    waiting: Callable[[str], Source | None] | None = None
    """Finds the files of a session at a path that earlier runs left waiting; without it they wait on."""

    advance: Callable[[], object] = field(default=lambda: None)
    """Told of each session that is done, once for each endpoint."""


def send(run: Run, sources: Iterable[Source]) -> Sending:
    """Send what is new and complete to all endpoints."""
    listed = list(sources)
    workers = [_Worker(run, endpoint, listed) for endpoint in run.endpoints]
    if len(workers) == 1:
        workers[0].work()
    else:
        threads = [threading.Thread(target=worker.work, daemon=True) for worker in workers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return _summed(workers)


class _Worker:
    """Sends to one endpoint."""

    def __init__(self, run: Run, endpoint: Endpoint, sources: Sequence[Source]) -> None:
        self._run = run
        self._endpoint = endpoint
        self._sources = sources
        self.report: Report | None = None
        self.failures: dict[str, Failure] = {}
        self.notes: list[str] = []

    def work(self) -> None:
        """Send; whatever goes wrong is in the report."""
        try:
            try:
                self._work()
            except DamagedLedgerError:
                self.notes.append(put_aside(self._run.state))
                self._work()
        except ClewError as error:
            self._fail(self._endpoint.label, error.message)

    def _work(self) -> None:
        run = self._run
        with Ledger.open(run.state) as ledger:
            if ledger.note:
                self.notes.append(ledger.note)
            delivery = Delivery(self._endpoint, ledger, run.terms, run.environ)
            done: set[str] = set()
            for source in self._sources:
                done.add(source.file.path)
                self._session(delivery, source)
                run.advance()
            for path in ledger.waiting(delivery.number) if run.waiting is not None else ():
                if path in done or delivery.is_given_up:
                    continue
                source = run.waiting(path) if run.waiting is not None else None
                if source is None:
                    ledger.forget_file(delivery.number, path)
                else:
                    self._session(delivery, source)
            self.report = delivery.finish()
        if self.report.error is not None:
            turns = self.report.count("pending") + self.report.count("unknown") + self.report.count("refused")
            self._fail(self._endpoint.label, self.report.error, turns)

    def _session(self, delivery: Delivery, source: Source) -> None:
        run, path = self._run, source.file.path
        stamp = source.stamp(run.now_ms)
        if stamp and delivery.skip(path, stamp):
            return
        batch = Batch(path, stamp)
        is_partial = False
        try:
            owner_of = None if run.owner_of is None else run.owner_of(source.file.id)
            opened = Open(source, run.wish, owner_of=owner_of)
            try:
                for turn in opened.traces.turns():
                    if run.wants(turn):
                        is_partial |= turn.is_history
                        delivery.offer(turn, batch, is_ready=opened.is_ready(turn, run.now_ms))
                    else:
                        is_partial = True
            finally:
                opened.close()
        except DamagedLedgerError:
            raise
        except ClewError as error:
            self._fail(path, error.message)
            batch.left += 1
        except OSError as error:
            self._fail(path, reason(error))
            batch.left += 1
        if is_partial:
            # What belongs to another session now may be this one's when that is gone: look again next time.
            batch.stamp = ""
        delivery.over(batch)

    def _fail(self, where: str, why: str, turns: int = 0) -> None:
        self.failures[where] = Failure(where, why, turns)


def _summed(workers: Sequence[_Worker]) -> Sending:
    reports = [worker.report for worker in workers if worker.report is not None]
    fates: dict[bytes, set[Fate]] = {}
    for report in reports:
        for trace, fate in report.fates.items():
            fates.setdefault(trace, set()).add(fate)
    failures: dict[str, Failure] = {}
    for worker in workers:
        failures |= worker.failures
    return Sending(
        sum("sent" in one for one in fates.values()),
        sum(report.spans_sent for report in reports),
        # Of files that were passed over only the counts are known; those that all passed over are the same.
        sum(one == {"already"} for one in fates.values())
        + min((report.already for report in reports), default=0),
        sum("pending" in one for one in fates.values())
        + min((report.unready for report in reports), default=0),
        sum("unknown" in one for one in fates.values()),
        tuple(failures.values()),
        len(workers),
        tuple(reports),
        tuple(dict.fromkeys(note for worker in workers for note in worker.notes)),
    )
