"""A span as the protocol's own bytes: the message `Span` of OTLP, written field by field.

Every span has some fifty attributes, of which most are short and said again by the next span. Made as objects
first, of the SDK and then of the protocol's classes, they take several times as long as all else that sending
does. The stock encoder says in the tests what the bytes have to be.
"""

from __future__ import annotations

from struct import Struct
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clew.trace.span import Span, SpanEvent, SpanKind, Value

_FIXED: Final = Struct("<Q").pack
_DOUBLE: Final = Struct("<d").pack
_KINDS: Final[Mapping[SpanKind, bytes]] = {"internal": b"\x30\x01", "client": b"\x30\x03"}
_FLAGS: Final = b"\x85\x01\x00\x01\x00\x00"
"""That it is known where the parent is, and that it is not remote."""

_ONE: Final = tuple(bytes((n,)) for n in range(128))
_SHORT: Final = 64
"""Texts of so many characters at most are remembered as bytes, each with the attribute it is of."""

_REMEMBERED: Final = 4096


def sized(head: bytes, data: bytes) -> bytes:
    """Return bytes as a field of a message: its head, how long they are, and they themselves."""
    return b"".join((head, varint(len(data)), data))


def varint(number: int) -> bytes:
    """Return a number, not below zero, as the protocol writes it: seven bits a byte, the lowest first."""
    if number < 128:
        return _ONE[number]
    if number < 16384:
        return bytes((number & 127 | 128, number >> 7))
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Give the fields of a message, each by its number; a ValueError or IndexError where it is none."""
    at = 0

    def number() -> int:
        nonlocal at
        found = shift = 0
        while True:
            byte = message[at]
            at += 1
            found |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return found
            if shift > 63:
                raise ValueError("a number of too many bytes")

    while at < len(message):
        head = number()
        kind = head & 7
        if kind == 0:
            yield head >> 3, number()
            continue
        size = number() if kind == 2 else {1: 8, 5: 4}.get(kind, -1)
        if size < 0 or at + size > len(message):
            raise ValueError("a field that is none, or is cut")
        yield head >> 3, message[at : at + size]
        at += size


class Writer:
    """Writes spans; what many of them say alike is written once."""

    def __init__(self) -> None:
        self._keys: dict[str, bytes] = {}
        self._told: dict[tuple[str, str | tuple[str, ...]], bytes] = {}

    def span(self, span: Span, name: str) -> bytes:
        """Return a span under a name."""
        # In the order of the fields' numbers.
        found = [b"\x0a\x10", bytes.fromhex(span.trace_id), b"\x12\x08", bytes.fromhex(span.span_id)]
        if span.parent_id is not None:
            found += (b"\x22\x08", bytes.fromhex(span.parent_id))
        if name:
            found.append(sized(b"\x2a", _utf8(name)))
        found.append(_KINDS[span.kind])
        _time(found, b"\x39", span.start_ns)
        _time(found, b"\x41", span.end_ns)
        self.attributes(found, b"\x4a", span.attributes)
        found += [sized(b"\x5a", self._event(event)) for event in span.events]
        status = b""
        if span.status == "error":
            status = sized(b"\x12", _utf8(span.status_message)) if span.status_message else b""
            status += b"\x18\x02"
        found += (sized(b"\x7a", status), _FLAGS)
        return b"".join(found)

    def attributes(self, found: list[bytes], head: bytes, told: Mapping[str, Value]) -> None:
        """Add attributes to the pieces of a message, each as a field of its own."""
        remembered = self._told
        for name, value in told.items():
            if isinstance(value, str):
                if len(value) > _SHORT:
                    self._add(found, head, name, b"\x0a", _utf8(value))
                    continue
            elif not isinstance(value, tuple):
                if data := _number(value):
                    self._add(found, head, name, data)
                continue
            data = remembered.get((name, value))
            if data is None:
                if len(remembered) >= _REMEMBERED:
                    remembered.clear()
                data = remembered[name, value] = self._words(name, value)
            found += (head, data)

    def _words(self, name: str, value: str | tuple[str, ...]) -> bytes:
        pieces: list[bytes] = []
        if isinstance(value, str):
            self._add(pieces, b"", name, b"\x0a", _utf8(value))
        else:
            listed = b"".join(sized(b"\x0a", sized(b"\x0a", _utf8(one))) for one in value)
            self._add(pieces, b"", name, b"\x2a", listed)
        return b"".join(pieces)

    def _add(
        self, found: list[bytes], head: bytes, name: str, kind: bytes, data: bytes | None = None
    ) -> None:
        """Add one attribute; `kind` is the head of its value, or without `data` all of it."""
        key = self._keys.get(name)
        if key is None:
            if len(self._keys) >= _REMEMBERED:
                self._keys.clear()
            key = self._keys[name] = sized(b"\x0a", _utf8(name)) + b"\x12"
        if data is None:
            size = varint(len(kind))
            found += (head, varint(len(key) + len(size) + len(kind)), key, size, kind)
            return
        # A long text is copied once, when all is put together.
        inner = kind + varint(len(data))
        size = varint(len(inner) + len(data))
        found += (head, varint(len(key) + len(size) + len(inner) + len(data)), key, size, inner, data)

    def _event(self, event: SpanEvent) -> bytes:
        found: list[bytes] = []
        _time(found, b"\x09", event.time_ns)
        if event.name:
            found.append(sized(b"\x12", _utf8(event.name)))
        self.attributes(found, b"\x1a", event.attributes)
        return b"".join(found)

    def resource(self, about: Mapping[str, str]) -> bytes:
        """Return what is told of the resource, as the field that comes before its spans."""
        found: list[bytes] = []
        self.attributes(found, b"\x0a", about)
        return sized(b"\x0a", b"".join(found))

    def scope(self, name: str, version: str) -> bytes:
        """Return the name and version of what made the spans, as the field that comes before them."""
        told = sized(b"\x0a", _utf8(name))
        return sized(b"\x0a", told + sized(b"\x12", _utf8(version)) if version else told)


def _number(value: float) -> bytes:
    """Return a number or a truth as a value of an attribute; nothing if the protocol cannot hold it."""
    if isinstance(value, bool):
        return b"\x10\x01" if value else b"\x10\x00"
    if isinstance(value, int):
        return b"\x18" + varint(value & 0xFFFF_FFFF_FFFF_FFFF) if -1 << 63 <= value < 1 << 63 else b""
    return b"\x21" + _DOUBLE(value)


def _time(found: list[bytes], head: bytes, time_ns: int) -> None:
    # A moment of which the protocol knows nothing, as before 1970, is told as the nearest that it does know.
    if time_ns > 0:
        found += (head, _FIXED(min(time_ns, (1 << 64) - 1)))


def _utf8(text: str) -> bytes:
    # There are no halves of surrogate pairs by now; should there be one, it must not stop the rest.
    return text.encode("utf-8", "replace")
