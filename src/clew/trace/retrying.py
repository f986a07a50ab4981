"""What an answer means, and how long to wait before the next try: the rules of OTLP over HTTP.

Only 429, 502, 503 and 504 are tried again, and after as long as the endpoint says. The stock exporter takes
429 for the last word, does not say whether a request may have arrived, and its time limit is one for each
read; so its encoder is used, and not its way of sending.
"""

from __future__ import annotations

import random
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.net.line import Answer

Verdict = Literal["accepted", "again", "too_large", "bad", "failed", "hopeless"]
"""`bad` is a request that the endpoint does not understand, perhaps for one span of it; `failed` is this
request's alone; `hopeless` is any request's: the address or the password is wrong."""

_AGAIN: Final = frozenset({429, 502, 503, 504})
_BAD: Final = frozenset({400, 422})
_LONGEST: Final = 30.0


def judge(answer: Answer) -> Verdict:
    """Say what became of a request."""
    status = answer.status
    if 200 <= status < 300:
        # A page is what a site says to any address; whoever takes traces answers otherwise.
        return "hopeless" if is_page(answer) else "accepted"
    if status in _AGAIN:
        return "again"
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return "too_large"
    if status in _BAD:
        return "bad"
    return "failed" if status >= 500 or status == HTTPStatus.REQUEST_TIMEOUT else "hopeless"


def is_page(answer: Answer) -> bool:
    """Say whether an answer is for people: then there is no endpoint at that address."""
    return answer.headers.get("content-type", "").strip().lower().startswith("text/html")


def retry_after(answer: Answer, now: float) -> float | None:
    """Return how many seconds an endpoint wants to be left alone; `now` is the time of day."""
    told = answer.headers.get("retry-after", "").strip()
    if not told:
        return None
    if told.isascii() and told.isdigit():
        return float(min(int(told[:9]), 86_400 * 366))
    try:
        return max(0.0, parsedate_to_datetime(told).timestamp() - now)
    except (ValueError, OverflowError):
        return None


class Waits:
    """How long to wait before each try, a little more each time and never in step with others."""

    def __init__(self, *, first: float = 0.5, draw: Callable[[], float] = random.random) -> None:
        self._first = first
        self._next = first
        self._draw = draw

    def reset(self) -> None:
        """Begin anew: something worked."""
        self._next = self._first

    def next(self, told: float | None = None) -> float:
        """Return the seconds to wait; what the endpoint told is the least."""
        wait = self._next * (0.5 + self._draw())
        self._next = min(self._next * 2, _LONGEST)
        return wait if told is None else told + min(wait, 1.0)


def told(answer: Answer) -> str:
    """Say in a few words what an endpoint answered; what it wrote may be anything, even our own secrets."""
    try:
        phrase = f" {HTTPStatus(answer.status).phrase}"
    except ValueError:
        phrase = ""
    if is_page(answer):
        return f"it answered {answer.status}{phrase} with a page: is it the address for traces?"
    kind = answer.headers.get("content-type", "")
    text = ""
    if "json" in kind or "text/plain" in kind:
        text = " ".join(answer.body[:400].decode("utf-8", "replace").split())[:160]
    return f"it answered {answer.status}{phrase}" + (f": {text}" if text else "")
