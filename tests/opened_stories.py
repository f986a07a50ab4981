"""A session by name as a story, as exporting makes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.actions.export_stories import Chosen, story_of
from clew.actions.reading import open_reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from clew.export.story import Story


def open_story(
    roots: Sequence[Path],
    name: str,
    *,
    at: str | None = None,
    branch: str | None = None,
    assets: Mapping[str, bytes] | None = None,
) -> Story:
    """Open the session a name stands for."""
    return story_of(open_reading(roots, name), Chosen(at=at, branch=branch), assets=assets)
