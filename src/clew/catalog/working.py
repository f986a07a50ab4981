"""The work in some shards: read what is new, then what tools said, then what only whole sessions can tell."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

from clew.catalog.collector import collector_at_rest
from clew.catalog.indexing import Indexer
from clew.catalog.shards import translated
from clew.catalog.sources import lacking

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from clew.catalog.database import Database
    from clew.catalog.options import Options, Stage
    from clew.catalog.sources import Share
    from clew.store.files import Skipped


_SMALL_CACHE_KB: Final = 4 << 10


class Teller(Protocol):
    """Who is told how far the work is, and knows whether to stop."""

    stop: Callable[[], bool]

    def tell(self, stage: Stage, files: int, size: int) -> None:
        """Take in that some files and bytes were gone through."""
        ...

    @property
    def skipped(self) -> list[Skipped]:
        """The files that could not be read."""
        ...


def work(
    todo: Sequence[tuple[Share, Database]], report: Teller, options: Options, *, with_tools: bool
) -> None:
    """Do what is to be done in some shards: in all of them what was said before what tools said."""
    for share, database in todo:
        if not share.is_idle and not report.stop():
            with translated(share.number, is_writing=True), _rolled_back(database), collector_at_rest():
                _read_share(share, database, report, with_tools=with_tools, batch=options.batch)
    for share, database in todo:
        if not report.stop():
            with translated(share.number, is_writing=True), _rolled_back(database), collector_at_rest():
                _read_tools(database, report, batch=options.batch)
    for share, database in todo:
        if options.details and not report.stop():
            with translated(share.number, is_writing=True), _rolled_back(database):
                _read_details(database, report, batch=options.batch)


@contextmanager
def _rolled_back(database: Database) -> Generator[None]:
    try:
        yield
    except BaseException:
        if database.in_transaction:
            database.execute("ROLLBACK")
        raise


def _read_share(share: Share, database: Database, report: Teller, *, with_tools: bool, batch: int) -> None:
    indexer = Indexer(
        database, advance=lambda size: report.tell("dialogue", 0, size), is_stopped=report.stop, batch=batch
    )
    for source in share.gone:
        indexer.forget(source)
    for source, session, owner in share.moved:
        indexer.move(source, session, owner)
    # The newest first: if it is interrupted, those are what will be asked for.
    for work in sorted(share.work, key=lambda work: (-work.wanted.stamp[3], work.wanted.path)):
        if report.stop():
            break
        indexer.index(work, with_tools=with_tools)
        report.tell("dialogue", 1, 0)
        indexer.pause()
    indexer.commit()
    report.skipped.extend(indexer.skipped)


def _read_tools(database: Database, report: Teller, *, batch: int) -> None:
    if database.execute("SELECT 1 FROM source WHERE tools_offset < offset").fetchone() is None:
        return
    indexer = Indexer(
        database, advance=lambda size: report.tell("tools", 0, size), is_stopped=report.stop, batch=batch
    )
    for source, path in indexer.pending():
        if report.stop():
            break
        indexer.tools(source, path)
        report.tell("tools", 1, 0)
        indexer.pause()
    indexer.commit()


def _read_details(database: Database, report: Teller, *, batch: int) -> None:
    todo = lacking(database)
    if not todo:
        return
    from clew.catalog.details import Details  # with all that whole sessions need

    # Whole sessions are held here, and little is read twice: the memory is better left to them.
    database.pragma("cache_size", -_SMALL_CACHE_KB)
    database.execute("PRAGMA shrink_memory")
    database.execute("BEGIN IMMEDIATE")
    details = Details(database)
    taken = 0
    for source, size in todo:
        if report.stop():
            break
        details.make(source)
        report.tell("details", 1, size)
        taken += size
        if taken >= batch:
            database.execute("COMMIT")
            database.execute("BEGIN IMMEDIATE")
            taken = 0
    database.execute("COMMIT")
