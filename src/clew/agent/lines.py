"""The lines of a conversation with every field that client 2.1.325 always writes on them.

`format.compose` has the profile that all versions read alike; here the same lines have in addition what the
newest measured client puts there for its own use. Ids and times come in; nothing is made up here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from clew.format.compose import common, record, tool_result
from clew.format.decode import is_deep
from clew.session.drafts import NO_RESPONSE, SESSION_ENDED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.format.compose import Block, Envelope, Link

__all__ = ("INTERRUPTED", "INTERRUPTED_IN_TOOL", "NO_RESPONSE", "PROFILE", "SESSION_ENDED")

PROFILE: Final = "2.1.325"
"""The client whose lines these are; it is what they say wrote them."""

INTERRUPTED: Final = "[Request interrupted by user]"
INTERRUPTED_IN_TOOL: Final = "[Request interrupted by user for tool use]"

_SYNTHETIC: Final = "<synthetic>"
_NO_USAGE: Final[Mapping[str, Any]] = {
    "output_tokens_details": None,
    "input_tokens": 0,
    "output_tokens": 0,
    "cache_creation_input_tokens": 0,
    "cache_read_input_tokens": 0,
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
    "service_tier": None,
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
    "inference_geo": None,
    "iterations": None,
    "speed": None,
    "fallback_credit": None,
}


@dataclass(frozen=True, slots=True)
class Turn:
    """The turn a line belongs to."""

    prompt_id: str
    """One for each prompt, on all lines under the user's role that come of it."""

    prompt_index: int
    """How many prompts this process was given before."""

    turn_index: int
    """The number of the turn in the session, from 1."""

    @property
    def position(self) -> dict[str, int]:
        """Its place as the client writes it."""
        return {"promptIndex": self.prompt_index, "turnIndex": self.turn_index}


@dataclass(frozen=True, slots=True)
class Answer:
    """What the lines of one answer of the model have in common."""

    message_id: str
    model: str
    requested_model: str
    request_id: str | None
    request_ref: str
    """What the client calls the request in its own log."""

    agent_type: str | None = None
    """The sort of sub-agent that asked."""


def prompt(
    envelope: Envelope, link: Link, turn: Turn, content: str | Sequence[Block], *, permission_mode: str
) -> bytes:
    """Write what a person asks."""
    # What is typed at a terminal comes of a person; else a program may have asked.
    is_typed = envelope.entrypoint == "cli"
    body: Block = {"permissionMode": permission_mode}
    if is_typed:
        body["origin"] = {"kind": "human"}
    body |= {
        "promptSource": "typed" if is_typed else "sdk",
        "turnOrigin": "human" if is_typed else "sdk",
        "turnPosition": turn.position,
    }
    return _user(envelope, link, turn, content, after=body)


def told(envelope: Envelope, link: Link, turn: Turn, content: str | Sequence[Block]) -> bytes:
    """Write what a sub-agent is told."""
    return _user(envelope, link, turn, content)


def meta(envelope: Envelope, link: Link, turn: Turn, content: str | Sequence[Block]) -> bytes:
    """Write words that the client puts in; they are sent, but nobody said them."""
    return _user(envelope, link, turn, content, marks={"isMeta": True})


def interruption(
    envelope: Envelope, link: Link, turn: Turn, *, in_tool: bool, message_id: str | None
) -> bytes:
    """Write that the person stopped the model, or a tool."""
    words = INTERRUPTED_IN_TOOL if in_tool else INTERRUPTED
    after: Block = {} if message_id is None else {"interruptedMessageId": message_id}
    return _user(envelope, link, turn, [{"type": "text", "text": words}], after=after)


def summary(envelope: Envelope, link: Link, turn: Turn, text: str) -> bytes:
    """Write the summary that follows a compaction; its parent is the boundary, or it would be lost."""
    marks = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
    return _user(envelope, link, turn, text, marks=marks, after={"turnPosition": turn.position})


def result(
    envelope: Envelope,
    link: Link,
    turn: Turn,
    call_id: str,
    content: str | Sequence[Block],
    *,
    source: str | None,
    structured: object = None,
    is_error: bool = False,
    extra: Mapping[str, object] | None = None,
) -> bytes:
    """Write what came of a call; `source` is the line of the call."""
    rest = dict(extra or {})
    after: Block = {}
    if structured is not None:
        after["toolUseResult"] = structured
    elif envelope.agent_id is None:  # always there in a session, seldom in a sub-agent
        after["toolUseResult"] = _shown(content, is_error=is_error)
    for name in ("sandboxed", "toolDenialKind"):
        if name in rest:
            after[name] = rest.pop(name)
    if source is not None:
        after["sourceToolAssistantUUID"] = source
    block = tool_result(call_id, content, is_error=is_error)
    return _user(envelope, link, turn, [block], after=after | rest)


def _shown(content: str | Sequence[Block], *, is_error: bool) -> object:
    """Return a result as the client keeps it of a tool that has no form of its own; a string is an error."""
    if is_error:
        return f"Error: {content}" if isinstance(content, str) else "Error"
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def block(
    envelope: Envelope,
    link: Link,
    answer: Answer,
    content: Block,
    *,
    index: int,
    usage: Mapping[str, Any],
    stop_reason: str | None,
    stop_sequence: str | None = None,
    is_aborted: bool = False,
    extra: Mapping[str, object] | None = None,
) -> bytes:
    """Write one block of an answer; lines with one message id are one message."""
    message = {
        "id": answer.message_id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [content],
        "stop_reason": stop_reason,
        "stop_sequence": stop_sequence,
        "usage": dict(usage),
        "stop_details": None,
    }
    entry: Block = {**_head(envelope, link), "message": message, **(extra or {}), "apiBlockIndex": index}
    if answer.request_id is not None:
        entry["requestId"] = answer.request_id
    entry |= {
        "requestRef": answer.request_ref,
        "requestedModel": answer.requested_model,
        "promptCacheRequested": "5m",
    }
    if answer.agent_type is not None:
        entry["attributionAgent"] = answer.agent_type
    entry |= {"type": "assistant", "uuid": link.uuid, "timestamp": link.timestamp, "perTurnEffort": None}
    if is_aborted:
        entry["isAbortedMidStream"] = True
    return _record({**entry, "madeBy": "model"}, envelope)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why the API gave no answer."""

    kind: str = "unknown"
    """The client's own word for it, such as `invalid_request` or `authentication_failed`."""

    status: int | None = None
    type: str | None = None
    """The API's word for it: `overloaded_error` for example."""

    request_id: str | None = None
    details: str | None = None


def api_error(envelope: Envelope, link: Link, text: str, *, message_id: str, failure: Failure) -> bytes:
    """Write that the API failed, in the place of an answer; it is not sent."""
    entry = _synthetic(envelope, link, text, message_id)
    entry["requestId"] = failure.request_id
    entry["error"] = failure.kind
    if failure.details is not None:
        entry["errorDetails"] = failure.details
    entry |= {
        "isApiErrorMessage": True,
        "apiErrorStatus": failure.status,
        "apiErrorType": failure.type,
        "failedResponseHadNoToolCall": True,
        "madeBy": "other",
    }
    return _record(entry, envelope)


def no_response(envelope: Envelope, link: Link, *, message_id: str) -> bytes:
    """Write the answer that stands where nobody gave one, so that the conversation can go on."""
    entry = _synthetic(envelope, link, NO_RESPONSE, message_id)
    return _record({**entry, "isApiErrorMessage": False, "madeBy": "other"}, envelope)


def boundary(
    envelope: Envelope,
    link: Link,
    *,
    follows: str | None,
    trigger: Literal["manual", "auto"],
    pre_tokens: int,
    duration_ms: int = 0,
) -> bytes:
    """Write a compaction, which hangs on nothing and follows the line `follows`."""
    entry: Block = {"parentUuid": None}
    if follows is not None:
        entry["logicalParentUuid"] = follows
    head = _head(envelope, link)
    del head["parentUuid"]
    entry |= head
    entry |= {
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "isMeta": False,
        "timestamp": link.timestamp,
        "uuid": link.uuid,
        "level": "info",
        "compactMetadata": {"trigger": trigger, "preTokens": pre_tokens, "durationMs": duration_ms},
    }
    return _record(entry, envelope)


def turn_duration(envelope: Envelope, link: Link, *, duration_ms: int, messages: int) -> bytes:
    """Write how long a turn took, and how many lines the conversation has."""
    entry: Block = {
        **_head(envelope, link),
        "type": "system",
        "subtype": "turn_duration",
        "durationMs": duration_ms,
        "messageCount": messages,
        "timestamp": link.timestamp,
        "uuid": link.uuid,
        "isMeta": False,
    }
    return _record(entry, envelope)


def progress(
    envelope: Envelope, link: Link, data: Mapping[str, object], *, call_id: str, parent_call_id: str
) -> bytes:
    """Write what a call is doing, as versions 2.1.29 to 2.1.80 did."""
    entry: Block = {
        **_head(envelope, link),
        "type": "progress",
        "data": dict(data),
        "parentToolUseID": parent_call_id,
        "toolUseID": call_id,
        "timestamp": link.timestamp,
        "uuid": link.uuid,
    }
    return _record(entry, envelope)


def _user(
    envelope: Envelope,
    link: Link,
    turn: Turn,
    content: str | Sequence[Block],
    *,
    marks: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> bytes:
    if not content:
        raise ValueError("a message under the user's role has words or blocks")
    entry = _head(envelope, link, prompt_id=turn.prompt_id)
    said = content if isinstance(content, str) else list(content)
    entry |= {"type": "user", "message": {"role": "user", "content": said}, **(marks or {})}
    entry |= {"uuid": link.uuid, "timestamp": link.timestamp, **(after or {})}
    return _record(entry, envelope)


def _synthetic(envelope: Envelope, link: Link, text: str, message_id: str) -> Block:
    message: Block = {
        "diagnostics": None,
        "id": message_id,
        "container": None,
        "model": _SYNTHETIC,
        "role": "assistant",
        "stop_details": None,
        "stop_reason": "stop_sequence",
        "stop_sequence": "",
        "type": "message",
        "usage": dict(_NO_USAGE),
        "content": [{"type": "text", "text": text}],
        "context_management": None,
    }
    head = _head(envelope, link)
    return {
        **head,
        "type": "assistant",
        "uuid": link.uuid,
        "timestamp": link.timestamp,
        "message": message,
    }


def _head(envelope: Envelope, link: Link, *, prompt_id: str | None = None) -> Block:
    head: Block = {"parentUuid": link.parent, "isSidechain": envelope.agent_id is not None}
    if prompt_id is not None:
        head["promptId"] = prompt_id
    if envelope.agent_id is not None:
        head["agentId"] = envelope.agent_id
    return head


def _record(entry: Block, envelope: Envelope) -> bytes:
    raw = record(entry | common(envelope))
    if is_deep(raw):
        # Such a line would be passed over as damaged when it is read.
        raise ValueError("it nests too deep to be written")
    return raw
