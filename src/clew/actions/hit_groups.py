"""Hits of a search put together: by session, and counted by what one may narrow the search to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from clew.actions.search_values import Hit

SHOWN: Final = 3
"""Hits of a session that are shown at first."""

_MOST: Final = 100
"""Values of one facet."""


@dataclass(frozen=True, slots=True)
class HitGroup:
    """The hits of one session."""

    owner: str
    """The path of the session's own file."""

    session: str
    title: str | None
    project: str | None
    hits: tuple[Hit, ...]
    """The first few, in the order they were found in."""

    count: int
    """How many there are, those shown too."""

    @property
    def more(self) -> int:
        """How many are not shown."""
        return self.count - len(self.hits)


def by_session(
    hits: Iterable[Hit], *, shown: int = SHOWN, more: Mapping[str, int] | None = None
) -> list[HitGroup]:
    """Put the hits of each session together; sessions come in the order of their first hits.

    `more` are those that were only counted, by session.
    """
    counted = more or {}
    found: dict[str, list[Hit]] = {}
    for hit in hits:
        found.setdefault(hit.owner, []).append(hit)
    return [
        HitGroup(
            owner,
            each[0].session,
            each[0].title,
            each[0].project,
            tuple(each[:shown]),
            len(each) + counted.get(owner, 0),
        )
        for owner, each in found.items()
    ]


def facets(hits: Sequence[Hit]) -> Mapping[str, Sequence[tuple[str, int]]]:
    """Count hits by project, tool, field and model, the most frequent first; what has none is left out."""
    named = {
        "project": (hit.project for hit in hits),
        "tool": (hit.tool for hit in hits),
        "field": (hit.field for hit in hits),
        "model": (hit.model for hit in hits),
    }
    return {name: _counted(values) for name, values in named.items()}


def _counted(values: Iterable[str | None]) -> list[tuple[str, int]]:
    counts = Counter(value for value in values if value)
    return sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:_MOST]
