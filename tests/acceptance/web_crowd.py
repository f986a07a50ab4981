"""Many pages at once, and a client that writes a session they all look at."""

from __future__ import annotations

import json
import random
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import TYPE_CHECKING, Any

from tests.faces.web.lab import Listener, Visitor

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Writer:
    """Appends lines to a session as a client that is in a great hurry."""

    def __init__(self, path: Path, *, rate: int) -> None:
        self._path = path
        self._rate = rate
        self._leaf: str | None = None
        self.lines = 0

    def line(self) -> bytes:
        """Return the next line: a prompt now and then, and between them calls with their results."""
        at = self.lines
        self.lines += 1
        mine = str(uuid.UUID(int=random.getrandbits(128), version=4))
        step = at % 21
        if step == 0:
            message: dict[str, Any] = {"role": "user", "content": f"prompt {at // 21 + 1}"}
        elif step % 2:
            block = {"type": "tool_use", "id": f"t{at}", "name": "Bash", "input": {"command": f"make {at}"}}
            usage = {"input_tokens": 3, "output_tokens": 9, "cache_read_input_tokens": 900 + at % 999}
            message = {"role": "assistant", "id": f"m{at}", "model": "claude-sonnet-4-5-20250929"}
            message |= {"content": [block], "usage": usage}
        else:
            result = {"type": "tool_result", "tool_use_id": f"t{at - 1}", "content": f"line {at}\n" * 12}
            message = {"role": "user", "content": [result]}
        fields = {"parentUuid": self._leaf, "sessionId": "live", "cwd": "/w", "version": "2.1.325"}
        now = time.time()
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now)) + f".{int(now * 1000) % 1000:03}Z"
        entry = {"type": message["role"], "uuid": mine, "timestamp": stamp, **fields, "message": message}
        self._leaf = mine
        return json.dumps(entry).encode() + b"\n"

    def write(self, stop: threading.Event) -> None:
        """Go on until it is to stop, and a line further: pages that wait for news are to see that."""
        began, before = time.monotonic(), self.lines
        while not stop.wait(0.02):
            due = before + int((time.monotonic() - began) * self._rate)
            self._append(due - self.lines)
        self._append(1)

    def _append(self, many: int) -> None:
        if many > 0:
            with self._path.open("ab") as file:
                file.write(b"".join(self.line() for _ in range(many)))


@dataclass
class Crowd:
    """What many pages saw."""

    took: list[float] = field(default_factory=list[float])
    errors: list[str] = field(default_factory=list[str])
    events: int = 0
    seen: int = 0
    """The last line that a page was told of."""

    def p95(self) -> float:
        """Return the seconds within which all but one of twenty requests were answered."""
        return sorted(self.took)[int(len(self.took) * 0.95)]


class _Page:
    """One page: it listens, and reads what has come."""

    def __init__(self, visitor: Visitor, crowd: Crowd, others: list[str], draw: random.Random) -> None:
        self._visitor = visitor
        self._crowd = crowd
        self._others = others
        self._draw = draw

    def ask(self, path: str) -> Any:
        began = time.monotonic()
        reply = self._visitor.get(path)
        self._crowd.took.append(time.monotonic() - began)
        if reply.status != 200:
            self._crowd.errors.append(f"{reply.status} {path} {reply.body[:200]!r}")
            return {}
        return reply.json

    def tail(self, until: Callable[[], bool]) -> None:
        """Listen, and read the last turn when there is news of it."""
        with Listener(self._visitor) as events:
            first = self._draw.random()
            asked = time.monotonic() - 1 + first
            turns = 0
            while not until():
                name, data = events.next()
                if not name:
                    return
                self._crowd.events += 1
                if name == "grown":
                    self._crowd.seen = max(self._crowd.seen, data["last_line"])
                if time.monotonic() - asked < 1:
                    continue
                asked = time.monotonic()
                found = self.ask(f"/api/sessions/live?from={max(0, turns - 1)}")
                if found:
                    turns = found["head"]["turns"]
                    self.ask(f"/api/sessions/live/turns/{found['turns'][-1]['n']}")

    def read(self, until: Callable[[], bool]) -> None:
        """Go from one session to another, as a person who looks for something."""
        while not until():
            key = self._draw.choice(self._others)
            turns: list[Any] = self.ask(f"/api/sessions/{key}").get("turns", [])
            if turns:
                self.ask(f"/api/sessions/{key}/turns/{self._draw.choice(turns)['n']}")
            time.sleep(self._draw.uniform(0.5, 1.5))
            self.ask(
                self._draw.choice(("/api/sessions?limit=50", "/api/index", "/api/search?q=the&limit=20"))
            )
            time.sleep(self._draw.uniform(0.5, 1.5))


def visit(
    visitor: Visitor, path: Path, others: list[str], *, pages: int, seconds: float, rate: int
) -> tuple[Crowd, Writer]:
    """Have pages read and tail for a while as a session is written, half of them the one, half the other."""
    crowd, stop = Crowd(), threading.Event()
    writer = Writer(path, rate=rate)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(writer.line() for _ in range(22)))
    threads = [threading.Thread(target=writer.write, args=(stop,))]
    for number in range(pages):
        page = _Page(visitor, crowd, others, random.Random(number))
        work = page.tail if number % 2 else page.read
        threads.append(threading.Thread(target=_guarded, args=(work, stop.is_set, crowd)))
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads)
    return crowd, writer


def _guarded(work: Callable[[Callable[[], bool]], None], until: Callable[[], bool], crowd: Crowd) -> None:
    try:
        work(until)
    except (OSError, HTTPException, ValueError) as error:
        with suppress(Exception):
            crowd.errors.append(f"{type(error).__name__}: {error}")
