"""Plain text: nothing in it acts, wherever it is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.export import hostile
from tests.export.contract import ExporterContract

if TYPE_CHECKING:
    from clew.export.story import Story


class TestText(ExporterContract):
    """Plain text."""

    name = "text"

    def validate(self, data: bytes, story: Story, /) -> None:
        told = data.decode("utf-8")
        assert all(sign.isprintable() or sign in "\n\t" for sign in told)
        assert told.endswith("\n")
        assert f"Session:   {story.head.session}\n" in told

    def validate_hostile(self, data: bytes, story: Story, payload: str, /) -> None:
        self.validate(data, story)
        if hostile.MARK in payload:
            assert hostile.MARK.encode() in data
