"""What a query may do: one statement, which reads the documented tables and does nothing else.

SQLite itself says what a statement would do before it runs (its authorizer); what is not on the short list of
harmless things is refused by name. The databases are opened for reading besides, so this is for clear words
first. The same pass tells which tables a statement needs.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import apsw

from clew.actions.sql_errors import RefusedError, SqlError, explained
from clew.errors import UsageError
from clew.tables.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.actions.sql_errors import Connection, Cursor

_HEAD: Final = re.compile(r"(?:\s|;|--[^\n]*(?:\n|\Z)|/\*.*?(?:\*/|\Z))*+", re.DOTALL)
_WORD: Final = re.compile(r"[A-Za-z]+")

_OTHER: Final = frozenset({
    "ALTER", "ANALYZE", "ATTACH", "BEGIN", "COMMIT", "CREATE", "DELETE", "DETACH", "DROP", "END", "INSERT",
    "REINDEX", "RELEASE", "REPLACE", "ROLLBACK", "SAVEPOINT", "UPDATE", "VACUUM",
})  # fmt: skip
"""The words that begin the statements that do more than read."""

_PRAGMAS: Final = frozenset(
    {"table_info", "table_xinfo", "function_list", "collation_list", "compile_options"}
)
_FUNCTIONS: Final = frozenset({"load_extension", "fts3_tokenizer", "sqlite_log", "rtreecheck", "optimize"})
"""Functions that do more than work something out."""

_MODULES: Final = frozenset(
    {"json_each", "json_tree", "generate_series", *(f"pragma_{name}" for name in _PRAGMAS)}
)

_ALL: Final = frozenset(TABLES)
_WHOLE: Final = frozenset({"turns", "calls", "files", "problems"})
_WHOLE_COLUMNS: Final = frozenset(
    {("entries", "input_kind"), ("entries", "round"), ("messages", "stop_reason"), ("messages", "lines")}
)
"""Columns of other tables that only whole sessions can tell as well."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement that may run."""

    text: str
    columns: tuple[str, ...]
    """What they are called: an answer without rows has no place to ask."""

    tables: frozenset[str]
    """The documented tables it reads."""

    needs_details: bool
    """Whether it reads something that only whole sessions can tell."""


class Guard:
    """Says of everything that a statement would do whether it may, and notes what it reads."""

    def __init__(self, views: Iterable[str]) -> None:
        self._views = frozenset(views)
        self.tables: set[str] = set()
        self.needs_details = False
        self.refused: str | None = None
        self.unknown: str | None = None
        """A table that is none of the documented ones."""

    def __call__(
        self, code: int, first: str | None, second: str | None, database: str | None, within: str | None
    ) -> int:
        """Answer SQLite."""
        match code:
            case apsw.SQLITE_SELECT | apsw.SQLITE_RECURSIVE:
                is_fine = True
            case apsw.SQLITE_READ:
                is_fine = self._reads(first or "", second or "", database, within)
            case apsw.SQLITE_FUNCTION:
                is_fine = self._allows((second or "").lower() not in _FUNCTIONS, f"{second}()")
            case apsw.SQLITE_PRAGMA:
                name = (first or "").lower()
                is_fine = self._allows(name in _PRAGMAS, f"PRAGMA {name}")
            case _:
                is_fine = self._allows(False, _words(code, first, second))
        return apsw.SQLITE_OK if is_fine else apsw.SQLITE_DENY

    def _allows(self, is_fine: bool, what: str) -> bool:
        if not is_fine:
            self.refused = self.refused or what
        return is_fine

    def _reads(self, table: str, column: str, database: str | None, within: str | None) -> bool:
        table, column = table.lower(), column.lower()
        if table in _ALL and database in {"temp", None}:
            self.tables.add(table)
            self.needs_details |= table in _WHOLE or (table, column) in _WHOLE_COLUMNS
            return True
        # Without a column it is a table of which nothing is used: of the query itself, or inside a view.
        if not column or table in _MODULES or (within or "").lower() in self._views:
            return True
        self.unknown = self.unknown or table
        return False


def _words(code: int, first: str | None, second: str | None) -> str:
    name = str(apsw.mapping_authorizer_function.get(code, "this")).removeprefix("SQLITE_").replace("_", " ")
    subject = second if code == apsw.SQLITE_SAVEPOINT else first
    return name if subject is None or name == "TRANSACTION" else f"{name} {subject}"


def guarded(database: Connection) -> Guard:
    """Put a guard over a connection, for good."""
    database.authorizer = None
    rows = database.execute("SELECT name FROM sqlite_temp_schema WHERE type = 'view'")
    guard = Guard(str(name) for (name,) in rows)
    # A misspelt column in double quotes is an error, not a text.
    database.config(apsw.SQLITE_DBCONFIG_DQS_DML, 0)
    database.config(apsw.SQLITE_DBCONFIG_DQS_DDL, 0)
    database.config(apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0)
    database.authorizer = guard
    return guard


def checked(database: Connection, text: str) -> Statement:
    """Find out what a query would do without running it; `RefusedError` if it must not."""
    if "\0" in text:
        raise UsageError("the query holds a NUL")
    start = _blank(text)
    verb = _verb(text[start:])
    # What stands before the statement goes, and with it empty statements; places stay what they are.
    text = re.sub(r"[^\n]", " ", text[:start]) + text[start:]
    if start == len(text):
        raise UsageError("there is no query", hint='clew sql "SELECT title FROM sessions"')
    if verb in _OTHER:
        raise RefusedError(verb)
    guard = guarded(database)
    traced: list[tuple[str, bool, tuple[str, ...]]] = []

    def trace(cursor: Cursor, sql: str, bindings: Any) -> bool:  # noqa: ARG001
        columns = tuple(str(column[0]) for column in cursor.get_description())
        traced.append((sql, cursor.is_readonly, columns))
        return False

    cursor = database.cursor()
    cursor.exec_trace = trace
    with explained(database, text, guard), suppress(apsw.ExecTraceAbort):
        cursor.execute(text)
    cursor.close()
    if not traced:
        raise SqlError("there is no statement in it")
    sql, is_readonly, columns = traced[0]
    rest = text[len(sql) :]
    if _blank(rest) < len(rest):
        raise RefusedError("more than one statement")
    if not is_readonly:
        raise RefusedError(verb or "this statement")
    return Statement(sql, columns, frozenset(guard.tables), guard.needs_details)


def _blank(text: str) -> int:
    """Return where the first statement begins: after white space, comments and stray semicolons."""
    found = _HEAD.match(text)
    return found.end() if found else 0


def _verb(text: str) -> str:
    found = _WORD.match(text)
    return found[0].upper() if found else text[:8]
