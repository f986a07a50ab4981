"""A long talk with the real client: many turns and many models in one run, and what it says each turn cost.

The client is told what to do by JSON lines on its standard input, as its SDK does it, and every answer it
gets is scripted by the stand-in. It has a home and a config folder of its own and talks to nobody else.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

from clew.agent.standin import Reply, StandIn, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType

    from clew.agent.standin import Block, Request
    from tests.conformance.client import Client

Json = dict[str, Any]

QUICK = "claude-sonnet-5-5"
"""The model a conversation begins with."""

LONGEST = 300
"""Seconds after which a client that hangs is ended."""


@dataclass(frozen=True, slots=True)
class Spent:
    """What the client says after a turn."""

    cost: float
    """What the turn cost, in US dollars: by how much the total grew."""

    total: float
    models: Mapping[str, Json]
    """Its `modelUsage`: by model the tokens, `costUSD` and whether it has a list price for it."""

    session_id: str
    error: str | None
    """What went wrong in its words."""


class Talk:
    """A running client. What it is answered is `usage` and `content`, to be set before each turn."""

    def __init__(
        self, client: Client, folder: Path, *arguments: str, name: str = "", compacts: bool = False
    ) -> None:
        """Start in `folder`, which may hold an earlier conversation; `name` keeps the ids of two apart."""
        self.config, self._folder = folder / "config", folder
        self.usage: Mapping[str, object] = {"input_tokens": 0, "output_tokens": 0}
        self.content: Sequence[Block] = ()
        """What is called before the answer proper, a request for each."""
        self.asked: list[str] = []
        """The models the client asked for, a request at a time."""
        self.ids: list[str] = []
        """The ids of the answers."""
        self._name, self._total, self._controls = name, 0.0, 0
        self._api = StandIn(default=self._answer)
        self._command = [*client.command, "-p", "--input-format", "stream-json"]
        self._command += ["--output-format", "stream-json", "--verbose", "--model", QUICK, *arguments]
        self._extra = {} if compacts else {"DISABLE_COMPACT": "1"}

    def __enter__(self) -> Self:
        self._api.__enter__()
        home, work = self._folder / "home", self._folder / "work"
        for place in (home, work, self.config):
            place.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            self._command,
            cwd=work,
            env={
                "PATH": os.environ.get("PATH", ""),
                "HOME": str(home),
                "TMPDIR": str(home),
                "CLAUDE_CONFIG_DIR": str(self.config),
                "ANTHROPIC_API_KEY": "dummy",
                "ANTHROPIC_BASE_URL": self._api.url,
                "DISABLE_TELEMETRY": "1",
                "DISABLE_AUTOUPDATER": "1",
                "DISABLE_ERROR_REPORTING": "1",
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                **self._extra,
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self._watchdog = threading.Timer(LONGEST, self._kill)
        self._watchdog.daemon = True
        self._watchdog.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the client end by itself, so that it writes its last account."""
        try:
            self._process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.communicate()
            raise
        finally:
            self._watchdog.cancel()
            self._api.__exit__(kind, error, trace)

    def _kill(self) -> None:
        # The client may have children of its own; they share its process group.
        os.killpg(self._process.pid, signal.SIGKILL)

    def choose(self, model: str) -> None:
        """Go on with another model."""
        self._controls += 1
        request = {"subtype": "set_model", "model": model}
        self._send({"type": "control_request", "request_id": f"r{self._controls}", "request": request})
        answer = self._wait_for("control_response")["response"]
        assert answer["subtype"] == "success", answer

    def offered(self) -> list[str]:
        """The models the client offers to choose from."""
        self._controls += 1
        request = {"subtype": "initialize"}
        self._send({"type": "control_request", "request_id": f"r{self._controls}", "request": request})
        found = self._wait_for("control_response")["response"]["response"]["models"]
        return [model["resolvedModel"] for model in found]

    def say(self, words: str) -> Spent:
        """Give the client a prompt, and wait for the end of the turn."""
        self._send({"type": "user", "message": {"role": "user", "content": words}, "session_id": ""})
        result = self._wait_for("result")
        total = float(result["total_cost_usd"])
        spent = total - self._total
        self._total = total
        error = str(result.get("result")) if result.get("is_error") else None
        return Spent(spent, total, result["modelUsage"], result["session_id"], error)

    def _answer(self, request: Request) -> Reply:
        self.asked.append(str(request.body.get("model")))
        self.ids.append(f"msg_{self._name}{request.number:06d}")
        # The stand-in sends on whatever it is given; its type speaks of the plain counts alone.
        usage = cast("Mapping[str, int]", self.usage)
        block, self.content = (self.content[0], self.content[1:]) if self.content else (text("ok"), ())
        return Reply((block,), usage=usage, message_id=self.ids[-1])

    def _send(self, line: Json) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(line) + "\n")
        self._process.stdin.flush()

    def _wait_for(self, kind: str) -> Json:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found: Json = json.loads(line)
            if found["type"] == kind:
                return found
        raise AssertionError(f"the client ended before its {kind}")
