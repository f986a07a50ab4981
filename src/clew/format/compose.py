"""New lines as the client writes them, in the profile that every measured version reads alike.

Compact JSON, keys in the client's order, one chain of parents, times that grow with each line, an assistant's
content always a list, no half characters. Ids and times come in; nothing is made up here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from clew.format.decode import encode, has_lone_surrogate
from clew.format.times import iso

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Block = dict[str, Any]
"""A content block, as the Messages API takes it."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """What all lines of one session have in common."""

    session_id: str
    cwd: str
    version: str
    git_branch: str | None = None
    user_type: str = "external"
    entrypoint: str | None = None
    slug: str | None = None
    agent_id: str | None = None
    """The sub-agent the lines belong to; they are marked as a sidechain then."""


@dataclass(frozen=True, slots=True)
class Link:
    """The place of one new line: its id, what it hangs on, and when."""

    uuid: str
    parent: str | None
    timestamp: str


class Chain:
    """Hands out places one behind the other: each hangs on the last, and is later than it."""

    def __init__(self, *, parent: str | None = None, after: int | None = None) -> None:
        self.parent = parent
        """The line the next one will hang on."""
        self.time = after
        """The time of the last line, in milliseconds."""

    def link(self, uuid: str, at: int) -> Link:
        """Return the place of a line written at `at`, or as soon after the last one as a clock can tell."""
        # Equal times make clients up to 2.1.88 lose the end of a session, so no two lines share one.
        time = at if self.time is None else max(at, self.time + 1)
        stamp = iso(time)
        if stamp is None:
            raise ValueError(f"no time can be written for {time} ms")
        link = Link(uuid, self.parent, stamp)
        self.parent, self.time = uuid, time
        return link

    def cut(self, uuid: str, at: int) -> tuple[Link, str | None]:
        """Return the place of a compaction, which hangs on nothing, and the line it follows."""
        before = self.parent
        self.parent = None
        return self.link(uuid, at), before


def user(
    envelope: Envelope,
    link: Link,
    content: str | Sequence[Block],
    *,
    permission_mode: str | None = None,
    is_meta: bool = False,
) -> bytes:
    """Write a person's prompt, or with `is_meta` words the client puts in."""
    body: Block = {"isMeta": True} if is_meta else {}
    mode = {} if permission_mode is None else {"permissionMode": permission_mode}
    return _entry(envelope, link, "user", {"message": _user_message(content), **body}, mode)


def assistant(
    envelope: Envelope,
    link: Link,
    content: Sequence[Block],
    *,
    message_id: str,
    model: str,
    stop_reason: str | None,
    usage: Mapping[str, Any],
    request_id: str | None = None,
) -> bytes:
    """Write a message of the model, or some blocks of one: lines with one `message_id` are one message."""
    if not content:
        raise ValueError("a message of the model has at least one block")
    message = {
        "id": message_id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(content),
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "usage": dict(usage),
    }
    request = {} if request_id is None else {"requestId": request_id}
    return _entry(envelope, link, None, {"message": message, **request, "type": "assistant"})


def tool_result(call_id: str, content: str | Sequence[Block], *, is_error: bool = False) -> Block:
    """Make the block that answers a call."""
    result: Block = {"tool_use_id": call_id, "type": "tool_result"}
    result["content"] = content if isinstance(content, str) else list(content)
    return {**result, "is_error": True} if is_error else result


def results(
    envelope: Envelope,
    link: Link,
    content: Sequence[Block],
    *,
    structured: object = None,
    source_uuid: str | None = None,
) -> bytes:
    """Write the results of calls; `structured` is the tool's own form, `source_uuid` the line of the call."""
    body: Block = {} if structured is None else {"toolUseResult": structured}
    if source_uuid is not None:
        body["sourceToolAssistantUUID"] = source_uuid
    return _entry(envelope, link, "user", {"message": _user_message(content)}, body)


def compact_boundary(
    envelope: Envelope,
    link: Link,
    *,
    follows: str | None,
    trigger: Literal["manual", "auto"] = "manual",
    pre_tokens: int = 0,
) -> bytes:
    """Write a compaction, which hangs on nothing and follows the line `follows`."""
    if link.parent is not None:
        raise ValueError("a compaction hangs on nothing: take its place from Chain.cut")
    entry: Block = {"parentUuid": None}
    if follows is not None:
        entry["logicalParentUuid"] = follows
    entry |= {
        "isSidechain": envelope.agent_id is not None,
        "type": "system",
        "subtype": "compact_boundary",
        "content": "Conversation compacted",
        "isMeta": False,
        "timestamp": link.timestamp,
        "uuid": link.uuid,
        "level": "info",
        "compactMetadata": {"trigger": trigger, "preTokens": pre_tokens},
    }
    return _line(entry | _tail(envelope))


def compact_summary(envelope: Envelope, link: Link, text: str) -> bytes:
    """Write the summary that follows a compaction; its parent is the boundary, or it would be lost."""
    marks = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
    return _entry(envelope, link, "user", {"message": _user_message(text), **marks})


def custom_title(session_id: str, title: str) -> bytes:
    """Write the name a person gave the session."""
    return _line({"type": "custom-title", "customTitle": title, "sessionId": session_id})


def last_prompt(session_id: str, prompt: str, leaf: str, *, is_explicit: bool = False) -> bytes:
    """Write which line the conversation ends in; `is_explicit` means exactly that one, as after a rewind."""
    entry: Block = {"type": "last-prompt", "lastPrompt": prompt, "leafUuid": leaf}
    if is_explicit:
        entry["explicit"] = True
    return _line(entry | {"sessionId": session_id})


def summary(text: str, leaf: str) -> bytes:
    """Write a title in the old way: for the session that holds the line `leaf`."""
    return _line({"type": "summary", "summary": text, "leafUuid": leaf})


def record(entry: Block) -> bytes:
    """Write a record whose fields are all given, in their order, as one line."""
    return _line(entry)


def common(envelope: Envelope) -> Block:
    """Return the fields that end every line of a conversation, in the client's order."""
    return _tail(envelope)


def _user_message(content: str | Sequence[Block]) -> Block:
    if not content:
        raise ValueError("a message under the user's role has words or blocks")
    return {"role": "user", "content": content if isinstance(content, str) else list(content)}


def _entry(
    envelope: Envelope, link: Link, kind: str | None, body: Block, after: Mapping[str, Any] | None = None
) -> bytes:
    entry: Block = {"parentUuid": link.parent, "isSidechain": envelope.agent_id is not None}
    if envelope.agent_id is not None:
        entry["agentId"] = envelope.agent_id
    if kind is not None:
        entry["type"] = kind
    entry |= body | {"uuid": link.uuid, "timestamp": link.timestamp} | (dict(after) if after else {})
    return _line(entry | _tail(envelope))


def _tail(envelope: Envelope) -> Block:
    tail = {
        "userType": envelope.user_type,
        "entrypoint": envelope.entrypoint,
        "cwd": envelope.cwd,
        "sessionId": envelope.session_id,
        "version": envelope.version,
        "gitBranch": envelope.git_branch,
        "slug": envelope.slug,
    }
    return {name: value for name, value in tail.items() if value is not None}


def _line(entry: Block) -> bytes:
    if has_lone_surrogate(entry):
        # The API refuses half a character. Two halves that belong together become the one they make.
        text = json.dumps(entry, ensure_ascii=False)
        entry = json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
    return encode(entry) + b"\n"
