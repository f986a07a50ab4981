"""The real client with clew's hooks, a stand-in for the model, and a collector that can be away.

The collector shares no code with clew: it takes OTLP as any would and keeps what it took.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self, cast

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from clew.agent.standin import Reply, StandIn, text, tool_use

if TYPE_CHECKING:
    from pathlib import Path

    from clew.agent.standin import Request
    from tests.conformance.client import Client

CLEW = (sys.executable, "-P", "-m", "clew")


@dataclass(frozen=True, slots=True)
class Arrived:
    """One span as it arrived."""

    trace: str
    span: str
    parent: str
    name: str
    attributes: dict[str, Any]

    def __contains__(self, words: str) -> bool:
        return words in json.dumps(self.attributes, ensure_ascii=False)


@dataclass
class Collector:
    """Takes traces on a port of loopback that stays the same while it is away."""

    port: int = 0
    arrived: list[Arrived] = field(default_factory=list[Arrived])
    _server: ThreadingHTTPServer | None = None

    def __post_init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1/traces"

    def open(self) -> None:
        """Be there from now on."""
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:  # the name is http.server's
                data = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    data = gzip.decompress(data)
                collector.take(data)
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
                return

        class Server(ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        """Be away from now on."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def take(self, data: bytes) -> None:
        """Keep what was sent."""
        request = ExportTraceServiceRequest.FromString(data)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                for one in scope.spans:
                    facts = {each.key: str(each.value) for each in one.attributes}
                    ids = one.trace_id.hex(), one.span_id.hex(), one.parent_span_id.hex()
                    self.arrived.append(Arrived(*ids, one.name, facts))

    def judge(self, prompts: list[str]) -> None:
        """Raise unless every turn arrived once and whole, and nothing else did."""
        ids = Counter((one.trace, one.span) for one in self.arrived)
        assert not (twice := [one for one, many in ids.items() if many > 1]), f"{len(twice)} spans came twice"
        roots = [one for one in self.arrived if not one.parent]
        said = {prompt: [root for root in roots if prompt in root] for prompt in prompts}
        assert {prompt: len(found) for prompt, found in said.items()} == dict.fromkeys(prompts, 1)
        assert len(roots) == len(prompts), [root.name for root in roots]
        known = {one.span for one in self.arrived}
        orphans = [one for one in self.arrived if one.parent and one.parent not in known]
        assert not orphans, f"{orphans} came without their parents, of {[one.name for one in self.arrived]}"
        for (root,) in said.values():
            answers = [one for one in self.arrived if one.trace == root.trace and one.name.startswith("chat")]
            assert answers, f"{root.name} came without its answer"


class Lab:
    """A client with the hooks installed, in folders of its own."""

    def __init__(self, client: Client, folder: Path, collector: Collector) -> None:
        self._client, self.folder = client, folder
        self.config, self.home, self.work = folder / "config", folder / "home", folder / "work"
        for place in (self.config, self.home, self.work):
            place.mkdir(parents=True)
        trust = {str(self.work): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}
        started = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
            "projects": trust,
        }
        (self.config / ".claude.json").write_text(json.dumps(started))
        self.api = StandIn(default=self._answer)
        self.environ = {
            "PATH": os.environ.get("PATH", ""),
            "TERM": "xterm-256color",
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ANTHROPIC_API_KEY": "dummy",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        }
        # Not by OTEL_… variables: the client takes those out of what it gives its hooks.
        endpoints = self.home / ".config" / "clew" / "trace.toml"
        endpoints.parent.mkdir(parents=True)
        endpoints.write_text(f'[[endpoint]]\nurl = "{collector.url}"\n')

    def __enter__(self) -> Self:
        self.api.__enter__()
        self.environ["ANTHROPIC_BASE_URL"] = self.api.url
        return self

    def __exit__(self, *_: object) -> None:
        self.api.__exit__(None, None, None)

    def clew(self, *arguments: str) -> str:
        """Run clew beside the client."""
        done = subprocess.run(
            [*CLEW, *arguments], env=self.environ, cwd=self.work, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _answer(self, request: Request) -> Reply:
        """Answer by what the prompt asks for: `AGENT` starts a sub-agent, which says so."""
        messages = cast("list[dict[str, Any]]", request.body.get("messages") or [{}])
        spoken = [number for number, one in enumerate(messages) if one.get("role") == "assistant"]
        last = json.dumps(messages[spoken[-1] + 1 :] if spoken else messages)
        first = json.dumps(messages[0])
        if "SUBTASK" in first and "AGENT" not in first:
            return Reply((text(f"sub-agent {request.number} is done"),), message_id=f"msg_{request.number}")
        if "AGENT" in last and "tool_result" not in last:
            task: dict[str, object] = {
                "description": "look",
                "prompt": "SUBTASK look around",
                "subagent_type": "general-purpose",
                "run_in_background": "BACKGROUND" in last,
            }
            call = tool_use("Agent", task, call_id=f"toolu_{request.number}")
            return Reply((text("Let me ask."), call), message_id=f"msg_{request.number}")
        return Reply((text(f"answer {request.number}"),), message_id=f"msg_{request.number}")

    def say(self, prompt: str, *more: str, timeout: float = 60) -> str:
        """Run the client for one prompt and let it end."""
        command = [*self._client.command, "-p", prompt, *more]
        with subprocess.Popen(
            command,
            cwd=self.work,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        ) as process:
            try:
                out, _ = process.communicate(timeout=timeout)
            finally:
                # All that belongs to the client goes with it, as when a terminal is closed.
                for number in (signal.SIGHUP, signal.SIGKILL):
                    try:
                        os.killpg(process.pid, number)
                    except ProcessLookupError:
                        break
        return out

    def settle(self, seconds: float = 60) -> None:
        """Wait until no worker runs."""
        from clew.actions import hook_spool as spools

        spool = spools.spool_of(self.environ)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            lock = spools.try_lock(spool)
            if lock is not None:
                os.close(lock)
                if not spools.has_new(spool):
                    return
            time.sleep(0.05)
        raise AssertionError("a worker still runs")


class Terminal:
    """The client in a terminal of its own, typed into by tmux."""

    def __init__(self, lab: Lab, client: Client) -> None:
        self._socket = str(lab.folder / "tmux")
        self._lab, self._client = lab, client

    def __enter__(self) -> Self:
        variables = [f"{name}={value}" for name, value in self._lab.environ.items()]
        command = ["env", "-i", *variables, *self._client.command, "--permission-mode", "acceptEdits"]
        self._tmux("new-session", "-d", "-x", "120", "-y", "40", "-c", str(self._lab.work), *command)
        self.wait_for("❯")
        return self

    def __exit__(self, *_: object) -> None:
        self._tmux("kill-server")

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-S", self._socket, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p")

    def wait_for(self, words: str, seconds: float = 30) -> None:
        """Wait until something is on the screen."""
        end = time.monotonic() + seconds
        while words not in (shown := self.screen):
            assert time.monotonic() < end, f"no {words!r} on the screen:\n{shown}"
            time.sleep(0.1)

    def type(self, words: str) -> None:
        """Type a line."""
        self._tmux("send-keys", "-l", words)
        time.sleep(0.3)
        self._tmux("send-keys", "Enter")

    def say(self, prompt: str) -> None:
        """Type a prompt and wait for the end of its turn, also if it has to wait for that of another."""
        self.type(prompt)
        end = time.monotonic() + 30
        while True:
            asked = [one for one in self._lab.api.requests if one.is_messages]
            mine = [one for one in asked if prompt in json.dumps(one.body.get("messages"))]
            # The last request is answered, and nothing came of that for a moment.
            if mine and f"answer {asked[-1].number}" in self.screen:
                time.sleep(0.5)
                if self._lab.api.requests[-1].number == asked[-1].number:
                    return
            assert time.monotonic() < end, self.screen
            time.sleep(0.1)
