"""Recorded files of sub-agents with their beginning behind their end, as 2.1.45 wrote some under load."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING

from tests.session.recorded import CORPUS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@cache
def told_files() -> tuple[Path, ...]:
    """The files of three lines or more in which all parents are there: without them nothing tells."""
    return tuple(path for path in sorted(CORPUS.rglob("agent-*.jsonl")) if _is_told(path.read_bytes()))


def moved(data: bytes, *, step: int = 1) -> Iterator[bytes]:
    """The lines with the first, the first two, and so on, behind the rest; every `step`-th of those."""
    lines = data.splitlines(keepends=True)
    for first in range(1, len(lines), step):
        yield b"".join(lines[first:] + lines[:first])


def _is_told(data: bytes) -> bool:
    entries = [json.loads(line) for line in data.split(b"\n") if line]
    parents = [entry["parentUuid"] for entry in entries if entry.get("uuid")]
    there = {entry.get("uuid") for entry in entries}
    return len(entries) > 2 and parents.count(None) == 1 and {*parents} - {None} <= there
