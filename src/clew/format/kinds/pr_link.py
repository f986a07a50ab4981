"""The `pr-link` entry: a pull request that came out of the session."""

from __future__ import annotations

from clew.format import fields
from clew.format.kinds.base import Kind


class PrLink(Kind):
    """One pull request."""

    __slots__ = ()

    @property
    def number(self) -> int | None:
        """Its number."""
        return fields.integer(self.data, "prNumber")

    @property
    def url(self) -> str | None:
        """Its address."""
        return fields.string(self.data, "prUrl")

    @property
    def repository(self) -> str | None:
        """Where it was opened, as owner and name."""
        return fields.string(self.data, "prRepository")

    @property
    def timestamp(self) -> str | None:
        """When it was noted."""
        return fields.string(self.data, "timestamp")
