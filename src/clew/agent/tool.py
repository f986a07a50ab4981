"""What a tool is: a name, what the model is told of it, what a call would touch, and what it does.

A tool never decides whether it may: `permissions` does, by what `reach` says. A call that fails says so in
its outcome; it never ends the session.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.agent.cancel import Cancel
    from clew.agent.seen import Seen

Block = dict[str, Any]
"""A content block, as the Messages API takes it."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What a call would touch. All paths are absolute, with links followed as far as they are there."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    command: str | None = None
    """A line for a shell."""

    domain: str | None = None
    """A host on the network."""

    searches_web: bool = False
    is_foreign: bool = False
    """Whether somebody else's program does the work, a server of the MCP: nobody knows what it touches."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call."""

    content: str | Sequence[Block]
    """What the model is told."""

    structured: object = None
    """The same as the client keeps it for the screen: `toolUseResult`."""

    is_error: bool = False
    extra: Mapping[str, object] = field(default_factory=dict[str, object])
    """Further fields of the line that holds the result."""


@dataclass(slots=True)
class Work:
    """What a call is given beside its input: where it works, and how it is heard."""

    call_id: str
    cwd: str
    """Where relative paths start. A shell may move it: whoever made the call reads it afterwards."""

    project: str
    """The folder the session works in, links followed."""

    seen: Seen
    """Which files were read in this session, and as what."""

    cancel: Cancel
    results_folder: str
    """Where outputs go that are too long for a line: `<session>/tool-results`; made when it is needed."""

    report: Callable[[str], None] = field(default=lambda _: None)
    """Tells the person of something while the call runs, a line of output for example."""

    before_change: Callable[[str], None] = field(default=lambda _: None)
    """To be called with the path of a file before it is made or changed: what it was is kept."""


class Tool(Protocol):
    """Something the model can call."""

    @property
    def name(self) -> str:
        """By which the model calls it."""
        ...

    @property
    def description(self) -> str:
        """What the model is told of it."""
        ...

    @property
    def schema(self) -> Mapping[str, object]:
        """What its input looks like, as a JSON schema."""
        ...

    def is_parallel(self, given: Mapping[str, object]) -> bool:
        """Say whether a call with this input may run beside others: it changes nothing."""
        ...

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:
        """Say what a call would touch, without touching it."""
        ...

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Do it. Input may be anything the model wrote: what is wrong with it is told, not raised."""
        ...
