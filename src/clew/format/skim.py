"""The few facts of a line that everything else starts from, read without decoding the rest.

`skim` is the fast road: a typed decoder that passes over what it was not asked for. Where a
field is not of the type expected it refuses, and the slow road through `Entry` gives the same facts.
Law: where both roads give an answer it is the same one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from clew.format.entry import Entry, as_mapping

if TYPE_CHECKING:
    from collections.abc import Mapping


class Block(msgspec.Struct, gc=False):
    """What is looked at of a content block."""

    type: str | None = None
    id: str | None = None
    tool_use_id: str | None = None
    name: str | None = None
    text: str | None = None
    is_error: bool | None = None


class Message(msgspec.Struct, gc=False):
    """What is looked at of an API message."""

    id: str | None = None
    role: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    timestamp: str | None = None
    content: str | list[Block] | None = None


class Inner(msgspec.Struct, gc=False):
    """The part of a progress or attachment entry that names its subtype."""

    type: str | None = None


class Skim(msgspec.Struct, rename="camel", gc=False):
    """The facts of one line. Every field is optional: files hold all sorts of lines."""

    type: str | None = None
    subtype: str | None = None
    uuid: str | None = None
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    request_id: str | None = None
    agent_id: str | None = None
    slug: str | None = None
    operation: str | None = None
    leaf_uuid: str | None = None
    is_meta: bool | None = None
    is_sidechain: bool | None = None
    is_compact_summary: bool | None = None
    is_api_error_message: bool | None = None
    message: Message | None = None
    data: Inner | None = None
    attachment: Inner | None = None
    content: Any = None

    @property
    def kind(self) -> str:
        """The type with its subtype: `system/compact_boundary`, `progress/hook_progress`."""
        name = self.type
        if name in {"user", "assistant"}:
            return name
        if not name:
            return (self.message.role if self.message else None) or "untyped"
        inner = self.subtype or self.operation
        if inner is None:
            part = self.data if name == "progress" else self.attachment
            inner = part.type if part else None
        return f"{name}/{inner}" if inner else name

    @property
    def role(self) -> str | None:
        """The entry's type; where there is none, the role of its message."""
        return self.type or (self.message.role if self.message else None)

    @property
    def time(self) -> str | None:
        """The time as written: the entry's own before its message's."""
        if self.timestamp is not None:
            return self.timestamp
        return self.message.timestamp if self.message else None

    @property
    def body(self) -> str | list[Block] | None:
        """The content: the message's, or the entry's own where the message has none."""
        if self.message is not None and self.message.content is not None:
            return self.message.content
        return _content(self.content) if self.content is not None else None


_DECODER: Final = msgspec.json.Decoder(Skim)


def skim(raw: bytes) -> Skim | None:
    """Return the facts of the line `raw`, or None if only the slow road can tell."""
    try:
        return _DECODER.decode(raw)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors; so is bad UTF-8
        return None


def skim_entry(entry: Entry) -> Skim:
    """Return the facts of a decoded entry; what is of an unexpected type counts as missing."""
    data = entry.data
    message = data.get("message")
    return Skim(
        type=_text(data, "type"),
        subtype=_text(data, "subtype"),
        uuid=_text(data, "uuid"),
        parent_uuid=_text(data, "parentUuid"),
        logical_parent_uuid=_text(data, "logicalParentUuid"),
        session_id=_text(data, "sessionId"),
        timestamp=_text(data, "timestamp"),
        cwd=_text(data, "cwd"),
        version=_text(data, "version"),
        git_branch=_text(data, "gitBranch"),
        request_id=_text(data, "requestId"),
        agent_id=_text(data, "agentId"),
        slug=_text(data, "slug"),
        operation=_text(data, "operation"),
        leaf_uuid=_text(data, "leafUuid"),
        is_meta=_flag(data, "isMeta"),
        is_sidechain=_flag(data, "isSidechain"),
        is_compact_summary=_flag(data, "isCompactSummary"),
        is_api_error_message=_flag(data, "isApiErrorMessage"),
        message=_message(cast("Mapping[str, Any]", message)) if isinstance(message, dict) else None,
        data=_inner(data, "data"),
        attachment=_inner(data, "attachment"),
        content=data.get("content"),
    )


def _text(data: Mapping[str, Any], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) else None


def _flag(data: Mapping[str, Any], name: str) -> bool | None:
    value = data.get(name)
    return value if isinstance(value, bool) else None


def _inner(data: Mapping[str, Any], name: str) -> Inner | None:
    value = data.get(name)
    return Inner(_text(cast("Mapping[str, Any]", value), "type")) if isinstance(value, dict) else None


def _message(data: Mapping[str, Any]) -> Message:
    return Message(
        id=_text(data, "id"),
        role=_text(data, "role"),
        model=_text(data, "model"),
        stop_reason=_text(data, "stop_reason"),
        timestamp=_text(data, "timestamp"),
        content=_content(data.get("content")),
    )


def _content(value: object) -> str | list[Block] | None:
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return None
    return [_block(item) for item in cast("list[object]", value)]


def _block(value: object) -> Block:
    if isinstance(value, str):
        return Block(type="text", text=value)
    data = as_mapping(value)
    return Block(
        type=_text(data, "type"),
        id=_text(data, "id"),
        tool_use_id=_text(data, "tool_use_id"),
        name=_text(data, "name"),
        text=_text(data, "text"),
        is_error=_flag(data, "is_error"),
    )
