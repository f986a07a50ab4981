"""Ids as hashes, and an index over a column of them that takes a few bytes a row."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

NONE: Final = -1


def id_hash(text: str | None) -> int:
    """Return the hash an id goes by in the table; 0 for none."""
    return (hash(text) or 1) if text is not None else 0


class IdIndex:
    """Finds the last row of an id among a column of hashes.

    Open addressing over arrays. A dict of a million ids takes some 150 MB; this takes 12.
    """

    __slots__ = ("_keys", "_mask", "_slots", "earlier")

    def __init__(self, keys: Sequence[int]) -> None:
        size = 1 << (2 * len(keys) + 8).bit_length()
        mask = size - 1
        slots = array("i", bytes(4 * size))
        earlier = array("i", b"\xff\xff\xff\xff" * len(keys))
        for row, key in enumerate(keys):
            if not key:
                continue
            at = key & mask
            while held := slots[at]:
                if keys[held - 1] == key:
                    earlier[row] = held - 1
                    break
                at = (at + 1) & mask
            slots[at] = row + 1
        self._keys = keys
        self._mask = mask
        self._slots = slots
        self.earlier = earlier
        """For each row the row before it with the same id, -1 for none."""

    def last(self, key: int) -> int:
        """Return the last row with that id; -1 for none."""
        if not key:
            return NONE
        at = key & self._mask
        while held := self._slots[at]:
            if self._keys[held - 1] == key:
                return held - 1
            at = (at + 1) & self._mask
        return NONE
