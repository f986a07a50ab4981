"""What a repair does to the lines of one file, gathered, and the session as it stands after that much of it.

A repair goes step by step: each step looks at what the steps before it made, because a line that is saved
from a damaged one may be the parent that another was missing. A line goes by its origin: its row in the file
as it was, or, below 0, one of the lines that were added.
"""

from __future__ import annotations

from array import array
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from msgspec import Struct

from clew.edit.changes import REJOINED, Change, Changes
from clew.edit.line_names import ENDS, LISTS, NAMES, RELINKED, is_naming, named_at
from clew.edit.plan import KEEP, Add, Drop, FilePlan, Patch, Stretch
from clew.edit.woven import Woven
from clew.format.decode import DecodeError, decode, encode
from clew.format.patch import NoSuchPathError, replace
from clew.format.salvage import BOM
from clew.session.chain import chain
from clew.session.context import context
from clew.session.eras import rules
from clew.session.graph import Graph, Links
from clew.session.ids import id_hash
from clew.session.parallel import with_parallel
from clew.session.reach import SAID
from clew.session.session import API_ERROR, TOOL_RESULT, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clew.edit.plan import Step
    from clew.session.chain import Chain
    from clew.session.context import Context


class Aside(NamedTuple):
    """Bytes that a repair takes out of the file and that are to be kept elsewhere."""

    line: int
    """The line they were in, from 1."""

    offset: int
    """Where they were in the file; of a picture, where its line was."""

    length: int
    reason: str
    media_type: str | None
    """What a picture is; None for bytes that are no record."""

    read: Callable[[], bytes]
    """Gives the bytes themselves."""


class View:
    """A session as it stands, where its rows come from, and what several steps want to know of it."""

    def __init__(self, session: Session, origins: Sequence[int]) -> None:
        self.session = session
        self.origins = origins

    @cached_property
    def context(self) -> Context:
        """What the newest client sends."""
        return context(self.session)

    @cached_property
    def path(self) -> Chain:
        """The path the newest client takes."""
        return chain(self.session, rules())

    @cached_property
    def said(self) -> Sequence[int]:
        """What is said on that path, parallel calls too, in the order it is sent."""
        if self.path.refused:
            return ()
        table = self.session.table
        rows = with_parallel(self.session, self.path, rules())
        return [row for row in rows if table.kind_of(row) in SAID and not table.flags[row] & API_ERROR]

    @cached_property
    def links(self) -> Links:
        """The parents of the rows."""
        return Links(self.session.table)

    @cached_property
    def graph(self) -> Graph:
        """The whole tree."""
        return Graph(self.session, links=self.links)


class Added(Struct):
    """A line that was not in the file, or not at this place."""

    data: bytes
    before: int | None
    """The row of the old file it comes before; None for the end."""

    reason: str
    is_gone: bool = False


class Repaired(Changes):
    """The changes of a repair, and what must be kept elsewhere."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.quarantine: list[Aside] = []
        """What is taken out: bytes that are no records, and pictures that are too large."""
        self.ended: set[int] = set()
        """The rows that get a line ending."""
        self.drops_mark = False
        """Whether the byte order mark goes."""
        self.actions = 0
        """How much was done so far; a step that finds nothing to do leaves it as it is."""
        self._mends: dict[int, list[Change]] = {}
        self._added: list[Added] = []
        self._uuids: dict[int, str] = {}
        self._heirs: dict[str, str | None] = {}

    def __bool__(self) -> bool:
        return bool(self.actions) or super().__bool__()

    @property
    def changed(self) -> frozenset[int]:
        """The rows that are changed."""
        return frozenset((*self._changes, *self._mends, *self.ended))

    def copy(self) -> Repaired:
        """Return the same changes, to be added to."""
        other = Repaired(self.session)
        other.dropped = dict(self.dropped)
        other._changes = {row: [*changes] for row, changes in self._changes.items()}
        other._before = {row: [*added] for row, added in self._before.items()}
        other._at_end = [*self._at_end]
        other.damage = self.damage
        other.quarantine = [*self.quarantine]
        other.ended, other.drops_mark, other.actions = {*self.ended}, self.drops_mark, self.actions
        other._mends = {row: [*mends] for row, mends in self._mends.items()}
        other._added = [Added(one.data, one.before, one.reason, one.is_gone) for one in self._added]
        other._uuids, other._heirs = dict(self._uuids), dict(self._heirs)
        return other

    # What the steps of a repair say -------------------------------------------------------------

    def end(self, row: int) -> None:
        """Give a row of the file a line ending."""
        self.ended.add(row)
        self.actions += 1

    def remove(self, origin: int, reason: str, *, heir: str | None = None) -> None:
        """Let a line go; what followed it follows `heir`, or without one what it followed itself."""
        self.actions += 1
        if heir is not None and (uuid := self._uuid(origin)) is not None:
            self._heirs[uuid] = heir
        if origin < 0:
            self._added[~origin].is_gone = True
        else:
            self.drop(origin, reason)

    def patch(self, origin: int, make: Callable[[bytes], bytes], reason: str) -> None:
        """Change a line. `make` must not count on what else is in it: others may have changed it before."""
        self.actions += 1
        if origin < 0:
            added = self._added[~origin]
            added.data = make(added.data)
        else:
            self._mends.setdefault(origin, []).append(Change(make, reason))

    def set(self, origin: int, name: str, value: object, reason: str) -> None:
        """Give a line another value under a top-level name, or a first one."""
        self.patch(origin, lambda raw: with_field(raw, name, value), reason)
        if name == "uuid" and isinstance(value, str) and origin >= 0:
            self._uuids[origin] = value

    def put(self, data: bytes | Mapping[str, Any], reason: str, *, before: int | None) -> None:
        """Add a line before a row of the file, behind what was added there already; at the end without."""
        self.actions += 1
        raw = data if isinstance(data, bytes) else encode(data)
        self._added.append(Added(raw, before, reason))

    def hang(self, row: int, parent: str | None) -> None:
        """Let a line follow another one than it did."""
        self.set(row, "parentUuid", parent, REJOINED)

    # What comes of it ---------------------------------------------------------------------------

    def now(self) -> View:
        """Return the session as it stands."""
        if not self:
            return View(self.session, range(len(self.session)))
        plan = self.plan("")
        session = Session.read(Woven(plan), name=self.session.name)
        origins = array("q", self._origins(plan))
        return View(session, origins)

    def raw(self, origin: int) -> bytes:
        """Return the bytes of a line as they stand, but for the names of lines that are gone."""
        if origin < 0:
            return self._added[~origin].data
        table = self.session.table
        raw = self.session.source.read(table.offset[origin], table.length[origin])
        # What comes from others counts blocks as they are in the file, so it comes first.
        for change in (*self._changes.get(origin, ()), *self._mends.get(origin, ())):
            raw = change.make(raw)
        return raw

    def plan(self, target: str) -> FilePlan:
        """Return what becomes of the file; the lines that stay are told of those that go."""
        told = _Told(self)
        before = {row: [*added] for row, added in self._before.items()}
        at_end = [*self._at_end]
        for added in self._added:
            if not added.is_gone:
                line = Add(told.line(added.data), added.reason)
                (at_end if added.before is None else before.setdefault(added.before, [])).append(line)
        if self._end is not None:
            at_end.append(self._end)
        return _RepairedPlan(
            self.session,
            target,
            drops_mark=self.drops_mark,
            decide=_Deciding(self, told),
            damage=self.damage,
            before=before,
            at_end=at_end,
        )

    def reasons(self, row: int) -> list[str]:
        """Return why a row is changed."""
        changes = (*self._changes.get(row, ()), *self._mends.get(row, ()))
        found = [change.reason for change in changes]
        if row in self.ended:
            found.append("its line had no ending of its own")
        return found

    def lines_added(self) -> Iterator[bytes]:
        """Give the lines that are added."""
        return (one.data for one in self._added if not one.is_gone)

    def uuid_now(self, row: int) -> int:
        """Return the hash of the uuid a row of the file has now."""
        new = self._uuids.get(row)
        return self.session.table.uuid[row] if new is None else id_hash(new)

    def gone(self) -> Iterator[tuple[str, str | None]]:
        """Give the uuids of the lines that go, and those of the lines that take their places."""
        for row in self.dropped:
            is_changed = row in self._changes or row in self._mends
            data = data_of(self.raw(row)) if is_changed else self.session.entry(row).data
            uuid = data.get("uuid")
            if isinstance(uuid, str):
                above = data.get("parentUuid") or data.get("logicalParentUuid")
                yield uuid, self._heirs.get(uuid, above if isinstance(above, str) else None)

    def _uuid(self, origin: int) -> str | None:
        uuid = data_of(self.raw(origin)).get("uuid")
        return uuid if isinstance(uuid, str) else None

    def _origins(self, plan: FilePlan) -> Iterator[int]:
        by_row: dict[int | None, list[int]] = {}
        for at, added in enumerate(self._added):
            if not added.is_gone:
                by_row.setdefault(added.before, []).append(~at)
        for item in plan.items():
            if item.row is not None:
                yield from by_row.get(item.row, ())
                if item.row not in self.dropped:
                    yield item.row
        yield from by_row.get(None, ())


class _RepairedPlan(FilePlan):
    """A plan that may leave the byte order mark out."""

    def __init__(self, session: Session, target: str, *, drops_mark: bool, **options: Any) -> None:
        super().__init__(session, target, **options)
        self._drops_mark = drops_mark

    def parts(self) -> Iterator[bytes | Stretch]:
        """Give what the new file is made of."""
        for part in super().parts():
            if self._drops_mark and isinstance(part, Stretch) and part.start == 0:
                if part.end > len(BOM):
                    yield Stretch(len(BOM), part.end)
            else:
                yield part


class _Told:
    """Tells the lines that stay who takes the place of those that go."""

    def __init__(self, state: Repaired) -> None:
        heirs = dict(state.gone())
        if heirs:
            # Of several lines with one uuid, one that stays is enough.
            keys = {id_hash(uuid): uuid for uuid in heirs}
            for row in range(len(state.session)):
                if (key := state.uuid_now(row)) in keys and row not in state.dropped:
                    heirs.pop(keys[key], None)
            for raw in state.lines_added():
                heirs.pop(str(data_of(raw).get("uuid")), None)
        self._heirs = heirs
        self.keys = frozenset(map(id_hash, heirs))

    def heir(self, uuid: str) -> str | None:
        """Return the uuid of the line that takes the place of one that is gone."""
        seen: set[str] = set()
        found: str | None = uuid
        while found is not None and found in self._heirs:
            if found in seen:
                return None
            seen.add(found)
            found = self._heirs[found]
        return found

    def line(self, raw: bytes) -> bytes:
        """Return a line with the right names in it."""
        if not self._heirs:
            return raw
        data = data_of(raw)
        for path in (*NAMES, *ENDS):
            value = named_at(data, path)
            if isinstance(value, str) and value in self._heirs:
                raw = replace(raw, path, self.heir(value))
        for path in LISTS:
            value = named_at(data, path)
            if isinstance(value, list):
                names = cast("list[object]", value)
                kept = [one for one in names if not (isinstance(one, str) and one in self._heirs)]
                if len(kept) < len(names):
                    raw = replace(raw, path, kept)
        return raw


class _Deciding:
    def __init__(self, state: Repaired, told: _Told) -> None:
        self._state = state
        self._told = told
        self._changed = state.changed
        self._is_naming = [*map(is_naming, state.session.table.kinds)]

    def __call__(self, row: int) -> Step:
        state, table = self._state, self._state.session.table
        reason = state.dropped.get(row)
        if reason is not None:
            return Drop(reason)
        may_name = bool(self._told.keys) and (
            table.parent[row] in self._told.keys
            or self._is_naming[table.kind[row]]
            or bool(table.flags[row] & TOOL_RESULT)
        )
        is_changed = row in self._changed
        if not is_changed and not may_name:
            return KEEP
        old = state.session.source.read(table.offset[row], table.length[row])
        raw = self._told.line(state.raw(row))
        if row in state.ended and not raw.endswith(b"\n"):
            raw += b"\n"
        if raw == old:
            return KEEP
        return Patch(raw, "; ".join(dict.fromkeys(state.reasons(row))) or RELINKED)


def data_of(raw: bytes) -> Mapping[str, Any]:
    """Return what a record says; nothing where it cannot be read."""
    try:
        return decode(raw.strip()).data
    except DecodeError:
        return {}


def with_field(raw: bytes, name: str, value: object) -> bytes:
    """Put a value under a top-level name, at the front where the record has none."""
    try:
        return replace(raw, (name,), value)
    except NoSuchPathError:
        start = raw.index(b"{") + 1
        rest = raw[start:]
        comma = b"" if rest.lstrip().startswith(b"}") else b","
        return raw[:start] + encode(name) + b":" + encode(value) + comma + rest
