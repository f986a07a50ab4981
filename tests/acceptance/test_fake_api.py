"""The real client holds a conversation with `clew fake-api`: a failure, thinking, a call, an answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import IO, TYPE_CHECKING, cast

import pytest

from tests.conformance.client import MODEL, install

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.acceptance


@pytest.mark.parametrize("version", ["2.1.325", "2.0.76"])
def test_the_real_client_is_told_the_script(version: str, tmp_path: Path) -> None:
    for name in ("work", "home", "config"):
        (tmp_path / name).mkdir()
    note = tmp_path / "work" / "note.txt"
    note.write_text("the word is heron\n")
    look = {
        "thinking": "A look.",
        "text": "I look.",
        "call": {"name": "Read", "input": {"file_path": str(note)}},
    }
    steps = [
        {"status": 529, "retry_after": 0.2},
        {**look, "piece": 3, "pause_ms": 2},
        {"when": {"result": "heron"}, "text": "It is heron.", "piece": 2},
    ]
    script = json.dumps({"only_with_tools": True, "default": "A title", "steps": steps})
    log = str(tmp_path / "log")
    home = {"HOME": str(tmp_path / "home"), "CLAUDE_CONFIG_DIR": str(tmp_path / "config")}
    with subprocess.Popen(
        [sys.executable, "-m", "clew", "fake-api", "--jsonl", "--script", "-", "--log", log],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, **home},
    ) as api:  # fmt: skip
        try:
            stdin = cast("IO[str]", api.stdin)
            stdin.write(script)
            stdin.close()
            api.stdin = None
            told = json.loads(cast("IO[str]", api.stdout).readline())
            done = subprocess.run(
                [*install(version).command, "-p", "What is the word?", "--model", MODEL],
                cwd=note.parent, capture_output=True, text=True, timeout=120, check=False,
                stdin=subprocess.DEVNULL,
                env={
                    "PATH": os.environ.get("PATH", ""), **home, **told["environment"],
                    "DISABLE_TELEMETRY": "1",
                    "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                },
            )  # fmt: skip
            api.send_signal(signal.SIGINT)
            _, heard = api.communicate(timeout=20)
        finally:
            api.kill()
    assert done.stdout.strip() == "It is heron.", done.stderr
    assert "never came up" not in heard
    assert api.returncode == 0
    requests = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    assert not [one for one in requests if "refusal" in one]
