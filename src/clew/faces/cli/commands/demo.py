"""`clew demo DIR`: sample sessions, and what to try on them."""

from __future__ import annotations

import getpass
import os
import shlex
import stat
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import cells, words
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import Screen, span

if TYPE_CHECKING:
    from clew.actions.demo import DemoResult
_EXAMPLES: Final = """\b
Example:
  clew demo /tmp/demo
"""


@click.command("demo", epilog=_EXAMPLES)
@click.argument("directory", metavar="[DIR]", type=click.Path(path_type=Path), required=False)
@shared
def command(common: Shared, directory: Path | None) -> int:
    """Write a small set of sample sessions into DIR, and show what to try on them.

    DIR must be new, empty, or an earlier demo, which is then written anew. Without DIR the demo goes
    into the folder for temporary files.
    """
    from clew.actions.demo import write_demo

    result = write_demo(directory or demo_folder(), now=datetime.now(UTC))
    if common.is_data:
        common.emit(as_dict(result))
    else:
        show(common.screen, result)
    return 0


def as_dict(result: DemoResult) -> dict[str, object]:
    """Return what was written, for JSON."""
    return {
        "directory": str(result.directory),
        "files": result.files,
        "bytes": result.bytes,
        "agents": result.agents,
        "sessions": [
            {
                "id": session.id,
                "path": str(session.path),
                "project": session.project,
                "shows": session.shows,
                "agents": session.agents,
            }
            for session in result.sessions
        ],
    }


def show(screen: Screen, result: DemoResult) -> None:
    """Say what was written, and give commands that can be copied."""
    screen.print(
        f"Wrote sample sessions of {words.count(len(result.projects), 'project')} into {result.directory} "
        f"({words.count(result.files, 'file')}, {words.size(result.bytes)})."
    )
    screen.print("They are made up: nobody said this, and nothing of yours is in them.")
    screen.print()
    screen.print("Try:")
    tries = to_try(result)
    room = max(cells.width(line) for line, _ in tries)
    needed = 4 + room + max(cells.width(meaning) for _, meaning in tries)
    for line, meaning in tries:
        if screen.width is None or needed <= screen.width:
            screen.print("  ", cells.pad(line, room), "  ", span(meaning, "dim"))
        else:
            screen.print("  ", line)
            screen.print("    ", span(meaning, "dim"))


def to_try(result: DemoResult) -> list[tuple[str, str]]:
    """Return commands for these sessions, each with what it shows."""
    root = f"--root {quoted(result.directory)}"
    newest = result.sessions[0].id[:4]
    damaged = next(
        (session.id[:4] for session in result.sessions if "damage" in session.shows.lower()), newest
    )
    with_agents = next((session.id[:4] for session in result.sessions if session.agents), newest)
    return [
        (f"clew ls {root}", "every session"),
        (f"clew show {newest} {root}", "read the newest"),
        (f"clew tree {with_agents} {root}", "its branches and sub-agents"),
        (f"clew context {newest} {root}", "what the model would be sent on resume"),
        (f"clew check {damaged} {root}", "what is wrong with the damaged one"),
        (f"clew usage --by model {root}", "what it would have cost"),
    ]


def quoted(path: Path) -> str:
    """Write a path as the shell takes it."""
    text = os.fspath(path)
    return f'"{text}"' if os.name == "nt" else shlex.quote(text)


def demo_folder() -> Path:
    """Return the folder of the demo: the same one each time, but never one that is another user's."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a user without a name, as in a container
        user = "user"
    name = "".join(letter if letter.isalnum() else "-" for letter in user)
    folder = Path(tempfile.gettempdir(), f"clew-demo-{name}")
    return folder if _is_ours(folder) else Path(tempfile.mkdtemp(prefix="clew-demo-"))


def _is_ours(folder: Path) -> bool:
    try:
        status = folder.lstat()
    except OSError:
        return True  # not there yet
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "getuid") or status.st_uid == os.getuid())
