"""What every view of a tool's result is, and the shapes that belong to no tool.

The views by tool are in `results_files` and `results_work`; `clew.format.results` picks among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.blocks import Block, blocks, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY: Final[Mapping[str, object]] = {}


@dataclass(frozen=True, slots=True)
class Result:
    """What a tool gave back, for display."""

    raw: object
    """The value as it was decoded."""

    @property
    def data(self) -> Mapping[str, object]:
        """The object, or an empty one when the value is none."""
        return fields.as_mapping(self.raw) or _EMPTY


class Unknown(Result):
    """A shape clew does not know, such as that of a tool from an MCP server."""

    __slots__ = ()


class ErrorText(Result):
    """A bare string: in nearly every case the words of an error."""

    __slots__ = ()

    @property
    def text(self) -> str:
        """The words."""
        return self.raw if isinstance(self.raw, str) else ""


class Blocks(Result):
    """A list of content blocks, as tools from MCP servers give."""

    __slots__ = ()

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks."""
        return blocks(self.raw)

    @property
    def text(self) -> str:
        """The words of the texts among them."""
        return text_of(self.blocks)
