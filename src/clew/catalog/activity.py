"""When in a session the model answered: how often in each of some equal slices of its time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from clew.catalog.place import SHARDS, path_value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.catalog.database import Database

SLICES: Final = 24

# Sub-agents belong to the session they worked for, wherever their files were put.
_ANSWERS: Final = " UNION ALL ".join(
    "SELECT (x.time_ms - ?1) * ?3 / (?2 - ?1 + 1), count(*) "  # noqa: S608
    f"FROM s{number}.source f JOIN s{number}.message x ON x.source = f.id "
    "WHERE f.owner = ?4 AND x.time_ms BETWEEN ?1 AND ?2 AND x.marks & 1 GROUP BY 1"
    for number in range(SHARDS)
)


class Span(NamedTuple):
    """A session and the time it took, in milliseconds since 1970."""

    path: str
    first: int
    last: int


def activity(database: Database, spans: Iterable[Span], *, slices: int = SLICES) -> dict[str, list[int]]:
    """Return for each session how often the model answered in each slice, by the path of its own file."""
    found: dict[str, list[int]] = {}
    for path, first, last in spans:
        counts = found[path] = [0] * slices
        rows = database.execute(_ANSWERS, (first, max(first, last), slices, path_value(path)))
        for at, many in rows:
            counts[at] += many
    return found
