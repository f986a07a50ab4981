"""Small session files as stories: one call a line, each hanging on the one before unless told otherwise."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clew.session.context import Context, context
from clew.session.session import Session
from tests.conformance.notation import short

if TYPE_CHECKING:
    from collections.abc import Sequence

MODEL = "claude-sonnet-4-5-20250929"
_PREVIOUS = "(the line before)"


@dataclass
class Story:
    """A file in the making. `time` counts seconds; a line may say its own."""

    lines: list[str] = field(default_factory=list[str])
    last: str | None = None
    time: int = 0

    def line(self, kind: str, uuid: str, parent: str | None = _PREVIOUS, **fields: Any) -> Story:
        """Add any line with an envelope."""
        self.time += 1
        above = self.last if parent == _PREVIOUS else parent
        stamp = f"2026-03-01T10:{self.time // 60:02d}:{self.time % 60:02d}.000Z"
        data: dict[str, Any] = {
            "parentUuid": above,
            "isSidechain": False,
            "type": kind,
            "uuid": uuid,
            "timestamp": stamp,
        }
        data.update(fields)
        self.lines.append(
            json.dumps({k: v for k, v in data.items() if v != "(absent)"}, separators=(",", ":"))
        )
        self.last = uuid
        return self

    def raw(self, text: str) -> Story:
        """Add a line just as it is."""
        self.lines.append(text)
        return self

    def again(self, number: int) -> Story:
        """Write line `number` (from 1) once more."""
        self.lines.append(self.lines[number - 1])
        return self

    def q(self, uuid: str, parent: str | None = _PREVIOUS, content: Any = None, **fields: Any) -> Story:
        """Add a prompt that says its own name."""
        message = {"role": "user", "content": uuid.upper() if content is None else content}
        return self.line("user", uuid, parent, message=message, **fields)

    def a(
        self, uuid: str, parent: str | None = _PREVIOUS, *blocks: Any, mid: str | None = None, **fields: Any
    ) -> Story:
        """Add an answer that says its own name, or these blocks."""
        content = [say(block) for block in blocks] if blocks else [{"type": "text", "text": uuid.upper()}]
        model = fields.pop("model", MODEL)
        message = {"id": mid or f"msg_{uuid}", "role": "assistant", "model": model, "content": content}
        return self.line("assistant", uuid, parent, message=message, **fields)

    def r(self, uuid: str, *calls: str, parent: str | None = _PREVIOUS, **fields: Any) -> Story:
        """Add a line with the results of calls."""
        content = [{"type": "tool_result", "tool_use_id": call, "content": f"of {call}"} for call in calls]
        return self.line("user", uuid, parent, message={"role": "user", "content": content}, **fields)

    def system(self, uuid: str, subtype: str, parent: str | None = _PREVIOUS, **fields: Any) -> Story:
        """Add a system line."""
        return self.line("system", uuid, parent, subtype=subtype, **fields)

    def boundary(self, uuid: str = "b", parent: str | None = None, **metadata: Any) -> Story:
        """Add a compaction."""
        return self.system(
            uuid, "compact_boundary", parent, content="Conversation compacted", compactMetadata=metadata
        )

    def hint(self, leaf: str | None, **fields: Any) -> Story:
        """Add a last-prompt line."""
        data = {"type": "last-prompt", "lastPrompt": "x", "leafUuid": leaf, **fields}
        self.lines.append(json.dumps({k: v for k, v in data.items() if v is not None}))
        return self

    @property
    def data(self) -> bytes:
        """The file."""
        return "".join(f"{line}\n" for line in self.lines).encode()

    def session(self) -> Session:
        """Read the file."""
        return Session.read(self.data)

    def context(self, client: str | None = None, **options: Any) -> Context:
        """Return what the client would send."""
        return context(self.session(), client=client, **options)

    def sent(self, client: str | None = None, **options: Any) -> str:
        """Return what the client would send, short: `Q1 A1 | T:x`, or the words of its refusal."""
        found = self.context(client, **options)
        if found.refused:
            return f"refused: {found.refused}"
        return " ".join(brief(short(found.messages)))


def say(block: Any) -> dict[str, Any]:
    """Make a block: `t1` is a call, `~words` thinking, anything else a text; a mapping stays itself."""
    if isinstance(block, dict):
        return block  # pyright: ignore[reportUnknownVariableType]  # a test's own literal
    if block.startswith("~"):
        return {"type": "thinking", "thinking": block[1:], "signature": "c2ln"}
    if len(block) == 2 and block[0] == "t" and block[1].isdigit():
        return {"type": "tool_use", "id": block, "name": "Bash", "input": {"command": block}}
    return {"type": "text", "text": block}


def brief(messages: Sequence[str]) -> list[str]:
    """Shorten the short form: texts without their mark."""
    return [message.replace("T:", "").replace("TU:Bash:", "") for message in messages]


def basic() -> Story:
    """Two prompts, two answers."""
    return Story().q("q1", None).a("a1").q("q2").a("a2")


def talk(story: Story, uuid: str, parent: str | None = _PREVIOUS) -> Story:
    """A command that the client carried out itself."""
    return story.system(uuid, "local_command", parent, content=f"LC {uuid}")
