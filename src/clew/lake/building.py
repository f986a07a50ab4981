"""Build a lake, or bring it up to date: the driver, which alone commits.

    list the source → sessions that changed → tasks write files → commit table by table → checkpoint
    when all are in: settle usage and sessions → commit → the last checkpoint, which readers see

A build that was cut short goes on from its last checkpoint: what came into the tables behind it goes first.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from clew.lake.builds import Checkpoint, NoLakeError, last, write_checkpoint
from clew.lake.delta import LakeTable
from clew.lake.files import Shelf
from clew.lake.listing import list_source
from clew.lake.manifest import known_of, manifest_row, read_manifest, told_ids
from clew.lake.places import PlaceError
from clew.lake.schemas import COLUMNS, MAPPED, SETTLED
from clew.lake.settling_here import Question
from clew.lake.tasks import LeaveOutTask, MapTask, outcome, packed
from clew.tables.schema import VERSION

if TYPE_CHECKING:
    from clew.lake.delta import Part
    from clew.lake.engines import Engine
    from clew.lake.files import Written
    from clew.lake.layout import Group
    from clew.lake.manifest import Known
    from clew.lake.places import Place
    from clew.lake.tasks import Done, Outcome
    from clew.store.files import Skipped

Tell = Callable[[str, int, int], object]
"""Is told the stage, how much of it is done, and how much there is."""

_LARGEST_TASK: Final = 256 << 20
_SMALLEST_TASK: Final = 1 << 20
_LARGEST_CHUNK: Final = 2 << 30
_SMALL_FILE: Final = 64 << 20
_LITTLE: Final = 64 << 20
"""Bytes of files up to which the driver writes them again itself."""

_MANY: Final = 8
"""Files of one partition from which they are put together."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How to build."""

    key: bytes | None
    """Makes the placeholders of secrets; None to leave secrets in."""

    prune: bool = False
    """Whether sessions that are gone from the source go from the lake too."""

    commit_every: int | None = None
    """Bytes of sessions after which a checkpoint is written."""

    now_ms: int = 0


@dataclass(slots=True)
class Report:
    """What a build did."""

    checkpoint: int = 0
    sessions: int = 0
    mapped: int = 0
    removed: int = 0
    bytes: int = 0
    secrets: int = 0
    damaged: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Sessions with lines that are not exactly one record, and how many."""

    unread: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Sessions that could not be read, or only in part, and why."""

    skipped: list[Skipped] = field(default_factory=list["Skipped"])
    task_seconds: float = 0.0
    """How long processors worked on sessions, all together."""

    resumed: bool = False
    written_bytes: int = 0


def build(
    src: Place, lake: Place, engine: Engine, wish: Wish, *, tell: Tell = lambda _stage, _done, _all: None
) -> Report:
    """Bring a lake up to date with a source."""
    return _Build(src, lake, engine, wish, tell).run()


def compact(lake: Place, engine: Engine) -> int:
    """Put small files of a lake together; return how many files went."""
    return _Build(lake, lake, engine, Wish(None), lambda _stage, _done, _all: None).compact()


class _Build:
    """One build."""

    def __init__(self, src: Place, lake: Place, engine: Engine, wish: Wish, tell: Tell) -> None:
        self._src = src
        self._lake = lake
        self._engine = engine
        self._wish = wish
        self._tell = tell
        self._terms = f"{VERSION} {'plain' if wish.key is None else 'redacted'}"
        self._report = Report()
        self._tables: dict[str, LakeTable] = {}
        self._number = 0
        self._known: dict[str, Known] = {}
        self._opened: tuple[int, dict[str, Known]] = (0, {})
        """The checkpoint it began with, and what was known then."""

    def run(self) -> Report:
        done = last(self._lake, is_done=True)
        before = self._open()
        listed = list_source(
            self._src, told_ids(self._known.values()), tell=lambda many: self._tell("listing", many, 0)
        )
        report = self._report
        report.skipped = listed.skipped
        report.sessions = len(listed.groups)
        todo = [group for group in listed.groups if not self._is_current(group)]
        gone = (
            sorted(self._known.keys() - {group.source for group in listed.groups}) if self._wish.prune else []
        )
        self._map(todo)
        if gone:
            self._forget(gone)
        is_new = before is None or before.state == "part"
        if self._number != (before.number if before else 0) or is_new:
            self._settle(done)
        report.checkpoint = self._number
        report.damaged = [(self._name(one), one.damaged) for one in self._known.values() if one.damaged]
        return report

    def _name(self, known: Known) -> str:
        return self._src.shown(json.loads(known.files)[0][0])

    # --- where it stands ------------------------------------------------------------------------------------

    def _open(self) -> Checkpoint | None:
        """Open the tables as the last checkpoint has them; make them where there is none."""
        found = last(self._lake, is_done=False)
        for name in COLUMNS:
            table = self._tables[name] = LakeTable(self._lake, name)
            if found is None:
                if table.is_there:
                    table.rewind(0)
                else:
                    table.create()
            else:
                table.rewind(found.versions[name])
        if found is not None:
            self._number = found.number
            self._report.resumed = found.state == "part"
            self._known = read_manifest(self._tables["manifest"])
            self._opened = found.number, dict(self._known)
        return found

    def _is_current(self, group: Group) -> bool:
        known = self._known.get(group.source)
        return known is not None and known.is_current(group.stamp, self._terms)

    def _checkpoint(self, *, is_done: bool) -> None:
        self._number += 1
        versions = {name: table.version for name, table in self._tables.items()}
        now = self._wish.now_ms or time.time_ns() // 1_000_000
        write_checkpoint(
            self._lake,
            Checkpoint(
                self._number, "done" if is_done else "part", versions, self._terms, now, len(self._known)
            ),
        )

    # --- sessions -------------------------------------------------------------------------------------------

    def _map(self, todo: Sequence[Group]) -> None:
        total = sum(group.size for group in todo)
        self._tell("sessions", 0, total)
        # Who works alone need not share, and whoever writes for many sessions writes fewer files.
        shares = 1 if self._engine.width == 1 else self._engine.width * 3
        size = min(_LARGEST_TASK, max(_SMALLEST_TASK, sum(map(_weight, todo)) // shares + 1))
        chunk = self._wish.commit_every or _LARGEST_CHUNK * self._engine.width
        # Neighbours in time are neighbours in the lake: a task then writes few files.
        ordered = sorted(todo, key=lambda group: (group.team, group.changed_ms // 86_400_000, group.source))
        for groups in _cut(ordered, chunk):
            self._chunk(groups, [*_cut(groups, min(size, chunk))])

    def _chunk(self, groups: Sequence[Group], shares: Iterable[Sequence[Group]]) -> None:
        tasks = [packed(MapTask(self._src, self._lake, tuple(share), self._wish.key)) for share in shares]
        by_source = {group.source: group for group in groups}
        written: list[Written] = []
        done: list[Done] = []
        for result in map(outcome, self._engine.run(tasks)):
            written += result.written
            done += result.done
            self._report.task_seconds += result.cpu_seconds
            self._tell("sessions", sum(by_source[one.source].size for one in result.done), 0)
        self._note(done, by_source)
        read = [one for one in done if one.has_rows]
        if not read:
            return
        shelf = Shelf(self._lake)
        for one in read:
            group = by_source[one.source]
            row = manifest_row(group, one, build=self._number + 1, terms=self._terms)
            shelf.add_rows("manifest", group.team, row)
        written += shelf.close()
        self._replace((*MAPPED, "manifest"), [one.source for one in read], written, self._known)
        # Not read again from the table: of many small files that took longer than all the rest.
        for one in read:
            group = by_source[one.source]
            self._known[one.source] = known_of(group, one, build=self._number + 1, terms=self._terms)
        self._checkpoint(is_done=False)

    def _note(self, done: Sequence[Done], by_source: Mapping[str, Group]) -> None:
        report = self._report
        for one in done:
            group = by_source[one.source]
            if one.problem is not None:
                where = group.main or group.members[0]
                report.unread.append((self._src.shown(where.found.key), one.problem))
            if one.has_rows:
                report.mapped += 1
                report.bytes += group.size
                report.secrets += one.secrets

    def _forget(self, gone: Sequence[str]) -> None:
        self._replace((*MAPPED, "manifest"), gone, (), self._known)
        self._report.removed = len(gone)
        for source in gone:
            del self._known[source]
        self._checkpoint(is_done=False)

    # --- commits --------------------------------------------------------------------------------------------

    def _replace(
        self,
        tables: Sequence[str],
        sources: Iterable[str] | None,
        written: Sequence[Written],
        before: Mapping[str, Known],
    ) -> None:
        """Put files into tables, and take the rows out that sessions had there before; None for all."""
        parts = {name: self._tables[name].parts() for name in tables}
        added: dict[str, list[Written]] = {name: [] for name in tables}
        removed: dict[str, list[Part]] = {name: [] for name in tables}
        for one in written:
            added[one.table].append(one)
            self._report.written_bytes += one.size
        if sources is None:
            removed = parts
        else:
            tasks = [*self._leave_out(parts, sources, before)]
            by_path = {(name, part.path): part for name in tables for part in parts[name]}
            # Few rows are read and written again: to hand them to others would take longer.
            is_small = sum(by_path[task.table, path].size for task in tasks for path in task.paths) < _LITTLE
            for task, result in zip(tasks, self._left_out(tasks, is_small=is_small), strict=True):
                added[task.table] += result.written
                removed[task.table] += (by_path[task.table, path] for path in result.removed)
        for name in tables:
            self._tables[name].commit(added[name], removed[name], build=self._number + 1)

    def _leave_out(
        self, parts: Mapping[str, list[Part]], sources: Iterable[str], before: Mapping[str, Known]
    ) -> Iterator[LeaveOutTask]:
        gone: dict[tuple[str, str], list[str]] = {}
        for source in sources:
            known = before.get(source)
            if known is not None:
                gone.setdefault((known.team, known.day), []).append(source)
        for name, found in parts.items():
            chosen: dict[tuple[str, str], list[str]] = {}
            for part in found:
                wanted = gone.get((part.team, part.day), ())
                if any((part.first or "") <= source <= (part.last or "~") for source in wanted):
                    chosen.setdefault((part.team, part.day), []).append(part.path)
            for (team, day), paths in chosen.items():
                yield LeaveOutTask(self._lake, name, team, day, tuple(paths), tuple(gone[team, day]))

    def _left_out(self, tasks: Sequence[LeaveOutTask], *, is_small: bool) -> list[Outcome]:
        if is_small:
            from clew.lake.tasks import run

            return [outcome(run(packed(task))) for task in tasks]
        # They come back in any order; what was removed tells whose each is.
        found = [*map(outcome, self._engine.run([packed(task) for task in tasks]))]
        return _in_order(tasks, found)

    # --- what depends on several ----------------------------------------------------------------------------

    def _settle(self, done: Checkpoint | None) -> None:
        self._tell("settling", 0, 0)
        before: dict[str, Known] = {}
        changed: list[str] | None = None
        where: list[tuple[str, str]] = []
        if done is not None:
            number, before = self._opened
            if number != done.number:  # others came after it, of a build that was cut short
                before = read_manifest(LakeTable(self._lake, "manifest", done.versions["manifest"]))
            new = {one.source for one in self._known.values() if one.build > done.number}
            changed = sorted(new | (before.keys() - self._known.keys()))
            both = (known[source] for known in (before, self._known) for source in changed if source in known)
            where = sorted({(one.team, one.day) for one in both})
        found = self._engine.settle(
            Question(
                self._lake,
                changed,
                self._tables["messages"].version,
                self._tables["facts"].version,
                None if done is None else done.versions["messages"],
                where,
            )
        )
        self._replace(SETTLED, found.touched, found.written, before)
        self._merge(least=_MANY)
        self._checkpoint(is_done=True)

    def compact(self) -> int:
        """Put small files together, wherever there are several; return how many files went."""
        if self._open() is None:
            raise NoLakeError(self._lake.url)
        if self._report.resumed:
            raise PlaceError(
                self._lake.url, "a build was cut short here: finish it first, by running it again"
            )
        merged = self._merge(least=2)
        if merged:
            self._checkpoint(is_done=True)
        return merged

    def _merge(self, *, least: int) -> int:
        """Put the small files of a partition together where there are so many."""
        merged = 0
        for name, table in self._tables.items():
            small: dict[tuple[str, str], list[Part]] = {}
            for part in table.parts():
                if part.size < _SMALL_FILE:
                    small.setdefault((part.team, part.day), []).append(part)
            chosen = [found for found in small.values() if len(found) >= least]
            tasks = [
                LeaveOutTask(
                    self._lake, name, found[0].team, found[0].day, tuple(part.path for part in found), ()
                )
                for found in chosen
            ]
            if not tasks:
                continue
            is_small = sum(part.size for found in chosen for part in found) < _LITTLE
            results = self._left_out(tasks, is_small=is_small)
            written = [one for result in results for one in result.written]
            removed = [part for found in chosen for part in found]
            table.commit(written, removed, build=self._number + 1, is_change=False)
            merged += len(removed) - len(written)
        return merged


def _weight(group: Group) -> int:
    """Return how much work a session is, in bytes: a file has to be opened, however short it is."""
    return group.size + 20_000


def _cut(groups: Sequence[Group], size: int) -> Iterator[Sequence[Group]]:
    """Cut sessions into stretches of about so many bytes."""
    held: list[Group] = []
    total = 0
    for group in groups:
        held.append(group)
        total += _weight(group)
        if total >= size:
            yield held
            held, total = [], 0
    if held:
        yield held


def _in_order(tasks: Sequence[LeaveOutTask], found: Sequence[Outcome]) -> list[Outcome]:
    from clew.lake.tasks import Outcome

    by_path = {(task.table, path): at for at, task in enumerate(tasks) for path in task.paths}
    ordered = [Outcome(())] * len(tasks)
    for one in found:
        if one.removed:
            ordered[by_path[one.table, one.removed[0]]] = one
    return ordered
