"""`clew strip S`: take out what is not needed to go on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import click

from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.options import Shared, shared

if TYPE_CHECKING:
    from typing import Literal

_EXAMPLES: Final = """\b
Examples:
  clew strip @1 --dry-run
  clew strip @1 --thinking
  clew strip @1 --images shrink --in-place
"""


@click.command("strip", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option("--thinking", is_flag=True, help="All thinking.")
@click.option("--bulk", is_flag=True, help="What the client never reads again; the default.")
@click.option(
    "--images", type=click.Choice(["drop", "shrink"]), help="Pictures, or what of them is too large."
)
@shared
@edit_options()
def command(
    common: Shared, options: EditOptions, session: str, thinking: bool, bulk: bool, images: str | None
) -> int:
    """Take thinking, bulk or pictures out of a session, into a new one.

    Bulk is what the client writes and never reads again: progress, logs of requests, old copies of settings.
    Nothing that is sent to the model changes by taking it out.
    """
    from clew.actions.edits import strip_session
    from clew.actions.stores import open_store

    outcome = strip_session(
        open_store(common.roots),
        session,
        make_wish("strip", options),
        thinking=thinking,
        bulk=bulk,
        images=cast("Literal['keep', 'drop', 'shrink']", images or "keep"),
    )
    return tell(common, outcome)
