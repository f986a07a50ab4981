"""What happens while a session goes on, for whoever shows it: values, in order, and nothing printed.

Texts in them come from the model, from tools and from files: whoever shows them escapes them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from clew.agent.tool import Outcome


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of the model's text, as it came."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of the model's thinking, as it came."""

    text: str


@dataclass(frozen=True, slots=True)
class BlockDone:
    """A whole block of the model's answer, as it was written."""

    block: Mapping[str, Any]
    uuid: str


@dataclass(frozen=True, slots=True)
class CallBegan:
    """A call that was allowed is about to run."""

    call_id: str
    name: str
    given: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class CallReported:
    """A call tells something while it runs."""

    call_id: str
    text: str


@dataclass(frozen=True, slots=True)
class CallEnded:
    """What came of a call, be it that it was not allowed."""

    call_id: str
    name: str
    outcome: Outcome
    uuid: str


@dataclass(frozen=True, slots=True)
class Answered:
    """A message of the model is whole, and what it cost is known."""

    message_id: str
    model: str
    stop_reason: str | None
    usage: Mapping[str, Any]
    cost_usd: float | None
    """None where the model has no price."""

    total_usd: float
    """What the session cost since it was taken up, as far as it is known."""

    context_tokens: int
    """How long the conversation is by now."""


@dataclass(frozen=True, slots=True)
class Waits:
    """Nothing happens for a while, and why."""

    seconds: float
    reason: str
    attempt: int
    tries: int


@dataclass(frozen=True, slots=True)
class Compacting:
    """The conversation is being summed up."""

    trigger: Literal["manual", "auto"]


@dataclass(frozen=True, slots=True)
class Compacted:
    """The conversation was summed up."""

    trigger: Literal["manual", "auto"]
    tokens_before: int
    tokens_after: int
    is_extract: bool
    """Whether it was made without a model, as what there was is too long for one."""


@dataclass(frozen=True, slots=True)
class Noted:
    """Something the person should know: a hook that failed, a file that cannot be read."""

    text: str


@dataclass(frozen=True, slots=True)
class InAgent:
    """Something that happens in a sub-agent."""

    call_id: str
    """The call that started it."""

    agent_id: str
    happening: Happening


Happening: TypeAlias = (
    Said
    | Thought
    | BlockDone
    | CallBegan
    | CallReported
    | CallEnded
    | Answered
    | Waits
    | Compacting
    | Compacted
    | Noted
    | InAgent
)
Listener: TypeAlias = Callable[[Happening], None]
"""Is told in the order of things, mostly from the thread that runs the loop; calls report from their own."""
