"""Two sessions in one, by what hangs on what.

Lines that both have are taken once: two forks share what came before they parted. The second one's own lines
come behind the first one's, and the conversation ends where the second one ended. A line of the second that
says what it followed in the first hangs there again; without such a line the second goes on where the first
ended. Both files are read as they are written, so nothing of them is held.
"""

from __future__ import annotations

from itertools import chain as one_after_the_other
from operator import add
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.edit.apart import LOGICAL, Apart
from clew.edit.changes import Changes, with_value, without
from clew.edit.plan import Counts, Drop, Plan
from clew.edit.thinking import drop_thinking, thinking_blocks
from clew.edit.ways import copies, ending, is_boundary
from clew.edit.woven import Woven
from clew.errors import RefusedError
from clew.format.entry import as_mapping
from clew.session.chain import chain
from clew.session.context import context
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.ids import id_hash
from clew.session.session import SALVAGED, SIDECHAIN, Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.edit.plan import FilePlan, Item, Step
    from clew.format.entry import Entry
    from clew.format.lines import Source

SHARED: Final = "in the first session already"


class Joined(NamedTuple):
    """One file made of two: of the plan of the first, and behind it that of the second."""

    first: FilePlan
    second: FilePlan
    target: str
    thinking_dropped: int = 0

    @property
    def plans(self) -> tuple[FilePlan, ...]:
        """What becomes of each of the two files."""
        return (self.first, self.second)

    def steps(self) -> Iterator[tuple[Item | None, Step]]:
        """Give what becomes of each item of the first session and then of the second."""
        return one_after_the_other(self.first.steps(), self.second.steps())

    def pieces(self) -> Iterator[bytes]:
        """Give the bytes of the new file, in pieces of bounded size."""
        end = b"\n"
        for piece in self.first.pieces():
            if piece:
                end = piece[-1:]
                yield piece
        skipped = self.second.preamble  # a byte order mark is none in the midst of a file
        for piece in self.second.pieces():
            rest = piece[skipped:]
            skipped = max(0, skipped - len(piece))
            if rest:
                yield rest if end == b"\n" else b"\n" + rest
                end = b"\n"

    def read(self) -> Session:
        """Read the new session before it is written."""
        return Session.read(_Behind(Woven(self.first), Woven(self.second), self.second.preamble))

    def counts(self) -> Counts:
        """Go through all lines of both and count."""
        first, second = Plan((self.first,)).counts(), Plan((self.second,)).counts()
        return Counts(*map(add, first, second))


class _Behind:
    """A source over one after another."""

    def __init__(self, first: Source, second: Source, skipped: int) -> None:
        self._first = first
        self._second = second
        self._skipped = skipped
        is_open = first.size > 0 and first.read(first.size - 1, 1) != b"\n" and second.size > skipped
        self._seam = b"\n" if is_open else b""
        self._start = first.size + len(self._seam)

    @property
    def size(self) -> int:
        """How many bytes there will be."""
        return self._start + max(0, self._second.size - self._skipped)

    def read(self, offset: int, length: int) -> bytes:
        """Return up to `length` bytes from `offset`; fewer at the end."""
        found: list[bytes] = []
        end = offset + length
        if offset < self._first.size:
            found.append(self._first.read(offset, min(end, self._first.size) - offset))
        if self._seam and offset <= self._first.size < end:
            found.append(self._seam)
        if end > self._start:
            start = max(offset, self._start)
            found.append(self._second.read(start - self._start + self._skipped, end - start))
        return b"".join(found)


def merge(first: Session, second: Session, *, target: str = "", keep_thinking: bool = False) -> Joined:
    """Plan one session of two, which ends where the second one ends.

    Thinking in the second goes where it now follows something it was not thought after, unless it is to be
    kept. Two lines with one uuid that say different things are no copies: that is refused.
    """
    merging = _Merging(first, second)
    changes = merging.changes()
    dropped = merging.drop_thinking(changes) if merging.is_appended and not keep_thinking else 0
    plain = Changes(first).plan(target)
    for tried in merging.tries(changes):
        joined = Joined(plain, tried.plan(target), target, dropped)
        if merging.is_right(joined, tried):
            return joined
    raise RefusedError(
        "the second session would not be sent as it is: a compaction of the first lies between its lines",
        hint=None,
    )


class _Merging:
    def __init__(self, first: Session, second: Session) -> None:
        self._first = first
        self._second = second
        self._path = chain(second, rules())
        self._shared = frozenset(self._find_shared())
        self._own = [
            row
            for row in range(len(second))
            if second.table.uuid[row] and row not in self._shared and not second.table.flags[row] & SALVAGED
        ]
        self.is_appended = False
        """Whether the second goes on where the first ended, without ever having been one with it."""

    def _find_shared(self) -> Iterator[int]:
        first, second = self._first, self._second
        for row in range(len(second)):
            key = second.table.uuid[row]
            if not key or second.table.flags[row] & SALVAGED:
                continue
            other = self._in_first(key)
            if other is None:
                continue
            if row == second.table.last_of(key) and not _is_same(first.entry(other), second.entry(row)):
                raise RefusedError(
                    f"line {first.table.number[other]} of the first session and line "
                    f"{second.table.number[row]} of the second have one uuid and differ",
                    hint=None,
                )
            yield row

    def _in_first(self, key: int) -> int | None:
        """Return the row of the first session that has a uuid, and is read by the client."""
        table = self._first.table
        row = table.last_of(key) if key else -1
        earlier = table.ids().earlier
        while row >= 0 and table.flags[row] & SALVAGED:
            row = earlier[row]
        return row if row >= 0 else None

    def changes(self) -> Apart:
        """Return what becomes of the second one's lines."""
        second = self._second
        changes = Apart(second)
        known = self._known_notes()
        start = min(self._own, default=len(second))
        for row in range(len(second)):
            is_known = row < start and not second.table.uuid[row] and self._raw(row) in known
            if is_known or row in self._shared or not self._own:
                changes.leave(row, SHARED)
        if not self._own:
            changes.mend(lambda _: Drop(SHARED))
        roots = self._roots()
        for row in self._own:
            self._rejoin(changes, row, is_root=row in roots)
        for before, row in zip(self._path.rows, self._path.rows[1:], strict=False):
            # A parent that is missing is guessed among all lines, and now there are more of them.
            if row in self._path.inferred and row not in self._shared and row not in roots:
                for copy in copies(second, row):
                    changes.hang(copy, second.entry(before).uuid)
        return changes

    def _known_notes(self) -> set[bytes]:
        table, source = self._first.table, self._first.source
        rows = (row for row in range(len(table)) if not table.uuid[row])
        return {source.read(table.offset[row], table.length[row]) for row in rows}

    def _raw(self, row: int) -> bytes:
        table = self._second.table
        return self._second.source.read(table.offset[row], table.length[row])

    def _roots(self) -> frozenset[int]:
        """Return the rows of the line the second conversation begins with."""
        if self._path.refused is not None or not self._path.rows:
            return frozenset()
        top = Graph(self._second).history(self._path.rows[0])[0]
        key = self._second.table.parent[top]
        if top in self._shared or (key and self._in_first(key) is not None):
            return frozenset()
        return frozenset(copies(self._second, top))

    def _rejoin(self, changes: Changes, row: int, *, is_root: bool) -> None:
        """Let a line hang on the first session, if it says where, or if it is what the second begins with."""
        entry = self._second.entry(row)
        logical = entry.logical_parent_uuid
        named = None if logical is None else self._in_first(id_hash(logical))
        if is_boundary(self._second, row):
            leaf = self._first_leaf()
            if is_root and named is None and leaf is not None and self._second.row(logical or "") is None:
                changes.change(row, lambda raw: with_value(raw, LOGICAL, leaf), "follows the first session")
            return
        if named is not None:
            changes.change(row, lambda raw: without(raw, LOGICAL), "hangs where it did")
            changes.hang(row, logical)
        elif is_root and not self._second.table.flags[row] & SIDECHAIN:
            leaf = self._first_leaf()
            if leaf is not None:
                changes.hang(row, leaf)
                self.is_appended = True

    def _first_leaf(self) -> str | None:
        """Return the line the first session ends in."""
        path = chain(self._first, rules())
        if path.refused is not None or path.leaf is None:
            return None
        rows = path.rows
        return self._first.entry(path.leaf if path.leaf in rows or not rows else rows[-1]).uuid

    def drop_thinking(self, changes: Changes) -> int:
        """Take thinking out of the lines that are sent."""
        return sum(
            drop_thinking(changes, row, thinking_blocks(self._second, row), "thinking after something new")
            for rows in context(self._second).rows
            for row in rows
            if self._second.table.kind_of(row) == "assistant"
        )

    def tries(self, changes: Apart) -> Iterator[Apart]:
        """Give the changes, and the same with a line that says where the conversation ends."""
        yield changes
        leaf = None if self._path.leaf is None else self._second.entry(self._path.leaf).uuid
        if leaf is not None and self._own:
            named = changes.copy()
            named.add(ending(self._second, leaf), "the line it ends in")
            yield named

    def is_right(self, joined: Joined, changes: Apart) -> bool:
        """Say whether the conversation ends where the second ended, with all that it sent."""
        if not self._own or self._path.refused is not None or self._path.leaf is None:
            return True
        alone, session = context(self._second), joined.read()
        together = context(session)
        if together.refused is not None or together.leaf != alone.leaf:
            return False
        sent = {session.table.uuid[row] for rows in together.rows for row in rows}
        rows = {row for rows in alone.rows for row in rows}
        rows.difference_update(changes.dropped)  # thinking that went with its line
        return all(self._second.table.uuid[row] in sent for row in rows)


def _is_same(one: Entry, other: Entry) -> bool:
    """Say whether two lines say the same, whatever session they say they belong to.

    A client that forks a session writes its own id on the lines, and some write a text as a list of blocks.
    """
    return _said(one) == _said(other)


def _said(entry: Entry) -> tuple[object, ...]:
    content = entry.content
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    attachment = as_mapping(entry.data.get("attachment"))
    return entry.type, entry.subtype, entry.role, entry.message_id, content, dict(attachment)
