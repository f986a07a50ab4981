"""The words for numbers that all faces have in common, under the name the commands know them by."""

from clew.view.words import (
    UNKNOWN,
    age,
    clock,
    count,
    day,
    duration,
    iso,
    money,
    number,
    percent,
    size,
    tokens,
)

__all__ = [
    "UNKNOWN",
    "age",
    "clock",
    "count",
    "day",
    "duration",
    "iso",
    "money",
    "number",
    "percent",
    "size",
    "tokens",
]
