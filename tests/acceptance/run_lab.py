"""`clew run` as a person starts it: a process, in a home of its own, against a stand-in for the API."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from clew.agent.standin import Reply, StandIn, text
from clew.session.check import check
from clew.session.context import context
from clew.session.session import Session
from tests.acceptance import places
from tests.conformance.client import MODEL, PROMPT
from tests.conformance.notation import normal, without_prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from clew.agent.standin import Request, Scripted
    from tests.conformance.notation import Message

CLEW = (sys.executable, "-P", "-m", "clew")
LONGEST = 90
"""Seconds after which a run that hangs is ended."""

SESSION = "5eed0000-0000-4000-8000-000000000000"


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a run."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Place(places.Place):
    """Where `clew run` is started."""

    def environment(self, url: str) -> dict[str, str]:
        """All that a run gets to see of the environment."""
        return {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.home),
            "TMPDIR": str(self.home),
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ANTHROPIC_API_KEY": "dummy",
            "ANTHROPIC_BASE_URL": url,
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    @contextmanager
    def starting(self, url: str, *arguments: str, **options: Any) -> Generator[subprocess.Popen[str]]:
        """Start a run; what is left of it at the end is killed."""
        environment = {**self.environment(url), **options.pop("environ", {})}
        with subprocess.Popen(
            [*CLEW, "run", "--no-sandbox", *arguments],
            cwd=options.pop("cwd", self.work),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            **options,
        ) as process:
            watchdog = threading.Timer(LONGEST, kill, [process])
            watchdog.start()
            try:
                yield process
            finally:
                watchdog.cancel()
                if process.poll() is None:
                    kill(process)

    def run(self, url: str, *arguments: str, **options: Any) -> Ran:
        """Run to the end."""
        with self.starting(url, *arguments, **options) as process:
            out, err = process.communicate()
            return Ran(process.returncode, out, err)


def kill(process: subprocess.Popen[str]) -> None:
    """End a run at once, with what it started."""
    os.killpg(process.pid, signal.SIGKILL)


def wait_for(condition: Callable[[], object], *, seconds: float = 30) -> None:
    """Wait until something is so."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it never came to it"
        time.sleep(0.01)


def api(script: Sequence[Scripted] = (), **options: Any) -> StandIn:
    """Make a strict stand-in whose answers have ids of their own, as those of the API have.

    Its own count from nought each time: answers of two runs in one session would pass for one message.
    """
    named = [
        replace(step, message_id=f"msg_{uuid4().hex}")
        if isinstance(step, Reply) and step.message_id is None
        else step
        for step in script
    ]
    return StandIn(named, strict=True, default=_any, **options)


def _any(_request: Request) -> Reply:
    return Reply((text("ok"),), message_id=f"msg_{uuid4().hex}")


def conversation(requests: Sequence[Request]) -> list[Mapping[str, object]]:
    """The messages of the last request that asked for an answer."""
    asked = [request for request in requests if request.is_messages and request.body.get("tools")]
    return cast("list[Mapping[str, object]]", asked[-1].body["messages"])


def told(data: bytes, *, client: str | None = None) -> list[Message]:
    """What `clew context` says of a file."""
    return normal(context(Session.read(data), client=client, model=MODEL).messages)


def go_on(place: Place, *arguments: str, trusted: Sequence[Mapping[str, object]] = ()) -> list[Message]:
    """Have clew go on with the session of a place; return what it sent before the prompt."""
    with api([Reply((text("On we go."),))]) as there:
        if trusted:
            there.trust(trusted)
        ran = place.run(there.url, "--resume", place.file.stem, "--model", MODEL, *arguments, PROMPT)
        assert ran.code == 0, ran.err
        assert not there.refusals, there.refusals[0].refusal
        return without_prompt(conversation(there.requests), PROMPT)


def lines(data: bytes) -> list[dict[str, Any]]:
    """The lines of a file that can be read."""
    found: list[dict[str, Any]] = []
    for raw in data.split(b"\n"):
        with suppress(ValueError):
            found.append(json.loads(raw))
    return found


def problems(data: bytes) -> set[str]:
    """What `clew check` finds in a file."""
    return {one.code for one in check(data, refused=context(Session.read(data)).refused).problems}


def written_once(data: bytes) -> None:
    """Raise if anything is in a file twice: a line, a call, a result, a prompt."""
    found = lines(data)
    uuids = [line["uuid"] for line in found if "uuid" in line]
    assert len(uuids) == len(set(uuids)), "a line twice"
    blocks = [
        block
        for line in found
        if line.get("type") in {"user", "assistant"} and isinstance(line["message"]["content"], list)
        for block in line["message"]["content"]
    ]
    calls = [block["id"] for block in blocks if block.get("type") == "tool_use"]
    results = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
    assert len(calls) == len(set(calls)), "a call twice"
    assert len(results) == len(set(results)), "a result twice"
    prompts = [line["message"]["content"] for line in found if line.get("permissionMode") and "uuid" in line]
    assert len(prompts) == len(set(map(str, prompts))), "a prompt twice"
