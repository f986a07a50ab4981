"""`clew uncompact S`: the turns before a compaction come back."""

from __future__ import annotations

from typing import Final

import click

from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew uncompact @1 --dry-run
  clew uncompact @1 --all
"""


@click.command("uncompact", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option("--at", "boundary", metavar="UUID", help="The compaction to take back; else the last one.")
@click.option("--all", "every", is_flag=True, help="Every compaction.")
@shared
@edit_options()
def command(common: Shared, options: EditOptions, session: str, boundary: str | None, every: bool) -> int:
    """Bring the turns before a compaction back into what is sent, in a new session."""
    from clew.actions.edits import uncompact_session
    from clew.actions.stores import open_store

    outcome = uncompact_session(
        open_store(common.roots), session, make_wish("uncompact", options), boundary=boundary, every=every
    )
    return tell(common, outcome)
