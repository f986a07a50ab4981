"""What a million tokens cost in US dollars, by model and day. Written by `make prices`; do not edit.

Plain literals only, so that importing this costs next to nothing. `clew.session.pricing` reads it;
`scripts/make_prices.py` says where each figure comes from.
"""

from __future__ import annotations

SOURCE = "genai-prices 0.2.1, with additions"
DATE = "2026-11-09"
"""The newest day that the source, or an addition to it, names for these prices."""

Five = tuple[float, float, float, float, float]
"""Input, output, cache read, cache write for 5 minutes, cache write for 1 hour."""

Period = tuple[str, Five, int, Five | None]
"""First day (UTC; empty: from ever), prices, and the prompt length above which the others hold (0: none)."""

MODELS: dict[str, tuple[Period, ...]] = {
    "claude-2": (("", (8.0, 24.0, 8.0, 8.0, 8.0), 0, None),),
    "claude-3-5-haiku": (("", (0.8, 4.0, 0.08, 1.0, 1.6), 0, None),),
    "claude-3-5-sonnet": (("", (3.0, 15.0, 0.3, 3.75, 6.0), 0, None),),
    "claude-3-7-sonnet": (("", (3.0, 15.0, 0.3, 3.75, 6.0), 0, None),),
    "claude-3-haiku": (("", (0.25, 1.25, 0.03, 0.3, 0.5), 0, None),),
    "claude-3-opus": (("", (15.0, 75.0, 1.5, 18.75, 30.0), 0, None),),
    "claude-3-sonnet": (("", (3.0, 15.0, 0.3, 3.75, 6.0), 0, None),),
    "claude-fable-5": (("", (10.0, 50.0, 1.0, 12.5, 20.0), 0, None),),
    "claude-fable-5-1": (("", (10.0, 50.0, 0.25, 12.5, 20.0), 0, None),),
    "claude-fable-5-2": (("", (8.0, 40.0, 0.2, 10.0, 16.0), 0, None),),
    "claude-haiku-4-5": (("", (1.0, 5.0, 0.1, 1.25, 2.0), 0, None),),
    "claude-haiku-5-5": (("", (0.1, 0.5, 0.01, 0.125, 0.2), 100000, (0.5, 2.5, 0.05, 0.625, 1.0)),),
    "claude-mythos-5": (("", (10.0, 50.0, 1.0, 12.5, 20.0), 0, None),),
    "claude-mythos-5-1": (("", (10.0, 50.0, 0.25, 12.5, 20.0), 0, None),),
    "claude-mythos-5-2": (("", (8.0, 40.0, 0.2, 10.0, 16.0), 0, None),),
    "claude-mythos-preview": (("", (25.0, 125.0, 2.5, 31.25, 50.0), 0, None),),
    "claude-opus-4-0": (("", (15.0, 75.0, 1.5, 18.75, 30.0), 0, None),),
    "claude-opus-4-1": (("", (15.0, 75.0, 1.5, 18.75, 30.0), 0, None),),
    "claude-opus-4-5": (("", (5.0, 25.0, 0.5, 6.25, 10.0), 0, None),),
    "claude-opus-4-6": (
        ("", (5.0, 25.0, 0.5, 6.25, 10.0), 200000, (10.0, 37.5, 1.0, 12.5, 20.0)),
        ("2026-03-13", (5.0, 25.0, 0.5, 6.25, 10.0), 0, None),
    ),
    "claude-opus-4-7": (("", (5.0, 25.0, 0.5, 6.25, 10.0), 0, None),),
    "claude-opus-4-8": (("", (5.0, 25.0, 0.5, 6.25, 10.0), 0, None),),
    "claude-opus-5": (("", (5.0, 25.0, 0.5, 6.25, 10.0), 0, None),),
    "claude-opus-5-5": (("", (4.0, 20.0, 0.2, 5.0, 8.0), 0, None),),
    "claude-sonnet-4-0": (("", (3.0, 15.0, 0.3, 3.75, 6.0), 0, None),),
    "claude-sonnet-4-5": (("", (3.0, 15.0, 0.3, 3.75, 6.0), 0, None),),
    "claude-sonnet-4-6": (
        ("", (3.0, 15.0, 0.3, 3.75, 6.0), 200000, (6.0, 22.5, 0.6, 7.5, 12.0)),
        ("2026-03-13", (3.0, 15.0, 0.3, 3.75, 6.0), 0, None),
    ),
    "claude-sonnet-5": (("", (2.0, 10.0, 0.2, 2.5, 4.0), 0, None),),
    "claude-sonnet-5-5": (("", (2.0, 10.0, 0.1, 2.5, 4.0), 0, None),),
    "claude-v1": (("", (8.0, 24.0, 8.0, 8.0, 8.0), 0, None),),
}
"""Periods by model, the oldest first."""

ALIASES: dict[str, str] = {
    "claude-2-0": "claude-2",
    "claude-2-1": "claude-2",
    "claude-4-1-opus": "claude-opus-4-1",
    "claude-4-5-haiku": "claude-haiku-4-5",
    "claude-4-5-opus": "claude-opus-4-5",
    "claude-4-5-sonnet": "claude-sonnet-4-5",
    "claude-4-6-opus": "claude-opus-4-6",
    "claude-4-6-sonnet": "claude-sonnet-4-6",
    "claude-4-7-opus": "claude-opus-4-7",
    "claude-4-8-opus": "claude-opus-4-8",
    "claude-4-opus": "claude-opus-4-0",
    "claude-4-sonnet": "claude-sonnet-4-0",
    "claude-5-0-opus": "claude-opus-5",
    "claude-5-0-sonnet": "claude-sonnet-5",
    "claude-5-5-haiku": "claude-haiku-5-5",
    "claude-5-5-opus": "claude-opus-5-5",
    "claude-5-5-sonnet": "claude-sonnet-5-5",
    "claude-5-opus": "claude-opus-5",
    "claude-5-sonnet": "claude-sonnet-5",
    "claude-haiku-3-5": "claude-3-5-haiku",
    "claude-opus-4": "claude-opus-4-0",
    "claude-opus-5-0": "claude-opus-5",
    "claude-sonnet-3-5": "claude-3-5-sonnet",
    "claude-sonnet-3-7": "claude-3-7-sonnet",
    "claude-sonnet-4": "claude-sonnet-4-0",
    "claude-sonnet-5-0": "claude-sonnet-5",
    "claude-v2": "claude-2",
}
"""Other spellings, bare of provider, date and version marks."""

FAST: dict[str, int] = {
    "claude-opus-4-6": 6,
    "claude-opus-4-7": 6,
    "claude-opus-4-8": 2,
    "claude-opus-5": 2,
    "claude-opus-5-5": 2,
    "claude-fable-5-2": 2,
    "claude-mythos-5-2": 2,
}
"""What fast mode multiplies the price of every token by."""

FREE: frozenset[str] = frozenset(("<synthetic>",))
"""Names of no model at all: these messages cost nothing."""

WEB_SEARCH = 0.01
"""One web search."""
