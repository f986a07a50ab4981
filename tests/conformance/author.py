"""Write the lines of made sessions, in the envelopes the client uses.

The author knows how a line looks and nothing of what a session should hold; that is `generator`.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from random import Random

    from tests.conformance.notation import Json

    Fields = dict[str, Json]

MODEL = "claude-sonnet-4-5-20250929"
OTHER_MODEL = "claude-opus-4-1-20250805"

_WORDS = [
    "amber",
    "beacon",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "inlet",
    "juniper",
    "kelp",
    "lagoon",
    "meadow",
    "nettle",
    "orchard",
    "pebble",
    "quarry",
    "ripple",
    "saddle",
    "thicket",
    "upland",
    "valley",
    "willow",
    "yarrow",
    "zephyr",
    "naïve",
    "café",
    "日本",
    "🧶",
    "a<b&c",
]

_START = 1_772_359_200_000
"""2026-03-01T10:00:00Z, in milliseconds."""

_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


@dataclass(slots=True)
class Author:
    """Appends lines to a session that grows, each hanging on the one before unless told otherwise."""

    rng: Random
    lines: list[Fields] = field(default_factory=list["Fields"])
    tip: str | None = None
    """The uuid the next line hangs on."""

    session_id: str = ""
    version: str = "2.1.325"
    _now: int = _START
    _count: int = 0

    def __post_init__(self) -> None:
        self.session_id = self.fresh_uuid()

    def fresh_uuid(self) -> str:
        """Make a uuid from the seed."""
        return str(uuid.UUID(int=self.rng.getrandbits(128), version=4))

    def tag(self, kind: str) -> str:
        """Make a text that occurs once in the session, so that a reader sees which line it came from."""
        self._count += 1
        words = " ".join(self.rng.choices(_WORDS, k=self.rng.randint(1, 6)))
        ending = self.rng.choice(("", "", "", "\n", ".\n\nSecond paragraph."))
        return f"{kind}-{self._count} {words}{ending}"

    def call_id(self) -> str:
        """Make the id of a tool call."""
        return f"toolu_01{self.rng.getrandbits(88):022x}"

    def message_id(self) -> str:
        """Make the id of an assistant message."""
        return f"msg_01{self.rng.getrandbits(88):022x}"

    def stamp(self) -> str:
        """Tell the time and let some of it pass; now and then two lines share a moment."""
        self._now += self.rng.choice((0, 1, 3, 40, 900, 20_000, 90_000))
        return _iso(self._now)

    def chain(self) -> list[Fields]:
        """The lines from the root to the tip."""
        by_uuid = {line["uuid"]: line for line in self.lines if "uuid" in line}
        out: list[Fields] = []
        at: Json = self.tip
        while at is not None and at in by_uuid:
            out.append(by_uuid[at])
            at = by_uuid[at].get("parentUuid")
        return out[::-1]

    def add(self, kind: str, body: Mapping[str, Json], *, parent: str | None = "", side: bool = False) -> str:
        """Append a line that lies in the chain; `parent` other than the tip leaves the tip where it is."""
        own = self.fresh_uuid()
        head: Fields = {"parentUuid": self.tip if parent == "" else parent, "isSidechain": side, "type": kind}
        tail: Fields = {
            "uuid": own,
            "timestamp": self.stamp(),
            "userType": "external",
            "entrypoint": "cli",
            "cwd": "/home/user/project",
            "sessionId": self.session_id,
            "version": self.version,
            "gitBranch": "main",
        }
        self.lines.append({**head, **body, **tail})
        if parent == "" and not side:
            self.tip = own
        return own

    def note(self, kind: str, body: Mapping[str, Json]) -> None:
        """Append a line without a uuid, outside the chain."""
        self.lines.append({"type": kind, **body, "sessionId": self.session_id})

    def user(self, content: Json, *, parent: str | None = "", side: bool = False, **more: Json) -> str:
        """Append a user line."""
        body: Fields = {
            "promptId": self.fresh_uuid(),
            "message": {"role": "user", "content": content},
            **more,
        }
        return self.add("user", body, parent=parent, side=side)

    def assistant(
        self,
        content: Sequence[Json],
        message_id: str,
        *,
        parent: str | None = "",
        side: bool = False,
        model: str = MODEL,
        **more: Json,
    ) -> str:
        """Append an assistant line, which holds one or more blocks of a message."""
        blocks = list(content)
        calls = any(isinstance(block, dict) and block.get("type") == "tool_use" for block in blocks)
        message: Fields = {
            "id": message_id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": blocks,
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 110, "cache_read_input_tokens": 11, "output_tokens": 18},
        }
        request = f"req_01{self.rng.getrandbits(64):016x}"
        body: Fields = {"message": message, "requestId": request, **more}
        return self.add("assistant", body, parent=parent, side=side)

    def system(self, subtype: str, content: str, *, parent: str | None = "", **more: Json) -> str:
        """Append a system line."""
        body: Fields = {"subtype": subtype, "content": content, "level": "info", "isMeta": False, **more}
        return self.add("system", body, parent=parent)

    def progress(self, call: str) -> str:
        """Append a progress line, which lies in the chain and says nothing."""
        data: Fields = {"type": "hook_progress", "hookEvent": "PreToolUse", "hookName": "PreToolUse:Bash"}
        return self.add("progress", {"data": data, "parentToolUseID": call, "toolUseID": call})

    def attachment(self) -> str:
        """Append an attachment of a random kind, most of them with the text the client rendered."""
        words = self.tag("attached")
        choice: Fields = self.rng.choice(_attachments(words))
        body: Fields = {"attachment": choice}
        if self.rng.random() < 0.6 and choice["type"] not in {"prompt_snapshot", "command_permissions"}:
            reminder = f"<system-reminder>\n{words.strip()}\n</system-reminder>"
            body |= {"rendered": [{"content": reminder}], "renderedRole": "system"}
        return self.add("attachment", body)

    def encode(self, line: Fields) -> bytes:
        """Write a line as the client does: compact, text as it is."""
        return json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()


def _iso(moment: int) -> str:
    seconds, millis = divmod(moment, 1000)
    days, rest = divmod(seconds - _START // 1000, 86_400)
    hours, rest = divmod(rest + 10 * 3600, 3600)
    return f"2026-03-{1 + days:02d}T{hours:02d}:{rest // 60:02d}:{rest % 60:02d}.{millis:03d}Z"


def text(words: str) -> Json:
    """A text block."""
    return {"type": "text", "text": words}


def thinking(words: str, signature: str = "c2lnOnRob3VnaHQ=") -> Json:
    """A thinking block."""
    return {"type": "thinking", "thinking": words, "signature": signature}


def image() -> Json:
    """An image block of one pixel."""
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PIXEL}}


def call(call_id: str, name: str, arguments: Fields) -> Json:
    """A block that calls a tool."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Json, **more: Json) -> Json:
    """A block with what a tool said."""
    return {"tool_use_id": call_id, "type": "tool_result", "content": content, **more}


def _attachments(words: str) -> tuple[Fields, ...]:
    """Attachments of the kinds the client writes, with `words` in them."""
    file: Fields = {
        "filePath": "/home/user/project/a.txt",
        "content": words,
        "numLines": 1,
        "startLine": 1,
        "totalLines": 1,
    }
    return (
        {"type": "date", "date": "2026-03-01"},
        {
            "type": "total_tokens_reminder",
            "text": f"<total_tokens>{len(words)}000 tokens left</total_tokens>",
        },
        {"type": "queued_command", "prompt": words, "commandMode": "prompt"},
        {
            "type": "file",
            "filename": "/home/user/project/a.txt",
            "content": {"type": "text", "file": file},
            "displayPath": "a.txt",
        },
        {"type": "skill_listing", "content": f"- demo: {words}", "skillCount": 1, "isInitial": True},
        {"type": "task_reminder", "content": [], "itemCount": 0},
        {"type": "model", "identity": {"modelId": MODEL, "marketingName": "Sonnet 4.5"}, "text": words},
        {"type": "session_context", "context": {"gitStatus": words}},
        {"type": "plan_mode_exit", "planFilePath": "/home/user/plan.md", "planExists": True},
        {"type": "command_permissions", "allowedTools": []},
        {"type": "prompt_snapshot", "systemPrompt": [words]},
        {
            "type": "deferred_tools_delta",
            "addedNames": ["WebFetch"],
            "addedLines": ["WebFetch"],
            "removedNames": [],
        },
        {"type": "hook_success", "hookName": "Stop", "hookEvent": "Stop", "content": words, "exitCode": 0},
        {"type": "a_kind_of_tomorrow", "payload": words},
    )
