"""What a person asks for when a session is begun or gone on with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class RunRequest:
    """How a session is to be run."""

    cwd: Path
    """Where the person is."""

    roots: tuple[Path, ...] = ()
    resume: str | None = None
    """The name of the session to go on with; without one a new one is begun."""

    at: str | None = None
    """The line to go on from."""

    fork: bool = False
    """Go on with a copy, in the project where the person is."""

    model: str | None = None
    permission_mode: str | None = None
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    max_turns: int | None = None
    max_cost: float | None = None
    base_url: str | None = None
    window: int | None = None
    """How many tokens a conversation may have before it is summed up."""

    more_system: str | None = None
    sandbox: bool = True
    trust_project: bool = False
    """Let the project's own settings count this time, without asking."""

    session_id: str | None = None
    force: bool = False
    is_interactive: bool = False
    progress_lines: bool = False
    """Write what calls do while they run as lines of the session too."""
