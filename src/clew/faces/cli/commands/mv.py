"""`clew mv S DIR`: a session goes where its project went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import words
from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell_doubts
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from clew.actions.moving import Relocated
    from clew.faces.cli.terminal import Screen

_LISTED: Final = 8
_EXAMPLES: Final = """\b
Examples:
  clew mv @1 ~/src/new-place
  clew mv --project ~/src/old-name ~/src/new-name --dry-run
"""


@click.command("mv", epilog=_EXAMPLES)
@click.argument("what", metavar="S|OLD")
@click.argument("to", metavar="DIR")
@click.option(
    "--project", "is_project", is_flag=True, help="OLD is the folder a project was in; all its sessions."
)
@shared
@edit_options(in_place=False, thinking=False)
def command(common: Shared, options: EditOptions, what: str, to: str, is_project: bool) -> int:
    """Let a session, or all sessions of a project, belong to another folder.

    For a project that was moved or renamed: the client looks for sessions by the folder. The session's files
    are moved, the lines tell of the new folder, and so does the list of your prompts. What was said stays as
    it was. clew undo takes it back.
    """
    from clew.actions.moving import move_sessions
    from clew.actions.stores import open_store

    found = move_sessions(open_store(common.roots), what, to, make_wish("mv", options), is_project=is_project)
    if common.is_data:
        common.emit(found.as_dict())
    else:
        show(common.screen, found)
    return 0


def show(screen: Screen, found: Relocated) -> None:
    """Say what was moved, or would be."""
    many = words.count(len(found.sessions), "session")
    if found.done is None:
        screen.print(span("Nothing was written. ", "bold"), f"This would move {many}:")
    else:
        screen.print(span(f"Moved {many}", "bold"))
    screen.print("  from  ", span(found.old, "cyan"))
    screen.print("  to    ", span(found.new, "cyan"))
    for one in found.moves[:_LISTED]:
        screen.print(span(f"  {one.target}", "dim"))
    if len(found.moves) > _LISTED:
        screen.print(span(f"  … {words.count(len(found.moves) - _LISTED, 'more')}", "dim"))
    screen.print(f"  {words.count(len(found.rewritten), 'file')} with lines that tell of the folder")
    if found.done is not None:
        screen.print("  take back ", span("clew undo", "bold"))
        tell_doubts(screen, found.done)
