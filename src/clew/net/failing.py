"""The ways in which a request comes to nothing. No secret is in their words."""

from __future__ import annotations

import socket
import ssl
from http.client import HTTPException


class NoAnswerError(Exception):
    """There was no answer: `reason` says why."""

    def __init__(
        self, reason: str, *, may_have_arrived: bool = False, is_late: bool = False, is_final: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_final = is_final
        """Whether another try would end the same way: it cannot be sent, or the other side is not trusted."""
        self.may_have_arrived = may_have_arrived
        self.is_late = is_late
        """Whether the time was up."""


class StreamLostError(Exception):
    """An answer began, and its end never came: `reason` says why."""

    def __init__(self, reason: str, *, is_late: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_late = is_late
        """Whether the time was up."""


class BrokenOffError(Exception):
    """Somebody here broke the request off."""


def is_final(error: Exception) -> bool:
    """Say whether another try would fail the same way."""
    return isinstance(error, ssl.SSLCertVerificationError) or not isinstance(error, (OSError, HTTPException))


def reason_of(error: Exception) -> str:
    """Say in few words what went wrong; nothing of the request is in it."""
    match error:
        case TimeoutError():
            return "no answer in time"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted: {error.verify_message}"
        case ssl.SSLError():
            return f"no secure connection: {error.reason or 'TLS error'}"
        case socket.gaierror():
            return "there is no such host"
        case ConnectionRefusedError():
            return "the connection was refused"
        case ConnectionError():
            return "the connection broke off"
        case OSError():
            return error.strerror or str(error) or "no connection"
        case HTTPException():
            return "what it answered is no HTTP"
        case _:
            return "the request could not be made"
