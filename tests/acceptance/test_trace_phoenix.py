"""Against a real Phoenix: all recorded sessions are sent, and read back by its own interface.

Phoenix is installed into the user's cache folder, and listens on this machine alone. It takes about 20 s to
start; it keeps what it is told in a folder of the test.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from bench.installing import PeerMissingError, by_pip, cache_folder
from clew.trace import endpoints
from clew.trace.readback import Readback
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.acceptance

REQUIREMENT = "arize-phoenix==20.26.1"
CACHE = cache_folder()
CORPUS = sorted(path.parent for path in (ROOT / "tests" / "data" / "corpus").glob("*/*/projects"))
PATIENCE = 240
PROJECT = "sessions"

Spans = dict[tuple[str, str], dict[str, Any]]


def free_ports() -> tuple[int, int]:
    with socket.socket() as one, socket.socket() as other:
        one.bind(("127.0.0.1", 0))
        other.bind(("127.0.0.1", 0))
        return one.getsockname()[1], other.getsockname()[1]


def asked(url: str, question: object = None) -> Any:
    """Ask Phoenix something; with the standard library alone."""
    body = None if question is None else json.dumps(question).encode()
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    with urlopen(Request(url, body, headers), timeout=60) as answer:
        return json.load(answer)


@pytest.fixture(scope="module")
def phoenix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Phoenix that has nothing yet; gives its address."""
    try:
        program = by_pip(REQUIREMENT, "bin/phoenix")(CACHE / "phoenix")
    except PeerMissingError as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("phoenix")
    port, other = free_ports()
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "PHOENIX_WORKING_DIR": str(folder),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(other),
        "PHOENIX_TELEMETRY_ENABLED": "false",
        "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
    }
    url = f"http://127.0.0.1:{port}"
    log = (folder / "log").open("w")
    process = subprocess.Popen(
        [program, "serve"], env=environ, stdout=log, stderr=subprocess.STDOUT, cwd=folder
    )
    try:
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                asked(f"{url}/v1/projects")
                break
            except (URLError, OSError, ValueError):
                if process.poll() is not None or time.monotonic() > ends:
                    pytest.fail(f"Phoenix did not start: {(folder / 'log').read_text()[-2000:]}")
                time.sleep(1)
        yield url
    finally:
        process.terminate()
        process.wait(30)
        log.close()


def clew(home: Path, url: str, *arguments: str) -> Any:
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_STATE_HOME": str(home / "state"),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "CLAUDE_CONFIG_DIR": str(home / "nobody"),
        "PHOENIX_COLLECTOR_ENDPOINT": url,
        "PHOENIX_PROJECT_NAME": PROJECT,
    }
    roots = [part for root in CORPUS for part in ("--root", str(root))]
    command = [sys.executable, "-m", "clew", "trace", *arguments, "--json", *roots]
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def read_back(url: str) -> Spans:
    """Return all spans that Phoenix has, by trace and span."""
    found: Spans = {}
    cursor = ""
    while True:
        page = asked(f"{url}/v1/projects/{PROJECT}/spans?limit=500" + (f"&cursor={cursor}" if cursor else ""))
        for span in page["data"]:
            found[span["context"]["trace_id"], span["context"]["span_id"]] = span
        cursor = page.get("next_cursor") or ""
        if not cursor:
            return found


def settled(url: str, wanted: int) -> Spans:
    """Read back until so many are there: Phoenix writes a little after it answered."""
    found: Spans = {}
    for _ in range(60):
        with suppress(URLError):
            found = read_back(url)
        if len(found) >= wanted:
            break
        time.sleep(1)
    return found


def attribute(span: dict[str, Any], name: str) -> Any:
    """Return an attribute, flat or nested as the interface has it."""
    told: Any = span["attributes"]
    if name in told:
        return told[name]
    for part in name.split("."):
        if not isinstance(told, dict) or part not in told:
            return None
        told = cast("dict[str, Any]", told)[part]
    return told


def test_all_sessions_arrive_as_they_were_announced_and_once(phoenix: str, tmp_path: Path) -> None:
    plan = clew(tmp_path, phoenix, "backfill", "--dry-run")
    announced = {
        (trace["trace_id"], span["span_id"]): span for trace in plan["traces"] for span in trace["spans"]
    }
    assert len(plan["traces"]) > 200
    sent = clew(tmp_path, phoenix, "backfill")
    assert (sent["turns_sent"], sent["spans_sent"]) == (len(plan["traces"]), len(announced))
    assert (sent["failed"], sent["unknown"]) == ([], 0)
    found = settled(phoenix, len(announced))
    assert found.keys() == announced.keys()
    for key, span in found.items():
        assert (span["parent_id"] or None) == announced[key]["parent_id"], key
        assert span["name"] == announced[key]["name"]
    # Tokens and money are those of the messages in the turns that were sent.
    would = plan["would_send"]
    tokens = would["tokens"]
    prompts = sum(attribute(span, "llm.token_count.prompt") or 0 for span in found.values())
    answers = sum(attribute(span, "llm.token_count.completion") or 0 for span in found.values())
    assert answers == tokens["output"]
    assert prompts == sum(tokens.values()) - tokens["output"]
    cost = sum(attribute(span, "llm.cost.total") or 0.0 for span in found.values())
    assert cost == pytest.approx(would["cost_usd"], abs=1e-6)
    # With the rest, by reason, it is what `clew usage` says.
    usage = plan["usage"]
    assert usage["messages"] == would["messages"] + sum(one["messages"] for one in plan["rest"])
    # Once more: nothing new.
    again = clew(tmp_path, phoenix, "backfill")
    assert (again["turns_sent"], again["spans_sent"], again["already_sent"]) == (0, 0, sent["turns_sent"])
    assert clew(tmp_path, phoenix, "backfill", "--dry-run")["traces"] == []
    assert read_back(phoenix).keys() == announced.keys()
    # Without a ledger all of it is sent again, under the same ids: Phoenix has each once still.
    for file in (tmp_path / "state" / "clew" / "trace").glob("ledger*"):
        file.unlink()
    assert clew(tmp_path, phoenix, "backfill")["turns_sent"] == sent["turns_sent"]
    time.sleep(5)
    assert read_back(phoenix).keys() == announced.keys()
    # And what clew itself asks about a trace is what is there.
    readback = Readback(endpoints.phoenix(phoenix, project=PROJECT), {})
    for trace in plan["traces"][:20]:
        told = readback.spans_of(trace["trace_id"], deadline=time.monotonic() + 30)
        assert told == {span for of, span in announced if of == trace["trace_id"]}
    assert readback.spans_of("f" * 32, deadline=time.monotonic() + 30) == set()
    readback.close()
