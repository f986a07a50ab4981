"""`clew journal`: the edits that were made."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import table, words
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import span
from clew.format.times import iso

if TYPE_CHECKING:
    from clew.store.journal_entry import Entry

_STATES: Final = {
    "begun": "interrupted",
    "done": "done",
    "undoing": "interrupted",
    "undone": "taken back",
    "rolled-back": "came to nothing",
}
_COLUMNS: Final = (
    table.Column("AGE", align="right"),
    table.Column("EDIT"),
    table.Column("SESSION", style=("cyan",)),
    table.Column("RESULT", style=("cyan",)),
    table.Column("STATE"),
    table.Column("KEPT", align="right", needs=80, words="{} kept"),
    table.Column("ID", flexible=True),
)
_EXAMPLES: Final = """\b
Examples:
  clew journal
  clew journal --json
"""


@click.command("journal", epilog=_EXAMPLES)
@click.option("--limit", type=click.IntRange(1), metavar="N", default=20, show_default=True)
@shared
def command(common: Shared, limit: int) -> int:
    """List the edits that clew made, the newest first, and what is kept to take them back."""
    from clew.store.journal import entries
    from clew.store.state import state_folder

    found = entries(state_folder())
    if common.is_data:
        common.emit([_document(entry) for entry in found])
        return 0
    screen = common.screen
    if not found:
        screen.note("No edit was made yet.")
        return 0
    now = datetime.now(UTC)
    rows = [
        [
            words.age(datetime.fromtimestamp(entry.time_ms / 1000, UTC), now=now),
            entry.command,
            Path(entry.session).stem[:8],
            "in place" if entry.result is None else Path(entry.result).stem[:8],
            _STATES.get(entry.state, entry.state),
            words.count(len(_kept(entry)), "file") if _kept(entry) else "–",
            entry.id,
        ]
        for entry in found[:limit]
    ]
    screen.lines(table.lines(_COLUMNS, rows, width=screen.width, ascii_only=screen.is_ascii))
    if len(found) > limit:
        screen.print(span(f"{words.count(len(found) - limit, 'older edit')}: --limit", "dim"))
    return 0


def _kept(entry: Entry) -> list[str]:
    return [*entry.backups, *entry.trash]


def _document(entry: Entry) -> dict[str, object]:
    return {
        "id": entry.id,
        "command": entry.command,
        "time": iso(entry.time_ms),
        "session": entry.session,
        "result": entry.result,
        "state": entry.state,
        "files": [*entry.files],
        "kept": _kept(entry),
        "forgotten": entry.is_forgotten,
    }
