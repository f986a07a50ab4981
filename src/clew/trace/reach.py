"""Whether an endpoint can be reached, how long to go on trying, and how fast to send.

Before the first request, and whenever something went wrong, an empty request asks whether anybody is there: a
dead or hanging endpoint is found out with nothing at stake.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.net.failing import NoAnswerError
from clew.net.line import Line
from clew.trace.packing import EMPTY
from clew.trace.retrying import Waits, is_page, judge, retry_after, told

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clew.net.line import Answer
    from clew.trace.endpoints import Endpoint

REQUEST: Final = 10.0
"""Seconds one request may take."""

_KNOCK: Final = 5.0
_LEAST: Final = 0.5
"""With less time left nothing is begun: its fate would be unknown."""

_NOT_LET_IN: Final = frozenset({401, 403})
"""What an endpoint answers that would take nothing else either."""

_FIRST: Final = 10.0
"""Seconds after which an endpoint is left alone that never answered and does not say why."""

_FAILURES: Final = 3
"""So many requests with spans that fail one after the other, and an endpoint is left alone for now."""


@dataclass(frozen=True, slots=True)
class Terms:
    """How hard to try, and for how long."""

    deadline: float
    """A moment of `time.monotonic()` at which all is over."""

    patience: float = 30.0
    """Seconds of trouble, without anything that worked, after which an endpoint is left alone."""

    rate: float | None = None
    """Spans a second at most."""

    resend_unknown: bool = False
    """Whether what may have arrived is sent again, twice perhaps."""

    request: float = REQUEST
    version: str = ""
    sleep: Callable[[float], None] = time.sleep


class Reach:
    """The way to one endpoint."""

    def __init__(self, endpoint: Endpoint, terms: Terms, environ: Mapping[str, str] | None) -> None:
        self._endpoint = endpoint
        self._terms = terms
        self._line = Line(endpoint.url, certificate=endpoint.certificate, environ=environ)
        self._headers = {
            "Content-Type": "application/x-protobuf",
            "Content-Encoding": "gzip",
            "User-Agent": f"clew/{terms.version}",
            **endpoint.all_headers,
        }
        self._waits = Waits()
        self._is_sure = False
        self._was_there = False
        self._failures = 0
        self._in_trouble_since: float | None = None
        self._next_at = 0.0
        self.is_given_up = False
        """Whether the endpoint is left alone for now."""
        self.error: str | None = None
        """What went wrong last, without secrets."""

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    def until(self, seconds: float) -> float:
        """Return the moment in so many seconds, or when all is over."""
        return min(self._terms.deadline, time.monotonic() + seconds)

    def post(self, body: bytes) -> Answer:
        """Send a request."""
        try:
            return self._line.post(body, self._headers, deadline=self.until(self._terms.request))
        except NoAnswerError:
            self._is_sure = False
            raise

    def is_there(self) -> bool:
        """Make sure that somebody answers; False when that is not to be had."""
        if time.monotonic() + _LEAST >= self._terms.deadline and not self.is_given_up:
            self.give_up(None if self.error else "the time was up")
        while not self.is_given_up and not self._is_sure:
            try:
                answer = self._line.post(
                    EMPTY, self._headers, deadline=self.until(min(_KNOCK, self._terms.request))
                )
            except NoAnswerError as error:
                self.wait(error.reason)
                continue
            if judge(answer) == "again":
                self.wait_after(answer)
            elif answer.status in _NOT_LET_IN or is_page(answer):
                self.give_up(told(answer))
            else:
                self._is_sure = self._was_there = True
        return not self.is_given_up

    def wait(self, reason: str, least: float | None = None) -> bool:
        """Wait before the next try; where that would take too long, give up and say False."""
        now = time.monotonic()
        self.note(reason)
        if self._in_trouble_since is None:
            self._in_trouble_since = now
        wait = self._waits.next(least)
        patience = self._terms.patience
        if least is None and not self._was_there:
            patience = min(patience, _FIRST)
        if now + wait >= min(self._terms.deadline, self._in_trouble_since + patience):
            self.give_up()
            return False
        self._terms.sleep(wait)
        return True

    def wait_after(self, answer: Answer) -> bool:
        """Wait as long as an answer says."""
        return self.wait(told(answer), retry_after(answer, time.time()))

    def worked(self) -> None:
        """Take note that spans were taken."""
        self._failures = 0
        self._in_trouble_since = None
        self._is_sure = True
        self._waits.reset()

    def failed(self, reason: str) -> None:
        """Take note that a request with spans came to nothing."""
        self.note(reason)
        self._is_sure = False
        self._failures += 1
        if self._failures >= _FAILURES:
            self.give_up()

    def give_up(self, reason: str | None = None) -> None:
        """Leave the endpoint alone for now."""
        if reason is not None:
            self.note(reason)
        self.is_given_up = True

    def note(self, reason: str) -> None:
        """Take note of what went wrong."""
        self.error = self._endpoint.masked(reason)

    def pace(self, spans: int) -> None:
        """Wait so that no more than the agreed number of spans go out in a second."""
        rate = self._terms.rate
        if rate is None:
            return
        now = time.monotonic()
        wait = min(self._next_at, self._terms.deadline) - now
        if wait > 0:
            self._terms.sleep(wait)
        self._next_at = max(now, self._next_at) + spans / rate
