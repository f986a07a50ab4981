"""What the server answers: documents, streams, and errors in one shape, never a trace."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ClewError
from clew.format.json_pieces import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


class Raw(NamedTuple):
    """A value that is JSON already."""

    data: bytes


class Rows(NamedTuple):
    """A list whose items are JSON already."""

    items: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class Document:
    """An answer that is held: one JSON document."""

    body: bytes


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer that is given piece by piece, and never held."""

    pieces: Iterator[bytes]
    media_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


Answer = Document | Stream


def document(fields: Mapping[str, object]) -> Document:
    """Return a JSON document; what is JSON already is put in as it is."""
    parts: list[bytes] = []
    for name, value in fields.items():
        match value:
            case Raw(data):
                body = data
            case Rows(items):
                body = b"[" + b",".join(items) + b"]"
            case _:
                body = utf8(whole(value))
        parts.append(utf8(whole(name)) + b":" + body)
    return Document(b"{" + b",".join(parts) + b"}")


def utf8(text: str) -> bytes:
    """Return a text as UTF-8; half of a surrogate pair, which no reader takes, becomes a question mark."""
    return text.encode("utf-8", "replace")


class NotFoundError(ClewError):
    """What was asked for is not there."""

    code = "not-found"


class BusyError(ClewError):
    """The server has more to do than it takes on."""

    code = "busy"


class LeftError(ClewError):
    """Whoever asked has gone; nobody is told of it."""

    code = "left"


class ReadOnlyError(ClewError):
    """The server was started to change nothing."""

    code = "read-only"


class BuildingError(ClewError):
    """Only the index can tell, and it is still being built."""

    code = "index-building"


class TooLargeError(ClewError):
    """The request holds more than is taken."""

    code = "too-large"


_STATUS: Final[Mapping[str, int]] = {
    "usage": 400,
    "read-only": 403,
    "not-found": 404,
    "unknown-session": 404,
    "unknown-content": 404,
    "unknown-edit": 404,
    "not-a-file": 404,
    "ambiguous-session": 409,
    "changed-on-disk": 409,
    "no-backup": 409,
    "refused": 409,
    "too-large": 413,
    "busy": 503,
    "index-building": 503,
}
"""By the code of an error; every other that a caller can act on is 422."""


def failed(error: Exception) -> tuple[int, bytes]:
    """Return the status and the body that tell of an error."""
    if isinstance(error, ClewError):
        return _STATUS.get(error.code, 422), failure(error.code, error.message, error.hint)
    # What went wrong is for the log: it may name what no page should know.
    return 500, failure(
        "internal", "something went wrong inside clew", "clew web -v says more, where it runs"
    )


def failure(code: str, message: str, hint: str | None = None) -> bytes:
    """Return an error as JSON."""
    return utf8(whole({"error": {"code": code, "message": message, "hint": hint}}))
