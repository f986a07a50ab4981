"""When in its time each of some sessions was busy, for the small line beside it in a list.

Only the catalog can tell in time. Where it cannot, nothing is known, and the list does without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.catalog.activity import Span, activity
from clew.format.times import milliseconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.actions.listing import SessionRow
    from clew.store.files import Store


def activity_of(store: Store, rows: Sequence[SessionRow]) -> Mapping[str, Sequence[int]]:
    """Return how often the model answered in each slice of a session, by path; not of those unknown.

    The catalog is asked as it is: the rows come from it, and what is newer matters little to a line of 64
    pixels.
    """
    spans = [
        Span(row.path, first, last)
        for row in rows
        if row.messages is not None
        and (first := milliseconds(row.started)) is not None
        and (last := milliseconds(row.ended)) is not None
    ]
    if not spans:
        return {}
    from clew.catalog.catalog import Catalog
    from clew.catalog.unavailable import CatalogUnavailableError

    try:
        with Catalog.open(store) as catalog, catalog.reading() as database:
            return activity(database, spans)
    except CatalogUnavailableError:
        return {}
