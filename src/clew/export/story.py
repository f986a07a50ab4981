"""What an exporter is given: a session with its sub-agents, and how to read it turn by turn.

An exporter may read the turns more than once and in pieces; it never holds them all. Secrets are out already
where they are to be: the session that is handed in is the redacted one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.session.turns import Turn
    from clew.view.parts import Head, TurnHead
    from clew.view.timeline import TurnView


@dataclass(frozen=True, slots=True)
class Story:
    """A session to be exported."""

    session: Session
    head: Head
    heads: Sequence[TurnHead]
    """All turns of the session itself in a few words each."""

    turns: Callable[[], Iterator[TurnView]]
    agent_turns: Callable[[str], Iterator[TurnView]]
    """The turns of a sub-agent by its id; none for an id that is not there."""

    agents: Sequence[Agent] = ()
    redacted: Mapping[str, int] = field(default_factory=dict[str, int])
    """How many secrets of which sort were taken out."""

    is_redacted: bool = False
    """Whether secrets were looked for."""

    version: str = ""
    """Of clew."""

    assets: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Files of clew's own that a format carries, such as the page's renderer."""

    cuts: Sequence[Turn] = ()
    """The turns as the session is cut into them, for formats that tell what was said block by block."""

    leaf: str | None = None
    """The line that the way through the session ends in, where one way was asked for."""

    path: str = ""
    """The session's own file."""

    left: int = 0
    """How many secrets were found and stay, as they are keys or ids that hold the session together."""

    part: Callable[[int, int], Iterator[TurnView]] | None = None
    """The turns from one place in `heads` up to another, where they can be read in parts."""
