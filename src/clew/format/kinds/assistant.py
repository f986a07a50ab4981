"""The `assistant` entry: one block, or a few, of a message of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.blocks import ToolUse
from clew.format.kinds.message import Message

if TYPE_CHECKING:
    from collections.abc import Mapping

SYNTHETIC: Final = "<synthetic>"
"""The model's name on a message that the client made itself."""

_EMPTY: Final[Mapping[str, object]] = {}


class Assistant(Message):
    """A line of the model. Lines with the same `message_id` are one message."""

    __slots__ = ()

    @property
    def message_id(self) -> str | None:
        """The API's id of the message."""
        return fields.string(self.message, "id")

    @property
    def request_id(self) -> str | None:
        """The API's id of the request."""
        return fields.string(self.data, "requestId")

    @property
    def model(self) -> str | None:
        """The model that answered."""
        return fields.string(self.message, "model")

    @property
    def stop_reason(self) -> str | None:
        """Why the message ended; None also on final lines of several client versions."""
        return fields.string(self.message, "stop_reason")

    @property
    def usage(self) -> Mapping[str, object]:
        """The tokens, which several versions note before the message has ended."""
        return fields.mapping(self.message, "usage") or _EMPTY

    @property
    def output_tokens(self) -> int | None:
        """The tokens written so far; of a message's lines the greatest is right."""
        return fields.integer(self.usage, "output_tokens")

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        """The calls among its blocks."""
        return tuple(block for block in self.blocks if isinstance(block, ToolUse))

    @property
    def is_synthetic(self) -> bool:
        """Whether the client made it, not a model."""
        return self.model == SYNTHETIC

    @property
    def is_api_error(self) -> bool:
        """Whether it only tells of a failed request."""
        return fields.flag(self.data, "isApiErrorMessage") or False

    @property
    def error(self) -> str | None:
        """The sort of failure, such as `invalid_request` (2.0.50 and later)."""
        return fields.string(self.data, "error")
