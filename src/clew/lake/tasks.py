"""What is done apart, in another process or on another machine: plain bytes in, plain bytes out.

A task writes files and tells which; nothing of it is seen until the driver commits them. So it can be run
again, or twice, and nothing is there twice.
"""

from __future__ import annotations

import gc
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec import Struct

from clew.errors import ClewError
from clew.lake.files import Shelf, Written, opened
from clew.lake.layout import Group  # noqa: TC001  # the decoder asks for it
from clew.lake.libraries import arrow, compute
from clew.lake.mapping import Origin, Part, map_session
from clew.lake.places import Place  # noqa: TC001  # the decoder asks for it
from clew.lake.schemas import Rows, batch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.lake.held import Row
    from clew.lake.layout import Member
    from clew.lake.mapping import Mapped


_LARGE: Final = 8 << 20
_MANY: Final = 5_000
"""Rows of one session from which they become columns at once."""


class MapTask(Struct, frozen=True, tag="map"):
    """Make the rows of some sessions."""

    src: Place
    lake: Place
    groups: tuple[Group, ...]
    key: bytes | None
    """Makes the placeholders of secrets; None to leave them in."""


class LeaveOutTask(Struct, frozen=True, tag="leave-out"):
    """Write files of one partition of a table again, as one, without the rows of some sessions.

    Without any sessions all the files become one; else those stay that have no row of them.
    """

    lake: Place
    table: str
    team: str
    day: str
    paths: tuple[str, ...]
    sources: tuple[str, ...]


class Done(Struct, frozen=True, array_like=True):
    """What became of one session."""

    source: str
    day: str
    damaged: int
    secrets: int
    problem: str | None = None
    """Why it, or a part of it, could not be read; then it is tried again in the next build."""

    has_rows: bool = True


class Outcome(Struct, frozen=True, array_like=True):
    """What a task did."""

    written: tuple[Written, ...]
    done: tuple[Done, ...] = ()
    removed: tuple[str, ...] = ()
    """Files of the table whose rows are now in others."""

    table: str = ""
    cpu_seconds: float = 0.0


Task = MapTask | LeaveOutTask


def packed(task: Task) -> bytes:
    """Return a task as bytes."""
    return msgspec.msgpack.encode(task)


def outcome(data: bytes) -> Outcome:
    """Read what a task did."""
    return msgspec.msgpack.decode(data, type=Outcome)


def run(data: bytes) -> bytes:
    """Do a task."""
    task = msgspec.msgpack.decode(data, type=Task)
    start = time.process_time()
    # Millions of small values come and go, and next to none in circles: looking for those took a tenth.
    gc.disable()
    try:
        found = _map(task) if isinstance(task, MapTask) else _leave_out(task)
    finally:
        gc.enable()
    spent = time.process_time() - start
    return msgspec.msgpack.encode(msgspec.structs.replace(found, cpu_seconds=spent))


# --- sessions -----------------------------------------------------------------------------------------------


def _map(task: MapTask) -> Outcome:
    shelf = Shelf(task.lake)
    done: list[Done] = []
    for group in task.groups:
        done.append(_map_group(task, group, shelf))
        if group.size > _LARGE:
            gc.collect()
    return Outcome(tuple(shelf.close()), tuple(done))


def _map_group(task: MapTask, group: Group, shelf: Shelf) -> Done:
    held: list[tuple[str, Rows | Any]] = []

    def put(table: str, day: str, rows: Sequence[Row]) -> None:
        table = "facts" if table == "sessions" else table
        found = Rows(day, group.developer, group.source, rows)
        # Of a session of any length there are never many as they are: columns take a fraction of that.
        held.append((table, found if len(rows) < _MANY else batch(table, [found])))

    try:
        mapped, problem = _mapped(task, group, put)
    except ClewError as error:
        return Done(group.source, "", 0, 0, error.message, has_rows=False)
    except (MemoryError, KeyboardInterrupt):
        raise
    except Exception as error:  # one odd session among a million must not stop the others
        return Done(group.source, "", 0, 0, f"{type(error).__name__}: {error}"[:300], has_rows=False)
    for table, rows in held:
        if isinstance(rows, Rows):
            shelf.add_rows(table, group.team, rows)
        else:
            shelf.add(table, group.team, mapped.day, [rows])
    return Done(group.source, mapped.day, mapped.damaged, mapped.secrets, problem)


def _mapped(task: MapTask, group: Group, put: Any) -> tuple[Mapped, str | None]:
    problems: list[str] = []
    with ExitStack() as stack:
        parts: list[Part] = []
        for member in group.members:
            if member.kind == "side":
                continue
            try:
                source = stack.enter_context(task.src.opened(member.found))
                source.read(0, 1)  # an object is fetched when it is read first
            except ClewError as error:
                if member.kind == "session":
                    raise
                problems.append(error.message)
                continue
            path = task.src.shown(member.found.key)
            parts.append(Part(path, member.name, source, member.kind == "agent"))
        main = group.main
        changed = (main or group.members[0]).found.changed_ms
        origin = Origin(group.session, group.folder, changed)
        sides = (_side(task.src, one) for one in group.members if one.kind == "side")
        mapped = map_session(origin, parts, put, key=task.key, sides=sides)
    return mapped, "; ".join(problems) or None


def _side(src: Place, member: Member) -> Iterator[bytes]:
    try:
        yield from src.pieces(member.found)
    except ClewError:
        return  # it cannot be read, so it is in no row either


# --- files --------------------------------------------------------------------------------------------------


def _leave_out(task: LeaveOutTask) -> Outcome:
    gone = arrow().array(task.sources, type=arrow().string())
    shelf, removed = Shelf(task.lake), list[str]()
    for path in task.paths:
        file = opened(task.lake, task.table, path)
        sources = file.read(columns=["source"], use_threads=False)["source"]
        is_kept = compute().invert(compute().is_in(sources, value_set=gone))
        if task.sources and compute().all(is_kept).as_py():
            continue
        removed.append(path)
        rows = file.read(use_threads=False)
        shelf.add(task.table, task.team, task.day, rows.filter(is_kept).to_batches())
    return Outcome(tuple(shelf.close()), (), tuple(removed), task.table)
