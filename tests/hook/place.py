"""A place in which hooks are run as the client runs them: a home, sessions, and a sink for what is sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.actions import hook_spool as spools

ROOT = Path(__file__).resolve().parents[2]
SINK = Path(__file__).parent / "sink"
CLEW = (sys.executable, "-P", "-m", "clew")


@dataclass(frozen=True, slots=True)
class Place:
    """Such a place."""

    folder: Path
    environ: dict[str, str]

    @property
    def spool(self) -> spools.Spool:
        return spools.spool_of(self.environ)

    @property
    def project(self) -> Path:
        return self.folder / "home" / ".claude" / "projects" / "-home-ada-shop"

    @property
    def log(self) -> str:
        path = Path(self.spool.log)
        return path.read_text() if path.exists() else ""

    @property
    def calls(self) -> list[dict[str, Any]]:
        """What the sink was called with."""
        path = Path(self.environ["CLEW_TEST_SINK"])
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def transcript(self, name: str, *answers: str, first: str | None = None) -> Path:
        """Write a session of some turns; its first line may be one of another session."""
        self.project.mkdir(parents=True, exist_ok=True)
        lines: list[object] = [{"type": "user", "sessionId": first, "uuid": "p"}] if first else []
        for number, answer in enumerate(answers):
            lines.append({"type": "user", "sessionId": name, "uuid": f"u{number}"})
            content = [{"type": "text", "text": answer}]
            message = {"id": f"m{number}", "role": "assistant", "content": content}
            lines.append({"type": "assistant", "sessionId": name, "uuid": f"a{number}", "message": message})
        path = self.project / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return path

    def said(self, path: Path | str, event: str = "Stop", **more: object) -> bytes:
        """Return what the client says to a hook."""
        facts = {"session_id": Path(path).stem, "transcript_path": str(path), "hook_event_name": event}
        return json.dumps({**facts, "cwd": "/", **more}).encode()

    def hook(self, data: bytes, *arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
        """Run a hook to its end."""
        command = [*CLEW, "hook", "run", *arguments]
        return subprocess.run(
            command, input=data, env=self.environ, capture_output=True, check=False, timeout=20, **more
        )

    def wait(self, seconds: float = 20.0) -> None:
        """Wait until no worker runs and nothing new lies there."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            lock = spools.try_lock(self.spool)
            if lock is not None:
                os.close(lock)
                if not spools.has_new(self.spool):
                    return
            time.sleep(0.02)
        raise AssertionError(f"a worker still runs, or nobody takes what is there: {self.log}")


def make(folder: Path, *, mode: str = "ok", **more: str) -> Place:
    """Make a place under a folder."""
    home = folder / "home"
    (home / ".claude").mkdir(parents=True)
    environ = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "PYTHONPATH": str(SINK),
        "CLEW_TEST_SINK": str(folder / "sink.jsonl"),
        "CLEW_TEST_SINK_MODE": mode,
        **more,
    }
    return Place(folder, environ)
