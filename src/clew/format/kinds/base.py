"""What every view of an entry is. The envelope (uuid, parent, session, time) is for `clew.format.entry`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.format.known import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Kind:
    """An entry, looked at as one of its kind. Accessors give None for what is missing or of a wrong type."""

    data: Mapping[str, object]

    @property
    def kind(self) -> str:
        """The name of the kind, such as `user` or `system/compact_boundary`."""
        return kind_of(self.data)
