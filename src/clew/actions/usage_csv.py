"""Tokens and money as comma-separated values."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.session.accounts import Account, Sum
    from clew.session.pricing import Tokens

_COLUMNS: Final = (
    "input", "output", "cache_read", "cache_write_5m", "cache_write_1h", "messages", "cost_usd",
    "unpriced_messages",
)  # fmt: skip
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r", "\n")


def cache_hit_rate(tokens: Tokens) -> float | None:
    """Return how much of what models were sent came from the cache, from 0 to 1; None without any."""
    return tokens.cache_read / tokens.prompt if tokens.prompt else None


def csv_lines(account: Account) -> Iterator[str]:
    """Give the groups of an account, a line each; where they are told by model, a line for each model."""
    is_divided = any(group.models for group in account.groups)
    yield _line([account.by, *(["model"] if is_divided else []), *_COLUMNS])
    for group in account.groups:
        if not is_divided:
            yield _line([_plain(group.key), *_cells(group.sum)])
            continue
        for one in group.models:
            yield _line([_plain(group.key), _plain(one.key), *_cells(one.sum)])


def _cells(total: Sum) -> list[object]:
    tokens = total.tokens
    counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write_5m, tokens.cache_write_1h)
    cost = "" if total.cost_usd is None else f"{total.cost_usd:.6f}"
    return [*counts, total.messages, cost, total.unpriced]


def _plain(text: str) -> str:
    """Return a name that no spreadsheet takes for a formula: it may be a session's own words."""
    return f"'{text}" if text.startswith(_FORMULAS) else text


def _line(cells: Sequence[object]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerow(cells)
    return out.getvalue()
