"""One made-up session: prompts, messages, calls, results and everything a client writes around them.

A `Session` writes the lines and tells the truth about each message it makes. What files there are, and which
of them are copies of others, is decided in `generate`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from bench import shapes
from bench.sheet import Sheet
from bench.truth import Needle

if TYPE_CHECKING:
    from random import Random

    from bench.prose import Pool, Pools
    from bench.shapes import Envelope, Era
    from bench.truth import Truth, Usage

NEEDLE_FIELDS = ("prompt", "text", "thinking", "tool_input", "tool_result", "summary", "title")
TOOLS = ("Bash", "Bash", "Bash", "Read", "Read", "Read", "Edit", "Edit", "Write", "Grep")


def new_uuid(rng: Random) -> str:
    digits = f"{rng.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}"


@dataclass(slots=True)
class Place:
    """What all sessions of a corpus share."""

    rng: Random
    pools: Pools
    truth: Truth
    scale: float = 1.0
    """Shortens every text: a corpus of a few megabytes then has as many sessions as it needs shapes."""


@dataclass(frozen=True, slots=True)
class Home:
    """Where a session belongs."""

    cwd: str
    folder: str
    """The project's folder, below the root: `projects/<slug>`."""
    branch: str


@dataclass(slots=True)
class Clock:
    """The session's time, shared with its sub-agents so that they happen one after the other."""

    ms: int
    _minute: int = -1
    _text: str = ""

    def tick(self, ms: float) -> str:
        """Let time pass and return the new time as the client writes it."""
        self.ms += 1 + int(ms)
        minute, rest = divmod(self.ms, 60_000)
        if minute != self._minute:
            self._minute = minute
            self._text = datetime.fromtimestamp(minute * 60, UTC).strftime("%Y-%m-%dT%H:%M:")
        return f"{self._text}{rest // 1000:02d}.{rest % 1000:03d}Z"


@dataclass(slots=True)
class Session:
    """A session, or a sub-agent's part of one, being played."""

    place: Place
    era: Era
    home: Home
    sheet: Sheet
    session_id: str
    clock: Clock
    parent: str = "null"
    """The last line of the chain, quoted, or null."""
    wanted: list[tuple[int, Needle]] = field(default_factory=list[tuple[int, Needle]])
    """Needles to plant once the file has reached a size, last one first."""
    agent_id: str | None = None
    may_tie: bool = False
    """Whether two lines of a message may claim the same output and differ in the rest (the later one holds).
    Whether two lines of a message may claim the same output and differ in the rest (the later one holds)."""
    allow_agents: bool = True
    delegated: bool = True
    """Set to False to have a sub-agent in the first round; later ones come by chance."""
    env: Envelope = field(init=False)
    model: str = field(init=False)
    one_hour: bool = field(init=False)
    echoes: list[str] = field(init=False, default_factory=list[str])
    """A sub-agent's messages, as its parent's progress lines repeat them."""
    _due: dict[str, Needle] = field(init=False, default_factory=dict[str, Needle])
    _planted: list[Needle] = field(init=False, default_factory=list[Needle])

    def __post_init__(self) -> None:
        rng = self.place.rng
        models = self.era.models
        self.model = models[-1] if self.agent_id and rng.random() < 0.5 else rng.choice(models)
        self.one_hour = rng.random() < self.era.one_hour
        self.env = shapes.envelope(
            self.era,
            session_id=self.session_id,
            cwd=self.home.cwd.replace("\\", "\\\\"),
            branch=self.home.branch,
            sidechain=self.agent_id is not None,
            agent_id=None if self.era.agents == "inline" else self.agent_id,
        )

    def run(self, target: int) -> None:
        """Play turns until the file has about `target` bytes."""
        while self.sheet.size < target:
            self.turn()
        while self.wanted or self._due:
            self.turn()

    # -- text --------------------------------------------------------------------------------------

    def _length(self, middle: float, most: int) -> int:
        return int(self.place.scale * min(most, middle * math.exp(self.place.rng.gauss(0, 0.9))))

    def _text(self, name: str, pool: Pool, length: int) -> str:
        """Text for a field, with the needle that is due for that field somewhere inside."""
        random = self.place.rng.random
        text = (self.place.pools.cjk if random() < 0.02 else pool).cut(random(), length)
        if self._due and name in self._due:
            needle = self._due.pop(name)
            self._planted.append(needle)
            at = text.find(" ", int(random() * len(text)))
            # A CJK needle stands inside running text, where no blank helps a tokenizer.
            word = needle.word if ord(needle.word[0]) > 0x2E80 else f" {needle.word} "
            text = f"{text[:at]}{word}{text[at + 1 :]}" if at >= 0 else f"{text}{word}"
        return text

    def _put(self, kind: str, line: str) -> None:
        if self._planted:
            self.sheet.put(kind, line, tuple(self._planted))
            self._planted.clear()
        else:
            self.sheet.put(kind, line)

    def _link(self) -> tuple[str, str]:
        """The parent for the next line of the chain, and its own new uuid."""
        parent, uuid = self.parent, new_uuid(self.place.rng)
        self.parent = f'"{uuid}"'
        return parent, uuid

    # -- turns -------------------------------------------------------------------------------------

    def turn(self) -> None:
        """A prompt, some rounds of calls, an answer, and the lines the client adds."""
        era, rng = self.era, self.place.rng
        while (
            self.wanted and self.wanted[-1][0] <= self.sheet.size and self.wanted[-1][1].kind not in self._due
        ):
            needle = self.wanted.pop()[1]
            self._due[needle.kind] = needle
        self._prompt()
        if era.attachments:
            self._attachments()
        rounds = 1 + int(rng.expovariate(0.2))
        for _ in range(rounds):
            self._message(calls=1 + (rng.random() < 0.2) + (rng.random() < 0.1))
            if rng.random() < 0.01:
                self._api_error()
            if self.allow_agents and (rng.random() < 0.03 or not self.delegated):
                self.delegated = True
                self._delegate()
        self._message(calls=0)
        if era.envelope == "new":
            parent, uuid = self._link()
            spent = rng.randint(900, 90_000)
            body = f'"type":"system","subtype":"turn_duration","durationMs":{spent},"isMeta":false'
            self._put(
                "system/turn_duration",
                shapes.chained(self.env, parent=parent, body=body, uuid=uuid, time=self.clock.tick(5)),
            )
        if rng.random() < 0.1 or "title" in self._due or "summary" in self._due:
            self._titles(uuid=self.parent)
        if rng.random() < 0.02 and self.agent_id is None:
            self._compact()

    def _prompt(self) -> None:
        rng, pools = self.place.rng, self.place.pools
        time = self.clock.tick(rng.expovariate(1 / 120_000))
        parent, uuid = self._link()
        if self.era.snapshots and self.agent_id is None:
            backups = ",".join(
                f'"src/{n}/module_{n}.py":{{"backupFileName":"{rng.getrandbits(64):016x}@v{n + 1}",'
                f'"version":{n + 1},"backupTime":"{time}"}}'
                for n in range(int(rng.expovariate(0.25)))
            )
            self._put("file-history-snapshot", shapes.snapshot(message=uuid, backups=backups, time=time))
        text = self._text("prompt", pools.prose, self._length(300, 20_000))
        content = f'"{text}"'
        if rng.random() < 0.03:
            image = pools.base64[: int(self.place.scale * rng.randint(10_000, 400_000))]
            content = (
                f'[{{"type":"text","text":"{text}"}},{{"type":"image","source":{{"type":"base64",'
                f'"media_type":"image/png","data":"{image}"}}}}]'
            )
        extra = ',"permissionMode":"default"' if self.era.envelope == "new" else ""
        self._put(
            "user", shapes.user(self.env, parent=parent, content=content, uuid=uuid, time=time, extra=extra)
        )

    def _attachments(self) -> None:
        rng = self.place.rng
        for kind in rng.sample(
            ("file", "skill_listing", "environment", "task_reminder"), k=1 + (rng.random() < 0.3)
        ):
            parent, uuid = self._link()
            text = self.place.pools.code.cut(rng.random(), self._length(2500, 60_000))
            body = f'"attachment":{{"type":"{kind}","content":"{text}"}},"type":"attachment"'
            self._put(
                f"attachment/{kind}",
                shapes.chained(self.env, parent=parent, body=body, uuid=uuid, time=self.clock.tick(3)),
            )

    def _titles(self, *, uuid: str) -> None:
        text = self._text("title", self.place.pools.prose, 40)
        self._put("ai-title", f'{{"type":"ai-title","aiTitle":"{text}","sessionId":"{self.session_id}"}}')
        if "summary" in self._due or self.era.usage == "race":
            text = self._text("summary", self.place.pools.prose, 60)
            self._put("summary", f'{{"type":"summary","summary":"{text}","leafUuid":{uuid}}}')

    def _compact(self) -> None:
        rng = self.place.rng
        last, uuid = self.parent.strip('"'), new_uuid(rng)
        self._put(
            "system/compact_boundary",
            shapes.boundary(
                self.env,
                logical_parent=last,
                tokens=rng.randint(100_000, 190_000),
                uuid=uuid,
                time=self.clock.tick(9_000),
            ),
        )
        self.parent = f'"{uuid}"'
        parent, uuid = self._link()
        text = self.place.pools.prose.cut(rng.random(), self._length(8_000, 40_000))
        self._put(
            "user",
            shapes.user(
                self.env,
                parent=parent,
                content=f'"{text}"',
                uuid=uuid,
                time=self.clock.tick(5),
                extra=',"isVisibleInTranscriptOnly":true,"isCompactSummary":true',
            ),
        )

    def _api_error(self) -> None:
        parent, uuid = self._link()
        self.place.truth.free_messages += 1
        self._put(
            "assistant",
            shapes.api_error(
                self.env,
                parent=parent,
                message_id=new_uuid(self.place.rng),
                text="API Error: 529 overloaded_error",
                uuid=uuid,
                time=self.clock.tick(2_000),
            ),
        )

    # -- messages ----------------------------------------------------------------------------------

    def _usages(self, count: int) -> list[Usage]:
        """What each of a message's `count` lines says it used."""
        rng = self.place.rng
        fresh, read, write = rng.randint(1, 60), rng.randint(8_000, 150_000), rng.randint(0, 9_000)
        short, long = (0, write) if self.one_hour else (write, 0)
        output = 9 + int(rng.expovariate(1 / 500))
        final: Usage = (fresh, output, read, short, long)
        first: Usage = (fresh, rng.randint(1, 8), read, short, long)
        luck = rng.random
        match self.era.usage:
            case "final":
                usages = [final] * count
            case "last":
                usages = [first] * (count - 1) + [final]
            case "start":
                usages = [first] * (count - 1) + [final if luck() < 0.3 else first]
            case "race":
                slow = luck() < 0.1
                usages = [final if not slow and luck() < 0.3 else first for _ in range(count - 1)]
                usages.append(final if not slow and luck() < 0.8 else first)
        if self.may_tie and luck() < 0.02:
            usages.append((fresh, usages[-1][1], read + 11, short + 7, long))
            usages = usages[-count:]
        return usages

    def _message(self, *, calls: int) -> None:
        """An assistant message, one line per block, and the results of its calls."""
        era, rng = self.era, self.place.rng
        plan: list[tuple[str, str]] = []
        if rng.random() < 0.3 or "thinking" in self._due:
            plan.append(("thinking", ""))
        if calls == 0 or rng.random() < 0.35:
            plan.append(("text", ""))
        plan.extend((rng.choice(TOOLS), f"toolu_01{rng.getrandbits(88):022x}") for _ in range(calls))
        message_id, request = f"msg_01{rng.getrandbits(88):022x}", ""
        if rng.random() > 0.01:
            request = f'"requestId":"req_01{rng.getrandbits(88):022x}",'
        usages = self._usages(len(plan))
        # Half of the oldest sessions are from clients that did not tell cache writes apart by lifetime.
        split = era.snapshots or self.session_id[0] not in "01234567"
        stop = '"tool_use"' if calls else '"end_turn"'
        first_ms = 0
        results: list[tuple[str, str, str]] = []
        for n, (name, call_id) in enumerate(plan):
            block = self._block(name, call_id)
            parent, uuid = self._link()
            time = self.clock.tick(rng.expovariate(1 / 3_000))
            first_ms = first_ms or self.clock.ms
            stopped = era.usage == "final" or (n == len(plan) - 1 and era.usage != "start")
            line = shapes.assistant(
                self.env,
                parent=parent,
                message_id=message_id,
                model=self.model,
                block=block,
                stop=stop if stopped else "null",
                usage=shapes.usage_json(era, usages[n], split=split),
                request=request,
                uuid=uuid,
                time=time,
            )
            self._put("assistant", line)
            if not call_id:
                continue
            if self.agent_id and len(self.echoes) < 4 and len(line) < 3_000:
                self.echoes.append(line)
            if era.results == "interleaved":
                self._result(name, call_id)
            else:
                results.append((name, call_id, self.parent))
        self.place.truth.message(usages, model=self.model, first_ms=first_ms, project=self.home.cwd)
        if era.progress and results and rng.random() < 0.4:
            self.progress(results[-1][1], 1 + int(rng.expovariate(0.8)))
        for name, call_id, own in results:
            if era.results == "tree":
                self.parent = own
            self._result(name, call_id)
        if era.requests and rng.random() < 0.25:
            self._request_log()

    def _block(self, name: str, call_id: str) -> str:
        pools = self.place.pools
        if name == "thinking":
            text = self._text("thinking", pools.prose, self._length(900, 30_000))
            signature = pools.base64[: self.place.rng.randint(200, 1200)]
            return f'{{"type":"thinking","thinking":"{text}","signature":"{signature}"}}'
        if name == "text":
            return f'{{"type":"text","text":"{self._text("text", pools.prose, self._length(450, 20_000))}"}}'
        return self._call(name, call_id)

    def _call(self, name: str, call_id: str) -> str:
        rng, pools = self.place.rng, self.place.pools
        length = {"Write": self._length(2_500, 60_000), "Edit": self._length(600, 9_000)}.get(name, 60)
        # Only an input with room for words can hold a needle that a person would search for.
        first = self._text("tool_input", pools.code if length > 60 else pools.prose, length)
        second = pools.code.cut(rng.random(), length) if name == "Edit" else pools.prose.cut(rng.random(), 30)
        path = f"/home/dev/src/{call_id[-6:]}.py"
        data = shapes.tool_input(name, path=path, first=first, second=second)
        return f'{{"type":"tool_use","id":"{call_id}","name":"{name}","input":{data}}}'

    def _result(self, name: str, call_id: str) -> None:
        rng, pools = self.place.rng, self.place.pools
        length = 120 if name in ("Edit", "Write") else self._length(3_900, 180_000)
        text = self._text("tool_result", pools.output if name != "Read" else pools.code, length)
        before = (
            pools.code.cut(rng.random(), self._length(9_000, 200_000)) if name in ("Edit", "Write") else ""
        )
        path = f"/home/dev/src/{call_id[-6:]}.py"
        extra = f',"toolUseResult":{shapes.tool_use_result(name, path=path, text=text, before=before)}'
        parent, uuid = self._link()
        content = f'[{{"tool_use_id":"{call_id}","type":"tool_result","content":"{text}","is_error":false}}]'
        self._put(
            "user",
            shapes.user(
                self.env,
                parent=parent,
                content=content,
                uuid=uuid,
                time=self.clock.tick(rng.expovariate(1 / 4_000)),
                extra=extra,
            ),
        )

    # -- around the conversation -------------------------------------------------------------------

    def progress(self, call_id: str, count: int) -> None:
        """Lines of some 700 bytes in the chain, as a chatty hook leaves them."""
        rng = self.place.rng
        for _ in range(count):
            parent, uuid = self._link()
            text = self.place.pools.output.cut(rng.random(), 160)
            body = (
                f'"type":"progress","data":{{"type":"hook_progress","hookEvent":"PostToolUse","hookName":'
                f'"PostToolUse:Bash","command":"{text}"}},"parentToolUseID":"{call_id}","toolUseID":"{call_id}"'
            )
            self._put(
                "progress/hook_progress",
                shapes.chained(self.env, parent=parent, body=body, uuid=uuid, time=self.clock.tick(400)),
            )

    def giant_result(self, size: int) -> None:
        """A tool result whose one line has about `size` bytes."""
        part = self.place.pools.output.cut(0, 1_000_000) + " "
        parent, uuid = self._link()
        content = (
            f'[{{"tool_use_id":"toolu_01giant","type":"tool_result","content":"{part * (size // len(part))}",'
            '"is_error":false}]'
        )
        self._put(
            "user", shapes.user(self.env, parent=parent, content=content, uuid=uuid, time=self.clock.tick(9))
        )

    def _request_log(self) -> None:
        rng, role = self.place.rng, "user" if self.place.rng.random() < 0.6 else "assistant"
        text = self.place.pools.prose.cut(rng.random(), self._length(5_000, 90_000))
        self._put(
            "api-request-blob",
            (
                f'{{"type":"api-request-blob","sessionId":"{self.session_id}","hash":"{rng.getrandbits(256):064x}","message":'
                f'{{"role":"{role}","content":[{{"type":"text","text":"{text}"}}]}}}}'
            ),
        )

    def _delegate(self) -> None:
        """Let a sub-agent do a part: in this file or in its own, as the era has it."""
        rng, era = self.place.rng, self.era
        digits = {"inline": 8, "flat": 8, "nested": 16 if era.version > "2.1.45" else 6}[era.agents]
        agent_id = f"{rng.getrandbits(4 * digits):0{digits}x}"
        if era.agents == "inline":
            sheet = self.sheet
        else:
            agent_id = agent_id if era.agents == "flat" else f"a{agent_id}"
            below = "" if era.agents == "flat" else f"{self.session_id}/subagents/"
            name = f"{self.home.folder}/{below}agent-{agent_id}.jsonl"
            sheet = Sheet(self.sheet.root, name, self.sheet.truth, self.sheet.rewrite)
        agent = Session(
            self.place,
            era,
            self.home,
            sheet,
            self.session_id,
            self.clock,
            agent_id=agent_id,
            allow_agents=False,
            may_tie=self.may_tie,
        )
        agent.run(sheet.size + self._length(90_000, 1_000_000))
        if sheet is not self.sheet:
            sheet.close()
        if era.progress:
            for echo in agent.echoes:
                parent, uuid = self._link()
                body = (
                    f'"type":"progress","data":{{"message":{echo},"normalizedMessages":[],"type":"agent_progress",'
                    f'"agentId":"{agent_id}"}},"toolUseID":"agent_{agent_id}","parentToolUseID":"toolu_01{agent_id}"'
                )
                self._put(
                    "progress/agent_progress",
                    shapes.chained(self.env, parent=parent, body=body, uuid=uuid, time=self.clock.tick(9)),
                )
