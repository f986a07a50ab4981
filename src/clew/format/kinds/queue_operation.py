"""The `queue-operation` entry: a prompt put into the queue while the model was busy, or taken out of it."""

from __future__ import annotations

from clew.format import fields
from clew.format.kinds.base import Kind


class QueueOperation(Kind):
    """One change of the queue. It has no uuid and keeps its place in the file."""

    __slots__ = ()

    @property
    def operation(self) -> str | None:
        """`enqueue`, `dequeue`, `remove` and others."""
        return fields.string(self.data, "operation")

    @property
    def content(self) -> str | None:
        """The prompt, where it is noted."""
        return fields.string(self.data, "content")

    @property
    def timestamp(self) -> str | None:
        """When it was done."""
        return fields.string(self.data, "timestamp")
