"""`clew merge S1 S2`: one session of two."""

from __future__ import annotations

from typing import Final

import click

from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew merge 5e52 9c1a
  clew merge @2 @1 --dry-run
"""


@click.command("merge", epilog=_EXAMPLES)
@click.argument("first", metavar="S1")
@click.argument("second", metavar="S2")
@shared
@edit_options(in_place=False)
def command(common: Shared, options: EditOptions, first: str, second: str) -> int:
    """Make one new session of two, which ends where the second ends.

    What stands in both, as of a fork, is taken once. Parts of one session are put together as they were.
    """
    from clew.actions.dividing import merge_sessions
    from clew.actions.stores import open_store

    return tell(common, merge_sessions(open_store(common.roots), first, second, make_wish("merge", options)))
