"""What became of turns and files while their spans are on the way to one endpoint."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from clew.trace.ledger import Ids, Seen

if TYPE_CHECKING:
    from clew.trace.ledger import Ledger

Fate = Literal["sent", "already", "pending", "unknown", "refused"]

_WORSE: Final[tuple[Fate, ...]] = ("already", "sent", "refused", "unknown", "pending")
_NOTES: Final = 512
"""So many files are written down at a time."""


@dataclass(slots=True)
class Batch:
    """The turns of one session on their way."""

    path: str
    stamp: str
    """What its files looked like."""

    turns: int = 0
    open: int = 0
    """How many of them wait for spans to be acknowledged."""

    left: int = 0
    """How many the endpoint has not got and has to get later."""

    unready: int = 0
    """How many are not complete; they wait for the file to change."""

    is_over: bool = False
    """Whether all were offered."""


@dataclass(slots=True)
class Turn:
    """One turn of which something is under way."""

    trace: bytes
    batch: Batch
    own: int
    """How many spans it has."""

    spans: int
    """How many of them are under way."""

    fate: Fate = "sent"


@dataclass(slots=True)
class Report:
    """What became of the turns, by the ids of their traces."""

    label: str
    spans_sent: int = 0
    rejected: int = 0
    """Spans that the endpoint took and will not keep."""

    fates: dict[bytes, Fate] = field(default_factory=dict[bytes, Fate])
    already: int = 0
    unready: int = 0
    """Turns of files that were not even looked into, as nothing was left to send of them."""

    error: str | None = None
    """What went wrong last."""

    def count(self, fate: Fate) -> int:
        """Count the turns that ended so."""
        skipped = {"already": self.already, "pending": self.unready}.get(fate, 0)
        return sum(one == fate for one in self.fates.values()) + skipped


class Tally:
    """Keeps count, and writes down which files are done."""

    def __init__(self, label: str, ledger: Ledger, number: int) -> None:
        self.report = Report(label)
        self.under_way: set[Ids] = set()
        """The spans that wait for an answer, or to be sent."""
        self._ledger = ledger
        self._number = number
        self._done: list[Batch] = []

    def skip(self, path: str, stamp: str) -> bool:
        """Say whether a file need not be read, as nothing of it was left when it looked as it does now."""
        seen = self._ledger.seen(self._number, path, stamp)
        if seen is None:
            return False
        self.report.already += seen.turns - seen.unready
        self.report.unready += seen.unready
        return True

    def begin(self, trace: bytes, batch: Batch, *, own: int, missing: set[Ids]) -> Turn:
        """Take note that spans of a turn are on their way."""
        batch.open += 1
        self.under_way |= missing
        return Turn(trace, batch, own, len(missing))

    def tell(self, trace: bytes, fate: Fate) -> None:
        """Take note of what became of a turn; of one in several files the worst counts."""
        self.report.fates[trace] = _worse(self.report.fates.get(trace, fate), fate)

    def end(self, ids: Ids, turn: Turn, fate: Fate) -> None:
        """Take note of what became of a span."""
        self.under_way.discard(ids)
        turn.spans -= 1
        turn.fate = _worse(turn.fate, fate)
        if turn.spans <= 0:
            batch = turn.batch
            self.tell(turn.trace, turn.fate)
            batch.open -= 1
            batch.left += turn.fate in {"pending", "unknown"}
            if batch.is_over and not batch.open:
                self._note(batch)

    def correct(self, turn: Turn, fate: Fate) -> None:
        """Take note that it is known by now what became of a turn."""
        turn.batch.left -= fate == "sent"
        self.report.fates[turn.trace] = fate

    def over(self, batch: Batch) -> None:
        """Take note that all turns of a batch were offered."""
        batch.is_over = True
        if not batch.open:
            self._note(batch)

    def write(self) -> None:
        """Write down which files are done."""
        notes = [Seen(one.path, one.stamp, one.turns, one.unready, one.left) for one in self._done]
        self._ledger.note_files(self._number, notes, now_ms())
        self._done = []

    def _note(self, batch: Batch) -> None:
        self._done.append(batch)
        if len(self._done) >= _NOTES:
            self.write()


def _worse(one: Fate, other: Fate) -> Fate:
    return one if _WORSE.index(one) > _WORSE.index(other) else other


def now_ms() -> int:
    """Return the time of day."""
    return time.time_ns() // 1_000_000
