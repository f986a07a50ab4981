"""`clew tag S TAG`: tag a session."""

from __future__ import annotations

from typing import Final

import click

from clew.errors import UsageError
from clew.faces.cli.commands.rename import told
from clew.faces.cli.editing import EditOptions, edit_options, make_wish
from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew tag @1 keep
  clew tag @1 --remove
"""


@click.command("tag", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.argument("tag", metavar="[TAG]", required=False)
@click.option("--remove", is_flag=True, help="Take the tag away.")
@shared
@edit_options(in_place=False, thinking=False)
def command(common: Shared, options: EditOptions, session: str, tag: str | None, remove: bool) -> int:
    """Tag a session, as the vendor's SDK does. A session has one tag. clew undo takes it back."""
    from clew.actions.naming import tag_session
    from clew.actions.stores import open_store

    if (tag is None) != remove:
        raise UsageError("either a tag or --remove", hint="clew tag @1 keep")
    wish = make_wish("tag", options)
    return told(common, tag_session(open_store(common.roots), session, wish, tag=tag))
