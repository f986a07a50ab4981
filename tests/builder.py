"""Builds small sessions for tests: each call adds a line, as the client would write it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

from clew.format.times import iso
from clew.session.session import Session

Json = Mapping[str, Any]
START_MS = 1_772_614_800_000  # 2026-03-04T09:00:00Z
MODEL = "claude-sonnet-4-5-20250929"


def text(words: str) -> Json:
    """A text block."""
    return {"type": "text", "text": words}


def thinking(words: str, signature: str = "sig") -> Json:
    """A thinking block."""
    return {"type": "thinking", "thinking": words, "signature": signature}


def call(call_id: str, name: str = "Read", given: Json | None = None) -> Json:
    """A tool call."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": given or {}}


def image() -> Json:
    """A tiny picture."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}


class Builder:
    """A session in the making. Lines follow one another a second apart, each the child of the one before."""

    def __init__(self, session_id: str = "s1", *, version: str = "2.1.325", loose: bool = False) -> None:
        self._lines: list[bytes] = []
        self._envelope: dict[str, Any] = {
            "isSidechain": False,
            "cwd": "/home/ada/lighthouse",
            "sessionId": session_id,
            "version": version,
            "gitBranch": "main",
        }
        self._is_loose = loose
        self._now = START_MS
        self._uuids = 0
        self._messages = 0
        self.leaf: str | None = None
        """The uuid of the last line of the chain."""

    def raw(self, data: bytes) -> Self:
        """Add bytes as they are."""
        self._lines.append(data)
        return self

    def line(self, data: Json) -> Self:
        """Add a record as it is."""
        return self.raw(json.dumps(data, separators=(",", ":")).encode() + b"\n")

    def again(self, line: int) -> Self:
        """Write a line (from 1) once more."""
        return self.raw(self._lines[line - 1])

    def wait(self, seconds: float) -> Self:
        """Let time pass before the next line."""
        self._now += int(seconds * 1000)
        return self

    def rewind(self, uuid: str | None) -> Self:
        """Let the next line follow `uuid` instead of the last one."""
        self.leaf = uuid
        return self

    def entry(self, kind: str, **fields: Any) -> Self:
        """Add an entry of the chain; `fields` go before what it would have of itself."""
        self._now += 1000
        own: dict[str, Any] = {"type": kind, "timestamp": iso(self._now)}
        if not self._is_loose:
            self._uuids += 1
            own |= {"parentUuid": self.leaf, **self._envelope, "uuid": f"u{self._uuids}"}
        own |= fields
        self.leaf = own.get("uuid", self.leaf)
        return self.line({name: value for name, value in own.items() if value is not ...})

    def user(self, content: object, **fields: Any) -> Self:
        """Add a user line."""
        return self.entry("user", **{"message": {"role": "user", "content": content}, **fields})

    prompt = user

    def meta(self, content: object, **fields: Any) -> Self:
        """Add a line that the client put in under the user's role."""
        return self.user(content, isMeta=True, **fields)

    def result(
        self, call_id: str, content: object = "done", *, is_error: bool = False, **fields: Any
    ) -> Self:
        """Add the result of a call."""
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if is_error:
            block["is_error"] = True
        return self.user([block], **fields)

    def answer(
        self,
        *blocks: Json | str,
        stop: str | None = "end_turn",
        message_id: str | None = "",
        model: str | None = MODEL,
        output: Sequence[int] = (),
        **fields: Any,
    ) -> Self:
        """Add a message, a line for each block; the reason it stopped is on the last of them."""
        if message_id == "":
            self._messages += 1
            message_id = f"msg_{self._messages}"
        for number, block in enumerate(blocks):
            message: dict[str, Any] = {
                "role": "assistant",
                "content": [text(block) if isinstance(block, str) else dict(block)],
                "stop_reason": stop if number == len(blocks) - 1 else None,
                "usage": {"input_tokens": 1, "output_tokens": output[number] if number < len(output) else 1},
            }
            named = {"id": message_id, "model": model}
            message |= {name: value for name, value in named.items() if value is not None}
            self.entry("assistant", **{"message": message, **fields})
        return self

    def system(self, subtype: str, **fields: Any) -> Self:
        """Add a note of the client."""
        return self.entry("system", subtype=subtype, **fields)

    def compact(self, summary: str = "What was said so far.") -> Self:
        """Add a compaction: the boundary and its summary."""
        before = self.leaf
        self.system(
            "compact_boundary", parentUuid=None, logicalParentUuid=before, content="Conversation compacted"
        )
        return self.user(summary, isCompactSummary=True, isVisibleInTranscriptOnly=True)

    def data(self) -> bytes:
        """The file."""
        return b"".join(self._lines)

    def session(self, name: str | None = None) -> Session:
        """The file, read."""
        return Session.read(self.data(), name=name)
