"""Functions of our own that the views use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from clew.catalog.database import Database


def add_functions(database: Database) -> None:
    """Give a connection what the views need."""
    database.create_scalar_function("clew_cost", _cost, 8, deterministic=True)
    database.create_scalar_function("clew_text", _text, 1, deterministic=True)


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
    from clew.catalog.messages import terms_of  # here and below: few commands ask for it
    from clew.session.pricing import Tokens, Usage, cost_of

    tier, speed, geo, searches, fetches, advisers = terms_of(terms)
    tokens = Tokens(given, output, cached, short, long)
    cost = cost_of(model, Usage(tokens, searches, fetches, tier, speed, geo, advisers), time_ms=time_ms)
    if cost is None and not tokens.total and not searches and not advisers:
        return 0.0  # nothing costs nothing, whatever the model
    return cost
