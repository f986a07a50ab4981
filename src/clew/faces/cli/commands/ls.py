"""`clew ls`: the sessions there are, newest first. `clew` alone shows the newest of them with a few hints."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from clew.errors import UsageError
from clew.faces.cli import cells, table, words
from clew.faces.cli.flows import flow
from clew.faces.cli.naming import models, projects
from clew.faces.cli.notices import counting, tell_skipped
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import Part, Screen, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.listing import SessionList, SessionRow

ON_A_TERMINAL: Final = 30
NEWEST: Final = 10
SMALL: Final = 200_000_000
"""Bytes up to which every file is read for its counts without being asked: a second or two."""

_COLUMNS: Final = (
    table.Column("", hide_if_empty=True),
    table.Column("AGE", align="right", style=("dim",)),
    table.Column("PROJECT", needs=80, most=18, cut="middle"),
    table.Column("TITLE", flexible=True),
    table.Column("BRANCH", needs=140, most=20, hide_if_empty=True, style=("dim",)),
    table.Column("MODEL", needs=120, most=18, hide_if_empty=True, style=("dim",)),
    table.Column("TURNS", align="right", needs=80, hide_if_empty=True, words="{} turns"),
    table.Column("CALLS", align="right", needs=100, hide_if_empty=True, words="{} calls"),
    table.Column("FAIL", align="right", hide_if_empty=True, words="{} failed", style=("red",)),
    table.Column("SIZE", align="right", needs=80, hide_if_empty=True),
    table.Column("COST", align="right", hide_if_empty=True),
    table.Column("ID", style=("cyan",)),
)
_EXAMPLES: Final = """\b
Examples:
  clew ls
  clew ls --project shop --since 3d
  clew ls --json --full | jq '.[].cost_usd'
"""


@click.command("ls", epilog=_EXAMPLES)
@click.option("--full", is_flag=True, help="Read every file for its counts, however large.")
@click.option("--project", metavar="P", help="Only sessions of a project: its path, or a part of it.")
@click.option("--since", metavar="T", help="Only sessions written since: 2h, 3d, 1w, 2026-02-03.")
@click.option("--all", "is_all", is_flag=True, help=f"All of them, not the newest {ON_A_TERMINAL}.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@click.option("--newest", is_flag=True, hidden=True)
@shared
def command(
    common: Shared,
    full: bool,
    project: str | None,
    since: str | None,
    is_all: bool,
    limit: int | None,
    newest: bool,
) -> int:
    """List sessions, newest first.

    On a terminal, and wherever text is printed, turns, calls and cost are counted if the store is small
    (up to 200 MB) or with --full. With --json they are null without --full. JSON also lists the files
    that hold no conversation; their "kind" says so.

    Marks: ● live, ! damaged.
    """
    from clew.actions.listing import list_sessions, narrow
    from clew.actions.opening import open_store

    now = datetime.now(UTC).astimezone()
    start = _start(since, now=now)
    store = open_store(common.roots)
    with counting(common.screen) as reading:
        found = list_sessions(
            store,
            now=now.timestamp(),
            full=True if full else False if common.is_data else SMALL,
            jobs=common.jobs,
            start=reading,
        )
    if common.is_data:
        rows = narrow(found.rows, project=project, since=start)[:limit]
        common.emit([row.as_dict() for row in rows])
    else:
        rows = narrow(found.conversations, project=project, since=start)
        if common.screen.is_terminal and limit is None and not is_all:
            limit = NEWEST if newest else ON_A_TERMINAL
        show(common.screen, found, rows, now=now, limit=limit, newest=newest)
    tell_skipped(common.screen, found.skipped, cut=found.was_cut, verbose=common.is_verbose)
    is_damaged = any(row.damaged for row in rows) or bool(found.was_cut)
    return DAMAGED if is_damaged else 0


def _start(since: str | None, *, now: datetime) -> float | None:
    if since is None:
        return None
    from clew.session.periods import moment

    found = moment(since, now=int(now.timestamp() * 1000), zone=None)
    if found is None:
        raise UsageError(f"{since!r} is no time", hint="--since 2026-02-03, or --since 2d for two days ago")
    return found / 1000


def show(
    screen: Screen,
    found: SessionList,
    rows: Sequence[SessionRow],
    *,
    now: datetime,
    limit: int | None = None,
    newest: bool = False,
) -> None:
    """Show the list as a table, with a footer of totals where a person looks at it."""
    if not rows:
        _nothing(screen, found)
        return
    shown = rows[:limit]
    ids = cells.short_ids(row.id for row in found.rows)
    names = projects(row.project for row in found.rows)
    lines = [_line(row, names[row.project], ids[row.id], now=now, is_full=found.is_full) for row in shown]
    screen.lines(table.lines(_COLUMNS, lines, width=screen.width, ascii_only=screen.is_ascii))
    if not screen.is_terminal:
        return
    if len(shown) < len(rows):
        more = "clew ls" if newest else "clew ls --all"
        screen.print(span(f"{len(rows) - len(shown):,} more: {more}", "dim"))
    screen.lines(flow(_totals(found, rows), width=screen.width))
    if newest:
        _hints(screen, ids[shown[0].id])


def _line(row: SessionRow, project: str, short: str, *, now: datetime, is_full: bool) -> list[Part]:
    mark = ("●" if row.live else "") + ("!" if row.damaged else "")
    return [
        span(mark, "yellow" if row.damaged else "green"),
        words.age(datetime.fromtimestamp(row.changed, UTC), now=now),
        project,
        row.title or span("(no prompt)", "dim"),
        row.git_branch or "",
        models(row.models),
        "" if row.turns is None else words.number(row.turns),
        "" if row.tool_calls is None else words.number(row.tool_calls),
        str(row.failed_calls or ""),
        "" if is_full else words.size(row.bytes),
        _cost(row),
        short,
    ]


def _cost(row: SessionRow) -> str:
    """What it cost; with a plus where some of it has no known price, and nothing where nothing was used."""
    if row.tokens is None or not row.tokens.total:
        return ""
    return words.money(row.cost_usd) + ("+" if row.unpriced_messages and row.cost_usd is not None else "")


def _totals(found: SessionList, rows: Sequence[SessionRow]) -> list[Sequence[Part]]:
    """The totals, and what a person must know to read the numbers."""
    everything = len(found.conversations)
    all_of_them = words.count(everything, "session")
    first = all_of_them if len(rows) == everything else f"{len(rows):,} of {all_of_them}"
    totals: list[Sequence[Part]] = [(f"{first}, {words.count(found.agents, 'sub-agent')}",)]
    odd = [
        f"{count:,} {word}"
        for count, word in (
            (found.count("damaged"), "damaged"),
            (found.count("empty"), "empty"),
            (found.count("summary"), "with summaries only"),
            (found.count("agent"), "of sub-agents only"),
        )
        if count
    ]
    if odd:
        totals.append((span(", ".join(odd), "yellow"), ": clew check --all"))
    if not found.is_full:
        totals.append(("turns and cost: clew ls --full",))
        return totals
    strangers = sorted({model for row in rows for model in row.unpriced_models})
    if strangers:
        totals.append((f"no price known for {', '.join(strangers[:3])}",))
    if any(row.cost_usd for row in rows):
        totals.append((span(f"prices of {found.price_date}", "dim"),))
    return totals


def _nothing(screen: Screen, found: SessionList) -> None:
    if found.conversations:
        screen.note(f"None of {words.count(len(found.conversations), 'session')} fits.")
        screen.note(span("try: ", "dim"), "clew ls")
        return
    screen.note("No sessions in ", " or ".join(found.looked_in), ".")
    if found.rows:
        screen.note(f"{words.count(len(found.rows), 'file')} without a conversation: clew ls --json")
    screen.note(span("try: ", "dim"), "clew demo DIR, which writes some to look at")


def _hints(screen: Screen, short: str) -> None:
    screen.print()
    for text, meaning in (
        (f"clew show {short}", "read the newest"),
        ("clew usage", "what it all cost"),
        ("clew --help", "everything else"),
    ):
        screen.print("  ", cells.pad(text, 18), span(meaning, "dim"))
