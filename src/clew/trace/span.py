"""A span: one piece of work with its place in a trace, as a plain value.

Every span carries the attributes of three families at once (`gen_ai.*`, `langfuse.*` and `openinference.*`),
so that a backend needs only an address. How a span becomes bytes is `trace.wire`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Value = str | int | float | bool | tuple[str, ...]
"""What an attribute may hold."""

Attributes = dict[str, Value]

SpanType = Literal["agent", "generation", "tool"]
SpanKind = Literal["internal", "client"]
Status = Literal["unset", "error"]


@dataclass(frozen=True, slots=True)
class SpanEvent:
    """Something that happened at one moment of a span: a compaction, an error of the API."""

    name: str
    time_ns: int
    attributes: Mapping[str, Value] = field(default_factory=dict[str, Value])


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of work: a turn or a sub-agent, an answer of the model, a call of a tool."""

    trace_id: str
    """16 bytes in hex, never all zero."""

    span_id: str
    """8 bytes in hex, never all zero."""

    parent_id: str | None
    """The span it is part of; None for the root of the trace."""

    name: str
    """By the GenAI conventions: `chat {model}`."""

    label: str
    """As Langfuse shows it: `Turn 3`, the model, the tool."""

    type: SpanType
    start_ns: int
    end_ns: int
    """Never before the start."""

    attributes: Mapping[str, Value]
    events: tuple[SpanEvent, ...] = ()
    status: Status = "unset"
    status_message: str = ""
    kind: SpanKind = "internal"
    is_history: bool = False
    """Whether another session owns it and this one holds a copy; then it is not to be sent."""
