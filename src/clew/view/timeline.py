"""A session in time: its turns with what was said and done in each, read when they are looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.view.parts import Flow, TurnHead


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn to be drawn."""

    head: TurnHead
    flow: Callable[[], Iterator[Flow]]
    """What was said and done in it, read anew each time it is called."""
