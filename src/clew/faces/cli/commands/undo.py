"""`clew undo`: take back an edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import words
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from collections.abc import Sequence

_LISTED: Final = 6
_EXAMPLES: Final = """\b
Examples:
  clew undo
  clew undo 20261115-182003-b0e1c2
  clew undo --forget        remove the backup that is kept for undoing
"""


@click.command("undo", epilog=_EXAMPLES)
@click.argument("edit", metavar="[ID]", required=False)
@click.option(
    "--forget", is_flag=True, help="Remove for good what is kept for undoing: the backup, or the trash."
)
@click.option("--force", is_flag=True, help="Even if a file has changed since; that goes to the trash.")
@shared
def command(common: Shared, edit: str | None, forget: bool, force: bool) -> int:
    """Take back the last edit, or the one with that id in `clew journal`.

    A session that the edit made goes to the journal's trash, unless somebody has gone on with it since. A
    session that it changed in place is put back as it was.
    """
    import time

    from clew.store import journal
    from clew.store.state import state_folder

    if forget:
        gone = journal.forget(state_folder(), edit)
        if common.is_data:
            common.emit({"id": gone.id, "command": gone.command, "removed": [*gone.files]})
        elif gone.files:
            common.screen.print(f"Removed for good what was kept of {gone.command} ({gone.id}):")
            _list(common, gone.files)
        else:
            common.screen.print(f"Nothing was kept of {gone.command} ({gone.id}).")
        return 0
    undone = journal.undo(state_folder(), edit, now_ms=int(time.time() * 1000), force=force)
    if common.is_data:
        common.emit(
            {
                "id": undone.id,
                "command": undone.command,
                "files": [*undone.files],
                "trash": [*undone.trash],
            }
        )
        return 0
    screen = common.screen
    screen.print(span("Took back ", "bold"), f"{undone.command} ({undone.id}):")
    _list(common, [*dict.fromkeys(undone.files)])
    if undone.trash:
        screen.print(
            span("  It is kept in the trash until ", "dim"),
            span("clew undo --forget", "bold"),
            span(".", "dim"),
        )
    return 0


def _list(common: Shared, paths: Sequence[str]) -> None:
    for path in paths[:_LISTED]:
        common.screen.print("  ", span(path, "cyan"))
    if len(paths) > _LISTED:
        common.screen.print(span(f"  … {words.count(len(paths) - _LISTED, 'more file')}", "dim"))
