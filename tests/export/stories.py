"""Stories for tests, from recorded files and from bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.actions.export_stories import Chosen, Cleaning, story_of
from clew.actions.reading import Opened, open_reading
from clew.session.session import Session
from clew.store.files import SessionFile

if TYPE_CHECKING:
    from pathlib import Path

    from clew.export.story import Story

KEY = b"a key of the run"


def story_at(path: Path, *, is_one_way: bool = False, is_redacted: bool = False) -> Story:
    """The story of a session in a config folder, with its sub-agents."""
    opened = open_reading([path.parents[2]], str(path))
    cleaning = Cleaning(KEY) if is_redacted else None
    return story_of(opened, Chosen(is_one_way=is_one_way), cleaning=cleaning)


def story_from(data: bytes, *, is_one_way: bool = False, is_redacted: bool = False) -> Story:
    """The story of a session that is nowhere on the disk."""
    file = SessionFile("/nowhere/hostile.jsonl", "hostile", "nowhere", len(data), 0, 0, 0)
    opened = Opened(file, Session.read(data, name="hostile"))
    cleaning = Cleaning(KEY) if is_redacted else None
    return story_of(opened, Chosen(is_one_way=is_one_way), cleaning=cleaning)
