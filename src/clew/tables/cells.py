"""What the rows have in common: whose file they are of, and how a day, a text and a list are written."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

import orjson

from clew.format.times import iso
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.session.pricing import Tokens

_DAY_MS: Final = 86_400_000


class Home(NamedTuple):
    """Whose file the rows are of."""

    session_id: str
    agent_id: str | None = None
    """The sub-agent, for its own file."""


def day_of(ms: int | None) -> str | None:
    """Return the day of a time, in UTC."""
    return None if ms is None else _day(ms // _DAY_MS)


@lru_cache(maxsize=4096)
def _day(number: int) -> str | None:
    text = iso(number * _DAY_MS)
    return None if text is None else text[:10]


def clean(text: str | None) -> str | None:
    """Return a text that every database takes: half a character becomes U+FFFD."""
    return None if text is None else whole_characters(text)


def json_list(items: Iterable[object]) -> str:
    """Return a list as JSON text."""
    if items == ():
        return "[]"
    listed = [clean(item) if isinstance(item, str) else item for item in items]
    return orjson.dumps(listed).decode()


def counts(tokens: Tokens) -> tuple[int, int, int, int, int]:
    """Return token counts in the order of the columns."""
    return (
        tokens.input, tokens.output, tokens.cache_read, tokens.cache_write_5m, tokens.cache_write_1h,
    )  # fmt: skip
