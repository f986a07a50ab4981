"""`clew redact S`: take the secrets out of a session."""

from __future__ import annotations

from typing import Final

import click

from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.notices import measuring
from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew redact @1 --dry-run
  clew redact @1 --pattern 'ACME-[0-9]{6}'
  clew redact @1 --in-place && clew undo --forget
"""


@click.command("redact", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option("--pattern", "patterns", metavar="RE", multiple=True, help="What else is a secret.")
@shared
@edit_options()
def command(common: Shared, options: EditOptions, session: str, patterns: tuple[str, ...]) -> int:
    """Take passwords, keys and tokens out of a session, its sub-agents and what lies beside it.

    The same secret gets the same placeholder, wherever it stands and however it is spelled. In place, one
    backup is kept for clew undo; clew undo --forget removes it.
    """
    import secrets

    from clew.actions.redacting import compiled, placeholder_key, redact_session
    from clew.actions.stores import open_store

    wish = make_wish("redact", options)
    key = secrets.token_bytes(32) if wish.is_dry else placeholder_key(wish.state, draw=secrets.token_bytes)
    with measuring(common.screen, "Looking for secrets in") as start:
        outcome = redact_session(
            open_store(common.roots), session, wish, key=key, patterns=compiled(patterns), progress=start
        )
    if not common.is_data and common.screen.width is not None:
        lines = tuple(_wrapped(note, common.screen.width) for note in outcome.notes)
        outcome = outcome._replace(notes=lines)
    return tell(common, outcome)


def _wrapped(note: str, width: int) -> str:
    """Return a note on several lines: what was found may be a long list. A number stays by its name."""
    from textwrap import fill

    close = note.replace(" ×", "\xa0×")
    return fill(close, width, subsequent_indent="  ", break_on_hyphens=False).replace("\xa0", " ")
