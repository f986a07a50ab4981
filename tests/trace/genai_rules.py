"""What the OpenTelemetry GenAI conventions ask of a message: their published schemas, and what they mean.

The schemas let any part pass whose type they do not know, also one that is nearly right; the rules here in
plain code do not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from jsonschema import Draft202012Validator

SCHEMAS = Path(__file__).parent.parent / "data" / "trace" / "genai"
VALIDATORS: Mapping[str, Any] = {
    way: Draft202012Validator(json.loads((SCHEMAS / f"{way}-messages.json").read_bytes()))
    for way in ("input", "output")
}

Fields = Mapping[str, type | tuple[type, ...]]
_ANY = object
_TEXT_OR_NONE = (str, type(None))

PARTS: Mapping[str, Fields] = {
    "text": {"content": str},
    "reasoning": {"content": str},
    "tool_call": {"id": _TEXT_OR_NONE, "name": str, "arguments": _ANY},
    "tool_call_response": {"id": _TEXT_OR_NONE, "response": _ANY},
    "server_tool_call": {"id": _TEXT_OR_NONE, "name": str, "server_tool_call": dict},
    "server_tool_call_response": {"id": _TEXT_OR_NONE, "server_tool_call_response": dict},
    "blob": {"modality": str, "mime_type": _TEXT_OR_NONE, "content": str},
    "uri": {"modality": str, "mime_type": _TEXT_OR_NONE, "uri": str},
    "file": {"modality": str, "mime_type": _TEXT_OR_NONE, "file_id": str},
}
FINISHED = {"stop", "length", "content_filter", "tool_call", "error"}


def refusals(messages: Any, *, is_output: bool) -> list[str]:
    """Return what the published schema says against a list of messages."""
    validator = VALIDATORS["output" if is_output else "input"]
    return [str(error.message) for error in validator.iter_errors(messages)]


def problems(messages: Any, *, is_output: bool) -> list[str]:
    """Return what is wrong with a list of messages."""
    found = refusals(messages, is_output=is_output)
    if not isinstance(messages, list):
        return [*found, "no list"]
    for message in cast("list[dict[str, Any]]", messages):
        roles = {"assistant"} if is_output else {"user", "tool", "system"}
        if message.get("role") not in roles:
            found.append(f"role {message.get('role')!r}")
        if is_output and message.get("finish_reason") not in FINISHED:
            found.append(f"finish_reason {message.get('finish_reason')!r}")
        if not isinstance(message.get("parts"), list):
            found.append("no parts")
            continue
        for part in message["parts"]:
            found += _part(part)
    return found


def _part(part: dict[str, Any]) -> list[str]:
    kind = part.get("type")
    if not isinstance(kind, str):
        return [f"a part of type {kind!r}"]
    if kind.startswith("unknown:"):
        return []
    fields = PARTS.get(kind)
    if fields is None:
        return [f"a part of type {kind!r}"]
    found = [f"{kind} without {name}" for name in fields if name not in part]
    found += [
        f"{kind}: {name} is {part[name]!r}"
        for name, wanted in fields.items()
        if name in part and not isinstance(part[name], wanted)
    ]
    inner = part.get(kind) if kind.startswith("server_") else {"type": ""}
    return found if isinstance(inner, dict) and "type" in inner else [*found, f"{kind} without an inner type"]
