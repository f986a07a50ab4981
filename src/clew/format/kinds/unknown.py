"""An entry without a view of its own: of a type that is new, or that nobody has needed to look into."""

from __future__ import annotations

from clew.format.kinds.base import Kind


class Unknown(Kind):
    """Any entry, as it is."""

    __slots__ = ()
