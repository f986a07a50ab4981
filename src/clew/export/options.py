"""What a person may ask of an export besides its format."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Options:
    """What goes into an export. Which turns do is settled before: a story has only those."""

    with_thinking: bool = True
    with_agents: bool = True
    """Whether what sub-agents did is there too, where the format has a place for it."""
