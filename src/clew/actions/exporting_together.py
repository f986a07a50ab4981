"""Write a long session in two processes: this one from its first turns on, another from its last.

The bytes are the same: what the other one wrote is put behind what was written here. If it was killed, or
told a sub-agent that was told here already, that part is written here.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import IO, TYPE_CHECKING, Final

import msgspec

from clew.actions.second_process import Meeting, Second
from clew.store.disk import DISK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.export.options import Options
    from clew.export.registry import InParts
    from clew.export.story import Story

_PARTS: Final = 48
"""In how many parts a session is written, if it has as many turns."""

_LINE: Final = 4_000
"""A line takes as long as so many bytes more."""

_PIECE: Final = 1 << 20


class _Written(msgspec.Struct, array_like=True):
    """A part that the other process wrote."""

    part: int
    start: int
    """Where it begins in the file between the two."""

    end: int
    agents: list[str]
    """The sub-agents that are told in it."""


_WRITTEN = list[_Written]


def write_together(story: Story, options: Options, in_parts: InParts) -> Iterator[bytes]:
    """Give what the exporter gives, made by two processes; the story can be read in parts."""
    yield from in_parts.before(story, options)
    work = _Work(story, options, in_parts)
    told: set[str] = set()
    with DISK.unnamed() as between, Second(lambda: work.backwards(between)) as second:
        done = 0
        for part in work.meeting.forwards():
            yield from work.write(part, told)
            done = part + 1
        found = second.result()
        theirs = (
            {} if found is None else {one.part: one for one in msgspec.msgpack.decode(found, type=_WRITTEN)}
        )
        for part in range(done, len(work)):
            one = theirs.get(part)
            if one is None or not told.isdisjoint(one.agents):
                yield from work.write(part, told)
            else:
                yield from _read(between, one.start, one.end)
                told.update(one.agents)
    yield from in_parts.after(story, options)


def _read(file: IO[bytes], start: int, end: int) -> Iterator[bytes]:
    file.seek(start)
    while start < end:
        piece = file.read(min(_PIECE, end - start))
        if not piece:
            raise OSError("the file between two processes is shorter than it was")
        start += len(piece)
        yield piece


class _Work:
    """The parts of a session, and how one is written."""

    def __init__(self, story: Story, options: Options, in_parts: InParts) -> None:
        self._story = story
        self._options = options
        self._in_parts = in_parts
        self._places = _cut(story)
        self.meeting = Meeting(len(self))

    def __len__(self) -> int:
        return len(self._places) - 1

    def write(self, part: int, told: set[str]) -> Iterator[bytes]:
        """Give one part."""
        assert self._story.part is not None
        views = self._story.part(self._places[part], self._places[part + 1])
        return self._in_parts.turns(self._story, self._options, views, told)

    def backwards(self, between: IO[bytes]) -> bytes:
        """Write parts from the last on, and say what is where."""
        found: list[_Written] = []
        for part in self.meeting.backwards():
            told: set[str] = set()
            start = between.tell()
            between.writelines(self.write(part, told))
            found.append(_Written(part, start, between.tell(), sorted(told)))
        between.flush()
        return msgspec.msgpack.encode(found)


def _cut(story: Story) -> list[int]:
    """Return where in the turns the parts begin, and where the last one ends; they take about as long."""
    length = story.session.table.length
    takes = [sum(length[row] + _LINE for row in turn.rows) for turn in story.cuts]
    ends = list(accumulate(takes))
    wanted = (ends[-1] * part / _PARTS for part in range(1, _PARTS))
    return sorted({0, len(ends), *(bisect_right(ends, at) for at in wanted)})
