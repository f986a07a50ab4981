"""What `user` and `assistant` entries have in common: a message, or the loose forms of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.blocks import Block, blocks, text_of
from clew.format.kinds.base import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY: Final[Mapping[str, object]] = {}


class Message(Kind):
    """One line of the conversation."""

    __slots__ = ()

    @property
    def message(self) -> Mapping[str, object]:
        """The message in the form of the Messages API; empty when there is none."""
        return fields.mapping(self.data, "message") or _EMPTY

    @property
    def role(self) -> str | None:
        """Who speaks, by the entry's type and, where it has none, by its message."""
        return fields.string(self.data, "type") or fields.string(self.message, "role")

    @property
    def content(self) -> object:
        """The content as it is written. Loose files have it beside `message` instead of inside."""
        return self.message["content"] if "content" in self.message else self.data.get("content")

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The content as blocks."""
        return blocks(self.content)

    @property
    def text(self) -> str:
        """The words of its texts, one text to a line."""
        return text_of(self.blocks)

    @property
    def timestamp(self) -> str | None:
        """When it was written, the entry's own time before its message's. Only a string is a time."""
        return fields.string(self.data, "timestamp") or fields.string(self.message, "timestamp")

    @property
    def is_meta(self) -> bool:
        """Whether the client wrote it, not the person or the model. It is sent all the same."""
        return fields.flag(self.data, "isMeta") or False

    @property
    def agent_id(self) -> str | None:
        """The sub-agent it belongs to."""
        return fields.string(self.data, "agentId")
