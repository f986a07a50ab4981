"""A connection to SQLite, as far as it is used here.

The types that apsw declares for its values are not known to a strict type checker. What a query gives is
therefore `Any`, here as in a decoder: whoever asks knows what they asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence


class Cursor(Protocol):
    """The rows of a query."""

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Give the rows."""
        ...

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all that are left."""
        ...

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the next one."""
        ...


class Database(Protocol):
    """An `apsw.Connection`."""

    def execute(self, statements: str, bindings: Sequence[object] = ()) -> Cursor:
        """Run a statement, or several."""
        ...

    def executemany(self, statements: str, sequenceofbindings: Iterable[Sequence[object]]) -> Cursor:
        """Run a statement once for each of some values."""
        ...

    def pragma(self, name: str, value: object = ..., *, schema: str | None = None) -> Any:
        """Set or get a setting."""
        ...

    def config(self, op: int, *args: int) -> object:
        """Set a switch of the connection."""
        ...

    def set_busy_timeout(self, milliseconds: int) -> None:
        """Say how long another's writing is waited for."""
        ...

    def create_scalar_function(
        self, name: str, function: Callable[..., object], numargs: int = -1, /, *, deterministic: bool = False
    ) -> None:
        """Give SQL a function."""
        ...

    def db_names(self) -> list[str]:
        """Return the names of what is attached."""
        ...

    def close(self) -> None:
        """Let go of it; what is not committed is undone."""
        ...

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""
        ...


def connect(path: str, flags: int) -> Database:
    """Open a database."""
    return cast("Database", cast("object", apsw.Connection(path, flags=flags)))
