"""A screen for tests, of any width, and stores to show on it."""

from __future__ import annotations

import io
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clew.actions.demo import write_demo
from clew.faces.cli.terminal import Screen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

NOW = datetime(2026, 3, 4, 9, 30, tzinfo=UTC)


class _Stream(io.StringIO):
    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    encoding = "utf-8"

    def isatty(self) -> bool:
        return self._is_terminal


@dataclass(frozen=True, slots=True)
class Stage:
    """A screen and what was written on it."""

    screen: Screen
    _out: io.StringIO
    _err: io.StringIO

    @property
    def out(self) -> str:
        return self._out.getvalue()

    @property
    def err(self) -> str:
        return self._err.getvalue()


def stage(width: int | None, *, ascii_only: bool = False) -> Stage:
    """Make a screen: a terminal of so many columns, or without a width a pipe."""
    out, err = _Stream(is_terminal=width is not None), _Stream(is_terminal=False)
    env = {"CLEW_ASCII": "1"} if ascii_only else {}
    return Stage(Screen(out, err, color="never", width=width, env=env), out, err)


def demo(folder: Path) -> Path:
    """Write the demo as it would be at NOW."""
    return write_demo(folder / "demo", now=NOW).directory


def write(root: Path, project: str, sessions: dict[str, bytes], *, seconds_ago: float = 86_400) -> list[Path]:
    """Write session files into a project folder, the first one the newest."""
    import os

    folder = root / "projects" / project
    folder.mkdir(parents=True, exist_ok=True)
    paths: list[Path] = []
    for number, (name, data) in enumerate(sessions.items()):
        path = folder / f"{name}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        when = NOW.timestamp() - seconds_ago - number
        os.utime(path, (when, when))
        paths.append(path)
    return paths


def widest(lines: Sequence[str]) -> int:
    """How many cells the longest line takes."""
    from clew.faces.cli.cells import width

    return max(map(width, lines))
