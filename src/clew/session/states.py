"""A fold put away as bytes and taken up again, by another process too.

A state is a cache, never a record: what cannot be taken up (another version, another machine's byte order,
damage) is a `StateError`, and the file is read again. Nothing in it is executed.
"""

from __future__ import annotations

import sys
from typing import Final, Generic, TypeVar
from zlib import crc32

import msgspec

State = TypeVar("State", bound=msgspec.Struct)

_CHECK: Final = 4
# The first prime from the digits of the root of 2 on. Not a Mersenne prime, nor one near a power of 2: with
# those, characters that stand eight or sixty-one places apart in an id can make up for each other.
_PRIME: Final = 0x6A09E667F3BCC91D


class StateError(ValueError):
    """A state that cannot be taken up again; read the file from its beginning."""


class Form(Generic[State]):
    """How one kind of state is written; a state of any other kind or version is refused."""

    __slots__ = ("_decoder", "_encoder", "_seed")

    def __init__(self, name: str, version: int, kind: type[State]) -> None:
        """Raise `version` whenever the same lines give another state, or a state comes to mean another."""
        # Arrays are written as they lie in memory.
        self._seed = crc32(f"{name} {version} {sys.byteorder}".encode())
        self._encoder = msgspec.msgpack.Encoder()
        self._decoder = msgspec.msgpack.Decoder(kind)

    def pack(self, state: State) -> bytes:
        """Write a state."""
        body = self._encoder.encode(state)
        return crc32(body, self._seed).to_bytes(_CHECK, "little") + body

    def unpack(self, data: bytes) -> State:
        """Read a state, or raise a `StateError`."""
        body = memoryview(data)[_CHECK:]
        if data[:_CHECK] != crc32(body, self._seed).to_bytes(_CHECK, "little"):
            raise StateError("the state is of another version, or damaged")
        try:
            return self._decoder.decode(body)
        except ValueError as error:  # msgspec's errors are ValueErrors
            raise StateError("the state is damaged") from error


def lasting_hash(text: str | None) -> int:
    """Return a hash of an id that is the same in every process, from 1 to 2**63; 0 for none.

    Python's own is salted. A cryptographic one takes six times as long, and all that a file could gain by
    making two of its ids collide is a wrong count of its own lines.
    """
    if text is None:
        return 0
    # The byte at the end keeps apart what differs in NULs only.
    return int.from_bytes(text.encode("utf-8", "surrogatepass") + b"!", "little") % _PRIME or 1


def packed(text: str) -> bytes:
    """Return a text as the bytes it is kept as: half of a surrogate pair, which files do hold, survives."""
    return text.encode("utf-8", "surrogatepass")


def unpacked(data: bytes) -> str:
    """Return the text that was kept, or raise a `StateError`."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise StateError("the state is damaged") from error


def packed_or_none(text: str | None) -> bytes | None:
    """Return a text that may be missing as it is kept."""
    return None if text is None else packed(text)


def unpacked_or_none(data: bytes | None) -> str | None:
    """Return the text that was kept, if there was one."""
    return None if data is None else unpacked(data)
