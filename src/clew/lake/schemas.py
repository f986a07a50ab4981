"""The tables of a lake: the documented ones, with whose each row is, and a few the lake needs for itself.

Every table is split by `team` and by `session_day`, the day the session began: all rows of one session lie in
one partition. These two are in no file; the log of the table names them for each.
"""

from __future__ import annotations

from functools import cache
from itertools import chain, repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.lake.libraries import arrow
from clew.tables.schema import TABLES, Column
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PARTITION: Final = ("team", "session_day")

WHOSE: Final = (
    Column("team", "text", "the team: the first part of the path; `none` where there is none"),
    Column("session_day", "text", "the day its session began, in UTC, or `unknown`"),
    Column("developer", "text", "whose config folder it was in; `none` where the path does not tell"),
    Column("source", "text", "a short name of the session that is the same in every build"),
)
"""What every table of the lake has before its own columns."""

COPIES: Final = (
    Column("cost_usd", "real", "what this copy alone would have cost"),
    Column("project", "text", "the folder its session worked in"),
    Column("file", "text", "the file it stands in"),
    Column("owner_path", "text", "its session's own file"),
    Column("owner_name", "text", "what that is called"),
    Column("owner_oldest_ms", "integer", "the time of the oldest line of that"),
)
"""What `messages` has behind its own columns: what tells whose a message is that several files have."""

_MANIFEST: Final = (
    Column("session_id", "text", "the session"),
    Column("stamp", "text", "says whether any of its files changed"),
    Column("files", "text", "its files: key, etag, size, ids (list)"),
    Column("bytes", "integer", "the size of its session files"),
    Column("build", "integer", "the checkpoint since which its rows are there"),
    Column("damaged", "integer", "lines that are not exactly one record"),
    Column("secrets", "integer", "secrets that were taken out"),
    Column("terms", "text", "by which version of the tables, and whether without secrets"),
)

COLUMNS: Final[Mapping[str, tuple[Column, ...]]] = {
    **{name: (*WHOSE, *table.columns) for name, table in TABLES.items()},
    "messages": (*WHOSE, *TABLES["messages"].columns, *COPIES),
    # What is known of a session before it is settled what it used; `sessions` is made from it.
    "facts": (*WHOSE, *TABLES["sessions"].columns),
    "manifest": (*WHOSE, *_MANIFEST),
}
"""The columns of every table there is, in order."""

MAPPED: Final = ("entries", "messages", "turns", "calls", "files", "problems", "facts")
"""The tables whose rows `mapping` makes."""

SETTLED: Final = ("usage", "sessions")
"""The tables that depend on several sessions, and are made from those."""


def names(table: str) -> tuple[str, ...]:
    """Return the columns that are in the files of a table."""
    return tuple(column.name for column in COLUMNS[table] if column.name not in PARTITION)


@cache
def schema(table: str, *, is_whole: bool = True) -> Any:
    """Return the Arrow schema of a table; without `is_whole` that of its files."""
    library = arrow()
    types = {
        "text": library.string(),
        "integer": library.int64(),
        "real": library.float64(),
        "boolean": library.bool_(),
    }
    columns = (one for one in COLUMNS[table] if is_whole or one.name not in PARTITION)
    return library.schema([(column.name, types[column.type]) for column in columns])


class Rows(NamedTuple):
    """Rows of one session, and what the lake has before their own cells."""

    day: str
    developer: str
    source: str
    rows: Sequence[tuple[object, ...]]


def batch(table: str, chunks: Sequence[Rows]) -> Any:
    """Make a batch of what goes into a file from rows of any sessions."""
    made = schema(table, is_whole=False)
    whose = (
        [*chain.from_iterable(repeat(name(chunk), len(chunk.rows)) for chunk in chunks)]
        for name in (attrgetter("developer"), attrgetter("source"))
    )
    columns = chain(whose, zip(*chain.from_iterable(chunk.rows for chunk in chunks), strict=True))
    arrays = [_array(column, field.type) for column, field in zip(columns, made, strict=True)]
    return arrow().RecordBatch.from_arrays(arrays, schema=made)


def _array(column: Sequence[object], kind: Any) -> Any:
    library = arrow()
    try:
        return library.array(column, type=kind)
    except (OverflowError, UnicodeError, library.ArrowException):
        # A hostile number may be larger than any column. Nothing else is known to come here, but rows of
        # other sessions are in this column too, and those are not to go with it.
        return library.array([_fitting(one, str(kind)) for one in column], type=kind)


def _fitting(value: object, kind: str) -> object:
    match value:
        case bool():
            return value if kind == "bool" else None
        case int():
            return value if kind in ("int64", "double") and -(2**63) <= value < 2**63 else None
        case float():
            return value if kind == "double" else None
        case str():
            return whole_characters(value) if kind == "string" else None
        case _:
            return None
