"""`clew find ID`: where an id is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import table, words
from clew.faces.cli.notices import counting, tell_skipped
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import Screen, span

if TYPE_CHECKING:
    from clew.actions.finding import Finding

_KINDS: Final = {"tool_use": "tool use"}
_COLUMNS: Final = (
    table.Column("KIND"),
    table.Column("TYPE"),
    table.Column("LINE", align="right", words="line {}"),
    table.Column("OFFSET", align="right", needs=80, words="byte {}"),
    table.Column("FILE", flexible=True, cut="middle", style=("cyan",)),
)
_EXAMPLES: Final = """\b
Examples:
  clew find toolu_01A09q90qw90lq917835lq9
  clew find 5e529b8d-30c1-4d04-9990-d6e80ebb1fe4 --json
"""


@click.command("find", epilog=_EXAMPLES)
@click.argument("wanted", metavar="ID")
@shared
def command(common: Shared, wanted: str) -> int:
    """Find where an id is: file, line and entry.

    ID is a uuid, or the id of a message, a request, a tool use, a sub-agent or a session.
    Of a session and a sub-agent the first line of each file is given.
    """
    from clew.actions.finding import find
    from clew.actions.stores import open_store

    store = open_store(common.roots)
    with counting(common.screen, "Searching") as start:
        found = find(store, wanted, jobs=common.jobs, start=start)
    if common.is_data:
        common.emit([place.as_dict() for place in found.places])
    else:
        show(common.screen, found)
    tell_skipped(common.screen, found.skipped, verbose=common.is_verbose)
    return 0


def show(screen: Screen, found: Finding) -> None:
    """Show the places as a table."""
    if not found.places:
        screen.note(
            f"Nothing has the id {found.id} in {words.count(found.files, 'file')} of ", *_folders(found)
        )
        return
    rows = [
        [
            _KINDS.get(place.id_kind, place.id_kind),
            place.type or "–",
            words.number(place.line),
            words.number(place.offset),
            place.path,
        ]
        for place in found.places
    ]
    screen.lines(table.lines(_COLUMNS, rows, width=screen.width, ascii_only=screen.is_ascii))
    if screen.is_terminal:
        files = len({place.path for place in found.places})
        summary = f"{words.count(len(found.places), 'place')} in {words.count(files, 'file')}"
        screen.print(span(f"{summary} · {found.files:,} searched", "dim"))


def _folders(found: Finding) -> list[str]:
    return [" or ".join(found.looked_in), "."]
