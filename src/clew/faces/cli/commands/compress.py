"""`clew compress S`: a summary in the place of the older turns."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from clew.errors import UsageError
from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew compress @1 --keep-turns 5 --dry-run
  clew compress @1 --keep-turns 3 --summary notes.md
"""


@click.command("compress", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option(
    "--keep-turns",
    type=click.IntRange(0),
    metavar="N",
    default=5,
    show_default=True,
    help="Turns to keep whole.",
)
@click.option(
    "--summary",
    metavar="extract|FILE",
    default="extract",
    show_default=True,
    help="Put together from the conversation itself, or what a file says.",
)
@click.option("--keep-calls", is_flag=True, help="Name every tool call in an extracted summary.")
@shared
@edit_options()
def command(
    common: Shared, options: EditOptions, session: str, keep_turns: int, summary: str, keep_calls: bool
) -> int:
    """Put a summary in the place of the older turns, into a new session, as the client's own compaction does.

    The older turns stay in the file; clew uncompact brings them back. No model is asked.
    """
    import secrets

    from clew.actions.edits import compress_session
    from clew.actions.stores import open_store

    outcome = compress_session(
        open_store(common.roots),
        session,
        make_wish("compress", options),
        keep_turns=keep_turns,
        summary=None if summary == "extract" else _read(summary),
        keep_calls=keep_calls,
        seed=secrets.token_bytes(32),
    )
    return tell(common, outcome)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"the summary {path} cannot be read: {error}") from None
