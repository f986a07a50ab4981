"""`clew clone S`: a session again under another id."""

from __future__ import annotations

from typing import Final

import click

from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew clone @1
  clew clone @1 --at 5e529b8d --title "before the rewrite"
  clew clone @1 --to ~/src/other-project
"""


@click.command("clone", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option("--at", metavar="UUID", help="Let the copy end in this line: a fork.")
@click.option("--to", metavar="DIR", help="The folder of the project that the copy is to belong to.")
@click.option("--title", metavar="T", help="What the copy is to be called.")
@shared
@edit_options(in_place=False, thinking=False)
def command(
    common: Shared, options: EditOptions, session: str, at: str | None, to: str | None, title: str | None
) -> int:
    """Copy a session with everything that belongs to it, under a new id.

    What is sent to the model stays the same to the byte. The session itself is not touched.
    """
    import secrets

    from clew.actions.cloning import clone_session
    from clew.actions.stores import open_store

    outcome = clone_session(
        open_store(common.roots),
        session,
        make_wish("clone", options),
        seed=secrets.token_bytes(32),
        at=at,
        to=to,
        title=title,
    )
    return tell(common, outcome)
