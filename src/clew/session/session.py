"""A session: a compact table of its lines, and the source they are read from when asked for.

Columns, not one object a line: 48 bytes each, and 12 more for the index of the uuids when one is looked for.
Ids are held as 64-bit hashes (Python's own, keyed anew in each process, so nobody can plan a collision; among
a million ids one is expected in some 37 million sessions).
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from clew.format.entry import Entry
from clew.format.lines import LONG, Abridger, BytesSource
from clew.format.records import Fragment, Record, scan
from clew.format.times import milliseconds
from clew.session.ids import IdIndex, id_hash
from clew.session.prompts import is_human, is_tool_result

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.format.lines import Source
    from clew.format.skim import Skim

META: Final = 1
SIDECHAIN: Final = 2
COMPACT_SUMMARY: Final = 4
API_ERROR: Final = 8
SALVAGED: Final = 16
"""Recovered from a line that also held other bytes; the client does not see it."""
TOOL_USE: Final = 32
TOOL_RESULT: Final = 64
HUMAN: Final = 128
"""A prompt a person typed: it starts a turn."""
ABRIDGED: Final = 256
SYNTHETIC: Final = 512
"""An assistant line that the client wrote itself."""
_LONGEST_KIND: Final = 200
NO_TIME: Final = -(2**62)

_CACHE_BYTES: Final = 4 << 20


class Table:
    """The columns. A row is one record, in file order."""

    __slots__ = (
        "_index",
        "_indexed",
        "flags",
        "kind",
        "kinds",
        "length",
        "message",
        "number",
        "offset",
        "parent",
        "time",
        "uuid",
    )

    def __init__(self) -> None:
        # Wide enough for four gigabytes; the builder puts wider ones in their place when there is more.
        self.offset = array("I")
        self.length = array("I")
        """Without the line ending."""
        self.number = array("I")
        self.kind = array("H")
        self.flags = array("H")
        self.uuid = array("q")
        self.parent = array("q")
        self.message = array("q")
        self.time = array("q")
        self.kinds: list[str] = []
        self._index: IdIndex | None = None
        self._indexed = 0

    def __len__(self) -> int:
        return len(self.offset)

    def last_of(self, key: int) -> int:
        """Return the last row whose uuid hashes to `key`; -1 for none."""
        return self.ids().last(key)

    def ids(self) -> IdIndex:
        """Return the index of the uuids, which is made when first asked for; anew where rows were added."""
        if self._index is None or self._indexed != len(self.uuid):
            self._index = None  # first let go of the old one
            self._index = IdIndex(self.uuid)
            self._indexed = len(self.uuid)
        return self._index

    def kind_of(self, row: int) -> str:
        """Return the type of a row with its subtype: `system/compact_boundary`."""
        return self.kinds[self.kind[row]]

    def time_of(self, row: int) -> int | None:
        """Return the time of a row in milliseconds, or None."""
        value = self.time[row]
        return None if value == NO_TIME else value


class TableBuilder:
    """Fills a table record by record; the same one serves reading and following."""

    def __init__(self) -> None:
        self.table = Table()
        self._codes: dict[str, int] = {}

    def add(self, record: Record) -> int:
        """Append a record and return its row."""
        table = self.table
        facts = record.facts
        blanks = 0 if record.is_abridged else len(record.raw) - len(record.raw.rstrip(b" \t\r\n"))
        try:
            table.offset.append(record.offset)
            table.length.append(record.length - blanks)
            table.number.append(record.number)
        except OverflowError:
            self._widen(record.offset, record.length - blanks, record.number)
        table.kind.append(self._code(facts.kind))
        table.flags.append(_flags(record, facts))
        table.uuid.append(id_hash(facts.uuid))
        table.parent.append(id_hash(facts.parent_uuid))
        table.message.append(id_hash(facts.message.id) if facts.message is not None else 0)
        ms = milliseconds(facts.time)
        table.time.append(NO_TIME if ms is None else ms)
        return len(table.offset) - 1

    def _widen(self, *place: int) -> None:
        """Put wide columns in the place of those that cannot hold a number, and the numbers into them."""
        table, row = self.table, len(self.table.kind)
        table.offset, table.length, table.number = (
            array("Q", column[:row]) for column in (table.offset, table.length, table.number)
        )
        for column, value in zip((table.offset, table.length, table.number), place, strict=True):
            column.append(value)

    def _code(self, kind: str) -> int:
        kind = kind[:_LONGEST_KIND]
        code = self._codes.get(kind)
        if code is None:
            # A hostile file may name a new type on every line; the table does not grow for it.
            if len(self._codes) >= 4096:
                kind = "?"
            code = self._codes.setdefault(kind, len(self._codes))
            if code == len(self.table.kinds):
                self.table.kinds.append(kind)
        return code


def _flags(record: Record, facts: Skim) -> int:
    flags = 0
    if facts.is_meta:
        flags |= META
    if facts.is_sidechain:
        flags |= SIDECHAIN
    if facts.is_compact_summary:
        flags |= COMPACT_SUMMARY
    if facts.is_api_error_message:
        flags |= API_ERROR
    if not record.is_whole:
        flags |= SALVAGED
    if record.is_abridged:
        flags |= ABRIDGED
    role = facts.role
    if role == "user":
        if is_human(facts):
            flags |= HUMAN
        elif is_tool_result(facts):
            flags |= TOOL_RESULT
    elif role == "assistant":
        body = facts.body
        if isinstance(body, list) and any(block.type == "tool_use" for block in body):
            flags |= TOOL_USE
        if facts.message is not None and facts.message.model == "<synthetic>":
            flags |= SYNTHETIC
    return flags


class Session:
    """One session file, read. Nothing in it changes; lines are decoded when asked for."""

    __slots__ = ("_cache", "_cached", "fragments", "name", "source", "table")

    def __init__(
        self, source: Source, table: Table, fragments: Iterable[Fragment] = (), *, name: str | None = None
    ) -> None:
        self.source = source
        self.table = table
        self.fragments = tuple(fragments)
        """The bytes that are no records."""
        self.name = name
        """What the client calls the session: the name of its file, a UUID."""
        self._cache: OrderedDict[int, Entry] = OrderedDict()
        self._cached = 0

    @classmethod
    def read(cls, source: Source | bytes, *, name: str | None = None) -> Session:
        """Read the line table of `source`."""
        origin = BytesSource(source) if isinstance(source, bytes) else source
        builder = TableBuilder()
        fragments: list[Fragment] = []
        for item in scan(origin):
            if isinstance(item, Record):
                builder.add(item)
            else:
                fragments.append(item)
        return cls(origin, builder.table, fragments, name=name)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return f"Session({self.name!r}, {len(self)} records)"

    def entry(self, row: int) -> Entry:
        """Return the entry in `row`; recent ones are kept, up to some megabytes."""
        found = self._cache.get(row)
        if found is not None:
            self._cache.move_to_end(row)
            return found
        entry = self._load(row)
        self._cache[row] = entry
        self._cached += len(entry.raw)
        while self._cached > _CACHE_BYTES and len(self._cache) > 1:
            _, old = self._cache.popitem(last=False)
            self._cached -= len(old.raw)
        return entry

    def entries(self, rows: Iterable[int] | None = None) -> Iterator[Entry]:
        """Give the entries in `rows`, all of them in file order without."""
        if rows is not None:
            yield from map(self.entry, rows)
            return
        for item in scan(self.source):
            if isinstance(item, Record):
                yield item.decoded()

    def row(self, uuid: str) -> int | None:
        """Return the row of an entry by its uuid; of several, the last."""
        row = self.table.last_of(id_hash(uuid))
        return row if row >= 0 else None

    def whole(self, row: int) -> Entry:
        """Return the entry in `row` with nothing cut, however long its line is."""
        table = self.table
        raw = self.source.read(table.offset[row], table.length[row])
        return Entry(
            raw.removeprefix(b"\xef\xbb\xbf").rstrip(b" \t\r\n"),
            offset=table.offset[row],
            number=table.number[row],
            is_whole=not table.flags[row] & SALVAGED,
        )

    def _load(self, row: int) -> Entry:
        if not self.table.flags[row] & ABRIDGED:
            return self.whole(row)
        abridge = Abridger()
        at = self.table.offset[row]
        end = at + self.table.length[row]
        while at < end:
            piece = self.source.read(at, min(LONG, end - at))
            if not piece:
                break
            abridge.feed(piece)
            at += len(piece)
        brief = abridge.finish() or b"{}"
        return Entry(
            brief.rstrip(b" \t\r\n"),
            offset=self.table.offset[row],
            number=self.table.number[row],
            is_abridged=True,
        )
