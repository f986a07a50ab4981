"""Export one session: into a file, or as pieces for whoever writes them. Many at once: `exporting_folder`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from functools import cache
from pkgutil import get_data
from typing import TYPE_CHECKING, Final

from clew.actions.export_stories import Chosen, Cleaning, story_of
from clew.actions.exporting_together import write_together
from clew.actions.opening import agent_files, find_file
from clew.actions.passes import cores
from clew.actions.reading import Opened, is_being_written
from clew.actions.second_process import can_fork
from clew.errors import UsageError
from clew.export.file_names import file_name
from clew.export.options import Options
from clew.store.outputs import is_folder, write_output
from clew.store.reader import read_session
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from clew.edit.secret_forms import Spans
    from clew.export.registry import Exporter
    from clew.export.story import Story
    from clew.store.files import Listing, SessionFile, Store
    from clew.store.outputs import Written

_PAYS: Final = 8_000_000
"""Bytes of a session from which a second process is quicker."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What to export, and how."""

    exporter: Exporter
    options: Options = field(default_factory=Options)
    chosen: Chosen = field(default_factory=Chosen)
    key: bytes | None = None
    """Makes the placeholders of secrets; None to leave them in."""

    own: Spans | None = None
    """Finds a person's own secrets."""

    patterns: tuple[str, ...] = ()
    """What `own` was made of."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A session that was written."""

    session: str
    written: Written
    redacted: Mapping[str, int]
    is_damaged: bool = False
    left: int = 0
    """How many secrets stay, as they hold the session together."""


def check(wish: Wish) -> None:
    """Refuse what makes no sense."""
    chosen = wish.chosen
    if chosen.at is not None and chosen.branch is not None:
        raise UsageError("--at and --branch each name a way of their own", hint="give one of them")
    if wish.exporter.is_context and (chosen.first is not None or chosen.last is not None):
        raise UsageError(
            f"{wish.exporter.name} is what the model is sent, so turns cannot be chosen",
            hint="--at UUID ends it in a line",
        )


def open_file(
    store: Store, file: SessionFile, *, listing: Listing | None = None, source: FileSource | None = None
) -> Opened:
    """Open a session file with those of its sub-agents; `source` is the file, if it is open."""
    return open_with(file, agent_files(store, file, listing=listing), source=source)


def open_with(
    file: SessionFile, agents: tuple[SessionFile, ...], *, source: FileSource | None = None
) -> Opened:
    """Open a session file with those of its sub-agents, which are known."""
    source = FileSource(file.path) if source is None else source
    session = read_session(source)
    return Opened(file, session, agents, source.was_cut, is_being_written(file, session.fragments))


def story(
    opened: Opened, wish: Wish, *, advance: Callable[[int], None] | None = None, jobs: int = 1
) -> Story:
    """Return an opened session as the exporter is given it."""
    chosen = replace(wish.chosen, is_one_way=wish.exporter.is_one_way, with_agents=wish.options.with_agents)
    cleaning = None if wish.key is None else Cleaning(wish.key, wish.own, advance)
    return story_of(opened, chosen, cleaning=cleaning, assets=_assets(wish.exporter.assets), jobs=jobs)


def pieces(told: Story, wish: Wish, *, jobs: int = 1) -> Iterator[bytes]:
    """Give the export; the same bytes however many `jobs` there are."""
    in_parts = wish.exporter.in_parts
    if jobs == 1 or in_parts is None or told.part is None or len(told.cuts) < 2 or not can_fork():
        return wish.exporter.write(told, wish.options)
    return write_together(told, wish.options, in_parts)


def processes(opened: Opened, jobs: int | None) -> int:
    """Say how many processes are to write a session: `jobs`, or as many as pay; never more than two."""
    if jobs is None:
        jobs = cores() if _size(opened) >= _PAYS else 1
    return max(1, min(jobs, 2))


def _size(opened: Opened) -> int:
    return opened.session.source.size + sum(file.size for file in opened.agent_files)


def export_session(
    store: Store,
    name: str,
    wish: Wish,
    *,
    target: str | None = None,
    force: bool = False,
    jobs: int | None = 1,
    progress: Callable[[int], Callable[[int], None]] | None = None,
) -> Exported:
    """Write a session into a file: `target`, or one with a name of its own in the folder that it names.

    Without a target it is the current folder. `jobs` says how many processes write it, None as many as pay.
    `progress` is told how many bytes are looked through for secrets, and gives what is told of those that are
    done.
    """
    check(wish)
    opened = open_named(store, name)
    many = processes(opened, jobs)
    told = story(opened, wish, advance=_advance(opened, wish, progress), jobs=many)
    where = "." if target is None else target
    if is_folder(where):
        where = os.path.join(where, file_name(told.head, wish.exporter.suffix))  # noqa: PTH118
    written = write_output(where, pieces(told, wish, jobs=many), replace=force)
    return Exported(told.head.session, written, told.redacted, opened.is_damaged, told.left)


def export_pieces(
    store: Store,
    name: str,
    wish: Wish,
    *,
    jobs: int | None = 1,
    progress: Callable[[int], Callable[[int], None]] | None = None,
) -> tuple[Iterator[bytes], Opened, int]:
    """Return a session as pieces, the session that was opened, and how many secrets stay in it."""
    check(wish)
    opened = open_named(store, name)
    many = processes(opened, jobs)
    told = story(opened, wish, advance=_advance(opened, wish, progress), jobs=many)
    return pieces(told, wish, jobs=many), opened, told.left


def open_named(store: Store, name: str) -> Opened:
    """Open the session a name stands for."""
    listing = store.listing()
    return open_file(store, find_file(store, name, listing=listing), listing=listing)


def _advance(
    opened: Opened, wish: Wish, progress: Callable[[int], Callable[[int], None]] | None
) -> Callable[[int], None] | None:
    if progress is None or wish.key is None:
        return None
    # Once to find the secrets; that they are taken out is quick where there are none.
    return progress(_size(opened))


@cache
def _assets(names: tuple[str, ...]) -> Mapping[str, bytes]:
    # Not `importlib.resources`: that takes longer to import than these take to read.
    return {name: get_data("clew", name) or b"" for name in names}
