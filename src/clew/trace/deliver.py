"""Get spans to one endpoint, each once, and say of every turn what became of it.

Only when a request was handed over whole and no answer came is its fate unknown. Then the backend is asked
where it can be (`readback`), and where it cannot the spans are not sent again unless a person says so.

Spans are made, encoded and sent as they come; no more than one request of them is held.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from clew.net.failing import NoAnswerError
from clew.trace.packing import BYTES, SPANS, Packer, ids_of, rejected_of
from clew.trace.reach import Reach
from clew.trace.readback import GRACE, NotToldError, Readback
from clew.trace.retrying import judge, told
from clew.trace.tally import Tally, now_ms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.net.line import Answer
    from clew.trace.endpoints import Endpoint
    from clew.trace.ledger import Ids, Ledger
    from clew.trace.packing import Parcel
    from clew.trace.reach import Terms
    from clew.trace.retrying import Verdict
    from clew.trace.spans import TurnTrace
    from clew.trace.tally import Batch, Fate, Report, Turn

_Part = tuple["Parcel", "Turn"]

_SUSPECTS: Final = 3
"""So many spans one by one that are not understood, and the fault is not theirs."""

_SOON: Final = 10.0
"""A backend that shows within so many seconds what it took is waited for."""


class Delivery:
    """Sends to one endpoint. Offer turns, and finish."""

    def __init__(
        self, endpoint: Endpoint, ledger: Ledger, terms: Terms, environ: Mapping[str, str] | None = None
    ) -> None:
        self._endpoint = endpoint
        self._ledger = ledger
        self._terms = terms
        self._environ = environ
        self.number = ledger.endpoint(endpoint)
        self._packer = Packer(endpoint, terms.version)
        self._reach = Reach(endpoint, terms, environ)
        self._tally = Tally(endpoint.label, ledger, self.number)
        self._held: list[_Part] = []
        self._size = 0
        self._most = BYTES
        self._suspects: list[tuple[int, _Part]] = []
        self._lost: list[Turn] = []
        self._is_all_well = True
        ledger.tidy(self.number)
        self._settle()

    @property
    def is_given_up(self) -> bool:
        """Whether the endpoint takes nothing for now."""
        return self._reach.is_given_up

    def skip(self, path: str, stamp: str) -> bool:
        """Say whether a file need not be read, as nothing of it was left when it looked as it does now."""
        return self._tally.skip(path, stamp)

    def offer(self, turn: TurnTrace, batch: Batch, *, is_ready: bool) -> None:
        """Send a turn if the endpoint has not got it; one that is not ready is only counted."""
        trace = bytes.fromhex(turn.trace_id)
        own = {ids_of(turn.trace_id, span) for span, is_history in turn.outline() if not is_history}
        if not own:
            return  # another session's
        batch.turns += 1
        known = self._ledger.known(self.number, trace)
        missing = {one for one in own if one.span not in known}
        if missing and missing <= self._tally.under_way:
            return  # a copy of it is on its way
        missing -= self._tally.under_way
        if not missing:
            fates = {known[one.span] for one in own}
            fate: Fate = "refused" if fates == {"refused"} else "already"
            if "unknown" in fates:
                fate = "unknown"
            elif fates & {"planned", "sent"}:
                fate = "pending"  # by another sender
            self._tally.tell(trace, fate)
            batch.left += fate in {"unknown", "pending"}
        elif not is_ready:
            self._tally.tell(trace, "pending")
            batch.unready += 1
        elif self._reach.is_given_up or time.monotonic() >= self._terms.deadline:
            self._tally.tell(trace, "pending")
            batch.left += 1
            self._is_all_well = False
        else:
            self._make(turn, self._tally.begin(trace, batch, own=len(own), missing=missing), missing)

    def _make(self, turn: TurnTrace, under_way: Turn, missing: set[Ids]) -> None:
        """Make the spans of a turn that are missing, and hold them."""
        left = set(missing)
        try:
            for span in turn.spans():
                if (ids := ids_of(span.trace_id, span.span_id)) in missing:
                    parcel = self._packer.parcel(span)
                    left.remove(ids)
                    self._hold(parcel, under_way)
        finally:
            # None, unless the file was cut meanwhile.
            for one in left:
                self._tally.end(one, under_way, "pending")

    def over(self, batch: Batch) -> None:
        """Take note that all turns of a batch were offered."""
        self._tally.over(batch)

    def finish(self) -> Report:
        """Send what is held, and hang up."""
        self._flush()
        for request, part in self._suspects:
            self._put_back(request, [part])
        self._suspects = []
        self._ask_about_lost()
        self._tally.write()
        self._reach.close()
        report = self._tally.report
        report.error = None if self._is_all_well else self._reach.error
        if report.spans_sent or report.rejected:
            self._ledger.answered(self.number, now_ms())
        if report.error is not None:
            self._ledger.failed(self.number, report.error, now_ms())
        return report

    # --- requests -------------------------------------------------------------------------------------------

    def _hold(self, parcel: Parcel, turn: Turn) -> None:
        most = SPANS if self._terms.rate is None else max(1, min(SPANS, int(self._terms.rate)))
        if self._held and (self._size + parcel.size > self._most or len(self._held) >= most):
            self._flush()
        self._held.append((parcel, turn))
        self._size += parcel.size

    def _flush(self) -> None:
        held, self._held, self._size = self._held, [], 0
        if not held:
            return
        if self._reach.is_given_up:
            self._end(held, "pending")
            return
        request, free = self._ledger.plan(self.number, [parcel.ids for parcel, _ in held])
        self._end([part for part in held if part[0].ids not in free], "pending")  # another sender has them
        self._deliver(request, [part for part in held if part[0].ids in free])

    def _deliver(self, request: int, ours: list[_Part]) -> None:
        """Send the spans of a request until it is known what became of them, or time is up."""
        body = self._packer.body([parcel for parcel, _ in ours]) if ours else b""
        while ours and self._reach.is_there():
            self._reach.pace(len(ours))
            self._ledger.sent(request, now_ms())
            try:
                answer = self._reach.post(body)
            except NoAnswerError as error:
                if error.may_have_arrived:
                    self._lose(request, ours, error.reason)
                    return
                self._ledger.unsent(request)
                self._reach.wait(error.reason)
                continue
            verdict = judge(answer)
            if verdict != "again":
                self._answered(verdict, answer, request, ours)
                return
            self._ledger.unsent(request)
            self._reach.wait_after(answer)
        self._put_back(request, ours)

    def _answered(self, verdict: Verdict, answer: Answer, request: int, ours: list[_Part]) -> None:
        match verdict:
            case "accepted":
                self._accepted(answer, request, ours)
            case "too_large" if len(ours) > 1:
                self._most = max(1, min(self._most, sum(parcel.size for parcel, _ in ours)) // 2)
                self._halve(request, ours)
            case "too_large":
                self._reach.note(f"{told(answer)}: one span is too large for it")
                self._ledger.refused(request)
                self._end(ours, "refused")
            case "bad" if len(self._suspects) >= _SUSPECTS:
                self._reach.give_up(told(answer))
                self._put_back(request, ours)
            case "bad" if len(ours) > 1:
                self._halve(request, ours)
            case "bad":
                # It, or every one, is at fault; that is seen when another is taken, or none is.
                self._reach.note(told(answer))
                self._suspects.append((request, ours[0]))
            case "hopeless":
                self._reach.give_up(told(answer))
                self._put_back(request, ours)
            case _:
                # It said no, so it has not got it; another time it may say yes.
                self._reach.failed(told(answer))
                self._put_back(request, ours)

    def _accepted(self, answer: Answer, request: int, ours: Sequence[_Part]) -> None:
        rejected = min(rejected_of(answer.body, answer.headers.get("content-type", "")), len(ours))
        self._ledger.acknowledged(request, rejected=rejected)
        report = self._tally.report
        report.spans_sent += len(ours) - rejected
        report.rejected += rejected
        self._reach.worked()
        self._end(ours, "sent")
        for suspected, part in self._suspects:
            self._ledger.refused(suspected)
            self._end([part], "refused")
        self._suspects = []

    def _halve(self, request: int, ours: list[_Part]) -> None:
        middle = len(ours) // 2
        first = self._ledger.divide(request, self.number, [parcel.ids for parcel, _ in ours[:middle]])
        self._deliver(first, ours[:middle])
        self._deliver(request, ours[middle:])

    def _put_back(self, request: int, ours: Sequence[_Part]) -> None:
        self._ledger.back(request)
        self._end(ours, "pending")

    def _lose(self, request: int, ours: Sequence[_Part], reason: str) -> None:
        self._ledger.lost(request)
        self._reach.failed(f"{reason}; what was just sent may have arrived")
        self._lost += [turn for _, turn in ours]
        self._end(ours, "unknown")

    def _end(self, parts: Sequence[_Part], fate: Fate) -> None:
        self._is_all_well &= fate == "sent" or not parts
        for parcel, turn in parts:
            self._tally.end(parcel.ids, turn, fate)

    # --- what may have arrived ------------------------------------------------------------------------------

    def _settle(self) -> int:
        """Find out about what senders left unknown; return how many spans turned out to be there."""
        arrived = 0
        requests = self._ledger.unknown(self.number)
        if self._terms.resend_unknown:
            for one in requests:
                self._ledger.resolve(one.id, self.number, (), one.spans)
            return 0
        grace = GRACE.get(self._endpoint.backend)
        if grace is None or not requests:
            return 0
        readback = Readback(self._endpoint, self._environ)
        with suppress(NotToldError):
            for one in requests:
                there = self._there(readback, one.spans)
                arrived += len(there)
                is_old = now_ms() - one.sent_ms >= grace * 1000
                missing = [ids for ids in one.spans if ids not in there] if is_old else ()
                self._ledger.resolve(one.id, self.number, there, missing)
        readback.close()
        return arrived

    def _there(self, readback: Readback, spans: Sequence[Ids]) -> set[Ids]:
        there: set[Ids] = set()
        for trace in {one.trace for one in spans}:
            found = readback.spans_of(trace.hex(), deadline=self._reach.until(self._terms.request))
            there |= {one for one in spans if one.trace == trace and one.span.hex() in found}
        return there

    def _ask_about_lost(self) -> None:
        """Find out about what was lost in this run, where the backend shows soon what it took."""
        grace = GRACE.get(self._endpoint.backend)
        if not self._lost or grace is None or grace > _SOON:
            return
        if time.monotonic() + grace + 1 >= self._terms.deadline:
            return
        self._terms.sleep(grace + 0.1)
        self._tally.report.spans_sent += self._settle()
        for turn in {id(turn): turn for turn in self._lost}.values():
            known = self._ledger.known(self.number, turn.trace)
            if turn.fate == "unknown" and "unknown" not in known.values():
                self._tally.correct(turn, "sent" if len(known) >= turn.own else "pending")
