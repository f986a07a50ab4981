"""What an edit does to a session: for every line of every file whether it stays, changes, goes or is new.

A plan is lazy and pure: it can be gone through as often as wanted, for a preview, for a count and for the
bytes themselves, and gives the same each time. What stays is never decoded: its bytes are copied, so a plan
that keeps everything makes the very same file.

The bytes of a file are shared out among its items, records and fragments, without a gap: an item's share goes
up to where the next one begins, line ending and all.
"""

from __future__ import annotations

from heapq import merge
from operator import add
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from clew.format.lines import Source
    from clew.format.records import Fragment
    from clew.session.session import Session

PIECE: Final = 1 << 20
"""How many bytes are read and handed out at a time."""


class Keep(NamedTuple):
    """A line stays as it is."""


class Patch(NamedTuple):
    """A line is changed."""

    data: bytes
    """The record as it is to be, without its line ending: that one stays."""

    reason: str


class Drop(NamedTuple):
    """A line goes."""

    reason: str


class Add(NamedTuple):
    """A line is new."""

    data: bytes
    """A record, without a line ending."""

    reason: str


Step = Keep | Patch | Drop | Add

KEEP: Final = Keep()


class Item(NamedTuple):
    """A record or a fragment of a file, and the bytes that go with it."""

    row: int | None
    """Its row in the session's table; None for a fragment."""

    fragment: Fragment | None
    offset: int
    length: int
    """Without what follows: the line ending, blanks."""

    end: int
    """Where the next item begins."""


class Stretch(NamedTuple):
    """Bytes of the old file that are in the new one too."""

    start: int
    end: int


def keep_all(_row: int) -> Step:
    """Let every record stay."""
    return KEEP


def keep_fragments(_fragment: Fragment) -> Step:
    """Let everything stay that is no record."""
    return KEEP


class FilePlan:
    """What becomes of one file."""

    def __init__(
        self,
        session: Session,
        target: str,
        *,
        decide: Callable[[int], Step] = keep_all,
        damage: Callable[[Fragment], Step] = keep_fragments,
        before: Mapping[int, Sequence[Add]] | None = None,
        at_end: Sequence[Add] = (),
    ) -> None:
        """`decide` says what becomes of a row, `damage` what of a fragment; both must always say the same.

        `before` are new lines that come before a row, `at_end` those that come after everything.
        """
        self.session = session
        self.target = target
        """The new file, from its project folder on: `<id>.jsonl`, `<id>/subagents/agent-….jsonl`."""
        self.decide = decide
        """Says what becomes of a row."""
        self.damage = damage
        self.before = before or {}
        self.at_end = at_end

    def items(self) -> Iterator[Item]:
        """Give the items of the file as it is, in order."""
        table, fragments = self.session.table, self.session.fragments
        rows = ((table.offset[row], table.length[row], row) for row in range(len(table)))
        # Numbered from -1 downwards, so that one of them tells a fragment from a row.
        others = ((one.offset, one.length, -1 - at) for at, one in enumerate(fragments))
        places = merge(rows, others) if fragments else rows
        here = next(places, None)
        while here is not None:
            following = next(places, None)
            offset, length, at = here
            end = self.session.source.size if following is None else following[0]
            if at >= 0:
                yield Item(at, None, offset, length, end)
            else:
                yield Item(None, fragments[-1 - at], offset, length, end)
            here = following

    @property
    def preamble(self) -> int:
        """Where the first item begins: a byte order mark or blank lines may stand before it."""
        first = next(self.items(), None)
        return self.session.source.size if first is None else first.offset

    def steps(self) -> Iterator[tuple[Item | None, Step]]:
        """Give what becomes of each item, in the order of the new file; a new line has no item."""
        for item in self.items():
            if item.row is not None:
                for added in self.before.get(item.row, ()):
                    yield None, added
                yield item, self.decide(item.row)
            elif item.fragment is not None:
                yield item, self.damage(item.fragment)
        for added in self.at_end:
            yield None, added

    @property
    def plans(self) -> tuple[FilePlan, ...]:
        """What becomes of each of the files that it is made of: of itself only."""
        return (self,)

    def counts(self) -> Counts:
        """Go through all lines and count."""
        return _count(self)

    def pieces(self) -> Iterator[bytes]:
        """Give the bytes of the new file, in pieces of bounded size."""
        source = self.session.source
        for part in self.parts():
            if isinstance(part, bytes):
                yield part
                continue
            start, end = part
            while start < end:
                data = source.read(start, min(PIECE, end - start))
                if not data:
                    break
                yield data
                start += len(data)

    def parts(self) -> Iterator[bytes | Stretch]:
        """Give what the new file is made of: stretches of the old one, and new bytes."""
        return _Weaving(self.session.source).parts(self.steps(), self.preamble)


class _Weaving:
    """Makes a file of steps. Runs of lines that stay are one stretch."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._end: int | None = 0
        """Where what was given last ends in the old file; None where it is new."""
        self._is_line_open = False

    def parts(self, steps: Iterable[tuple[Item | None, Step]], preamble: int) -> Iterator[bytes | Stretch]:
        """Give the parts of the new file; what stands before the first item stays."""
        start, end = 0, preamble
        for item, step in steps:
            if item is not None and isinstance(step, Keep):
                # Items follow one another without a gap, but for those that went.
                if item.offset != end:
                    yield from self._copied(start, end)
                    start = item.offset
                end = item.end
                continue
            yield from self._copied(start, end)
            if item is None:
                start = end
                if isinstance(step, Add):
                    yield from self._line(step.data)
                continue
            start = end = item.end
            if isinstance(step, Patch):
                yield from self._written(step.data)
                yield from self._copied(item.offset + item.length, item.end)
        yield from self._copied(start, end)

    def _copied(self, start: int, end: int) -> Iterator[bytes | Stretch]:
        if start < end:
            self._end = end
            yield Stretch(start, end)

    def _written(self, data: bytes) -> Iterator[bytes | Stretch]:
        if data:
            self._end = None
            self._is_line_open = not data.endswith(b"\n")
            yield data

    def _line(self, data: bytes) -> Iterator[bytes | Stretch]:
        if self._end is not None:
            self._is_line_open = self._end > 0 and self._source.read(self._end - 1, 1) != b"\n"
        if self._is_line_open:
            yield from self._written(b"\n")
        yield from self._written(data + b"\n")


class Counts(NamedTuple):
    """How many lines stay, change, go and are new, and how many bytes there were and will be."""

    kept: int = 0
    patched: int = 0
    dropped: int = 0
    added: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


class NewFile(Protocol):
    """A file that a plan makes: of one old file, or of several."""

    @property
    def target(self) -> str:
        """Where it goes."""
        ...

    @property
    def plans(self) -> tuple[FilePlan, ...]:
        """What becomes of each of the files that it is made of."""
        ...

    def counts(self) -> Counts:
        """Go through all lines and count."""
        ...

    def pieces(self) -> Iterator[bytes]:
        """Give its bytes."""
        ...


class Plan(NamedTuple):
    """What an edit does to a session with everything that belongs to it."""

    files: tuple[NewFile, ...]
    """Sub-agents' files first, the session's own last: when that is there, the edit is done."""

    notes: tuple[str, ...] = ()
    """What a person should know."""

    thinking_dropped: int = 0

    def counts(self) -> Counts:
        """Go through all lines and count."""
        found = Counts()
        for file in self.files:
            found = Counts(*map(add, found, file.counts()))
        return found


def _count(file: FilePlan) -> Counts:
    kept = patched = dropped = added = 0
    source = file.session.source
    after = source.size
    end = file.preamble
    """Where what was written last ends in the old file."""
    is_open: bool | None = None
    """Whether the line written last has no ending yet; None for as the old file has it there."""
    for item, step in file.steps():
        match step:
            case Keep():
                kept += 1
            case Patch():
                patched += 1
                after += len(step.data) - (item.length if item is not None else 0)
            case Drop():
                dropped += 1
                after -= item.end - item.offset if item is not None else 0
            case Add():
                added += 1
                if is_open is None:
                    is_open = end > 0 and source.read(end - 1, 1) != b"\n"
                after += len(step.data) + 1 + is_open
                is_open = False
        if item is not None and not isinstance(step, Drop):
            end = item.end
            is_bare = isinstance(step, Patch) and item.end == item.offset + item.length
            is_open = not step.data.endswith(b"\n") if isinstance(step, Patch) and is_bare else None
    return Counts(kept, patched, dropped, added, source.size, after)
