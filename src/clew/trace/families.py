"""The attributes of a span in the words of three families: OpenTelemetry GenAI, Langfuse and OpenInference.

Each has its own names for the same facts, and each backend reads one of them. `gen_ai.usage.input_tokens` and
`llm.token_count.prompt` count what the cache served and took in; Langfuse counts each kind apart. Langfuse's
values are written as its own SDK 5 writes them: metadata as JSON, a text as it is, all else as JSON in ASCII.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from clew.trace import parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.session.pricing import Tokens
    from clew.trace.content import Scribe
    from clew.trace.parts import Message
    from clew.trace.span import Attributes, SpanType, Value

_KINDS: Final[Mapping[SpanType, str]] = {"agent": "AGENT", "generation": "LLM", "tool": "TOOL"}
_OPERATIONS: Final[Mapping[SpanType, str]] = {
    "agent": "invoke_agent",
    "generation": "chat",
    "tool": "execute_tool",
}
_FLAT: Final = 32
"""So many messages and calls of a generation are written one by one; the JSON has them all."""

Facts = dict[str, str | int | float | bool]

_Pair = tuple[str | None, str | None]
"""What went in and what came out."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What all spans of one trace have in common."""

    session_id: str
    name: str
    tags: tuple[str, ...]
    metadata: Facts
    _langfuse: Attributes = field(default_factory=dict[str, "Value"], compare=False, repr=False)

    def langfuse(self) -> Attributes:
        """Return what Langfuse wants to be told on every span; made once."""
        if not self._langfuse:
            told: Attributes = {
                "langfuse.session.id": self.session_id,
                "langfuse.trace.name": self.name,
                "langfuse.trace.tags": self.tags,
            }
            for name, value in self.metadata.items():
                # The SDK takes nothing but strings for these.
                told[f"langfuse.trace.metadata.{name}"] = json.dumps(str(value))
            self._langfuse.update(told)
        return self._langfuse


@dataclass(frozen=True, slots=True)
class Work:
    """What one span tells. Content is clean, and absent where none is to be sent."""

    type: SpanType
    facts: Facts = field(default_factory=Facts)
    """What is known beside content, for the metadata."""

    model: str | None = None
    tokens: Tokens | None = None
    cost_usd: float | None = None
    stop_reason: str | None = None
    message_id: str | None = None
    tool: str | None = None
    call_id: str | None = None
    agent: str | None = None
    agent_id: str | None = None
    agent_version: str | None = None
    error: str | None = None
    """The class of the error it ended in."""

    error_text: str | None = None
    inputs: list[Message] | None = None
    outputs: list[Message] | None = None
    given: object = None
    """The input in plain form: the arguments of a call, what was said."""

    got: object = None
    """The output in plain form."""


def attributes(scribe: Scribe, trace: Trace, work: Work) -> Attributes:
    """Return all attributes of a span."""
    inputs = None if work.inputs is None else scribe.json(work.inputs)
    outputs = None if work.outputs is None else scribe.json(work.outputs)
    plain: _Pair = (None, None)  # but for tools each family says it in its own way
    if work.type == "tool":
        plain = (_plain(scribe, work.given), _plain(scribe, work.got))
    found = _genai(trace, work, inputs, outputs, plain)
    found |= _langfuse(scribe, trace, work)
    found |= _openinference(scribe, trace, work, (inputs, outputs), plain)
    return found


def _genai(trace: Trace, work: Work, inputs: str | None, outputs: str | None, plain: _Pair) -> Attributes:
    found: Attributes = {
        "gen_ai.operation.name": _OPERATIONS[work.type],
        "gen_ai.provider.name": "anthropic",
        "gen_ai.conversation.id": trace.session_id,
    }
    _put(
        found,
        ("gen_ai.agent.name", work.agent),
        ("gen_ai.agent.id", work.agent_id),
        ("gen_ai.agent.version", work.agent_version),
        ("error.type", work.error),
        ("gen_ai.input.messages", inputs),
        ("gen_ai.output.messages", outputs),
    )
    if work.type == "tool":
        found["gen_ai.tool.type"] = "function"
        _put(
            found,
            ("gen_ai.tool.name", work.tool),
            ("gen_ai.tool.call.id", work.call_id),
            ("gen_ai.tool.call.arguments", plain[0]),
            ("gen_ai.tool.call.result", None if work.error else plain[1]),
        )
    if work.type == "generation":
        _put(
            found,
            ("gen_ai.request.model", work.model),
            ("gen_ai.response.model", work.model),
            ("gen_ai.response.id", work.message_id),
        )
        if work.stop_reason is not None:
            found["gen_ai.response.finish_reasons"] = (work.stop_reason,)
    if work.tokens is not None:
        tokens = work.tokens
        found["gen_ai.usage.input_tokens"] = tokens.prompt
        found["gen_ai.usage.output_tokens"] = tokens.output
        found["gen_ai.usage.cache_read.input_tokens"] = tokens.cache_read
        found["gen_ai.usage.cache_creation.input_tokens"] = tokens.cache_write_5m + tokens.cache_write_1h
    return found


def _langfuse(scribe: Scribe, trace: Trace, work: Work) -> Attributes:
    found: Attributes = {"langfuse.observation.type": work.type, **trace.langfuse()}
    for name, value in work.facts.items():
        found[f"langfuse.observation.metadata.{name}"] = json.dumps(value)
    _put(
        found,
        ("langfuse.observation.input", _plain(scribe, work.given, ascii_only=True)),
        ("langfuse.observation.output", _plain(scribe, work.got, ascii_only=True)),
        ("langfuse.observation.model.name", work.model),
        ("langfuse.observation.level", "ERROR" if work.error else None),
        ("langfuse.observation.status_message", work.error_text),
    )
    if work.tokens is not None:
        tokens = work.tokens
        used = {
            "input": tokens.input,
            "output": tokens.output,
            "total": tokens.total,
            "cache_read_input_tokens": tokens.cache_read,
            "input_cache_creation_5m": tokens.cache_write_5m,
            "input_cache_creation_1h": tokens.cache_write_1h,
        }
        found["langfuse.observation.usage_details"] = json.dumps(used)
    if work.cost_usd is not None:
        found["langfuse.observation.cost_details"] = json.dumps({"total": work.cost_usd})
    return found


def _openinference(scribe: Scribe, trace: Trace, work: Work, messages: _Pair, plain: _Pair) -> Attributes:
    found: Attributes = {
        "openinference.span.kind": _KINDS[work.type],
        "session.id": trace.session_id,
        "tag.tags": trace.tags,
        "metadata": scribe.json(trace.metadata | work.facts),
    }
    for n, (name, told) in enumerate((("input", work.given), ("output", work.got))):
        if work.type == "generation" and messages[n] is not None:
            value, is_text = messages[n], False
        else:
            said = _said(told) if work.type == "agent" else told
            value, is_text = plain[n] or _plain(scribe, said), isinstance(said, str)
        if value is not None:
            found[f"{name}.value"] = value
            found[f"{name}.mime_type"] = "text/plain" if is_text else "application/json"
    _put(
        found,
        ("agent.name", work.agent),
        ("tool.name", work.tool),
        ("tool.id", work.call_id),
    )
    if work.type != "generation":
        return found
    found["llm.provider"] = found["llm.system"] = "anthropic"
    _put(
        found,
        ("llm.model_name", work.model),
        ("llm.finish_reason", work.stop_reason),
        ("llm.cost.total", work.cost_usd),
    )
    if work.tokens is not None:
        tokens = work.tokens
        found["llm.token_count.prompt"] = tokens.prompt
        found["llm.token_count.completion"] = tokens.output
        found["llm.token_count.total"] = tokens.total
        found["llm.token_count.prompt_details.cache_read"] = tokens.cache_read
        found["llm.token_count.prompt_details.cache_write"] = tokens.cache_write_5m + tokens.cache_write_1h
    found |= _flat(scribe, "llm.input_messages", work.inputs or ())
    found |= _flat(scribe, "llm.output_messages", work.outputs or ())
    return found


def _flat(scribe: Scribe, prefix: str, messages: Iterable[Message]) -> Attributes:
    """Return messages with an attribute for each thing they say."""
    found: Attributes = {}
    calls_left = _FLAT
    for n, message in zip(range(_FLAT), messages, strict=False):
        at = f"{prefix}.{n}.message"
        found[f"{at}.role"] = str(message["role"])
        if words := parts.words_of(message):
            found[f"{at}.content"] = scribe.fit(words)
        _put(found, (f"{at}.tool_call_id", parts.answered_call(message)))
        for index, call in enumerate(parts.calls_of(message)[:calls_left]):
            of = f"{at}.tool_calls.{index}.tool_call"
            _put(
                found,
                (f"{of}.id", call["id"]),
                (f"{of}.function.name", call["name"]),
                (f"{of}.function.arguments", _plain(scribe, call["arguments"])),
            )
        calls_left -= min(calls_left, len(parts.calls_of(message)))
    return found


def _said(plain: object) -> object:
    """Return the words alone of what was said."""
    return cast("dict[str, object]", plain).get("content") if isinstance(plain, dict) else plain


def _plain(scribe: Scribe, value: object, *, ascii_only: bool = False) -> str | None:
    """Return a clean value as an attribute: a text as it is, all else as JSON."""
    if value is None or isinstance(value, str):
        return value
    return scribe.json(value, ascii_only=ascii_only)


def _put(found: Attributes, *pairs: tuple[str, object]) -> None:
    """Add those attributes that there are."""
    for name, value in pairs:
        # The types in a tuple: a union is made anew each time, and takes six times as long.
        if isinstance(value, (str, int, float)):
            found[name] = value
