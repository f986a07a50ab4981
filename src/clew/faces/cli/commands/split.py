"""`clew split S --turn N`: two sessions of one."""

from __future__ import annotations

from typing import Final

import click

from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew split @1 --turn 12
  clew split @1 --turn 12 --dry-run
"""


@click.command("split", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option(
    "--turn", type=click.IntRange(1), metavar="N", required=True, help="The first of the second part."
)
@shared
@edit_options(in_place=False)
def command(common: Shared, options: EditOptions, session: str, turn: int) -> int:
    """Make two new sessions of one: up to before a turn, and from it on. clew merge joins them again."""
    import uuid

    from clew.actions.dividing import split_session
    from clew.actions.stores import open_store

    outcomes = split_session(
        open_store(common.roots),
        session,
        make_wish("split", options),
        turn=turn,
        second_id=str(uuid.uuid4()),
    )
    if common.is_data:
        common.emit([outcome.as_dict() for outcome in outcomes])
        return 0
    for outcome in outcomes:
        tell(common, outcome)
    return 0
