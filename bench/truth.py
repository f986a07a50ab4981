"""What the generator planted, added up while it plants.

This is the other side of the token law, so it knows nothing of how clew counts: a message is tallied once,
where it is made, and a copy of it in another file is never tallied again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime

TOKEN_KINDS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")

Usage = tuple[int, int, int, int, int]
"""Tokens in the order of `TOKEN_KINDS`."""


@dataclass(slots=True)
class Tally:
    """Tokens and messages of one group."""

    tokens: list[int] = field(default_factory=lambda: [0, 0, 0, 0, 0])
    messages: int = 0

    def add(self, usage: Usage) -> None:
        self.messages += 1
        tokens = self.tokens
        for kind, count in enumerate(usage):
            tokens[kind] += count

    def as_json(self) -> dict[str, object]:
        return {"tokens": dict(zip(TOKEN_KINDS, self.tokens, strict=True)), "messages": self.messages}


@dataclass(slots=True)
class Inventory:
    """One file: its lines by entry type (`system`, `progress` and `attachment` with their subtype)."""

    lines: int = 0
    size: int = 0
    types: Counter[str] = field(default_factory=Counter[str])


@dataclass(slots=True)
class Needle:
    """A word that occurs nowhere else, and every line that holds it (forks and resumed copies repeat lines).
    A word that occurs nowhere else, and every line that holds it (forks and resumed copies repeat lines).
    """

    word: str
    kind: str
    """The field it is in: prompt, text, thinking, tool_input, tool_result, summary or title."""
    places: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])


@dataclass(slots=True)
class Truth:
    """The sums over a whole corpus."""

    total: Tally = field(default_factory=Tally)
    by_model: dict[str, Tally] = field(default_factory=dict[str, Tally])
    by_day: dict[str, Tally] = field(default_factory=dict[str, Tally])
    by_project: dict[str, Tally] = field(default_factory=dict[str, Tally])
    free_messages: int = 0
    """Synthetic messages and API errors: in the files, with no usage, in none of the tallies."""
    planned: int = 0
    """Characters before a variant spelled them differently: its variants hold the same sessions as a corpus.
    Characters before a variant spelled them differently: its variants hold the same sessions as a corpus."""
    needles: list[Needle] = field(default_factory=list[Needle])
    files: dict[str, Inventory] = field(default_factory=dict[str, Inventory])

    def message(self, lines: list[Usage], *, model: str, first_ms: int, project: str) -> None:
        """Count one message, given the usage each of its lines carries: the greatest output, the later on a
        tie.
        """
        best = lines[0]
        for usage in lines:
            if usage[1] >= best[1]:
                best = usage
        day = datetime.fromtimestamp(first_ms / 1000, UTC).strftime("%Y-%m-%d")
        self.total.add(best)
        self.by_model.setdefault(model, Tally()).add(best)
        self.by_day.setdefault(day, Tally()).add(best)
        self.by_project.setdefault(project, Tally()).add(best)

    def as_json(self) -> dict[str, object]:
        """The truth file."""
        return {
            "total": self.total.as_json(),
            "free_messages": self.free_messages,
            "by_model": {key: tally.as_json() for key, tally in sorted(self.by_model.items())},
            "by_day": {key: tally.as_json() for key, tally in sorted(self.by_day.items())},
            "by_project": {key: tally.as_json() for key, tally in sorted(self.by_project.items())},
            "needles": [
                {
                    "word": needle.word,
                    "field": needle.kind,
                    "places": [{"file": file, "line": line} for file, line in needle.places],
                }
                for needle in self.needles
            ],
            "lines": sum(inventory.lines for inventory in self.files.values()),
            "bytes": sum(inventory.size for inventory in self.files.values()),
            "files": {
                file: {
                    "lines": inventory.lines,
                    "bytes": inventory.size,
                    "types": dict(sorted(inventory.types.items())),
                }
                for file, inventory in sorted(self.files.items())
            },
        }
