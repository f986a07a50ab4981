"""Search all sessions for words, a literal or a pattern: `clew search`.

Words are asked of the index (`search_index`). A literal, a pattern, and words without an index are looked for
in the files themselves (`search_files`).
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from clew.actions.search_values import FIELDS, LIMIT, WIDTH, Hit, Known, Mode, Request, Result, Role, Wish
from clew.actions.stores import open_store

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.catalog.catalog import Progress

__all__ = ["FIELDS", "LIMIT", "WIDTH", "Hit", "Known", "Mode", "Request", "Result", "Role", "search"]


def search(
    request: Request,
    *,
    now: int | None = None,
    tell: Callable[[Progress], object] | None = None,
    start: Callable[[int], Callable[[int], object]] | None = None,
    early: Callable[[Result], object] | None = None,
    known: Known | None = None,
    pulse: Callable[[], object] | None = None,
) -> Result:
    """Search. `now` is the present in milliseconds.

    `tell` is told how the index comes along; `start` how many files are read where there is none, and gives
    what is told how many more were. `early` is given what was found in what people and the model said, while
    a new index still reads what tools said. With `known` files are not listed anew, nor is the index brought
    up to date if it is. `pulse` is called again and again meanwhile, and may end it all by an error.
    """
    began = time.perf_counter()
    asked = Wish.of(request, int(time.time() * 1000) if now is None else now)
    store = open_store(request.roots)
    result: Result | None = None
    notes: tuple[str, ...] = ()
    if request.mode == "words" and not request.no_index:
        from clew.actions.search_index import by_index
        from clew.catalog.unavailable import CatalogUnavailableError

        try:
            result = by_index(store, asked, tell, early, known, pulse)
        except CatalogUnavailableError as error:
            notes = (error.message,)
    if result is None:
        from clew.actions.search_files import by_scan

        if start is None and pulse is not None:
            start = lambda _files: lambda _read: pulse()  # noqa: E731
        result = by_scan(store, asked, start)
        result = replace(result, notes=(*notes, *result.notes))
    return replace(result, elapsed_ms=round((time.perf_counter() - began) * 1000))
