"""Run a program as a child and say what it cost: wall time, CPU time and peak memory.

The figures are the kernel's own for that one child and what it waited for (`wait4`), so that the runner's
cost never mixes in. The child is started by `child.py`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TIMEOUT = 900
"""Seconds before a child is ended: a command that hangs must not take the other figures with it."""


@dataclass(frozen=True, slots=True)
class Command:
    """A program with its arguments and the whole environment it gets."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    ok: tuple[int, ...] = (0,)
    """Exit codes that count as done."""

    on_terminal: bool = False
    """Whether its output goes to a terminal, as where a person types it."""

    fresh: Path | None = None
    """A folder that is emptied first, so that the program starts from nothing."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run, or the middle of several, took."""

    wall: float
    cpu: float
    rss: float
    """Peak resident memory in MB (10^6 bytes)."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run: its cost and what came out, or why it failed."""

    cost: Cost
    output: bytes
    error: str | None


def measure(command: Command, *, keep_output: bool = False) -> Run:
    """Run a command once. Its output goes to a file when it is wanted, else nowhere; never through a pipe."""
    if command.fresh is not None:
        shutil.rmtree(command.fresh, ignore_errors=True)
        command.fresh.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder:
        output, errors = Path(folder, "output"), Path(folder, "errors")
        spec = {
            "argv": command.argv,
            "env": dict(command.env),
            "stdout": str(output) if keep_output else os.devnull,
            "stderr": str(errors),
            "timeout": TIMEOUT,
            "terminal": command.on_terminal,
        }
        starter = [sys.executable, "-I", "-S", str(Path(__file__).with_name("child.py"))]
        done = subprocess.run(starter, input=json.dumps(spec), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return Run(Cost(0, 0, 0), b"", f"cannot be started: {done.stderr.strip().splitlines()[-1]}")
        result = json.loads(done.stdout)
        cost = Cost(result["wall"], result["cpu"], result["rss"] / 1e6)
        error = None
        if result["late"]:
            error = f"ended after {TIMEOUT} s"
        elif result["code"] not in command.ok:
            said = errors.read_text(errors="replace").strip()
            error = f"exit code {result['code']}: {said.splitlines()[-1][:160] if said else 'no message'}"
        return Run(cost, output.read_bytes() if keep_output else b"", error)


def middle(costs: Sequence[Cost]) -> Cost:
    """The median of each figure by itself."""
    return Cost(
        median(cost.wall for cost in costs),
        median(cost.cpu for cost in costs),
        median(cost.rss for cost in costs),
    )


def throwaway_env(home: Path, **more: str) -> dict[str, str]:
    """An environment in which no program finds the user's own files or sessions."""
    kept = {key: os.environ[key] for key in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT") if key in os.environ}
    for name in ("config", "cache", "data", "state"):
        kept[f"XDG_{name.upper()}_HOME"] = str(home / name)
    return kept | {"HOME": str(home), "TZ": "UTC", "CLAUDE_CONFIG_DIR": str(home / "claude")} | more
