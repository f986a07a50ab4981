"""Spans are made and sent as they come: a long session takes no more memory for being long."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.trace.collector import collecting

MEGABYTES = 40
RESULT = "what the tool gave back, line after line\n" * 500

PROGRAM = """
import resource, sys
from clew.session import subagents
from clew.store.reader import open_session
from clew.trace.spans import turn_spans

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
session = open_session(sys.argv[1])
before, spans, size = most(), 0, 0
for turn in turn_spans(session, subagents.agents(session)):
    for span in turn.spans():
        spans += 1
        size += sum(len(str(value)) for value in span.attributes.values())
print(spans, size >> 20, before, most())
"""


def write(path: Path, turns: int, calls: int) -> int:
    """Write a session of many calls with large results; return how many spans it has."""
    uuid, parent = 0, None

    def line(kind: str, message: object) -> str:
        nonlocal uuid, parent
        uuid += 1
        name = f"{uuid:08x}-0000-4000-8000-000000000000"
        about = {"type": kind, "uuid": name, "parentUuid": parent, "sessionId": "s", "message": message}
        parent = name
        time = f"2026-03-04T{uuid // 3600 % 24:02}:{uuid // 60 % 60:02}:{uuid % 60:02}.000Z"
        return json.dumps({**about, "timestamp": time, "cwd": "/home/ada", "version": "2.1.325"}) + "\n"

    def answer(*content: object, stop: str) -> str:
        usage = {"input_tokens": 1, "output_tokens": 1}
        about = {"id": f"msg_{uuid}", "model": "claude-sonnet-4-5", "stop_reason": stop, "usage": usage}
        return line("assistant", {"role": "assistant", "content": content, **about})

    with path.open("w") as file:
        for turn in range(turns):
            file.write(line("user", {"role": "user", "content": f"Go on, {turn}."}))
            for n in range(calls):
                call = {
                    "type": "tool_use",
                    "id": f"t{turn}-{n}",
                    "name": "Read",
                    "input": {"file_path": "/a"},
                }
                file.write(answer(call, stop="tool_use"))
                result = {"type": "tool_result", "tool_use_id": call["id"], "content": RESULT}
                file.write(line("user", {"role": "user", "content": [result]}))
            file.write(answer({"type": "text", "text": "Done."}, stop="end_turn"))
    return turns * (2 + 2 * calls)


@pytest.mark.parametrize("turns", [1, 200])
def test_the_spans_of_a_long_session_or_turn_take_little_memory(tmp_path: Path, turns: int) -> None:
    path = tmp_path / "11111111-2222-4333-8444-555555555555.jsonl"
    wanted = write(path, turns, (MEGABYTES << 20) // (turns * (len(RESULT) + 1000)))
    assert path.stat().st_size > 0.9 * MEGABYTES * (1 << 20)
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(path)], capture_output=True, text=True, check=True
    )
    spans, size, before, most = map(int, ran.stdout.split())
    assert spans == wanted
    # The content goes out several times over, and none of it is kept.
    assert size > 2 * MEGABYTES
    assert most - before < MEGABYTES, (before, most)


SENDING = """
import re, sys, time
from pathlib import Path
from clew.actions.tracing import Request
from clew.actions.tracing_backfill import Backfill
root, url = Path(sys.argv[1]), sys.argv[2]
request = Request([root], [url], environ={})
sent = Backfill(request, state=root / "state", now_ms=time.time_ns() // 1_000_000).send()
# Not ru_maxrss: that of a process begins with what the one had that started it.
most = int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
print(sent.turns_sent, sent.spans_sent, most // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
@pytest.mark.parametrize("megabytes", [15, pytest.param(100, marks=pytest.mark.soak)])
@pytest.mark.parametrize("turns", [1, 100])
def test_a_large_session_is_sent_within_200_mb(tmp_path: Path, turns: int, megabytes: int) -> None:
    folder = tmp_path / "projects" / "-home-ada"
    folder.mkdir(parents=True)
    path = folder / "11111111-2222-4333-8444-555555555555.jsonl"
    wanted = write(path, turns, (megabytes << 20) // (turns * (len(RESULT) + 1000)))
    with collecting() as collector:
        collector.keeps = False
        command = [sys.executable, "-c", SENDING, str(tmp_path), collector.url]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        assert len(collector.spans) == wanted
    sent, spans, most = map(int, ran.stdout.split())
    assert (sent, spans) == (turns, wanted)
    # What Python and its libraries take of themselves is half of it.
    assert most < (130 if megabytes < 50 else 200), most
