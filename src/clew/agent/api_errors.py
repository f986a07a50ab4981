"""What can go wrong with the API, as the few errors a caller can act on.

What an API, or something in between, writes is anyone's text: it is cut short, and the secrets of the request
are taken out of it before it becomes part of a message.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, cast

from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

AGAIN: Final = frozenset({408, 409, 429, 500, 502, 503, 504, 529})
"""What is worth another try."""

_BUSY_KINDS: Final = {
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "timeout_error": 504,
    "api_error": 500,
}
_KIND_STATUS: Final = {
    **_BUSY_KINDS,
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
}
_TOO_LONG: Final = re.compile(
    r"prompt is too long|input is too long|exceeds? (?:the )?(?:model'?s? )?(?:maximum )?context"
    r"|exceed context (?:limit|window)|context[ _](?:window|length)[ _]exceeded|too many total text bytes",
    re.IGNORECASE,
)
_LONGEST_WORDS: Final = 600
_LONGEST_WAIT: Final = 86_400.0 * 366


class ApiError(ClewError):
    """The API did not give an answer."""

    code = "api-error"

    def __init__(
        self, message: str, *, hint: str | None = None, status: int = 0, request_id: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.request_id = request_id
        """By which the API's people find the request."""


class ApiRefusedError(ApiError):
    """The API does not take the request, and would not take it a second time."""

    code = "api-refused"


class TooLongError(ApiRefusedError):
    """The conversation is longer than the model can read."""

    code = "too-long"


class KeyRefusedError(ApiError):
    """The API does not know the key, or the key may not do this."""

    code = "key-refused"


class ApiBusyError(ApiError):
    """The API cannot answer now: too much is asked of it, or it is out of order."""

    code = "api-busy"

    def __init__(
        self,
        message: str,
        *,
        hint: str | None = None,
        status: int = 0,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint, status=status, request_id=request_id)
        self.retry_after = retry_after
        """Seconds for which it wants to be left alone, if it said so."""


class ConnectionLostError(ApiError):
    """The API was not reached, or its answer broke off."""

    code = "connection-lost"

    def __init__(self, message: str, *, hint: str | None = None, is_begun: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.is_begun = is_begun
        """Whether part of an answer had come: asking again would be another answer, and paid again."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What an API said instead of an answer."""

    status: int
    kind: str
    words: str
    """Without secrets, and not long."""

    request_id: str | None = None
    retry_after: float | None = None
    should_retry: bool | None = None
    """What it says itself about another try."""

    @property
    def is_passing(self) -> bool:
        """Whether another try is worth it."""
        return self.status in AGAIN if self.should_retry is None else self.should_retry

    def said(self) -> str:
        """Say it in one line."""
        try:
            phrase = f" {HTTPStatus(self.status).phrase}"
        except ValueError:
            phrase = " Overloaded" if self.status == 529 else ""
        return f"{self.status}{phrase}" + (f": {self.words}" if self.words else "")

    def error(self, *, tries: int = 1) -> ApiError:
        """Make it the error a caller sees."""
        status, request_id = self.status, self.request_id
        if status in {401, 403}:
            hint = "is the key right? ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN holds it"
            message = f"the API does not take the key ({self.said()})"
            return KeyRefusedError(message, hint=hint, status=status, request_id=request_id)
        if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or (status < 500 and _TOO_LONG.search(self.words)):
            message = f"the conversation is too long for the model ({self.said()})"
            hint = "compact it, or continue from an earlier point"
            return TooLongError(message, hint=hint, status=status, request_id=request_id)
        if self.is_passing or status in AGAIN or status >= 500:
            often = f" after {tries} tries" if tries > 1 else ""
            message = f"the API cannot answer now{often} ({self.said()})"
            hint = "try again later"
            if self.retry_after is not None and self.retry_after >= 1:
                hint = f"it wants to be asked again in {_duration(self.retry_after)}"
            return ApiBusyError(
                message, hint=hint, status=status, request_id=request_id, retry_after=self.retry_after
            )
        hint = "is there such a model, and is it the address of the API?" if status == 404 else None
        message = f"the API refuses the request ({self.said()})"
        return ApiRefusedError(message, hint=hint, status=status, request_id=request_id)


def refusal_of(
    status: int, headers: Mapping[str, str], body: bytes, *, secrets: Iterable[str] = (), now: float = 0.0
) -> Refusal:
    """Read what an API said; `now` is the time of day, for a wait that is told as a date."""
    kind, words, request_id = "", "", headers.get("request-id")
    try:
        document: object = json.loads(body)
    except (ValueError, RecursionError):
        document = None
    if isinstance(document, dict):
        found = cast("dict[str, object]", document)
        error = found.get("error")
        inner = cast("dict[str, object]", error) if isinstance(error, dict) else found
        kind, words = _text(inner.get("type")), _text(inner.get("message"))
        words = words or (error if isinstance(error, str) else "") or _text(inner.get("detail"))
        request_id = request_id or _text(found.get("request_id")) or None
    elif _is_page(headers):
        words = "it answered with a page for people: is it the address of the API?"
    elif "text/plain" in headers.get("content-type", ""):
        words = body.decode("utf-8", "replace")
    should = {"true": True, "false": False}.get(headers.get("x-should-retry", "").strip().lower())
    return Refusal(status, kind, masked(words, secrets), request_id, retry_after(headers, now=now), should)


def refusal_of_kind(kind: str, words: str, *, secrets: Iterable[str] = ()) -> Refusal:
    """Read an error that came in a stream, where its status is known by its kind alone."""
    return Refusal(_KIND_STATUS.get(kind, 500), kind, masked(words, secrets))


def masked(words: str, secrets: Iterable[str]) -> str:
    """Cut words short, put them on one line, and take out secrets that somebody repeated."""
    for secret in secrets:
        if len(secret) >= 4:
            words = words.replace(secret, "…")
    words = " ".join(words.split())
    return words if len(words) <= _LONGEST_WORDS else f"{words[:_LONGEST_WORDS]}…"


def retry_after(headers: Mapping[str, str], *, now: float) -> float | None:
    """Return how many seconds an API wants to be left alone."""
    told = headers.get("retry-after-ms", "").strip()
    if told.isascii() and told.isdigit():
        return min(int(told[:15]) / 1000, _LONGEST_WAIT)
    told = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", told, re.ASCII):
        return min(float(told[:20]), _LONGEST_WAIT)
    if not told:
        return None
    try:
        return min(max(0.0, parsedate_to_datetime(told).timestamp() - now), _LONGEST_WAIT)
    except (ValueError, OverflowError):
        return None


def _is_page(headers: Mapping[str, str]) -> bool:
    return headers.get("content-type", "").strip().lower().startswith("text/html")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds < 7200 else f"{seconds / 3600:.0f} hours"
