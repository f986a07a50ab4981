"""Every place of a session whose text comes to the screen: the same hostile words, a mark for each place."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from tests.builder import Builder, call, thinking
from tests.faces.stage import write

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SINKS: Final = (
    "text", "thinking", "tool name", "tool id", "input keys", "tool result", "error", "file path", "cwd",
    "git branch", "slug", "title", "model", "version", "agent name", "uuid", "timestamp", "PR url",
    "media type", "search query", "snippet", "error page", "page title", "URL id", "export file name",
)  # fmt: skip

UNSEEN: Final = frozenset({"tool id", "slug", "uuid", "timestamp", "media type", "URL id"})
"""Those that no view need show, or that are no text there."""

MARK: Final = re.compile(r"zqs(\d\d)")


def mark(sink: str) -> str:
    """The word by which a sink is known wherever it comes to light."""
    return f"zqs{SINKS.index(sink):02}"


def said(payload: str, sink: str) -> str:
    """What stands in a sink."""
    return f"{payload} {mark(sink)}"


def key_of(number: int) -> str:
    """The id of the session of a payload."""
    return f"{number:08}-0000-4000-8000-000000000000"


def hostile_stores(root: Path, payloads: Sequence[str]) -> dict[str, str]:
    """Write two sessions for each payload, and return the payloads by the ids of the first ones.

    Of the second one the very name of the file is hostile, and so are the lines themselves.
    """
    made: dict[str, str] = {}
    for number, payload in enumerate(payloads):
        key = key_of(number)
        name = re.sub(r"[/\x00]", "_", said(payload[:40], "export file name")).strip()
        files = {key: _session(payload, key), f"{key}/subagents/agent-a1": _agent(payload, key)}
        write(root, f"-p{number}", files)
        write(root, f"-q{number}", {name: _odd(payload, name)})
        made[key] = payload
    return made


def _session(payload: str, key: str) -> bytes:
    def at(sink: str) -> str:
        return said(payload, sink)

    fields: dict[str, Any] = {"cwd": f"/{at('cwd')}", "gitBranch": at("git branch"), "slug": at("slug")}
    made = Builder(key)
    made.user(at("snippet"), **fields)
    made.line({"type": "ai-title", "aiTitle": at("title"), "sessionId": key})
    made.answer(thinking(at("thinking")), at("text"), model=at("model"), **fields)
    given = {at("input keys"): payload, "a": [payload]}
    made.answer(call("toolu_1", at("tool name"), given), stop="tool_use", **fields)
    made.result("toolu_1", at("tool result"), **fields)
    made.answer(call("toolu_2", "Bash", {"command": payload, "description": payload}), **fields)
    made.result("toolu_2", at("error"), is_error=True, toolUseResult=f"Error: {at('error')}", **fields)
    path = f"/maze/{at('file path')}"
    made.answer(call("toolu_3", "Write", {"file_path": path, "content": f"one\n{payload}\n"}), **fields)
    made.result("toolu_3", "done", toolUseResult={"type": "create", "filePath": path}, **fields)
    edit = {"file_path": path, "old_string": payload, "new_string": f"{payload} again"}
    made.answer(call("toolu_4", "Edit", edit), **fields)
    made.result("toolu_4", "done", **fields)
    task = {"description": at("agent name"), "subagent_type": at("agent name"), "prompt": payload}
    made.answer(call("toolu_5", "Task", task), **fields)
    made.result("toolu_5", payload, toolUseResult={"agentId": "a1", "status": payload}, **fields)
    made.line({"type": "pr-link", "prUrl": at("PR url"), "prNumber": 1, "sessionId": key})
    picture = {"type": "image", "source": {"type": "base64", "media_type": at("media type"), "data": "iVBO"}}
    newer: dict[str, Any] = {**fields, "version": at("version")}
    made.user([{"type": "text", "text": payload}, picture], **newer)
    made.answer(payload, **newer)
    made.user("last", **fields).answer(at("page title"), **fields)
    made.raw(b'{"type":"user","torn":' + json.dumps(payload).encode() + b"\n")
    return made.data()


def _agent(payload: str, key: str) -> bytes:
    own: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    made = Builder(key).user(payload, **own).answer(payload, said(payload, "agent name"), **own)
    return made.data()


def _odd(payload: str, name: str) -> bytes:
    """A session whose ids and times are hostile too."""
    made = Builder(name).user(payload, uuid=said(payload, "uuid"), timestamp=said(payload, "timestamp"))
    made.answer(call(said(payload, "tool id"), "Read", {"file_path": payload}), message_id=payload)
    made.result(said(payload, "tool id"), payload)
    made.answer(said(payload, "export file name"), uuid=f"{payload}2", timestamp=payload)
    made.line({"type": payload, "uuid": payload, "sessionId": payload})
    made.line({"type": "system", "subtype": payload, "content": payload, "sessionId": name})
    return made.data()
