"""What an index of many exported sessions is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.view.parts import Head


@dataclass(frozen=True, slots=True)
class Listed:
    """One exported session in an index."""

    name: str
    """The name of its file, in the folder of the index."""

    head: Head
    redacted: int = 0
    """How many secrets were taken out."""

    is_redacted: bool = False
    """Whether secrets were looked for."""

    is_gone: bool = False
    """Whether the session itself is no more; its export stays."""
