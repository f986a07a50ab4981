"""The entries that name a session: `custom-title`, `ai-title`, `agent-name`, `tag`; the last one counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.kinds.base import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

FIELDS: Final[Mapping[str, str]] = {
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "agent-name": "agentName",
    "tag": "tag",
}
"""The field that holds the words, by type."""


class Title(Kind):
    """A name given by the person (custom-title, tag), by a model (ai-title) or on the agent's behalf."""

    __slots__ = ()

    @property
    def source(self) -> str | None:
        """Who gave it, as the type of the entry."""
        return fields.string(self.data, "type")

    @property
    def text(self) -> str | None:
        """The name."""
        return fields.string(self.data, FIELDS.get(self.source or "", ""))
