"""Keep the state of a file's folds: in quarters of a page, as a long value leaves half a page empty."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from clew.catalog.database import Database

_PIECE: Final = 1000
_PIECES: Final = 1 << 24
"""More than any file has: the pieces of a source have the numbers from its own times this on."""


def write_state(database: Database, source: int, state: bytes, *, is_new: bool = False) -> None:
    """Keep the state of a file in the place of the one before; `is_new` says that there was none."""
    if not is_new:
        clear_state(database, source)
    first = source * _PIECES
    pieces = range(0, len(state), _PIECE)
    database.executemany(
        "INSERT INTO state VALUES (?, ?)",
        [(first + number, state[at : at + _PIECE]) for number, at in enumerate(pieces)],
    )


def read_state(database: Database, source: int) -> bytes:
    """Return the state of a file; nothing where there is none."""
    rows = database.execute("SELECT data FROM state WHERE id BETWEEN ? AND ? ORDER BY id", _range(source))
    return b"".join(data for (data,) in rows)


def clear_state(database: Database, source: int) -> None:
    """Remove the state of a file."""
    database.execute("DELETE FROM state WHERE id BETWEEN ? AND ?", _range(source))


def _range(source: int) -> tuple[int, int]:
    return source * _PIECES, (source + 1) * _PIECES - 1
