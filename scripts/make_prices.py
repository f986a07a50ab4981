"""Write `src/clew/session/prices.py` from the data of genai-prices and the overlay below (`make prices`).

genai-prices is a development dependency only: importing it takes longer than a warm `clew usage` may.
What it does not know, or what the real client does otherwise, is stated here, each with its reason.
"""

from __future__ import annotations

import re
import subprocess
import sys
from decimal import Decimal
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from genai_prices.data import providers
from genai_prices.types import (
    ClauseContains,
    ClauseEquals,
    ClauseOr,
    ClauseStartsWith,
    ModelInfo,
    ModelPrice,
    Provider,
    StartDateConstraint,
    TieredPrices,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

TARGET = Path(__file__).parent.parent / "src" / "clew" / "session" / "prices.py"

KINDS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "cache_write_1h_mtok")
"""The names of genai-prices for the five kinds of tokens, in the order of the table."""

# --- the overlay ---------------------------------------------------------------------------------------

TWINS = {
    # Released to few, priced in the vendor's list like their public twins; the client 2.1.325 agrees.
    "claude-mythos-5": "claude-fable-5",
    "claude-mythos-5-1": "claude-fable-5-1",
    "claude-mythos-5-2": "claude-fable-5-2",
}

ADDED = {
    # Released after the source was made; the vendor's list price, and that of the client 2.1.325.
    "claude-fable-5-2": (8.0, 40.0, 0.2, 10.0, 16.0),
    # Announced at $25 and $125; its cache prices by the vendor's usual factors of input (1.25, 2 and 0.1).
    # The client 2.1.325 does not know it any more.
    "claude-mythos-preview": (25.0, 125.0, 2.5, 31.25, 50.0),
}

ADDED_UNTIL = "2026-11-09"
"""The newest day that the overlay knows of: the release of Fable 5.2."""

FLAT = {
    # genai-prices doubles the price above 200,000 tokens of prompt, as the long-context beta did; the client
    # never has, and a session does not say whether the beta was on.
    "claude-sonnet-4-5",
}

FAST = {
    # `speed: "fast"` in the usage: the vendor's factors, which the client 2.1.325 uses too. Other models have
    # no fast mode, and the client leaves their price alone whatever the usage says.
    "claude-opus-4-6": 6,
    "claude-opus-4-7": 6,
    "claude-opus-4-8": 2,
    "claude-opus-5": 2,
    "claude-opus-5-5": 2,
    "claude-fable-5-2": 2,
    "claude-mythos-5-2": 2,
}

ALIASES = {
    # Spellings left when provider, date and version marks are gone, where genai-prices does not list them.
    "claude-2-0": "claude-2",
    "claude-2-1": "claude-2",
    "claude-sonnet-3-5": "claude-3-5-sonnet",
    "claude-haiku-3-5": "claude-3-5-haiku",
    "claude-4-1-opus": "claude-opus-4-1",
    "claude-4-5-sonnet": "claude-sonnet-4-5",
    "claude-4-6-sonnet": "claude-sonnet-4-6",
}

FREE = ("<synthetic>",)  # messages the client wrote itself; no model was asked

TEMPLATE = '''\
"""What a million tokens cost in US dollars, by model and day. Written by `make prices`; do not edit.

Plain literals only, so that importing this costs next to nothing. `clew.session.pricing` reads it;
`scripts/make_prices.py` says where each figure comes from.
"""

from __future__ import annotations

SOURCE = {source!r}
DATE = {date!r}
"""The newest day that the source, or an addition to it, names for these prices."""

Five = tuple[float, float, float, float, float]
"""Input, output, cache read, cache write for 5 minutes, cache write for 1 hour."""

Period = tuple[str, Five, int, Five | None]
"""First day (UTC; empty: from ever), prices, and the prompt length above which the others hold (0: none)."""

MODELS: dict[str, tuple[Period, ...]] = {{{models}}}
"""Periods by model, the oldest first."""

ALIASES: dict[str, str] = {{{aliases}}}
"""Other spellings, bare of provider, date and version marks."""

FAST: dict[str, int] = {{{fast}}}
"""What fast mode multiplies the price of every token by."""

FREE: frozenset[str] = frozenset({free!r})
"""Names of no model at all: these messages cost nothing."""

WEB_SEARCH = {search!r}
"""One web search."""
'''


def main() -> int:
    """Write the table, or with `--check` say whether it is up to date."""
    text = render()
    if "--check" in sys.argv[1:]:
        if TARGET.read_text(encoding="utf-8") == text:
            return 0
        print("prices.py is not what `make prices` writes", file=sys.stderr)
        return 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


def render() -> str:
    """Return the module's text, formatted as the repository formats."""
    anthropic = next(provider for provider in providers if provider.id == "anthropic")
    models = {key_of(model): periods(model) for model in anthropic.models}
    models |= {name: [("", rates, 0, None)] for name, rates in ADDED.items()}
    models |= {name: models[twin] for name, twin in TWINS.items()}
    aliases = {spelling: key for spelling, key in listed_aliases(anthropic) if spelling not in models}
    aliases |= ALIASES
    searches = {price for model in anthropic.models for price in search_prices(model)}
    if len(searches) != 1:
        raise SystemExit(f"one price for web searches was expected, not {searches}")
    text = TEMPLATE.format(
        source=f"genai-prices {version('genai-prices')}, with additions",
        date=max(date_of(anthropic), ADDED_UNTIL),
        models="".join(
            f"{name!r}: ({''.join(f'{row!r},' for row in rows)})," for name, rows in sorted(models.items())
        ),
        aliases=pairs(sorted(aliases.items())),
        fast=pairs(FAST.items()),
        free=FREE,
        search=float(searches.pop()) / 1000,
    )
    return formatted(text)


def pairs(items: Iterable[tuple[str, object]]) -> str:
    return "".join(f"{key!r}: {value!r}," for key, value in items)


def key_of(model: ModelInfo) -> str:
    """Return the model's name in the table: its id, which may end in `-latest`, without that."""
    return model.id.removesuffix("-latest")


def periods(model: ModelInfo) -> list[tuple[str, tuple[float, ...], int, tuple[float, ...] | None]]:
    """Return the model's rows of the table, the oldest first."""
    if isinstance(model.prices, ModelPrice):
        return [("", *rates(model, model.prices))]
    rows: list[tuple[str, tuple[float, ...], int, tuple[float, ...] | None]] = []
    for price in model.prices:
        if price.constraint is not None and not isinstance(price.constraint, StartDateConstraint):
            raise SystemExit(f"{model.id}: a price by time of day, which the table cannot hold")
        start = price.constraint.start_date.isoformat() if price.constraint else ""
        rows.append((start, *rates(model, price.prices)))
    if [row[0] for row in rows] != sorted(row[0] for row in rows) or rows[0][0]:
        raise SystemExit(f"{model.id}: the prices do not follow each other by day")
    return rows


def rates(model: ModelInfo, price: ModelPrice) -> tuple[tuple[float, ...], int, tuple[float, ...] | None]:
    """Return the five rates, and where a longer prompt costs more, from where on and those five."""
    plain: list[float] = []
    long: list[float] = []
    starts: set[int] = set()
    values: dict[str, Decimal | TieredPrices] = {}
    for kind in KINDS:
        value = getattr(price, kind)
        if value is None:
            # A model from before caching, or whose hour-long cache is not listed: genai-prices charges the
            # next wider kind.
            value = values["cache_write_mtok" if kind == "cache_write_1h_mtok" else "input_mtok"]
        values[kind] = value
        if isinstance(value, TieredPrices):
            (tier,) = value.tiers
            starts.add(tier.start)
            plain.append(float(value.base))
            long.append(float(tier.price))
        else:
            plain.append(float(value))
            long.append(float(value))
    if not starts or key_of(model) in FLAT:
        return tuple(plain), 0, None
    (start,) = starts
    return tuple(plain), start, tuple(long)


def search_prices(model: ModelInfo) -> list[Decimal]:
    """Return what a thousand web searches cost with this model, period by period, where it can search."""
    rows = [model.prices] if isinstance(model.prices, ModelPrice) else [row.prices for row in model.prices]
    return [row.web_searches_kcount for row in rows if isinstance(row.web_searches_kcount, Decimal)]


def listed_aliases(provider: Provider) -> list[tuple[str, str]]:
    """Return the spellings that genai-prices matches, bare of dates and marks, each with its model."""
    found: list[tuple[str, str]] = []
    for model in provider.models:
        clauses = model.match.or_ if isinstance(model.match, ClauseOr) else [model.match]
        for clause in clauses:
            match clause:
                case (
                    ClauseStartsWith(starts_with=text)
                    | ClauseEquals(equals=text)
                    | ClauseContains(contains=text)
                ):
                    spelling = re.sub(r"(?:-20\d*|-latest|@)$", "", text).replace(".", "-")
                    found.append((spelling, key_of(model)))
                case _:  # patterns only add a date, which is taken off before looking
                    pass
    return sorted(set(found))


def date_of(provider: Provider) -> str:
    """Return the newest day that the provider's prices name, in words or as the start of a price."""
    return max(re.findall(r"\d{4}-\d{2}-\d{2}", " ".join(dated_words(provider))))


def dated_words(provider: Provider) -> list[str]:
    words = [provider.price_comments or ""]
    for model in provider.models:
        words.append(model.price_comments or "")
        conditional = [] if isinstance(model.prices, ModelPrice) else model.prices
        words.extend(
            entry.constraint.start_date.isoformat()
            for entry in (*conditional, *(model.price_variants or ()))
            if isinstance(entry.constraint, StartDateConstraint)
        )
    return words


def formatted(text: str) -> str:
    """Return the text as `ruff format` leaves it, so that the generated file passes the same checks."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    raise SystemExit(main())
