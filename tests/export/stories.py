"""Stories for tests, from recorded files and from bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.actions.stories import open_story

if TYPE_CHECKING:
    from pathlib import Path

    from clew.export.story import Story


def story_at(path: Path, *, is_one_way: bool = False) -> Story:
    """The story of a recorded session, with its sub-agents."""
    raise NotImplementedError(path, is_one_way, open_story)


def story_of(data: bytes, *, is_one_way: bool = False) -> Story:
    """The story of a session that is nowhere on the disk."""
    raise NotImplementedError(len(data), is_one_way)
