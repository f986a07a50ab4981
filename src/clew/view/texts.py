"""Texts made short: on one line, by their first words, paths as seen from the project, values as JSON.

The characters stay what they are; each format makes them safe at its own gate.
"""

from __future__ import annotations

import json
from typing import Final

import orjson

from clew.view.words import count

LONGEST: Final = 2000
"""As much of an argument as is looked at; no line is that wide."""

TITLE: Final = 200
"""The most characters of a prompt that name its turn."""

_LONGEST_JSON: Final = 1 << 20
"""The most characters of a value that nobody knows which are shown."""


def one_line(text: str, *, longest: int = LONGEST) -> str:
    """Return the words of a text on one line, cut where they are many."""
    # Cut before it is split too: a text may be a pasted book.
    words = " ".join(text[: 4 * longest].split())
    return words if len(words) <= longest else words[: longest - 1] + "…"


def line_count(text: str) -> int:
    """Return how many lines a text has; an ending newline begins none."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def lines_word(text: str) -> str:
    """Say how many lines a text has: `9 lines`."""
    return count(line_count(text), "line")


def relative(path: str | None, folder: str | None) -> str:
    """Return a path as seen from the project's folder, where it lies inside; of either system."""
    if not path or not folder:
        return path or ""
    for separator in ("/", "\\"):
        start = folder.rstrip(separator) + separator
        if path.startswith(start) and len(path) > len(start):
            return path[len(start) :]
    return "." if path == folder else path


def first_sentence(text: str, *, longest: int = 200) -> str:
    """Return the first sentence of a text on one line."""
    line = one_line(text, longest=4 * longest)
    for at, letter in enumerate(line[:longest]):
        if letter in ".!?" and line[at + 1 : at + 2] in {"", " "}:
            return line[: at + 1]
        if letter in "。！？":
            return line[: at + 1]
    return line if len(line) <= longest else line[: longest - 1] + "…"


def pretty(value: object) -> str:
    """Return a decoded value as JSON on several lines; never fails, whatever it holds."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except (TypeError, RecursionError):
        # Half of a surrogate pair, a number beyond 64 bits, or nested deeper than that goes.
        text = _slowly(value)
    if len(text) <= _LONGEST_JSON:
        return text
    return f"{text[:_LONGEST_JSON]}\n… {len(text):,} characters in all"


def _slowly(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=str)
    except (ValueError, RecursionError):
        return "(nested too deep to be shown)"
