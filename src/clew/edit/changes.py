"""Changes to the lines of one file, and what the lines that stay must be told of those that go.

A line that hung on one that goes hangs on the nearest line above that stays. Whatever else names lines (where
a session ends, what a compaction followed and kept) is brought up to date in the same way.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from clew.edit.line_names import ENDS, LISTS, NAMES, RELINKED, SEGMENT, is_naming, named_at
from clew.edit.plan import KEEP, Add, Drop, FilePlan, Patch, keep_fragments
from clew.format.decode import encode
from clew.format.entry import as_mapping
from clew.format.patch import NoSuchPathError, remove, replace, value_at
from clew.session.ids import id_hash
from clew.session.session import ABRIDGED, SALVAGED, TOOL_RESULT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from clew.edit.plan import Step
    from clew.format.entry import Entry
    from clew.format.patch import Path
    from clew.format.records import Fragment
    from clew.session.session import Session

REJOINED: Final = "the conversation leads on here"

_PARENT: Final[Path] = ("parentUuid",)

_NOTHING: Final = object()
"""In the place of a value: it is to be taken out."""


class Change(NamedTuple):
    """How one line is changed."""

    make: Callable[[bytes], bytes]
    """Makes the new bytes of the record of the old ones; the same each time."""

    reason: str


class Changes:
    """What an edit does to the lines of one file, gathered; `plan` makes a plan of it."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.dropped: dict[int, str] = {}
        """The reason by the row."""
        self._changes: dict[int, list[Change]] = {}
        self._blocks: dict[int, dict[int, str]] = {}
        """By the row the blocks that go, each with the reason."""
        self._before: dict[int, list[Add]] = {}
        self._at_end: list[Add] = []
        self.closing: Mapping[str, Any] | None = None
        """The new line that says where the conversation ends, if there is one."""
        self._end: Add | None = None
        self._parents: dict[int, str | None] = {}
        self.damage: Callable[[Fragment], Step] = keep_fragments
        """Says what becomes of bytes that are no records."""

    def __bool__(self) -> bool:
        lines = self.dropped or self._changes or self._parents
        added = self._before or self._at_end or self._end
        return bool(lines or added) or self.damage is not keep_fragments

    @property
    def changed(self) -> frozenset[int]:
        """The rows that are changed."""
        return frozenset({*self._changes, *self._parents} - self.dropped.keys())

    @property
    def keeps_shape(self) -> bool:
        """Whether all lines and blocks stay where they are and none comes: only what they say changes."""
        gone = self.dropped or self._blocks or self._parents
        added = self._before or self._at_end or self._end
        return not gone and not added and self.damage is keep_fragments

    def drop(self, row: int, reason: str) -> None:
        """Let a line go."""
        self.dropped.setdefault(row, reason)

    def drop_blocks(self, row: int, indexes: Iterable[int], reason: str) -> int:
        """Take blocks out of a line; one that has no others goes whole. Return how many were not out yet."""
        if row in self.dropped:
            return 0
        gone = self._blocks.get(row, {})
        new = {index: reason for index in indexes if index not in gone}
        if not new:
            return 0
        changes = self._changes.setdefault(row, [])
        if gone:
            changes.pop()
        self._blocks[row] = gone = gone | new
        make = partial(without_blocks, indexes=tuple(gone))
        changes.append(Change(make, "; ".join(dict.fromkeys(gone.values()))))
        if len(gone) == len(content_of(self.session, row)):
            self.drop(row, reason)
        return len(new)

    def blocks_out(self, row: int) -> Mapping[int, str]:
        """Return which blocks of a line go, each with the reason."""
        return self._blocks.get(row, {})

    def change(self, row: int, make: Callable[[bytes], bytes], reason: str) -> None:
        """Change a line; several changes of one line come one after the other.

        The blocks of its content must stay where they are: those that go are taken out at the end.
        """
        changes = self._changes.setdefault(row, [])
        changes.insert(len(changes) - (row in self._blocks), Change(make, reason))

    def add_before(self, row: int, record: Mapping[str, Any], reason: str) -> None:
        """Put a new line before a row."""
        self._before.setdefault(row, []).append(Add(encode(record), reason))

    def add(self, record: Mapping[str, Any], reason: str) -> None:
        """Put a new line at the end."""
        self._at_end.append(Add(encode(record), reason))

    def hang(self, row: int, parent: str | None) -> None:
        """Let a line follow another one than it did; should that one go, the nearest above that stays."""
        self._parents[row] = parent

    def close(self, record: Mapping[str, Any], reason: str) -> None:
        """Say in a line at the very end where the conversation ends; a later call takes its place."""
        self.closing = record
        self._end = Add(encode(record), reason)

    def mend(self, damage: Callable[[Fragment], Step]) -> None:
        """Say what becomes of bytes that are no records."""
        self.damage = damage

    def copy(self) -> Changes:
        """Return the same changes, to be added to."""
        other = Changes(self.session)
        other.dropped = dict(self.dropped)
        other._changes = {row: [*changes] for row, changes in self._changes.items()}
        other._blocks = dict(self._blocks)
        other._before = {row: [*added] for row, added in self._before.items()}
        other._at_end = [*self._at_end]
        other.closing, other._end = self.closing, self._end
        other._parents = dict(self._parents)
        other.damage = self.damage
        return other

    def plan(self, target: str) -> FilePlan:
        """Return what becomes of the file; the lines that stay are told of those that go."""
        return FilePlan(
            self.session,
            target,
            decide=_Deciding(self.session, self.dropped, self._changes, self._parents),
            damage=self.damage,
            before=self._before,
            at_end=self._at_end if self._end is None else [*self._at_end, self._end],
        )


class _Heirs:
    """Says which line takes the place of one that is gone, for those that named it."""

    def __init__(self, session: Session, dropped: Iterable[int]) -> None:
        self._session = session
        table = session.table
        gone = {table.uuid[row] for row in dropped if table.uuid[row]}
        # Of several lines with one uuid, one that stays is enough; on a damaged line nobody reads it.
        rows = set(dropped)
        if gone:
            for row in range(len(table)):
                if table.uuid[row] in gone and row not in rows and not table.flags[row] & SALVAGED:
                    gone.discard(table.uuid[row])
        self.gone = frozenset(gone)
        """The uuids that no line has any more, as hashes."""
        self._known: dict[int, str | None] = {}

    def of(self, key: int) -> str | None:
        """Return the uuid of the nearest line above that stays; None if there is none."""
        passed: list[int] = []
        seen: set[int] = set()
        found: str | None = None
        while True:
            if key in self._known:
                found = self._known[key]
                break
            row = self._session.table.last_of(key)
            if key in seen or row < 0:
                break
            seen.add(key)
            passed.append(key)
            entry = self._session.entry(row)
            found = entry.parent_uuid or entry.logical_parent_uuid
            key = id_hash(found)
            if not key or key not in self.gone:
                break
            found = None
        for one in passed:
            self._known[one] = found
        return found


class _Deciding:
    def __init__(
        self,
        session: Session,
        dropped: Mapping[int, str],
        changes: Mapping[int, list[Change]],
        parents: Mapping[int, str | None],
    ) -> None:
        self._session = session
        self._dropped = dropped
        self._changes = changes
        self._parents = parents
        self._heirs = _Heirs(session, dropped)
        self._is_naming = [*map(is_naming, session.table.kinds)]

    def __call__(self, row: int) -> Step:
        reason = self._dropped.get(row)
        if reason is not None:
            return Drop(reason)
        changes = self._changes.get(row, ())
        names = self._names(row)
        if not changes and not names:
            return KEEP
        table = self._session.table
        old = raw = self._session.source.read(table.offset[row], table.length[row])
        reasons = [change.reason for change in changes]
        for change in changes:
            raw = change.make(raw)
        for path, value in names.items():
            raw = without(raw, path) if value is _NOTHING else with_value(raw, path, value)
        if raw == old:
            return KEEP
        if not reasons:
            reasons = [REJOINED if row in self._parents else RELINKED]
        return Patch(raw, "; ".join(dict.fromkeys(reasons)))

    def _names(self, row: int) -> dict[Path, object]:
        """Return what a line must say in the places where it names lines that are gone."""
        found = self._gone_names(row)
        if row in self._parents:
            found[_PARENT] = self._standing(self._parents[row])
        return found

    def _standing(self, uuid: str | None) -> str | None:
        """Return a line that stays in the place of one that may not."""
        key = id_hash(uuid)
        return self._heirs.of(key) if key in self._heirs.gone else uuid

    def _gone_names(self, row: int) -> dict[Path, object]:
        gone = self._heirs.gone
        if not gone:
            return {}
        table = self._session.table
        may_name = (
            table.parent[row] in gone or self._is_naming[table.kind[row]] or (table.flags[row] & TOOL_RESULT)
        )
        if not may_name:
            return {}
        entry = self._session.entry(row)
        found: dict[Path, object] = {}
        for path in NAMES:
            value = named_at(entry.data, path)
            if isinstance(value, str) and id_hash(value) in gone:
                found[path] = self._heirs.of(id_hash(value))
        for path in LISTS:
            value = named_at(entry.data, path)
            if isinstance(value, list):
                names = cast("list[object]", value)
                kept = [one for one in names if not (isinstance(one, str) and id_hash(one) in gone)]
                if len(kept) < len(names):
                    found[path] = kept
        return found | self._segment(entry)

    def _segment(self, entry: Entry) -> dict[Path, object]:
        """Return the ends of what a compaction kept in one piece, where one of them is gone.

        Not the line above the first one: that one was not kept. Without any that stays there is no piece.
        """
        gone, session = self._heirs.gone, self._session
        segment = as_mapping(named_at(entry.data, SEGMENT))
        head, tail = segment.get("headUuid"), segment.get("tailUuid")
        if not isinstance(head, str) or not isinstance(tail, str):
            return {}
        if id_hash(head) not in gone and id_hash(tail) not in gone:
            return {}
        uuids: dict[str, None] = {}
        uuid: str | None = tail
        while uuid is not None and uuid not in uuids:
            row = session.table.last_of(id_hash(uuid))
            if row < 0:
                break
            uuids[uuid] = None
            if uuid == head:
                kept = [one for one in uuids if id_hash(one) not in gone]
                if not kept:
                    return {SEGMENT: _NOTHING}
                return dict(zip(ENDS, (kept[-1], kept[0]), strict=True))
            uuid = session.entry(row).parent_uuid
        return {}  # they name no piece, and go on to name none


def content_of(session: Session, row: int) -> list[Mapping[str, Any]]:
    """Return the blocks of a line, whole however long they are; none where its content is no list."""
    is_long = session.table.flags[row] & ABRIDGED
    content = (session.whole(row) if is_long else session.entry(row)).content
    return [as_mapping(one) for one in cast("list[object]", content)] if isinstance(content, list) else []


def content_path(raw: bytes) -> Path:
    """Return where a line has its content: in its message, or in itself as lines without one have it."""
    try:
        is_inside = value_at(raw, ("message", "content")) != b"null"
    except NoSuchPathError:
        is_inside = False
    return ("message", "content") if is_inside else ("content",)


def without_blocks(raw: bytes, indexes: Iterable[int]) -> bytes:
    """Take blocks out of the content of a line."""
    path = content_path(raw)
    for index in sorted(indexes, reverse=True):
        raw = remove(raw, (*path, index))
    return raw


def with_value(raw: bytes, path: Path, value: object) -> bytes:
    """Put a value where there is one, or, in the outermost object, behind all others."""
    try:
        return replace(raw, path, value)
    except NoSuchPathError:
        if len(path) > 1:
            raise
    if value is None:
        return raw
    end = raw.rindex(b"}")
    inside = raw[:end].rstrip()
    comma = b"" if inside.endswith(b"{") else b","
    return b"".join((inside, comma, encode(".".join(map(str, path))), b":", encode(value), raw[end:]))


def without(raw: bytes, path: Path) -> bytes:
    """Take a value out, if it is there."""
    try:
        return remove(raw, path)
    except NoSuchPathError:
        return raw
