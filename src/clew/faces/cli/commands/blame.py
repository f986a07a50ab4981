"""`clew blame FILE`: which prompt wrote each line of a file."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import cells, words
from clew.faces.cli.notices import counting, tell_skipped
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import Part, one_line, span

if TYPE_CHECKING:
    from clew.actions.blaming import Author, Blame
    from clew.faces.cli.terminal import Screen

_LEGEND: Final = 40
_EXAMPLES: Final = """\b
Examples:
  clew blame src/app.py
  clew blame src/app.py --json
  clew blame copy/app.py --as /home/ada/old/src/app.py
"""


@click.command("blame", epilog=_EXAMPLES)
@click.argument("file", metavar="FILE")
@click.option(
    "--as",
    "known_as",
    metavar="PATH",
    help="The path that the sessions knew it by, if it was moved or copied.",
)
@shared
def command(common: Shared, file: str, known_as: str | None) -> int:
    """Say for each line of a file which session, turn and prompt wrote it.

    All sessions that changed the file are followed in the order of their times, to what it holds now. A line
    that no session tells of is left blank: a person, a program or a session that is gone wrote it.

    A project that was moved is found by the name of its folder and the place of the file in it; where that
    does not do, --as says what the file was: /home/ada/old/src/app.py, or src/app.py in whatever folder.
    """
    from clew.actions.blaming import blame
    from clew.actions.stores import open_store

    with counting(common.screen, "Searching") as start:
        found = blame(
            open_store(common.roots),
            file,
            known_as=known_as,
            jobs=common.jobs,
            use_index=not common.no_index,
            start=start,
        )
    if common.is_data:
        common.emit(found.as_dict())
    else:
        _show(common.screen, found, known_as)
    tell_skipped(common.screen, found.skipped, verbose=common.is_verbose)
    return 0


def _show(screen: Screen, found: Blame, known_as: str | None) -> None:
    ids = cells.short_ids(found.sessions, least=8)
    numbers = len(str(len(found.lines)))
    turns = max((len(str(line.author.turn)) for line in found.lines if line.author), default=1)
    room = max((len(ids[name]) for name in found.sessions), default=1)
    authors: dict[tuple[str, int], Author] = {}
    rule = "|" if screen.is_ascii else "│"
    for line in found.lines:
        author = line.author
        if author is None:
            head: list[Part] = [" " * (room + 6 + turns)]
        else:
            authors.setdefault((author.session, author.turn), author)
            head = [span(ids[author.session].ljust(room), "cyan"), f" turn {author.turn:>{turns}}"]
        text = line.text
        if screen.width is not None:
            left = max(10, screen.width - room - turns - numbers - 10)
            text = cells.cut_end(text.expandtabs(4), left, mark="..." if screen.is_ascii else "…")
        screen.print(*head, span(f" {line.n:>{numbers}} {rule} ", "dim"), text)
    if not found.sessions:
        which = "this file" if known_as is None else one_line(known_as)
        hint = "; --as PATH says what it was called before" if known_as is None else ""
        screen.note(f"No session in the store changed {which}{hint}.")
    elif screen.is_terminal:
        screen.print()
        for (session, turn), author in list(authors.items())[:_LEGEND]:
            _legend(screen, ids[session], turn, author)


def _legend(screen: Screen, name: str, turn: int, author: Author) -> None:
    when = None if author.time is None else datetime.fromtimestamp(author.time / 1000, UTC)
    start = f"{name} turn {turn}, {words.day(when)}: "
    left = max(20, (screen.width or 100) - len(start))
    said = cells.cut_end(one_line(author.prompt or "no prompt"), left)
    screen.print(span(start, "dim"), said)
