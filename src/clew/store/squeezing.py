"""Compress a stream by zstandard, and read one back without being led by the nose.

What is read comes in steps of bounded size, however much a few bytes claim to stand for.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from clew.errors import ClewError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MAGIC: Final = b"\x28\xb5\x2f\xfd"
"""What every stream begins with."""

_LEVEL: Final = 6
_WINDOW: Final = 26
"""As a power of two, how much may have to be remembered to read a stream: 64 MB. What we write needs 2 MB."""

_STEP: Final = 128 << 10
_HARMLESS: Final = 256 << 20
_MOST_TIMES: Final = 2000
"""Beyond what is harmless, no stream stands for more than so many times its length; sessions come to 20."""


class BadStreamError(ClewError):
    """A stream is damaged, cut off, or stands for far more than it should."""

    code = "bad-stream"

    def __init__(self, cause: str, *, is_unsafe: bool = False) -> None:
        super().__init__(cause)
        self.cause = cause
        self.is_unsafe = is_unsafe


def squeezed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Give a stream compressed, with a check sum at its end."""
    parameter = zstd.CompressionParameter
    compressor = zstd.ZstdCompressor(
        options={parameter.compression_level: _LEVEL, parameter.checksum_flag: 1}
    )
    for piece in pieces:
        if data := compressor.compress(piece):
            yield data
    yield compressor.flush()


class Expanding:
    """Reads back what a compressed stream stands for."""

    def __init__(self, read: Callable[[int], bytes], *, unlimited: bool = False) -> None:
        """`read` gives some bytes of the compressed stream, none at its end."""
        self._read = read
        self._unlimited = unlimited
        self._expand = zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _WINDOW})
        self._taken = self._given = 0
        self._held = b""
        self._begin()

    def _begin(self) -> None:
        """Take the first bytes: what is no such stream at all is told by them."""
        while len(self._held) < len(MAGIC) and (data := self._take()):
            self._held += data
        if not self._held:
            raise BadStreamError("it is empty")
        if self._held[: len(MAGIC)] != MAGIC:
            raise BadStreamError("it does not begin as a bundle does")

    def _take(self) -> bytes:
        data = self._read(_STEP)
        self._taken += len(data)
        return data

    def read(self, wanted: int) -> bytes:
        """Return just so many bytes; raise if there are no more."""
        parts: list[bytes] = []
        while wanted:
            data = self._some(wanted)
            if not data:
                raise BadStreamError("it is cut off")
            parts.append(data)
            wanted -= len(data)
        return b"".join(parts)

    def finish(self) -> None:
        """Raise unless the stream is over here, and sound to the end."""
        if self._some(1) or self._expand.unused_data or self._held or self._take():
            raise BadStreamError("there is more behind its end")

    def _some(self, most: int) -> bytes:
        """Return some bytes, none at the end."""
        while not self._expand.eof:
            if self._expand.needs_input and not self._held:
                self._held = self._take()
                if not self._held:
                    raise BadStreamError("it is cut off")
            held, self._held = self._held, b""
            try:
                data = self._expand.decompress(held, most)
            except zstd.ZstdError as error:
                raise BadStreamError("it is damaged") from error
            self._given += len(data)
            self._measure()
            if data:
                return data
        return b""

    def _measure(self) -> None:
        if self._given > _HARMLESS and self._given > self._taken * _MOST_TIMES and not self._unlimited:
            raise BadStreamError(
                f"{self._taken:,} bytes of it stand for more than {self._given:,}", is_unsafe=True
            )
