"""A session: a compact table of its lines, and the source they are read from when asked for.

Columns, not one object a line: 48 bytes each, and 12 more for the index of the uuids when one is looked for.
Ids are held as 64-bit hashes (Python's own, keyed anew in each process, so nobody can plan a collision; among
a million ids one is expected in some 37 million sessions).
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, Final, TypeVar, cast

from clew.errors import ChangedOnDiskError
from clew.format.decode import DecodeError
from clew.format.entry import Entry
from clew.format.lines import LONG, Abridger, BytesSource, readline_from
from clew.format.records import Record, read_plainly, scan
from clew.format.times import milliseconds
from clew.session.ids import IdIndex, id_hash
from clew.session.prompts import is_human

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from clew.format.lines import Source
    from clew.format.records import Fragment
    from clew.format.skim import Skim

Result = TypeVar("Result")

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
_MOST_NAMES: Final = 100
"""Versions and ids of sessions that are kept; a hostile file may have a new one on each line."""
NO_TIME: Final = -(2**62)

_CACHE_BYTES: Final = 4 << 20


class Names:
    """What lines say of the session beside their content, in the order it was said first."""

    __slots__ = ("branch", "cwd", "session_id", "session_ids", "slug", "version", "versions")

    def __init__(self) -> None:
        self.versions: dict[str, None] = {}
        self.session_ids: dict[str, None] = {}
        self.cwd: str | None = None
        """The first."""
        self.branch: str | None = None
        """The last, as all that follow."""
        self.slug: str | None = None
        self.version: str | None = None
        self.session_id: str | None = None

    def see(self, facts: Skim) -> None:
        """Take note of what a line says; of many versions and ids only the first."""
        self.version, self.session_id = facts.version, facts.session_id
        for name, names in ((facts.version, self.versions), (facts.session_id, self.session_ids)):
            if name and name not in names and len(names) < _MOST_NAMES:
                names[name] = None
        self.cwd = self.cwd or facts.cwd
        self.branch = facts.git_branch or self.branch
        self.slug = facts.slug or self.slug


class Table:
    """The columns. A row is one record, in file order."""

    __slots__ = (
        "_basis",
        "_index",
        "_indexed",
        "flags",
        "kind",
        "kinds",
        "length",
        "message",
        "names",
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
        self.names: Names | None = None
        """What its lines say beside their content; None where it began as another table."""
        self._index: IdIndex | None = None
        self._indexed = 0
        self._basis: IdIndex | None = None
        """The index of the rows that this table began with."""

    def __len__(self) -> int:
        return len(self.offset)

    def last_of(self, key: int) -> int:
        """Return the last row whose uuid hashes to `key`; -1 for none."""
        return self.ids().last(key)

    def ids(self) -> IdIndex:
        """Return the index of the uuids, which is made when first asked for; anew where rows were added."""
        if self._index is None or self._indexed != len(self.uuid):
            self._index = None  # first let go of the old one
            basis, self._basis = self._basis, None
            self._index = (basis and basis.grown(self.uuid)) or IdIndex(self.uuid)
            self._indexed = len(self.uuid)
        return self._index

    def beginning(self, rows: int) -> Table:
        """Return a table of its own with the first rows of this one."""
        found = Table()
        for name in ("offset", "length", "number", "kind", "flags", "uuid", "parent", "message", "time"):
            setattr(found, name, getattr(self, name)[:rows])
        found.kinds = list(self.kinds)
        if rows == self._indexed:
            found._basis = self._index
        return found

    def kind_of(self, row: int) -> str:
        """Return the type of a row with its subtype: `system/compact_boundary`."""
        return self.kinds[self.kind[row]]

    def time_of(self, row: int) -> int | None:
        """Return the time of a row in milliseconds, or None."""
        value = self.time[row]
        return None if value == NO_TIME else value


class TableBuilder:
    """Fills a table record by record; the same one serves reading and following."""

    def __init__(self, table: Table | None = None) -> None:
        """Begin anew, or go on with a table that nobody else has."""
        self.table = table or Table()
        self._names = None if table is not None else Names()
        self.table.names = self._names
        self._codes: dict[str, int] = {kind: code for code, kind in enumerate(self.table.kinds)}

    def read(self, readline: Callable[[int], bytes], *, start: int = 0, number: int = 1) -> list[Fragment]:
        """Append every record of what `readline` gives from byte `start`; return the bytes that are none."""
        fragments: list[Fragment] = []
        for item in read_plainly(readline, start=start, number=number):
            if isinstance(item, tuple):
                number, offset, raw, facts = item
                self._append(number, offset, _length(raw), facts, 0)
            elif isinstance(item, Record):
                self.add(item)
            else:
                fragments.append(item)
        return fragments

    def add(self, record: Record) -> int:
        """Append a record and return its row."""
        flags = 0 if record.is_whole else SALVAGED
        length = record.length
        if record.is_abridged:
            flags |= ABRIDGED
        else:
            length -= len(record.raw) - _length(record.raw)
        return self._append(record.number, record.offset, length, record.facts, flags)

    def _append(self, number: int, offset: int, length: int, facts: Skim, flags: int) -> int:
        table = self.table
        try:
            table.offset.append(offset)
            table.length.append(length)
            table.number.append(number)
        except OverflowError:
            self._widen(offset, length, number)
        kind = facts.type
        if kind != "assistant" and kind != "user":
            kind = facts.kind
        code = self._codes.get(kind)
        table.kind.append(self._code(kind) if code is None else code)
        table.flags.append(flags | _flags(facts))
        # As `id_hash` has it; a call for each would take longer than all the rest.
        uuid, parent, message = facts.uuid, facts.parent_uuid, facts.message
        table.uuid.append(0 if uuid is None else hash(uuid) or 1)
        table.parent.append(0 if parent is None else hash(parent) or 1)
        answer = None if message is None else message.id
        table.message.append(0 if answer is None else hash(answer) or 1)
        names = self._names
        if names is not None and (  # they are seldom others than on the line before
            facts.version != names.version
            or facts.session_id != names.session_id
            or facts.git_branch != names.branch
            or facts.slug != names.slug
            or names.cwd is None
        ):
            names.see(facts)
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


def _length(raw: bytes) -> int:
    """Return the length of a line without its ending."""
    # Nearly every line ends in a brace, and no copy is made to find that out.
    return len(raw) - 1 if raw.endswith(b"}\n") else len(raw.rstrip(b" \t\r\n"))


def _flags(facts: Skim) -> int:
    flags = META if facts.is_meta else 0
    if facts.is_sidechain:
        flags |= SIDECHAIN
    if facts.is_compact_summary:
        flags |= COMPACT_SUMMARY
    if facts.is_api_error_message:
        flags |= API_ERROR
    message = facts.message
    role = facts.type or (None if message is None else message.role)
    if role != "user" and role != "assistant":
        return flags
    body = message.content if message is not None and message.content is not None else facts.body
    # Loops, and not any(): the calls alone would take as long as all the rest of this.
    if role == "assistant":
        if message is not None and message.model == "<synthetic>":
            flags |= SYNTHETIC
        if isinstance(body, list):
            for block in body:
                if block.type == "tool_use":
                    return flags | TOOL_USE
        return flags
    if isinstance(body, list):
        for block in body:
            if block.type == "tool_result":  # then it is no prompt
                return flags | TOOL_RESULT
    return flags | HUMAN if is_human(facts) else flags


class Session:
    """One session file, read. Nothing in it changes; lines are decoded when asked for."""

    __slots__ = ("_cache", "_cached", "_known", "fragments", "name", "source", "table")

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
        self._known: dict[object, tuple[int, object]] = {}
        """What was worked out of all its lines, by what did so; and of how many lines."""

    @classmethod
    def read(cls, source: Source | bytes, *, name: str | None = None) -> Session:
        """Read the line table of `source`."""
        origin = BytesSource(source) if isinstance(source, bytes) else source
        builder = TableBuilder()
        fragments = builder.read(readline_from(origin))
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

    def once(self, work: Callable[[Session], Result]) -> Result:
        """Return what `work` makes of the session; it is done once."""
        known = self._known.get(work)
        if known is None or known[0] != len(self):
            known = self._known[work] = (len(self), work(self))
        return cast("Result", known[1])

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
        found = self._brief(row) if self.table.flags[row] & ABRIDGED else self.whole(row)
        try:
            found.read()
        except DecodeError:
            # When the table was made it was a record: somebody has written over it since.
            raise ChangedOnDiskError(str(getattr(self.source, "path", self.name))) from None
        return found

    def _brief(self, row: int) -> Entry:
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
