"""What the tests of exporters share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.edit.secrets_planted import SESSION, Sown, sow
from tests.export.stories import story_at

if TYPE_CHECKING:
    from pathlib import Path

    from clew.export.story import Story


class SownStore(NamedTuple):
    """A store in which secrets of every kind are planted everywhere, as stories with and without them."""

    path: Path
    sown: list[Sown]
    stories: dict[tuple[bool, bool], Story]
    """By whether it is one way, and whether secrets were taken out."""

    def story(self, *, is_one_way: bool, is_redacted: bool) -> Story:
        key = is_one_way, is_redacted
        if key not in self.stories:
            self.stories[key] = story_at(self.path, is_one_way=is_one_way, is_redacted=is_redacted)
        return self.stories[key]


@pytest.fixture(scope="session")
def sown_store(tmp_path_factory: pytest.TempPathFactory) -> SownStore:
    root = tmp_path_factory.mktemp("sown")
    sown = sow(root)
    return SownStore(root / "projects" / "-home-ada-lighthouse" / f"{SESSION}.jsonl", sown, {})
