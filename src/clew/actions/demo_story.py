"""Tell a demo story as the files a client would have written: template in, bytes out.

A template under `demo_data` is a JSONL file. Its first line says whose session it is; every other line is
one event. The lines have the shape that the client version named in the first line gives them; see
`clew.actions.demo_shapes`. Ids come from the names in the template and times from `now`, so the same `now`
always gives the same bytes. Nothing here touches the disk or the clock.

Events: `user`, `meta`, `assistant` (a list of `think`, `text` and `call` blocks), `result` (of a call, by
its name), `system`, `attachment`, `progress`, `compact`, `snapshot`, `cost`, `bare` (a line without
envelope) and `damage`. `+` is the seconds since the event before, `as` names a line, `after` hangs it
elsewhere, `in` puts it into a sub-agent's transcript, `more` adds fields, `aside` marks what a command wrote
in the person's name. `$cwd`, `$session`, `$day`, `$leaf` and `$uuid:STORY/NAME` in any text are filled in.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

from clew.actions import demo_shapes as shapes
from clew.actions.demo_shapes import Json, Value
from clew.actions.demo_tools import Workbench
from clew.store.slugs import folder_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    prompt_id: str = ""
    turn: int = 0
    read: int = 0
    context: int = _FIRST_CONTEXT
    calls: int = 0
    said: str = ""
    started: datetime | None = None
    usage: Json = field(default_factory=dict[str, Value])


@dataclass(slots=True)
class _Call:
    """A tool call that was made, for its result to refer to."""

    name: str
    given: Json
    line_id: str = ""


def session_id(name: str) -> str:
    """The id of the story of that name."""
    return shapes.uuid_of(f"session {name}")


def tell(template: str, *, now: datetime, home: str, originals: Mapping[str, str]) -> Told:
    """Tell one template. `originals` holds the projects' own files as they were, by `project/path`."""
    head, *events = (cast("Json", json.loads(line)) for line in template.split("\n") if line)
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
        self.era = shapes.era(self.version)
        self.model = str(head.get("model", ""))
        own = {
            key.partition("/")[2]: text
            for key, text in originals.items()
            if key.startswith(f"{self.project}/")
        }
        self.bench = Workbench(self.era, self.cwd, own)
        self.main = _Stream(lines=[])
        self.streams: dict[str, _Stream] = {"": self.main}
        for label, agent in _mapping(head.get("agents")).items():
            self.streams[label] = self._agent_stream(label, _mapping(agent))
        self.labels: dict[str, str] = {}
        self.calls: dict[str, _Call] = {}
        self.serial = 0
        total = sum(_pause(event) for event in events)
        ends = now - timedelta(seconds=_float(head.get("ago")))
        self.time = ends - timedelta(seconds=total)
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
            context=_FIRST_CONTEXT // 4,
        )

    # --- the whole story ------------------------------------------------------------------------------

    def tell(self) -> Told:
        for event in self.events:
            self.time += timedelta(seconds=_pause(event))
            stream = self.streams[str(event.get("in", ""))]
            if stream.started is None:
                stream.started = self.time
            self._event(stream, event)
        folder = f"projects/{folder_name(self.cwd)}"
        told = [ToldFile(f"{folder}/{self.session}.jsonl", b"".join(self.main.lines), self.time)]
        agents = _mapping(self.head.get("agents"))
        for label, stream in self.streams.items():
            if stream.agent_id is None:
                continue
            agent = _mapping(agents[label])
            flat = agent.get("layout") == "flat"
            base = f"{folder}/{'' if flat else f'{self.session}/subagents/'}agent-{stream.agent_id}"
            told.append(ToldFile(f"{base}.jsonl", b"".join(stream.lines), self.time))
            if not flat:
                call = str(agent["call"])
                meta: Json = {
                    "agentType": stream.agent_type,
                    "description": self.calls[call].given.get("description"),
                    "toolUseId": self._call_id(call),
                }
                told.append(ToldFile(f"{base}.meta.json", shapes.compact(meta).encode(), self.time))
        return Told(self.session, self.project, str(self.head.get("shows", "")), tuple(told), len(agents))

    def _event(self, stream: _Stream, event: Json) -> None:
        if "user" in event or "meta" in event:
            self._user(stream, event)
        elif "assistant" in event:
            self._assistant(stream, event)
        elif "result" in event:
            self._result(stream, event)
        elif "compact" in event:
            self._compaction(stream, event)
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
            body = {
                "type": "progress",
                "data": self._fill(event["progress"]),
                "toolUseID": call,
                "parentToolUseID": call,
            }
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
        elif not stream.side and not event.get("aside"):
            stream.turn += 1
            stream.prompt_id = shapes.uuid_of(f"{self.name} prompt {stream.turn}")
            more = {**shapes.prompt_fields(self.era, turn=stream.turn), **more}
        stream.context += _tokens(content)
        self._line(stream, event, body, last=more, prompt_id=True)

    def _assistant(self, stream: _Stream, event: Json) -> None:
        """One message of the model: a line for each of its blocks, which share its id and its usage."""
        self.serial += 1
        blocks = [self._block(_mapping(block)) for block in _sequence(self._fill(event["assistant"]))]
        model = str(event.get("model", self.model))
        stop = "tool_use" if blocks[-1].get("type") == "tool_use" else "end_turn"
        usage = self._spend(stream, model, output=12 + sum(_tokens(block) for block in blocks))
        self.api_ms += int(_pause(event) * 900)
        message_id = "msg_01" + shapes.token_of(f"{self.name} message {self.serial}", 22)
        request = "req_011" + shapes.token_of(f"{self.name} request {self.serial}", 21)
        for at, block in enumerate(blocks):
            is_last = at == len(blocks) - 1
            self.time += timedelta(milliseconds=37 if at else 0)
            message: Json = {
                "id": message_id,
                "type": "message",
                "role": "assistant",
                "model": model,
                "content": [block],
                "stop_reason": shapes.stop_reason(self.era, stop, is_last=is_last),
                "stop_sequence": None,
                "usage": shapes.usage_on_line(self.era, usage, is_last=is_last),
            }
            if self.era >= (2, 1, 150):
                message["stop_details"] = None
            body: Json = {"message": message}
            if self.era >= (2, 1, 325):
                body["apiBlockIndex"] = at
            body["requestId"] = request
            if self.era >= (2, 1, 325):
                body |= {
                    "requestRef": shapes.uuid_of(request),
                    "requestedModel": model,
                    "promptCacheRequested": "5m",
                }
            if stream.agent_type and self.era >= (2, 1, 150):
                body["attributionAgent"] = stream.agent_type
            body["type"] = "assistant"
            last: Json = {"perTurnEffort": None, "madeBy": "model"} if self.era >= (2, 1, 325) else {}
            place: Json = {"as": event.get("as") if is_last else None}
            if not at and "after" in event:
                place["after"] = event["after"]
            line_id = self._line(stream, place, body, last=last)
            if block["type"] == "text":
                stream.said = str(block["text"])
            for label, call in self.calls.items():
                if block.get("id") == self._call_id(label):
                    call.line_id = line_id
                    stream.calls += 1

    def _block(self, block: Json) -> Json:
        if "think" in block:
            thought = str(block["think"])
            seal = hashlib.sha512(thought.encode()).digest() * 3
            return {"type": "thinking", "thinking": thought, "signature": base64.b64encode(seal).decode()}
        if "call" in block:
            label, name, given = str(block["call"]), str(block["name"]), _mapping(block.get("input"))
            self.calls[label] = _Call(name, given)
            return {"type": "tool_use", "id": self._call_id(label), "name": name, "input": given}
        return {"type": "text", "text": block["text"]}

    def _spend(self, stream: _Stream, model: str, *, output: int) -> Json:
        """Account for a message: what was said before is read from the cache, the rest is written to it."""
        fresh_input, written, read = 4 + self.serial % 5, stream.context - stream.read, stream.read
        stream.read = stream.context
        stream.context += output
        spent = self.spent.setdefault(model, [0, 0, 0, 0])
        for at, amount in enumerate((fresh_input, output, written, read)):
            spent[at] += amount
        stream.usage = shapes.usage(
            self.era, fresh_input=fresh_input, written=written, read=read, output=output
        )
        return stream.usage

    def _result(self, stream: _Stream, event: Json) -> None:
        label = str(event["result"])
        call = self.calls[label]
        call_id = self._call_id(label)
        error = self._fill(event.get("error"))
        block: Json
        structured: Value
        if error is not None:
            block = {"type": "tool_result", "content": error, "is_error": True, "tool_use_id": call_id}
            structured = f"Error: {error}"
        else:
            content, structured = self._outcome(event, call)
            block = {"tool_use_id": call_id, "type": "tool_result", "content": content}
            if call.name == "Bash":
                block["is_error"] = False
        body: Json = {"type": "user", "message": {"role": "user", "content": [block]}}
        last: Json = {"toolUseResult": structured}
        if self.era >= (2, 1, 45):
            last["sourceToolAssistantUUID"] = call.line_id
        stream.context += _tokens(block)
        parent: Json = {"after": call.line_id} if self.era >= (2, 1, 29) and "after" not in event else {}
        self._line(stream, {**event, **parent}, body, last=last, prompt_id=True)

    def _outcome(self, event: Json, call: _Call) -> tuple[Value, Value]:
        """What a tool gave back, for the model and as the client keeps it."""
        if call.name in ("Task", "Agent"):
            return self._agent_outcome(str(event["agent"]), call.given)
        return self.bench.use(call.name, call.given, stdout=str(self._fill(event.get("stdout", ""))))

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

    def _compaction(self, stream: _Stream, event: Json) -> None:
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
        message = shapes.uuid_of(f"{self.name} line {of}")
        snapshot: Json = {"messageId": message, "trackedFileBackups": {}, "timestamp": shapes.iso(self.time)}
        body: Json = {"type": "file-history-snapshot", "messageId": message, "snapshot": snapshot}
        self._put(stream, {**body, "isSnapshotUpdate": False})

    def _cost(self, stream: _Stream) -> None:
        """The client's own account of what the session cost so far."""
        facts: Json = {
            "type": "cost-state",
            "sessionId": self.session,
            **shapes.cost(self.spent),
            "totalAPIDuration": self.api_ms,
            "totalAPIDurationWithoutRetries": self.api_ms,
            "totalToolDuration": 700 * self.main.calls,
            "totalLinesAdded": self.bench.added,
            "totalLinesRemoved": self.bench.removed,
            "totalDuration": round((self.time - self.first_time).total_seconds() * 1000),
            "startTime": round(self.first_time.timestamp() * 1000),
        }
        self._put(stream, facts)

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
        line_id = shapes.uuid_of(f"{self.name} line {label if isinstance(label, str) else self.serial}")
        if isinstance(label, str):
            self.labels[label] = line_id
        parent = stream.parent
        if "after" in event:
            after = event["after"]
            parent = self.labels.get(after, after) if isinstance(after, str) else None
        chain: Json = {"parentUuid": parent, **(first or {}), "isSidechain": stream.side}
        if stream.agent_id:
            chain["agentId"] = stream.agent_id
        if prompt_id and self.era >= (2, 1, 80):
            chain["promptId"] = stream.prompt_id or self.main.prompt_id
        stamp: Json = {"uuid": line_id, "timestamp": shapes.iso(self.time)}
        line = shapes.envelope(
            self.era,
            chain,
            body,
            stamp,
            last or {},
            cwd=self.cwd,
            session=self.session,
            version=self.version,
            more=self.head,
        )
        self._put(stream, line)
        stream.parent = line_id
        return line_id

    def _put(self, stream: _Stream, line: Json) -> None:
        stream.lines.append(shapes.compact(line).encode() + b"\n")

    def _call_id(self, label: str) -> str:
        return "toolu_01" + shapes.token_of(f"{self.name} call {label}", 22)

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
            case "day":
                return self.time.date().isoformat()
            case "leaf":
                return self.main.parent or ""
            case _:
                story, _, label = match.group(2).rpartition("/")
                return shapes.uuid_of(f"{story or self.name} line {label}")


_PLACE = re.compile(r"\$(cwd|session|day|leaf|uuid:([a-z0-9/-]+))")


def _pause(event: Json) -> float:
    if "+" in event:
        return _float(event["+"])
    return next((pause for kind, pause in _DEFAULT_PAUSE.items() if kind in event), 0.05)


def _tokens(value: Value) -> int:
    """About how many tokens a value is; near enough for a story."""
    return len(shapes.compact({"": value})) // 4


def _mapping(value: Value) -> Json:
    return value if isinstance(value, dict) else {}


def _sequence(value: Value) -> list[Value]:
    return value if isinstance(value, list) else []


def _float(value: Value) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
