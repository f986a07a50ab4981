"""The `progress` entries: news of work under way. They stand in the chain, and other lines hang on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.kinds.base import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY: Final[Mapping[str, object]] = {}


class Progress(Kind):
    """One piece of news, told apart by `data.type`."""

    __slots__ = ()

    @property
    def part(self) -> Mapping[str, object]:
        """The news itself."""
        return fields.mapping(self.data, "data") or _EMPTY

    @property
    def subtype(self) -> str | None:
        """`hook_progress`, `agent_progress`, `bash_progress` and others."""
        return fields.string(self.part, "type")

    @property
    def tool_use_id(self) -> str | None:
        """The call it tells of, or an id of the news' own."""
        return fields.string(self.data, "toolUseID")

    @property
    def parent_tool_use_id(self) -> str | None:
        """The call under which that one runs; the two are often the same."""
        return fields.string(self.data, "parentToolUseID")

    @property
    def agent_id(self) -> str | None:
        """The sub-agent it tells of, or belongs to."""
        return fields.string(self.part, "agentId") or fields.string(self.data, "agentId")

    @property
    def text(self) -> str | None:
        """The words in it: output, a query, a hook's command, a task."""
        names = ("output", "query", "command", "taskDescription", "prompt")
        return next((text for name in names if (text := fields.string(self.part, name))), None)
