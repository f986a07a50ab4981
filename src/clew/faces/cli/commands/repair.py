"""`clew repair S`: mend what keeps a session from being resumed."""

from __future__ import annotations

from typing import Final

import click

from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew repair @1 --dry-run
  clew repair @1 --in-place
  clew repair @1 --drop-empty-thinking
"""


@click.command("repair", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option(
    "--drop-empty-thinking",
    is_flag=True,
    help="Drop thinking without words too; by default only when the last error of the session names it.",
)
@shared
@edit_options()
def command(common: Shared, options: EditOptions, session: str, drop_empty_thinking: bool) -> int:
    """Mend everything that clew check finds in a session, into a new one that the client resumes.

    Lines that are well stay as they are, byte for byte. What had to be taken out is listed, and kept aside.
    """
    import secrets

    from clew.actions.edits import repair_session
    from clew.actions.stores import open_store

    outcome = repair_session(
        open_store(common.roots),
        session,
        make_wish("repair", options),
        seed=secrets.token_bytes(32),
        drop_empty_thinking=True if drop_empty_thinking else None,
    )
    return tell(common, outcome)
