"""The `summary` entry: a title for a conversation, perhaps for one in another file."""

from __future__ import annotations

from clew.format import fields
from clew.format.kinds.base import Kind


class Summary(Kind):
    """A few words about the conversation that ends at a line."""

    __slots__ = ()

    @property
    def text(self) -> str | None:
        """The words."""
        return fields.string(self.data, "summary")

    @property
    def leaf_uuid(self) -> str | None:
        """The line, which may be in any file of the project."""
        return fields.string(self.data, "leafUuid")
