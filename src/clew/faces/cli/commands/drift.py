"""`clew drift`: what the sessions hold that clew does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import table, words
from clew.faces.cli.flows import flow
from clew.faces.cli.notices import counting, tell_skipped
from clew.faces.cli.options import DAMAGED, Shared, shared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.actions.drift import Drift
    from clew.faces.cli.terminal import Part, Screen

_SHOWN_VERSIONS: Final = 3
_COLUMNS: Final = (
    table.Column("WHAT", style=("dim",)),
    table.Column("NAME", most=46),
    table.Column("LINES", align="right", words="{} lines"),
    table.Column("VERSIONS", needs=100, most=30),
    table.Column("EXAMPLE", flexible=True, needs=60, cut="middle", style=("cyan",)),
)
_EXAMPLES: Final = """\b
Examples:
  clew drift
  clew drift --json | jq '.unknown[].name'
"""


@click.command("drift", epilog=_EXAMPLES)
@shared
def command(common: Shared) -> int:
    """List the types, fields and blocks in the sessions that clew does not know.

    Nothing of it is an error: what is unknown is kept and shown like everything else. An entry here
    means that the client has begun to write something new.

    JSON: {"files", "lines", "known_versions": [], "newer_versions": {version: lines}, "unknown":
    [{"what": "type|subtype|field|block", "name", "count", "versions": {version: lines}, "example":
    {"path", "line", "offset"}}], "damaged"}.
    """
    from clew.actions.drift import drift
    from clew.actions.stores import open_store

    store = open_store(common.roots)
    with counting(common.screen) as start:
        found = drift(store, jobs=common.jobs, start=start)
    if common.is_data:
        common.emit(found.as_dict(), rows=[stranger.as_dict() for stranger in found.strangers])
    else:
        show(common.screen, found)
    tell_skipped(common.screen, found.skipped, cut=found.was_cut, verbose=common.is_verbose)
    return DAMAGED if found.damaged or found.was_cut else 0


def show(screen: Screen, found: Drift) -> None:
    """Show what is unknown as a table."""
    of = f"{words.count(found.lines, 'line')} of {words.count(found.files, 'file')}"
    if not found.files:
        screen.note("No sessions in ", " or ".join(found.looked_in), ".")
        return
    if not found.strangers:
        screen.print(f"Nothing unknown in {of}.")
    else:
        rows: list[list[Part]] = [
            [one.what, one.name, words.number(one.count), _versions(one.versions), f"{one.path}:{one.line}"]
            for one in found.strangers
        ]
        screen.lines(table.lines(_COLUMNS, rows, width=screen.width, ascii_only=screen.is_ascii))
    if not screen.is_terminal:
        return
    facts: list[Sequence[Part]] = []
    if found.strangers:
        facts.append((f"{words.count(len(found.strangers), 'unknown thing')} in {of}",))
    if found.newer:
        facts.append((f"written by newer clients than clew was measured with: {_versions(found.newer)}",))
    screen.lines(flow(facts, width=screen.width))


def _versions(versions: Mapping[str, int]) -> str:
    newest = sorted(versions, key=lambda version: versions[version], reverse=True)
    text = ", ".join(newest[:_SHOWN_VERSIONS])
    return text if len(newest) <= _SHOWN_VERSIONS else f"{text} +{len(newest) - _SHOWN_VERSIONS}"
