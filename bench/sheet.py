"""One session file on its way to the disk, with its inventory and the needles that land in it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from bench.truth import Inventory, Needle, Truth

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

FLUSH = 1 << 22
"""Characters kept before they are written; a 100 MB file never stands in memory."""


@dataclass(frozen=True, slots=True)
class Written:
    """A line as it was written, kept so that a fork can repeat it."""

    kind: str
    line: str
    needles: tuple[Needle, ...]


@dataclass(slots=True)
class Sheet:
    """A file being written, line by line."""

    root: Path
    name: str
    """Path below `root`, with forward slashes: how the truth file names it."""
    truth: Truth
    rewrite: Callable[[str], str] | None = None
    """Turns a line into another spelling of the same JSON, for the variants of the corpus."""
    keep: bool = False
    kept: list[Written] = field(default_factory=list[Written])
    size: int = 0
    """Characters so far, before any respelling; bytes differ by the little CJK there is."""
    _inventory: Inventory = field(default_factory=Inventory)
    _buffer: list[str] = field(default_factory=list[str])
    _pending: int = 0
    _started: bool = False

    def put(self, kind: str, line: str, needles: tuple[Needle, ...] = ()) -> None:
        """Add one line, without its newline."""
        if self.keep:
            self.kept.append(Written(kind, line, needles))
        self.size += len(line) + 1
        if self.rewrite is not None:
            line = self.rewrite(line)
        inventory = self._inventory
        inventory.lines += 1
        inventory.types[kind] += 1
        for needle in needles:
            needle.places.append((self.name, inventory.lines))
        self._buffer.append(line)
        self._pending += len(line)
        if self._pending >= FLUSH:
            self._flush()

    def close(self) -> int:
        """Write what is left and return the size in bytes; a file without lines is made, empty."""
        self._flush()
        self.truth.files[self.name] = self._inventory
        self.truth.planned += self.size
        return self._inventory.size

    def _flush(self) -> None:
        path = self.root / self.name
        if not self._started:
            path.parent.mkdir(parents=True, exist_ok=True)
        if self._buffer:
            self._buffer.append("")
        data = "\n".join(self._buffer).encode()
        with path.open("ab" if self._started else "wb") as out:
            out.write(data)
        self._started = True
        self._inventory.size += len(data)
        self._buffer.clear()
        self._pending = 0


def respeller(
    rng: Random, *, shuffled: bool = False, spaced: bool = False, request_ids: bool = True
) -> Callable[[str], str] | None:
    """How a variant writes a line: keys in any order, blanks after separators, no requestId; None leaves it
    alone.
    """
    if not shuffled and not spaced and request_ids:
        return None
    separators = (", ", ": ") if spaced else (",", ":")

    def mixed(value: object) -> object:
        if isinstance(value, dict):
            pairs = list(cast("dict[str, object]", value).items())
            rng.shuffle(pairs)
            return {key: mixed(inner) for key, inner in pairs}
        if isinstance(value, list):
            return [mixed(inner) for inner in cast("list[object]", value)]
        return value

    def respell(line: str) -> str:
        if not request_ids:
            line = re.sub(r'"requestId":"[^"]*",', "", line)
        if not shuffled and not spaced:
            return line
        value: object = json.loads(line)
        return json.dumps(mixed(value) if shuffled else value, ensure_ascii=False, separators=separators)

    return respell
