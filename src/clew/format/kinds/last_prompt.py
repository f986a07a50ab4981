"""The `last-prompt` entry: where the client means to go on. Written often; the last one counts."""

from __future__ import annotations

from clew.format import fields
from clew.format.kinds.base import Kind


class LastPrompt(Kind):
    """The newest prompt and the end of its branch."""

    __slots__ = ()

    @property
    def prompt(self) -> str | None:
        """The words."""
        return fields.string(self.data, "lastPrompt")

    @property
    def leaf_uuid(self) -> str | None:
        """The end of the branch (2.1.150 and later)."""
        return fields.string(self.data, "leafUuid")

    @property
    def explicit(self) -> bool:
        """Whether exactly that line is meant, as after a rewind (2.1.325)."""
        return fields.flag(self.data, "explicit") or False
