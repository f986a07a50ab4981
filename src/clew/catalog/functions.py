"""Functions of our own that the views use."""

from __future__ import annotations

import os
import time
from functools import cached_property
from typing import TYPE_CHECKING

from clew.store.signs import RECENT
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.catalog.database import Database


def add_functions(database: Database, roots: Sequence[str]) -> None:
    """Give a connection what the views need; `roots` are the config folders of the store."""
    database.create_scalar_function("clew_cost", _cost, 8, deterministic=True)
    database.create_scalar_function("clew_text", _text, 1, deterministic=True)
    database.create_scalar_function("clew_live", _Signs(roots).is_live, 2)


class _Signs:
    """Says whether a session may be being written at this moment, on this machine: as `store.signs` does."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = roots

    @cached_property
    def _processes(self) -> Mapping[str, int]:
        from clew.store.live import running  # few queries ask for it

        return running(self._roots)

    def is_live(self, session: str, mtime_ns: int) -> bool:
        """Say whether a running client names the session, or its file was written within ten minutes."""
        return abs(time.time() - mtime_ns / 1e9) < RECENT or session in self._processes


def _text(path: bytes) -> str:
    return whole_characters(os.fsdecode(path))


def _cost(
    model: str | None,
    time_ms: int | None,
    terms: str,
    given: int,
    output: int,
    cached: int,
    short: int,
    long: int,
) -> float | None:
    from clew.catalog.rollups import terms_of  # here and below: few commands ask for it
    from clew.session.pricing import Tokens, Usage, cost_of

    tier, speed, geo, searches, fetches, advisers = terms_of(terms)
    tokens = Tokens(given, output, cached, short, long)
    cost = cost_of(model, Usage(tokens, searches, fetches, tier, speed, geo, advisers), time_ms=time_ms)
    if cost is None and not tokens.total and not searches and not advisers:
        return 0.0  # nothing costs nothing, whatever the model
    return cost
