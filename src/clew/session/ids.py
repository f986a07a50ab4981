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

    Open addressing over arrays, half full. A dict of a million ids takes some 150 MB; this takes 12.
    """

    __slots__ = ("_keys", "_size", "_slots", "earlier")

    def __init__(self, keys: Sequence[int]) -> None:
        size = 2 * len(keys) + 1
        slots = array("i", [0]) * size
        earlier = array("i", [NONE]) * len(keys)
        for row, key in enumerate(keys):
            if not key:
                continue
            at = key % size
            while held := slots[at]:
                if keys[held - 1] == key:
                    earlier[row] = held - 1
                    break
                # The slot before the first is the last one.
                at -= 1
            slots[at] = row + 1
        self._keys = keys
        self._size = size
        self._slots = slots
        self.earlier = earlier
        """For each row the row before it with the same id, -1 for none."""

    def grown(self, keys: Sequence[int]) -> IdIndex | None:
        """Return the index of a column that begins with this one's; None where it would be too full."""
        if 3 * len(keys) > 2 * self._size:
            return None
        found = IdIndex(())
        found._keys, found._size, found._slots = keys, self._size, self._slots[:]
        found.earlier = self.earlier[:]
        size, slots = self._size, found._slots
        for row in range(len(self.earlier), len(keys)):
            key, before = keys[row], NONE
            if key:
                at = key % size
                while held := slots[at]:
                    if keys[held - 1] == key:
                        before = held - 1
                        break
                    at -= 1
                slots[at] = row + 1
            found.earlier.append(before)
        return found

    def last(self, key: int) -> int:
        """Return the last row with that id; -1 for none."""
        if not key:
            return NONE
        at = key % self._size
        slots, keys = self._slots, self._keys
        while held := slots[at]:
            if keys[held - 1] == key:
                return held - 1
            at -= 1
        return NONE
