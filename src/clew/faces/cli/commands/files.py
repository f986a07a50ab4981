"""`clew files S`: what a session did to files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import table, words
from clew.faces.cli.notices import stepping
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import Part, one_line, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.file_changes import ChangedFile
    from clew.faces.cli.terminal import Screen

_COLUMNS: Final = (
    table.Column("FILE", flexible=True, cut="middle", style=("cyan",)),
    table.Column("HOW", needs=60),
    table.Column("VERSIONS", align="right", words="{} versions"),
    table.Column("TURNS", align="right", needs=70, words="turns {}"),
    table.Column("ADDED", align="right", style=("green",)),
    table.Column("REMOVED", align="right", style=("red",)),
    table.Column("GAPS", align="right", words="{} gaps", hide_if_empty=True, style=("yellow",)),
)
_MOST: Final = 20
_EXAMPLES: Final = """\b
Examples:
  clew files @1
  clew restore @1 src/app.py --turn 3
  clew patch @1 | git apply
"""


@click.command("files", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@shared
def command(common: Shared, session: str) -> int:
    """List the files a session changed, with every version of each.

    The versions are rebuilt from what the session's calls tell, those of sub-agents too. Where a file was
    changed by something else in between, by Bash, a formatter or a person, that is a gap and is named.
    """
    from clew.actions.file_changes import follow, list_files

    followed = follow(common.roots, session)
    with stepping(common.screen, "Following", "calls") as start:
        found = list_files(followed, start=start)
    if common.is_data:
        common.emit([file.as_dict() for file in found])
    else:
        _show(common.screen, found)
    return DAMAGED if followed.opened.is_damaged else 0


def _show(screen: Screen, found: Sequence[ChangedFile]) -> None:
    if not found:
        screen.note("This session changed no files.")
        return
    rows = [_row(file) for file in found]
    screen.lines(table.lines(_COLUMNS, rows, width=screen.width, ascii_only=screen.is_ascii))
    gaps = [(file, gap) for file in found for gap in file.gaps]
    if gaps:
        screen.print()
    for file, gap in gaps[:_MOST]:
        when = _turns(gap.first_turn, gap.last_turn)
        screen.print(span("gap ", "yellow"), one_line(file.shown), f", {when}: {gap.why}")
    if len(gaps) > _MOST:
        screen.print(span(f"{len(gaps) - _MOST:,} more gaps: --json", "dim"))


def _row(file: ChangedFile) -> list[Part]:
    turns = [one.turn for one in file.versions]
    first, last = min(turns), max(turns)
    return [
        file.shown,
        "new" if file.versions[0].action == "create" else "edited",
        words.number(len(file.versions)),
        f"{first}" if first == last else f"{first}–{last}",
        _sum("+", [one.added for one in file.versions]),
        _sum("−", [one.removed for one in file.versions]),
        words.number(len(file.gaps)) if file.gaps else "",
    ]


def _sum(sign: str, counts: Sequence[int | None]) -> str:
    known = [count for count in counts if count is not None]
    return f"{sign}{sum(known):,}" if known else words.UNKNOWN


def _turns(first: int, last: int) -> str:
    return f"in turn {last}" if first == last else f"between turns {first} and {last}"
