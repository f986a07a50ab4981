"""Write a small set of sample sessions into a folder, so that there is something to look at.

The sessions are made up, told from the templates under `demo_data` by `clew.actions.demo_story`. The folder
becomes a config folder, the kind that holds `projects/`, and a marker in it says so: only a folder that is
empty or carries the marker is ever written to.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from clew.actions.demo_story import Told, tell
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

MARKER = "clew-demo.json"
HOME = "/home/robin"
"""Where the person of the stories lives. Nobody's real home."""

_DATA = Path(__file__).with_name("demo_data")


class NotADemoError(ClewError):
    """The folder holds something that is not a demo, and is left alone."""

    code = "not-a-demo"
    exit_code = 4

    def __init__(self, directory: Path, why: str) -> None:
        super().__init__(
            f"{directory} {why}, so no demo was written there", hint="name an empty or a new folder"
        )
        self.directory = directory


@dataclass(frozen=True, slots=True)
class DemoSession:
    """One sample session that was written."""

    id: str
    path: Path
    project: str
    shows: str
    """What it is there to show."""

    agents: int


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What was written, and where."""

    directory: Path
    sessions: tuple[DemoSession, ...]
    """Newest first, as a list would show them."""

    files: int
    bytes: int

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects of the sessions, by name."""
        return tuple(sorted({session.project for session in self.sessions}))

    @property
    def agents(self) -> int:
        """How many sub-agents the sessions have."""
        return sum(session.agents for session in self.sessions)


def stories(*, now: datetime, home: str = HOME) -> tuple[Told, ...]:
    """Tell every story as it would be at `now`, newest first. Writes nothing."""
    root = _DATA / "files"
    originals = {
        path.relative_to(root).as_posix().removesuffix(".txt"): path.read_text(encoding="utf-8")
        for path in sorted(root.rglob("*.txt"))
    }
    told = [
        tell(path.read_text(encoding="utf-8"), now=now, home=home, originals=originals)
        for path in sorted(_DATA.glob("*.jsonl"))
    ]
    return tuple(sorted(told, key=lambda story: story.files[0].changed, reverse=True))


def write_demo(directory: Path, *, now: datetime, home: str = HOME) -> DemoResult:
    """Write the sample sessions into `directory`, which is made if need be, as of `now`.

    Raises `NotADemoError` for a folder that holds anything else. A demo that is there already is told anew.
    """
    _check(directory)
    told = stories(now=now, home=home)
    # First of all: should the writing break off, the next run knows the folder for its own.
    _write(directory / MARKER, _marker(told), now)
    for story in told:
        for file in story.files:
            _write(directory / file.path, file.data, file.changed)
    return DemoResult(
        directory=directory,
        sessions=tuple(
            DemoSession(
                story.session_id, directory / story.files[0].path, story.project, story.shows, story.agents
            )
            for story in told
        ),
        files=sum(len(story.files) for story in told),
        bytes=sum(len(file.data) for story in told for file in story.files),
    )


def is_demo(directory: Path) -> bool:
    """Whether the folder was written by `write_demo`."""
    marker = directory / MARKER
    try:
        return marker.is_file() and not marker.is_symlink() and "clew_demo" in json.loads(marker.read_bytes())
    except (OSError, ValueError, TypeError):
        return False


def _check(directory: Path) -> None:
    try:
        if directory.is_symlink() and not directory.exists():
            raise NotADemoError(directory, "is a link that leads nowhere")
        if not directory.exists():
            return
        if not directory.is_dir():
            raise NotADemoError(directory, "is not a folder")
        if any(directory.iterdir()) and not is_demo(directory):
            raise NotADemoError(directory, "is not empty")
    except OSError as error:
        raise NotADemoError(directory, f"cannot be read ({error.strerror})") from error


def _marker(told: Sequence[Told]) -> bytes:
    facts = {
        "clew_demo": 1,
        "about": "Sample sessions written by `clew demo`. Made up; safe to delete.",
        "sessions": {story.session_id: story.shows for story in told},
    }
    return json.dumps(facts, ensure_ascii=False, indent=1).encode() + b"\n"


def _write(path: Path, data: bytes, changed: datetime) -> None:
    """Write one file whole or not at all, readable by its owner only, with the time it pretends to have."""
    fresh = path.with_name(f".{path.name}.new")
    try:
        _make_folder(path.parent)
        fresh.unlink(missing_ok=True)
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        os.utime(fresh, (changed.timestamp(), changed.timestamp()))
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise ClewError(f"{path} cannot be written: {error.strerror or error}") from error


def _make_folder(path: Path) -> None:
    """Make a folder and those above it; `Path.mkdir` would give its mode to the last one only."""
    if not path.is_dir():
        _make_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)
