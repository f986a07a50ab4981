"""A place for tools to work in: a folder, what was seen in it, and what was kept before each change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from clew.agent.cancel import Cancel
from clew.agent.seen import Seen
from clew.agent.tool import Work

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from clew.agent.tool import Outcome, Tool


@dataclass
class Desk:
    """Makes calls one after the other, as a session would."""

    folder: Path
    seen: Seen = field(default_factory=Seen)
    cancel: Cancel = field(default_factory=Cancel)
    changed: list[str] = field(default_factory=list[str])
    calls: int = 0

    def work(self) -> Work:
        """What the next call is given."""
        self.calls += 1
        folder = str(self.folder)
        return Work(
            call_id=f"toolu_{self.calls}",
            cwd=folder,
            project=folder,
            seen=self.seen,
            cancel=self.cancel,
            results_folder=str(self.folder / "tool-results"),
            before_change=self.changed.append,
        )

    def run(self, tool: Tool, **given: object) -> Outcome:
        """Ask what a call would touch, and make it."""
        work = self.work()
        tool.reach(given, work)
        return tool.run(given, work)

    def write(self, name: str, data: bytes | str) -> str:
        """Put a file there; return its path."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return str(path)


def desk(folder: Path) -> Desk:
    """Make a place to work in, with no links on the way."""
    return Desk(folder.resolve())


def structured(outcome: Outcome) -> Mapping[str, Any]:
    """What the outcome keeps for the screen."""
    found = outcome.structured
    assert isinstance(found, dict)
    return cast("dict[str, Any]", found)


def words(outcome: Outcome) -> str:
    """What the model is told, where that is a text."""
    assert isinstance(outcome.content, str)
    return outcome.content
