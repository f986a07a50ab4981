"""Tell a demo story as the files a client would have written: template in, bytes out.

A template under `demo_data` is a JSONL file. Its first line says whose session it is; every other line is one
event. The shapes of the lines (which fields, in which order, what is known when) follow the client version
named in the first line. Ids come from the names in the template and times from `now`, so the same `now` always
gives the same bytes. Nothing here touches the disk or the clock.

Events: `user`, `meta`, `assistant` (a list of `think`, `text` and `call` blocks), `result` (of a call, by its
name), `system`, `attachment`, `progress`, `compact`, `snapshot`, `cost`, `bare` (a line without envelope) and
`damage`. `+` is the seconds since the event before, `as` names a line, `after` hangs it elsewhere, `in` puts it
into a sub-agent's transcript, `more` adds fields. `$cwd`, `$session`, `$time`, `$leaf` and `$uuid:NAME` in any
text are filled in.
"""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
import re
import uuid
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Json = dict[str, "Value"]
Value = str | int | float | bool | list["Value"] | Json | None

# Dollars for a million tokens: input, output, cache written, cache read. For the client's own cost line only;
# what clew says a session cost comes from its price table.
_PRICES = {
    "claude-sonnet-4-5-20250929": (3.0, 15.0, 3.75, 0.30),
    "claude-haiku-4-5-20251001": (1.0, 5.0, 1.25, 0.10),
}
_FIRST_CONTEXT = 15_200
_DEFAULT_PAUSE = {"user": 0.4, "assistant": 3.2, "result": 0.7, "damage": 0.0, "bare": 0.01, "snapshot": 0.01}


@dataclass(frozen=True, slots=True)
class ToldFile:
    """One file of a told story."""

    path: str
    """Under the config folder, with forward slashes."""

    data: bytes
    changed: datetime
    """When the client would last have written to it."""


@dataclass(frozen=True, slots=True)
class Told:
    """A whole story: its session file and what lies beside it."""

    session_id: str
    project: str
    shows: str
    """What the story is there to show, in a few words."""

    files: tuple[ToldFile, ...]
    """The session file first."""

    agents: int


@dataclass(slots=True)
class _Stream:
    """One transcript that is being told: the main one, or a sub-agent's."""

    lines: list[bytes]
    side: bool = False
    agent_id: str | None = None
    agent_type: str = ""
    parent: str | None = None
    prompt: str = ""
    prompt_id: str = ""
    turn: int = 0
    read: int = 0
    context: int = _FIRST_CONTEXT
    calls: int = 0
    said: str = ""
    started: datetime | None = None
    usage: Json = field(default_factory=dict[str, Value])


def session_id(name: str) -> str:
    """The id of the story of that name."""
    return _uuid(f"session {name}")


def slug(path: str) -> str:
    """The name of a project's folder: every UTF-16 unit but ASCII letters and digits is a dash."""
    units = path.encode("utf-16-be")
    chars = [chr(units[at] << 8 | units[at + 1]) for at in range(0, len(units), 2)]
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in chars)


def tell(template: str, *, now: datetime, home: str, originals: Mapping[str, str]) -> Told:
    """Tell one template. `originals` holds the projects' own files as they were, by `project/path`."""
    head, *events = (cast("Json", json.loads(line)) for line in template.splitlines() if line.strip())
    return _Teller(head, events, now=now, home=home, originals=originals).tell()


class _Teller:
    def __init__(
        self, head: Json, events: Sequence[Json], *, now: datetime, home: str, originals: Mapping[str, str]
    ) -> None:
        self.head = head
        self.events = events
        self.name = str(head["story"])
        self.session = session_id(self.name)
        self.project = str(head["project"])
        self.cwd = f"{home}/{self.project}"
        self.version = str(head.get("version", ""))
        self.era = tuple(int(part) for part in self.version.split(".")) if self.version else (0,)
        self.model = str(head.get("model", ""))
        self.files = {
            key.removeprefix(f"{self.project}/"): text
            for key, text in originals.items()
            if key.startswith(f"{self.project}/")
        }
        self.main = _Stream(lines=[])
        self.streams: dict[str, _Stream] = {"": self.main}
        for label, agent in _mapping(head.get("agents")).items():
            self.streams[label] = self._agent_stream(label, _mapping(agent))
        self.labels: dict[str, str] = {}
        self.calls: dict[str, tuple[str, Json, str]] = {}
        self.serial = 0
        self.todos: Value = []
        total = sum(_pause(event) for event in events)
        ends = now - timedelta(seconds=_float(head.get("ago")))
        self.time = _rounded(ends - timedelta(seconds=total))
        self.first_time = self.time
        self.api_ms = 0
        self.spent: dict[str, list[int]] = {}

    def _agent_stream(self, label: str, agent: Json) -> _Stream:
        inline = agent.get("layout") == "inline"
        digits = int(_float(agent.get("digits", 16)))
        digest = hashlib.sha256(f"{self.name} agent {label}".encode()).hexdigest()[:digits]
        return _Stream(
            lines=self.main.lines if inline else [],
            side=True,
            agent_id=None if inline else f"{agent.get('letter', 'a')}{digest}",
            agent_type=str(agent.get("type", "general-purpose")),
        )

    # --- the whole story ------------------------------------------------------------------------------

    def tell(self) -> Told:
        for event in self.events:
            self.time += timedelta(seconds=_pause(event))
            stream = self.streams[str(event.get("in", ""))]
            if stream.started is None:
                stream.started = self.time
            self._event(stream, event)
        folder = f"projects/{slug(self.cwd)}"
        told = [ToldFile(f"{folder}/{self.session}.jsonl", b"".join(self.main.lines), self.time)]
        agents = _mapping(self.head.get("agents"))
        for label, stream in self.streams.items():
            if stream.agent_id is None:
                continue
            agent = _mapping(agents[label])
            flat = agent.get("layout") == "flat"
            base = f"{folder}/agent-{stream.agent_id}" if flat else f"{folder}/{self.session}/subagents/agent-{stream.agent_id}"
            told.append(ToldFile(f"{base}.jsonl", b"".join(stream.lines), self.time))
            if not flat:
                name, given, _ = self.calls[str(agent["call"])]
                meta: Json = {
                    "agentType": stream.agent_type,
                    "description": given.get("description"),
                    "toolUseId": self._call_id(str(agent["call"])),
                }
                del name
                told.append(ToldFile(f"{base}.meta.json", _compact(meta).encode(), self.time))
        return Told(self.session, self.project, str(self.head.get("shows", "")), tuple(told), len(agents))

    def _event(self, stream: _Stream, event: Json) -> None:
        if "user" in event or "meta" in event:
            self._user(stream, event)
        elif "assistant" in event:
            self._assistant(stream, event)
        elif "result" in event:
            self._result(stream, event)
        elif "compact" in event:
            self._compact(stream, event)
        elif "damage" in event:
            self._damage(stream, event)
        elif "cost" in event:
            self._cost(stream)
        elif "snapshot" in event:
            self._snapshot(stream, str(event["snapshot"]))
        elif "bare" in event:
            self._put(stream, _mapping(self._fill(event["bare"])))
        elif "system" in event:
            body: Json = {"type": "system", "subtype": event["system"]}
            self._line(stream, event, body, last=_mapping(self._fill(event.get("more"))))
        elif "attachment" in event:
            body = {"attachment": self._fill(event["attachment"]), "type": "attachment"}
            self._line(stream, event, body, last=_mapping(self._fill(event.get("more"))))
        elif "progress" in event:
            call = self._call_id(str(event["call"]))
            body = {"type": "progress", "data": self._fill(event["progress"]), "toolUseID": call, "parentToolUseID": call}
            self._line(stream, event, body)
        else:
            raise ValueError(f"{self.name}: an event of no known kind: {sorted(event)}")

    # --- one kind of event each -------------------------------------------------------------------------

    def _user(self, stream: _Stream, event: Json) -> None:
        is_meta = "meta" in event
        content = self._fill(event["meta"] if is_meta else event["user"])
        more = _mapping(self._fill(event.get("more")))
        body: Json = {"type": "user", "message": {"role": "user", "content": content}}
        if is_meta:
            body["isMeta"] = True
        elif not stream.side:
            stream.turn += 1
            stream.prompt_id = _uuid(f"{self.name} prompt {stream.turn}")
            more = {**self._prompt_fields(stream), **more}
        if isinstance(content, str):
            stream.prompt = content
        stream.context += _tokens(content)
        self._line(stream, event, body, last=more, prompt_id=True)

    def _prompt_fields(self, stream: _Stream) -> Json:
        fields: Json = {}
        if self.era >= (2, 1, 29):
            fields["permissionMode"] = "default"
        if self.era >= (2, 1, 220):
            fields["promptSource"] = "typed"
        if self.era >= (2, 1, 325):
            fields["turnOrigin"] = "human"
            fields["turnPosition"] = {"promptIndex": 0, "turnIndex": stream.turn}
        return fields

    def _assistant(self, stream: _Stream, event: Json) -> None:
        """One message of the model: a line for each of its blocks, which share its id and its usage."""
        self.serial += 1
        blocks = [self._block(_mapping(block)) for block in _sequence(self._fill(event["assistant"]))]
        model = str(event.get("model", self.model))
        stop = "tool_use" if blocks[-1].get("type") == "tool_use" else "end_turn"
        fresh = stream.context - stream.read
        output = 12 + sum(_tokens(block) for block in blocks)
        usage = self._usage(stream.read, fresh, output)
        stream.read = stream.context
        stream.context += output
        stream.usage = usage
        self._spend(model, stream.read - fresh, fresh, output)
        self.api_ms += int(_pause(event) * 900)
        message_id = "msg_01" + _token(f"{self.name} message {self.serial}", 22)
        request = "req_011" + _token(f"{self.name} request {self.serial}", 21)
        for at, block in enumerate(blocks):
            is_last = at == len(blocks) - 1
            self.time += timedelta(milliseconds=37 if at else 0)
            message: Json = {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [block],
                "stop_reason": self._stop_reason(stop, is_last=is_last),
                "stop_sequence": None,
                "usage": self._usage_on_line(usage, is_last=is_last),
            }
            if self.era >= (2, 1, 150):
                message["stop_details"] = None
            body: Json = {"message": message}
            if self.era >= (2, 1, 325):
                body["apiBlockIndex"] = at
            body["requestId"] = request
            if self.era >= (2, 1, 325):
                body |= {
                    "requestRef": _uuid(request),
                    "requestedModel": model,
                    "promptCacheRequested": "5m",
                }
            if stream.agent_type and self.era >= (2, 1, 150):
                body["attributionAgent"] = stream.agent_type
            body["type"] = "assistant"
            last: Json = {"perTurnEffort": None, "madeBy": "model"} if self.era >= (2, 1, 325) else {}
            named = {**event} if is_last else {key: value for key, value in event.items() if key not in ("as",)}
            if at:
                named.pop("after", None)
            line_id = self._line(stream, named, body, last=last)
            match block:
                case {"type": "text", "text": str(said)}:
                    stream.said = said
                case {"type": "tool_use", "id": str(call_id)}:
                    label = next(key for key in self.calls if self._call_id(key) == call_id)
                    self.calls[label] = (*self.calls[label][:2], line_id)
                    stream.calls += 1
                case _:
                    pass

    def _block(self, block: Json) -> Json:
        if "think" in block:
            thought = str(block["think"])
            seal = hashlib.sha512(thought.encode()).digest() * 3
            return {"type": "thinking", "thinking": thought, "signature": base64.b64encode(seal).decode()}
        if "call" in block:
            label, name, given = str(block["call"]), str(block["name"]), _mapping(block.get("input"))
            self.calls[label] = (name, given, "")
            return {"type": "tool_use", "id": self._call_id(label), "name": name, "input": given}
        return {"type": "text", "text": block["text"]}

    def _stop_reason(self, stop: str, *, is_last: bool) -> str | None:
        """What a client of this version had written when the line was flushed."""
        if (2, 1, 29) <= self.era <= (2, 1, 45):
            return None
        waits = self.era < (2, 0, 37) or (2, 0, 50) <= self.era <= (2, 0, 76) or (2, 1, 80) <= self.era <= (2, 1, 88)
        return None if waits and not is_last else stop

    def _usage(self, read: int, fresh: int, output: int) -> Json:
        details: Json = {"ephemeral_5m_input_tokens": fresh, "ephemeral_1h_input_tokens": 0}
        usage: Json = {
            "input_tokens": 4 + self.serial % 5,
            "cache_creation_input_tokens": fresh,
            "cache_read_input_tokens": read,
        }
        if self.era < (2, 1, 45):
            return {**usage, "cache_creation": details, "output_tokens": output, "service_tier": "standard"}
        return {
            **usage,
            "output_tokens": output,
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0},
            "service_tier": "standard",
            "cache_creation": details,
            "inference_geo": "",
            "iterations": [],
            "speed": "standard",
        }

    def _usage_on_line(self, usage: Json, *, is_last: bool) -> Json:
        if (2, 1, 29) <= self.era <= (2, 1, 88) and not is_last:
            return {**usage, "output_tokens": 3}  # what the stream's first event said
        return usage

    def _spend(self, model: str, read: int, fresh: int, output: int) -> None:
        spent = self.spent.setdefault(model, [0, 0, 0, 0])
        for at, amount in enumerate((4 + self.serial % 5, output, fresh, read)):
            spent[at] += amount

    def _result(self, stream: _Stream, event: Json) -> None:
        label = str(event["result"])
        name, given, line_id = self.calls[label]
        call_id = self._call_id(label)
        error = self._fill(event.get("error"))
        block: Json
        structured: Value
        if error is not None:
            block = {"type": "tool_result", "content": error, "is_error": True, "tool_use_id": call_id}
            structured = f"Error: {error}"
        else:
            content, structured = self._outcome(event, name, given)
            block = {"tool_use_id": call_id, "type": "tool_result", "content": content}
            if name == "Bash":
                block["is_error"] = False
        body: Json = {"type": "user", "message": {"role": "user", "content": [block]}}
        last: Json = {"toolUseResult": structured}
        if self.era >= (2, 1, 45):
            last["sourceToolAssistantUUID"] = line_id
        stream.context += _tokens(block)
        parent: Json = {"after": line_id} if self.era >= (2, 1, 29) and "after" not in event else {}
        self._line(stream, {**event, **parent}, body, last=last, prompt_id=True)

    def _outcome(self, event: Json, name: str, given: Json) -> tuple[Value, Value]:
        """What a tool gave back, for the model and as the client keeps it."""
        if "content" in event:
            return self._fill(event["content"]), self._fill(event.get("data", event["content"]))
        path = str(given.get("file_path", ""))
        short = path.removeprefix(self.cwd + "/")
        match name:
            case "Read":
                return self._read(path, self.files[short])
            case "Write":
                before = self.files.get(short)
                after = self.files[short] = str(given["content"])
                kept: Json = {
                    "type": "create" if before is None else "update",
                    "filePath": path,
                    "content": after,
                    "structuredPatch": [] if before is None else _patch(before, after),
                }
                if self.era >= (2, 0, 50):
                    kept["originalFile"] = before
                return f"File {'created' if before is None else 'updated'} successfully at: {path}", kept
            case "Edit":
                before = self.files[short]
                old, new = str(given["old_string"]), str(given["new_string"])
                if before.count(old) != 1:
                    raise ValueError(f"{self.name}: {old!r} is not once in {short}")
                after = self.files[short] = before.replace(old, new)
                return f"The file {path} has been updated.", {
                    "filePath": path,
                    "oldString": old,
                    "newString": new,
                    "originalFile": before,
                    "structuredPatch": _patch(before, after),
                    "userModified": False,
                    "replaceAll": False,
                }
            case "TodoWrite":
                before_todos, self.todos = self.todos, given["todos"]
                return "The to-do list has been changed.", {"oldTodos": before_todos, "newTodos": self.todos}
            case "Bash":
                said = str(self._fill(event.get("stdout", "")))
                kept = {"stdout": said, "stderr": "", "interrupted": False, "isImage": False}
                if self.era >= (2, 1, 45):
                    kept["noOutputExpected"] = False
                return said, kept
            case "Task" | "Agent":
                return self._agent_outcome(str(event["agent"]), given)
            case _:
                raise ValueError(f"{self.name}: what did {name} give back?")

    def _read(self, path: str, text: str) -> tuple[Value, Value]:
        lines = text.split("\n")
        numbered = "\n".join(
            f"{n}\t{line}" if self.era >= (2, 1, 150) else f"{n:>6}→{line}" for n, line in enumerate(lines, 1)
        )
        file: Json = {
            "filePath": path,
            "content": text,
            "numLines": len(lines),
            "startLine": 1,
            "totalLines": len(lines),
        }
        return numbered, {"type": "text", "file": file}

    def _agent_outcome(self, label: str, given: Json) -> tuple[Value, Value]:
        agent = self.streams[label]
        said: list[Value] = [{"type": "text", "text": agent.said}]
        took = self.time - (agent.started or self.time)
        kept: Json = {"content": said}
        if agent.agent_id is not None:
            kept = {"status": "completed", "prompt": given.get("prompt"), "agentId": agent.agent_id}
            if self.era >= (2, 1, 88):
                kept["agentType"] = agent.agent_type
            kept["content"] = said
        kept |= {
            "totalDurationMs": round(took.total_seconds() * 1000),
            "totalTokens": agent.context,
            "totalToolUseCount": agent.calls,
            "usage": agent.usage,
        }
        if agent.agent_id is None:
            kept["wasInterrupted"] = False
        return said, kept

    def _compact(self, stream: _Stream, event: Json) -> None:
        """A compaction: a boundary that hangs on nothing, and the summary that hangs on it."""
        before = stream.context
        stream.context = _FIRST_CONTEXT + _tokens(event["summary"])
        stream.read = 0
        details: Json = {"trigger": event["compact"], "preTokens": before}
        if self.era >= (2, 1, 150):
            details |= {"postTokens": stream.context, "durationMs": 8200}
        boundary: Json = {"logicalParentUuid": stream.parent}
        stream.parent = None
        self._line(
            stream,
            {"as": event.get("as")},
            {"type": "system", "subtype": "compact_boundary", "content": "Conversation compacted"},
            first=boundary,
            last={"isMeta": False, "level": "info", "compactMetadata": details},
        )
        self.time += timedelta(milliseconds=2)
        body: Json = {"type": "user", "message": {"role": "user", "content": self._fill(event["summary"])}}
        last: Json = {"isVisibleInTranscriptOnly": True, "isCompactSummary": True}
        self._line(stream, {}, body, last=last, prompt_id=True)

    def _snapshot(self, stream: _Stream, of: str) -> None:
        message = _uuid(f"{self.name} line {of}")
        snapshot: Json = {"messageId": message, "trackedFileBackups": {}, "timestamp": _iso(self.time)}
        body: Json = {"type": "file-history-snapshot", "messageId": message, "snapshot": snapshot}
        self._put(stream, {**body, "isSnapshotUpdate": False})

    def _cost(self, stream: _Stream) -> None:
        """The client's own account of what the session cost so far."""
        by_model: Json = {}
        total = 0.0
        for model, spent in self.spent.items():
            cost = round(sum(n * price for n, price in zip(spent, _PRICES[model], strict=True)) / 1e6, 8)
            total += cost
            by_model[model] = {
                "inputTokens": spent[0],
                "outputTokens": spent[1],
                "thinkingTokens": 0,
                "cacheReadInputTokens": spent[3],
                "cacheCreationInputTokens": spent[2],
                "cacheCreationEphemeral5mInputTokens": spent[2],
                "cacheCreationEphemeral1hInputTokens": 0,
                "webSearchRequests": 0,
                "costUSD": cost,
            }
        self._put(
            stream,
            {
                "type": "cost-state",
                "sessionId": self.session,
                "totalCostUSD": round(total, 8),
                "totalAPIDuration": self.api_ms,
                "totalAPIDurationWithoutRetries": self.api_ms,
                "totalToolDuration": 700 * self.main.calls,
                "totalLinesAdded": 0,
                "totalLinesRemoved": 0,
                "totalDuration": round((self.time - self.first_time).total_seconds() * 1000),
                "startTime": round(self.first_time.timestamp() * 1000),
                "modelUsage": by_model,
                "hasUnknownModelCost": False,
            },
        )

    def _damage(self, stream: _Stream, event: Json) -> None:
        """Harm done to the file by a crash, after the line before was written."""
        match event["damage"]:
            case "nul":
                stream.lines.append(b"\0" * int(_float(event["bytes"])) + b"\n")
            case "glue":
                stream.lines[-1] = stream.lines[-1].rstrip(b"\n")
            case "cut":
                stream.lines[-1] = stream.lines[-1][: int(_float(event["bytes"]))]
            case other:
                raise ValueError(f"{self.name}: no such damage: {other}")

    # --- one line -----------------------------------------------------------------------------------------

    def _line(
        self,
        stream: _Stream,
        event: Json,
        body: Json,
        *,
        first: Json | None = None,
        last: Json | None = None,
        prompt_id: bool = False,
    ) -> str:
        """Write one line of the conversation and hang it on the line before; return its uuid."""
        self.serial += 1
        label = event.get("as")
        line_id = _uuid(f"{self.name} line {label if isinstance(label, str) else self.serial}")
        if isinstance(label, str):
            self.labels[label] = line_id
        parent = stream.parent
        if "after" in event:
            after = event["after"]
            parent = self.labels.get(after, after) if isinstance(after, str) else None
        chain: Json = {"parentUuid": parent, **(first or {}), "isSidechain": stream.side}
        where: Json = {"userType": "external"}
        if self.era >= (2, 1, 80):
            where["entrypoint"] = "cli"
        where |= {"cwd": self.cwd, "sessionId": self.session, "version": self.version}
        if self.era >= (1, 0, 128):
            where["gitBranch"] = self.head.get("branch", "main")
        if self.head.get("slug") and self.era >= (2, 0, 76):
            where["slug"] = self.head["slug"]
        if stream.agent_id:
            chain["agentId"] = stream.agent_id
        if prompt_id and self.era >= (2, 1, 80):
            chain["promptId"] = stream.prompt_id or self.main.prompt_id
        stamp: Json = {"uuid": line_id, "timestamp": _iso(self.time)}
        order = (chain, body, stamp, last or {}, where) if self.era >= (2, 1, 80) else (chain, where, body, stamp, last or {})
        line: Json = {}
        for part in order:
            line |= part
        self._put(stream, line)
        stream.parent = line_id
        return line_id

    def _put(self, stream: _Stream, line: Json) -> None:
        stream.lines.append(_compact(line).encode() + b"\n")

    def _call_id(self, label: str) -> str:
        return "toolu_01" + _token(f"{self.name} call {label}", 22)

    def _fill(self, value: Value) -> Value:
        """Put the facts of this telling into every text of a template's value."""
        if isinstance(value, str):
            return _PLACE.sub(self._fact, value) if "$" in value else value
        if isinstance(value, list):
            return [self._fill(inner) for inner in value]
        if isinstance(value, dict):
            return {key: self._fill(inner) for key, inner in value.items()}
        return value

    def _fact(self, match: re.Match[str]) -> str:
        match match.group(1):
            case "cwd":
                return self.cwd
            case "session":
                return self.session
            case "time":
                return _iso(self.time)
            case "leaf":
                return self.main.parent or ""
            case _:
                story, _, label = match.group(2).rpartition("/")
                return _uuid(f"{story or self.name} line {label}")


_PLACE = re.compile(r"\$(cwd|session|time|leaf|uuid:([a-z0-9/-]+))")


def _uuid(name: str) -> str:
    return str(uuid.UUID(bytes=hashlib.sha256(f"clew demo: {name}".encode()).digest()[:16], version=4))


def _token(name: str, length: int) -> str:
    """Letters and digits that look as random as the API's ids do."""
    digest = base64.b64encode(hashlib.sha512(name.encode()).digest()).decode()
    return "".join(char for char in digest if char.isalnum())[:length]


def _compact(line: Json) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _rounded(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def _pause(event: Json) -> float:
    if "+" in event:
        return _float(event["+"])
    return next((pause for kind, pause in _DEFAULT_PAUSE.items() if kind in event), 0.05)


def _tokens(value: Value) -> int:
    """About how many tokens a value is; near enough for a story."""
    return len(_compact({"": value})) // 4


def _patch(before: str, after: str) -> list[Value]:
    """The change as the client keeps it: hunks with three lines around them."""
    old, new = before.splitlines(), after.splitlines()
    hunks: list[Value] = []
    for group in difflib.SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines: list[Value] = []
        for tag, a, b, c, d in group:
            if tag == "equal":
                lines += [f" {line}" for line in old[a:b]]
            else:
                lines += [f"-{line}" for line in old[a:b]]
                lines += [f"+{line}" for line in new[c:d]]
        (_, a, _, c, _), (_, _, b, _, d) = group[0], group[-1]
        hunks.append({"oldStart": a + 1, "oldLines": b - a, "newStart": c + 1, "newLines": d - c, "lines": lines})
    return hunks


def _mapping(value: Value) -> Json:
    return value if isinstance(value, dict) else {}


def _sequence(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []


def _float(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
