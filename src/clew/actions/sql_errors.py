"""What goes wrong with a query, in words: what, where, and what was probably meant."""

from __future__ import annotations

import re
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final, Protocol

import apsw

from clew.errors import ClewError
from clew.tables.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

_SCHEMA: Final = "clew sql --schema"
_NAMED: Final = re.compile(r"(?:no such column: |ambiguous column name: |cannot join using column )(\S+)")
_TABLE: Final = re.compile(r"no such table: (\S+)")
_FUNCTION: Final = re.compile(r"no such function: (\S+)")
_IDENTIFIER: Final = re.compile(r"\w+")

_OF_THE_INDEX: Final = (
    apsw.BusyError, apsw.LockedError, apsw.FullError, apsw.CantOpenError, apsw.IOError, apsw.CorruptError,
    apsw.NotADBError, apsw.ProtocolError, apsw.NoLFSError,
)  # fmt: skip
"""Trouble with the databases, which is none of the query's."""


class SqlError(ClewError):
    """The query makes no sense, or cannot be worked out."""

    code = "sql"


class RefusedError(ClewError):
    """The query would do more than read."""

    code = "refused"

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is refused: clew sql takes one statement, which only reads", hint=_SCHEMA)
        self.what = what


class SlowError(ClewError):
    """The query took longer than it was given."""

    code = "timeout"

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the query was ended after {seconds:g} s", hint="a greater --timeout")
        self.seconds = seconds


class Cursor(Protocol):
    """As much of an `apsw.Cursor` as is used: what apsw itself declares a strict checker does not know."""

    exec_trace: Callable[[Any, str, Any], bool] | None
    is_readonly: bool

    def execute(self, statements: str) -> object: ...  # noqa: D102
    def get_description(self) -> Sequence[tuple[str, ...]]: ...  # noqa: D102
    def __iter__(self) -> Iterator[tuple[str | int | float | bytes | None, ...]]: ...
    def close(self) -> None: ...  # noqa: D102


class Connection(Protocol):
    """As much of an `apsw.Connection` as is used."""

    authorizer: Callable[[int, str | None, str | None, str | None, str | None], int] | None

    def cursor(self) -> Cursor: ...  # noqa: D102
    def execute(self, statements: str) -> Iterable[tuple[Any, ...]]: ...  # noqa: D102
    def config(self, name: int, value: int) -> object: ...  # noqa: D102
    def set_progress_handler(self, callable: Callable[[], bool] | None, nsteps: int) -> None: ...  # noqa: A002, D102


class Refusals(Protocol):
    """Who knows what was refused."""

    refused: str | None
    unknown: str | None


@contextmanager
def explained(database: Connection, text: str, guard: Refusals) -> Generator[None]:
    """Turn what SQLite says of a query into an error with a hint; trouble with the index is passed on."""
    try:
        yield
    except _OF_THE_INDEX:
        raise
    except apsw.ReadOnlyError as error:
        raise RefusedError("a statement that writes") from error
    except apsw.BindingsError as error:
        raise SqlError("the query has parameters, and there are no values for them") from error
    except apsw.Error as error:
        raise _worded(database, text, guard, error) from error
    except UnicodeDecodeError as error:
        raise SqlError("the answer holds a text that is not UTF-8", hint="hex(…) shows its bytes") from error
    except UnicodeEncodeError as error:
        raise SqlError("the query is not UTF-8") from error


def _worded(database: Connection, text: str, guard: Refusals, error: apsw.Error) -> ClewError:
    if guard.refused is not None:
        return RefusedError(guard.refused)
    if guard.unknown is not None:
        return _no_table(text, guard.unknown, None)
    message, offset = str(error), getattr(error, "error_offset", -1)
    at = None if offset < 0 else len(text.encode()[:offset].decode(errors="ignore"))
    if message.startswith("cannot modify "):
        return RefusedError("a statement that writes")
    if found := _TABLE.search(message):
        return _no_table(text, found[1], at)
    if found := _NAMED.search(message):
        hint = _column_hint(text, found[1])
    elif found := _FUNCTION.search(message):
        database.authorizer = None
        names = {str(name) for (name,) in database.execute("SELECT name FROM pragma_function_list")}
        hint = _meant(found[1], names)
    else:
        hint = None
    return SqlError(message + _place(text, at), hint=hint)


def _no_table(text: str, name: str, at: int | None) -> SqlError:
    bare = name.rpartition(".")[2]
    if at is None:
        found = re.search(rf"\b{re.escape(bare)}\b", text, re.IGNORECASE)
        at = found.start() if found else None
    return SqlError(f"no such table: {name}{_place(text, at)}", hint=_meant(bare, TABLES))


def _column_hint(text: str, name: str) -> str:
    """Name the nearest column of the tables that the query names; else where there is one of that name."""
    bare = name.rpartition(".")[2].lower()
    words = {word.lower() for word in _IDENTIFIER.findall(text)}
    named = [table for table in TABLES.values() if table.name in words]
    places = [f"{table.name}.{bare}" for table in named if bare in table.names]
    if places:
        return f"say which: {' or '.join(places)}"
    owners = [table.name for table in TABLES.values() if bare in table.names]
    if owners:
        return f"{bare} is a column of {', '.join(owners)}"
    return _meant(bare, {column for table in named or TABLES.values() for column in table.names})


def _meant(name: str, names: Iterable[str]) -> str:
    near = get_close_matches(name.lower(), list(names), 3, 0.6)
    return f"did you mean {' or '.join(near)}?" if near else _SCHEMA


def _place(text: str, at: int | None) -> str:
    if at is None:
        return ""
    line = text.count("\n", 0, at) + 1
    return f" (line {line}, character {at - text.rfind(chr(10), 0, at)})"
