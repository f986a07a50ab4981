"""A home, a config folder and a project of their own, all of them thrown away afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Place:
    """Where a program is run."""

    project: ClassVar[str] = "work"
    """What the project's folder is called."""

    root: Path

    def __post_init__(self) -> None:
        for folder in (self.home, self.config, self.work):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def config(self) -> Path:
        return self.root / "config"

    @property
    def work(self) -> Path:
        return self.root / self.project

    @property
    def files(self) -> list[Path]:
        """The session files, without those of sub-agents."""
        found = (self.config / "projects").glob("*/*.jsonl")
        return sorted(path for path in found if not path.name.startswith("agent-"))

    @property
    def file(self) -> Path:
        """The only session."""
        (only,) = self.files
        return only
