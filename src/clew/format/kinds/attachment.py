"""The `attachment` entries: what the client hands the model beside the conversation (2.1.150 and later)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.kinds.base import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY: Final[Mapping[str, object]] = {}


class Attachment(Kind):
    """One thing handed over, told apart by `attachment.type`. It stands in the chain."""

    __slots__ = ()

    @property
    def part(self) -> Mapping[str, object]:
        """The thing itself."""
        return fields.mapping(self.data, "attachment") or _EMPTY

    @property
    def subtype(self) -> str | None:
        """`file`, `skill_listing`, `queued_command` and others."""
        return fields.string(self.part, "type")

    @property
    def rendered(self) -> tuple[object, ...]:
        """The contents as they were put before the model (2.1.325), each a string or blocks."""
        return tuple(item.get("content") for item in fields.mappings(self.data, "rendered"))

    @property
    def rendered_role(self) -> str | None:
        """As whose words: `user` or `system`."""
        return fields.string(self.data, "renderedRole")

    @property
    def filename(self) -> str | None:
        """The file, of a `file`."""
        return fields.string(self.part, "filename")

    @property
    def prompt(self) -> str | None:
        """What the person, or a task, said meanwhile, of a `queued_command`."""
        return fields.string(self.part, "prompt")
