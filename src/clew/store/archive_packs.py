"""Keep chunks in packs: files that are written once, and read a chunk at a time.

A pack is a row of blocks. A block is a head (what is in it) and a body (its chunks one after the other,
compressed together, by zlib, which every Python can read). Every head stands for itself: damage costs the
block that it hits, and what is not a head is passed over in search of the next.
"""

from __future__ import annotations

import os
import secrets
import struct
import zlib
from collections import OrderedDict
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.errors import ClewError, UnreadableError
from clew.store.archive_chunks import MOST
from clew.store.disk import DISK
from clew.store.drafts import Draft, sync_names
from clew.store.source import FileSource, reason

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from clew.store.disk import Disk

ENDING: Final = ".pack"
_MAGIC: Final = b"\x89clewblk"
_HEAD: Final = struct.Struct("<8sBIII")
"""The mark, how the body is compressed, its length, how many chunks, and the check sum of the head."""

_ROW: Final = struct.Struct("<32sI")
"""Of each chunk its sha256 and its length."""

_STORED, _DEFLATED = 0, 1
_LEVEL: Final = 6
"""18 % of generated sessions at 60 MB/s. zstd made 16 % at 360 MB/s, lzma 15 % at 27, measured 2026-11."""

_BLOCK: Final = 1 << 20
"""From how many bytes on a block is full. Those of 64 KB came to 20 % instead of 18 %."""

_MOST_ROWS: Final = 1 << 16
_FULL: Final = 32 << 20
"""From how many bytes on a pack is finished: what a kill can cost."""

_STEP: Final = 1 << 20
_KEPT: Final = 8


class LostChunkError(ClewError):
    """A chunk is not in the archive any more, or not as it was."""

    code = "lost-chunk"

    def __init__(self, chunk: str, cause: str) -> None:
        super().__init__(f"chunk {chunk[:16]} of the archive is lost: {cause}")
        self.chunk = chunk


class Block(NamedTuple):
    """Where a block is, and what it says is in it."""

    pack: str
    at: int
    """Where its body begins."""

    length: int
    codec: int
    rows: tuple[tuple[bytes, int], ...]


class Damage(NamedTuple):
    """Something in an archive that is not as it was written."""

    path: str
    offset: int | None
    detail: str


class Packs:
    """The packs of a folder: which chunks there are, and what is in them."""

    def __init__(self, folder: str, *, without: Collection[str] = ()) -> None:
        self.folder = folder
        self.damage: list[Damage] = []
        """What was found to be wrong while looking for the chunks."""
        self.size = 0
        """How many bytes the packs take."""
        self._blocks: list[Block] = []
        self._where: dict[bytes, int] = {}
        self._bodies: OrderedDict[int, dict[bytes, bytes]] = OrderedDict()
        for name in self._names():
            path = os.path.join(folder, name)  # noqa: PTH118
            if path not in without:
                self._load(path)

    def __contains__(self, chunk: bytes) -> bool:
        return chunk in self._where

    def __len__(self) -> int:
        return len(self._where)

    def blocks(self) -> tuple[Block, ...]:
        """Return every block there is."""
        return tuple(self._blocks)

    def read(self, chunk: bytes) -> bytes:
        """Return a chunk as it was when it was put here, or raise `LostChunkError`."""
        number = self._where.get(chunk)
        if number is None:
            raise LostChunkError(chunk.hex(), "there is no such chunk")
        known = self._bodies.get(number)
        if known is None:
            known = self._bodies[number] = self.sound(self._blocks[number])
            if len(self._bodies) > _KEPT:
                self._bodies.popitem(last=False)
        else:
            self._bodies.move_to_end(number)
        return known[chunk] if chunk in known else self._elsewhere(chunk, self._blocks[number])

    def _elsewhere(self, chunk: bytes, damaged: Block) -> bytes:
        """Return a chunk whose block is damaged from another one: two that added at once may both have it."""
        for block in self._blocks:
            if block is not damaged and any(row[0] == chunk for row in block.rows):
                sound = self.sound(block)
                if chunk in sound:
                    return sound[chunk]
        where = f"the block at byte {damaged.at} of {damaged.pack} is damaged"
        raise LostChunkError(chunk.hex(), where)

    def note(self, pack: str) -> None:
        """Take note of a pack that was written just now."""
        self._load(pack)

    def _names(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.folder) if name.endswith(ENDING))  # noqa: PTH208
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UnreadableError(self.folder, reason(error)) from error

    def _load(self, pack: str) -> None:
        try:
            with FileSource(pack) as source:
                self.size += source.size
                for block in self._heads(pack, source):
                    number = len(self._blocks)
                    self._blocks.append(block)
                    for chunk, _ in block.rows:
                        self._where.setdefault(chunk, number)
        except ClewError as error:
            self.damage.append(Damage(pack, None, error.message))

    def _heads(self, pack: str, source: FileSource) -> Iterator[Block]:
        at = 0
        while at < source.size:
            block = _head(pack, source, at)
            if block is not None:
                at = block.at + block.length
                yield block
                continue
            after = _next(source, at + 1)
            self.damage.append(Damage(pack, at, f"{after - at} bytes that are no block"))
            at = after

    def sound(self, block: Block) -> dict[bytes, bytes]:
        """Read a block and return those of its chunks that are as they were."""
        try:
            with FileSource(block.pack) as source:
                body = source.read(block.at, block.length)
        except ClewError:
            return {}
        whole = sum(length for _, length in block.rows)
        if block.codec == _DEFLATED:
            body = _inflated(body, whole)
        at = 0
        sound: dict[bytes, bytes] = {}
        for chunk, length in block.rows:
            data = body[at : at + length]
            at += length
            if sha256(data).digest() == chunk:
                sound[chunk] = data
        return sound


def _inflated(body: bytes, whole: int) -> bytes:
    """Return what a body holds, as far as it can be told; never more than its head says."""
    inflate = zlib.decompressobj()
    parts: list[bytes] = []
    # In steps: what comes before a damaged place is then not lost with it.
    try:
        for at in range(0, len(body), 4096):
            parts.append(inflate.decompress(body[at : at + 4096], whole + 1))
            whole -= len(parts[-1])
            if whole < 0:
                break
    except zlib.error:
        pass
    return b"".join(parts)


def _head(pack: str, source: FileSource, at: int) -> Block | None:
    raw = source.read(at, _HEAD.size)
    if len(raw) < _HEAD.size:
        return None
    mark, codec, length, count, check = _HEAD.unpack(raw)
    if mark != _MAGIC or not 0 < count <= _MOST_ROWS or codec not in {_STORED, _DEFLATED}:
        return None
    start = at + _HEAD.size
    table = source.read(start, count * _ROW.size)
    if len(table) < count * _ROW.size or _check(raw, table) != check:
        return None
    rows = tuple(_ROW.iter_unpack(table))
    start += len(table)
    # No block that was written here is larger; one that says so is not to fill the memory.
    if start + length > source.size or max(length, sum(size for _, size in rows)) > _BLOCK + MOST:
        return None
    return Block(pack, start, length, codec, rows)


def _check(head: bytes, table: bytes) -> int:
    return zlib.crc32(table, zlib.crc32(head[:-4]))


def _next(source: FileSource, at: int) -> int:
    """Return where the next mark is, or the end."""
    while at < source.size:
        found = source.read(at, _STEP + len(_MAGIC) - 1).find(_MAGIC)
        if found >= 0:
            return at + found
        at += _STEP
    return source.size


class Packer:
    """Puts chunks into packs. Nothing is written before the first, nor has a name before `flush`."""

    def __init__(self, packs: Packs, *, disk: Disk = DISK) -> None:
        self._packs = packs
        self._disk = disk
        self._draft: Draft | None = None
        self._waiting: dict[bytes, bytes] = {}
        self._waiting_size = 0
        self._taken: set[bytes] = set()
        self.written = 0
        """How many bytes went to the disk."""

    def add(self, chunk: bytes, data: bytes) -> bool:
        """Take a chunk, named by its digest; say whether it was not there yet."""
        if chunk in self._packs or chunk in self._taken:
            return False
        self._taken.add(chunk)
        self._waiting[chunk] = data
        self._waiting_size += len(data)
        if self._waiting_size >= _BLOCK or len(self._waiting) == _MOST_ROWS:
            self._write_block()
        return True

    @property
    def is_full(self) -> bool:
        """Whether it is time to flush."""
        return self._draft is not None and self._draft.size >= _FULL

    def flush(self) -> None:
        """Finish the pack: what was added is then in the archive, and stays there."""
        self._write_block()
        draft, self._draft = self._draft, None
        if draft is not None:
            self.written += draft.size
            pack = draft.finish(f"{secrets.token_hex(16)}{ENDING}")
            sync_names(self._packs.folder, disk=self._disk)
            self._packs.note(pack)
        self._taken.clear()

    def drop(self) -> None:
        """Forget what is in no finished pack."""
        self._waiting.clear()
        self._taken.clear()
        draft, self._draft = self._draft, None
        if draft is not None:
            draft.drop()

    def _write_block(self) -> None:
        if not self._waiting:
            return
        rows = tuple((chunk, len(data)) for chunk, data in self._waiting.items())
        raw = b"".join(self._waiting.values())
        self._waiting.clear()
        self._waiting_size = 0
        body, codec = zlib.compress(raw, _LEVEL), _DEFLATED
        if len(body) >= len(raw):
            body, codec = raw, _STORED
        table = b"".join(_ROW.pack(*row) for row in rows)
        head = _HEAD.pack(_MAGIC, codec, len(body), len(rows), 0)[:-4]
        head += struct.pack("<I", _check(head + b"\0\0\0\0", table))
        if self._draft is None:
            self._draft = Draft(self._packs.folder, f"new{ENDING}", disk=self._disk)
        self._draft.write(head + table + body)
