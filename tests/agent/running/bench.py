"""A place for calls of tools: a project of its own, and what a call is given."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from clew.agent.cancel import Cancel
from clew.agent.seen import Seen
from clew.agent.tool import Work

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def work_in(folder: Path, *, call_id: str = "toolu_01", heard: list[str] | None = None) -> Work:
    """Make what a call is given, for a project in a folder."""
    project = folder / "project"
    project.mkdir(exist_ok=True)
    real = str(project.resolve())
    return Work(
        call_id=call_id,
        cwd=real,
        project=real,
        seen=Seen(),
        cancel=Cancel(),
        results_folder=str(folder / "session" / "tool-results"),
        report=(lambda _: None) if heard is None else heard.append,
    )


def environ(folder: Path) -> dict[str, str]:
    """Return the environment of a person who has nothing but programs."""
    return {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}


def are_gone(pids: Iterable[str | int]) -> bool:
    """Say whether processes have ended, or end within a moment: to be killed takes one."""
    until = time.monotonic() + 5
    left = [int(pid) for pid in pids]
    while left and time.monotonic() < until:
        left = [pid for pid in left if is_alive(pid)]
        time.sleep(0.01)
    return not left


def threads_end(left: int = 1) -> bool:
    """Say whether no more than `left` threads run, or within a moment: one may still be ending."""
    until = time.monotonic() + 5
    while threading.active_count() > left and time.monotonic() < until:
        time.sleep(0.01)
    return threading.active_count() <= left


def is_alive(pid: int) -> bool:
    """Say whether a process runs: one that ended but was not waited for does not."""
    try:
        with open(f"/proc/{pid}/stat", encoding="latin-1") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False
