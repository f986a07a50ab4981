"""`clew replay S --into DIR`: what a session did to files, as a git history."""

from __future__ import annotations

from typing import Final

import click

from clew.faces.cli import words
from clew.faces.cli.notices import stepping
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import one_line, span

_EXAMPLES: Final = """\b
Examples:
  clew replay @1 --into /tmp/replayed
  git -C /tmp/replayed log --stat
"""


@click.command("replay", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option("--into", metavar="DIR", required=True, help="A folder that is empty or not there yet.")
@click.option("--base", is_flag=True, help="Begin with the files as they were before the session.")
@shared
def command(common: Shared, session: str, into: str, base: bool) -> int:
    """Write a new git repository with one commit for each turn that changed files.

    The prompt is the message. Files outside the session's folder are put under _outside/. Nothing of your own
    repositories, hooks and settings is used or changed.
    """
    from clew.actions.file_changes import follow
    from clew.actions.replaying import replay

    followed = follow(common.roots, session)
    with stepping(common.screen, "Replaying", "calls") as start:
        found = replay(followed, into, base=base, start=start)
    if common.is_data:
        common.emit({"session": followed.opened.file.id} | found.as_dict())
    else:
        screen = common.screen
        screen.print(
            span(words.count(found.commits, "commit"), "bold"), f", {words.count(found.files, 'file')}"
        )
        screen.print("  ", span(one_line(found.folder), "cyan"))
        if screen.is_terminal and found.commits:
            screen.print(span(f"git -C {one_line(found.folder)} log --stat", "dim"))
    for one in found.left_out:
        common.screen.note(span("left out: ", "yellow"), f"{one_line(one.path)}: {one.why}")
    return DAMAGED if followed.opened.is_damaged else 0
