"""Spans as the bytes of a request.

Spans are written as they come, so that their sizes are known. A request has at most so many spans and so many
bytes; a turn of thousands of spans goes out in several.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.trace.ledger import Ids
from clew.trace.wire import Writer, fields, sized, varint

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew.trace.endpoints import Endpoint
    from clew.trace.span import Span

SPANS: Final = 512
BYTES: Final = 4_000_000
"""What a request may have before it is compressed: many collectors take no more than 4 MB."""

_LEVEL: Final = 3
"""What is sent says the same several times in a row, which the quickest levels find too; those above take
half as long again to save a fifth."""


def _packed(pieces: Iterable[bytes]) -> bytes:
    """Return bytes compressed as gzip does; they are not put together first, as they may be many."""
    # With the head and the end of gzip, the same for the same bytes: no time is in it.
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    found = [packer.compress(piece) for piece in pieces]
    return b"".join((*found, packer.flush()))


EMPTY: Final = _packed(())
"""A request with no span in it, which every endpoint takes and none keeps anything of."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """A span, ready to be sent."""

    ids: Ids
    encoded: bytes
    """As the field that it is in a request."""

    @property
    def size(self) -> int:
        """How many bytes it takes in a request."""
        return len(self.encoded)


def ids_of(trace_id: str, span_id: str) -> Ids:
    """Return the ids of a span as the ledger has them."""
    return Ids(bytes.fromhex(trace_id), bytes.fromhex(span_id))


class Packer:
    """Encodes spans for one endpoint."""

    def __init__(self, endpoint: Endpoint, version: str) -> None:
        self._writer = Writer()
        self._uses_labels = endpoint.uses_labels
        # What surrounds a span is the same for all of them.
        self._resource = self._writer.resource({"service.name": endpoint.service, **endpoint.resource})
        self._scope = self._writer.scope("clew", version)

    def parcel(self, span: Span) -> Parcel:
        """Return a span as it is sent."""
        written = self._writer.span(span, span.label if self._uses_labels else span.name)
        return Parcel(ids_of(span.trace_id, span.span_id), sized(b"\x12", written))

    def body(self, parcels: Sequence[Parcel]) -> bytes:
        """Return the compressed request for some spans."""
        inner = len(self._scope) + sum(one.size for one in parcels)
        head = self._resource + b"\x12" + varint(inner)
        whole = b"\x0a" + varint(len(head) + inner)
        return _packed((whole, head, self._scope, *(one.encoded for one in parcels)))


def rejected_of(body: bytes, content_type: str) -> int:
    """Return how many spans an endpoint says it will not keep, though it took the request."""
    try:
        if "json" in content_type:
            import json

            found = json.loads(body).get("partialSuccess", {}).get("rejectedSpans", 0)
            return max(0, int(found))
        partial = b"".join(inner for field, inner in fields(body) if field == 1 and isinstance(inner, bytes))
        found = [number for field, number in fields(partial) if field == 1 and isinstance(number, int)]
        # It may be below zero, and is then written as if it were great.
        return found[-1] if found and found[-1] < 1 << 63 else 0
    except Exception:  # an answer may be anything, and nothing depends on this
        return 0
