"""`clew restore S FILE`: a file as it was after a turn."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import one_line, span

if TYPE_CHECKING:
    from clew.actions.file_changes import Restored

_EXAMPLES: Final = """\b
Examples:
  clew restore @1 src/app.py --turn 3
  clew restore @1 src/app.py --turn 3 -o src/app.py --force
"""


@click.command("restore", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.argument("file", metavar="FILE")
@click.option("--turn", type=click.IntRange(0), metavar="N", help="After this turn; 0 is before the first.")
@click.option("-o", "--output", metavar="OUT", help="Write it there instead of to standard output.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@shared
def command(
    common: Shared, session: str, file: str, turn: int | None, output: str | None, force: bool
) -> int:
    """Give back a file as it was after a turn; without one as the session left it.

    FILE is its path, from the session's folder or from the root on, or the end of it.
    """
    from clew.actions.file_changes import follow, restore, write_restored

    followed = follow(common.roots, session)
    found = restore(followed, file, turn=turn)
    written = None if output in {None, "-"} else write_restored(found, output or "", force=force)
    if common.is_data:
        common.emit(_document(found, written))
    elif written is None:
        common.screen.document((found.data,))
    else:
        common.screen.note(f"{words.size(len(found.data))} written to {one_line(written)}")
    for gap in found.gaps:
        common.screen.note(
            span("note: ", "yellow"), f"between turns {gap.first_turn} and {gap.last_turn} it was {gap.why}"
        )
    return DAMAGED if followed.opened.is_damaged else 0


def _document(found: Restored, written: str | None) -> dict[str, object]:
    from clew.actions.file_changes import gap_document
    from clew.format.times import iso

    try:
        text, raw = found.data.decode("utf-8"), None
    except UnicodeDecodeError:
        text, raw = None, base64.b64encode(found.data).decode("ascii")
    return {
        "path": found.path,
        "turn": found.turn,
        "call": found.call,
        "tool": found.tool,
        "time": iso(found.time),
        "bytes": len(found.data),
        "text": text,
        "base64": raw,
        "written": written,
        "gaps": [gap_document(gap) for gap in found.gaps],
    }
