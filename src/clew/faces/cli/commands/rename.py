"""`clew rename S TITLE`: give a session a title."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell, tell_doubts
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from clew.actions.editing import Outcome
    from clew.actions.naming import Appended

_EXAMPLES: Final = """\b
Examples:
  clew rename @1 "Fix the double refund"
"""


@click.command("rename", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.argument("title", metavar="TITLE")
@shared
@edit_options(in_place=False, thinking=False)
def command(common: Shared, options: EditOptions, session: str, title: str) -> int:
    """Give a session a title, as the client's own /rename does. clew undo takes it back."""
    from clew.actions.naming import rename_session
    from clew.actions.stores import open_store

    wish = make_wish("rename", options)
    return told(common, rename_session(open_store(common.roots), session, wish, title=title))


def told(common: Shared, found: Outcome | Appended) -> int:
    """Say what came of it."""
    from clew.actions.editing import Outcome

    if isinstance(found, Outcome):
        if common.is_data or found.done is None:
            return tell(common, found)
        common.screen.print(span("Done. ", "bold"), "clew undo takes it back.")
        tell_doubts(common.screen, found.done)
        return 0
    if common.is_data:
        common.emit(
            {
                "source": {"id": found.footprint.file.id, "path": found.footprint.file.path},
                "added": len(found.lines),
            }
        )
    else:
        common.screen.print(
            span("Done. ", "bold"), "Somebody is at work in this session, so the line was only added to it."
        )
    return 0
