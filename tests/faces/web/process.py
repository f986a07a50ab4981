"""`clew web` as a person starts it: a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.faces.web.lab import Visitor

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path


@dataclass(slots=True)
class Started:
    """A server, and a visitor who was let in."""

    process: subprocess.Popen[str]
    url: str
    visitor: Visitor

    def end(self, how: int = signal.SIGINT) -> tuple[int, str]:
        """End it; return its exit code and what else it printed."""
        self.process.send_signal(how)
        rest, _ = self.process.communicate(timeout=20)
        return self.process.returncode, rest


@contextmanager
def started(root: Path, *options: str, opens: bool = False) -> Generator[Started]:
    """Start it, and see to it that it is gone afterwards. `opens` lets it start the browser that is named."""
    given: dict[str, Any] = {"env": os.environ if opens else os.environ | {"BROWSER": "true"}, "text": True}
    quiet = [] if opens else ["--no-open"]
    command = [sys.executable, "-m", "clew", "web", *quiet, "--root", str(root), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **given)
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        visitor = Visitor(int(url.partition("127.0.0.1:")[2].partition("/")[0]))
        visitor.come_in(url)
        yield Started(process, url, visitor)
    finally:
        process.kill()
        process.communicate()
