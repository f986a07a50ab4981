"""`clew stats`: what a session is made of, or all of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import cells, table, words
from clew.faces.cli.flows import beside, flow
from clew.faces.cli.notices import counting, tell_skipped
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import Part, Screen, one_line, span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.actions.stats import Stats
    from clew.session.inventory import Counts

ON_A_TERMINAL: Final = 30
_MOST_NAMES: Final = 12
_COLUMNS: Final = (
    table.Column("SESSION", style=("cyan",)),
    table.Column("SIZE", align="right"),
    table.Column("LINES", align="right", words="{} lines"),
    table.Column("TURNS", align="right", words="{} turns"),
    table.Column("MESSAGES", align="right", needs=80, words="{} messages"),
    table.Column("CALLS", align="right", words="{} calls"),
    table.Column("UNPAIRED", align="right", hide_if_empty=True, words="{} unpaired", style=("yellow",)),
    table.Column("DAMAGED", align="right", hide_if_empty=True, words="{} damaged", style=("yellow",)),
    table.Column("VERSIONS", flexible=True, needs=100, style=("dim",)),
)
_EXAMPLES: Final = """\b
Examples:
  clew stats @1
  clew stats @1 --agents --json
  clew stats
"""


@click.command("stats", epilog=_EXAMPLES)
@click.argument("name", metavar="[SESSION]", required=False)
@click.option("--agents", is_flag=True, help="Count sub-agents with their session.")
@shared
def command(common: Shared, name: str | None, agents: bool) -> int:
    """Count what a session is made of; without SESSION every session, and the total.

    Stop reasons and blocks are counted by line, as they are written; messages are whole ones.
    """
    from clew.actions.stats import stats
    from clew.actions.stores import open_store

    store = open_store(common.roots)
    now = datetime.now(UTC).timestamp()
    with counting(common.screen) as start:
        found = stats(store, name, agents=agents, now=now, jobs=common.jobs, start=start)
    if common.is_data:
        if name is not None:
            common.emit(found.sessions[0].as_dict())
        else:
            common.emit(found.as_dict(), rows=[session.as_dict() for session in found.sessions])
    else:
        show(common.screen, found, named=name is not None, agents=agents)
    tell_skipped(common.screen, found.skipped, cut=found.was_cut, verbose=common.is_verbose)
    return DAMAGED if found.is_damaged else 0


def show(screen: Screen, found: Stats, *, named: bool, agents: bool) -> None:
    """Show the inventory as small tables; for several sessions a line for each comes first."""
    if not found.sessions:
        screen.note("No sessions in ", " or ".join(found.looked_in), ".")
        screen.note(span("try: ", "dim"), "clew demo DIR, which writes some to look at")
        return
    if not named:
        _sessions(screen, found)
        screen.print()
    _inventory(screen, found, named=named, agents=agents)


def _sessions(screen: Screen, found: Stats) -> None:
    limit = ON_A_TERMINAL if screen.is_terminal else None
    ids = cells.short_ids(session.id for session in found.sessions)
    rows = [_line(ids[session.id], session.counts) for session in found.sessions[:limit]]
    rows.append([span(str(part), "bold") for part in _line("total", found.total, as_text=True)])
    screen.lines(table.lines(_COLUMNS, rows, width=screen.width, ascii_only=screen.is_ascii))
    if limit is not None and len(found.sessions) > limit:
        screen.print(span(f"{len(found.sessions) - limit:,} more: clew stats --json", "dim"))


def _line(name: str, counts: Counts, *, as_text: bool = False) -> list[Part]:
    unpaired = counts.unpaired_calls + counts.unpaired_results
    return [
        name,
        words.size(counts.bytes),
        words.number(counts.lines),
        words.number(counts.human_turns),
        words.number(counts.messages),
        words.number(counts.tool_calls),
        str(unpaired or ""),
        str(counts.damaged or ""),
        "" if as_text else ", ".join(counts.versions),
    ]


def _inventory(screen: Screen, found: Stats, *, named: bool, agents: bool) -> None:
    counts = found.total
    head: list[Sequence[Part]] = []
    if named:
        head.append((span(found.sessions[0].id, "cyan"),))
    else:
        others = len(found.sessions) - found.conversations
        head.append((words.count(found.conversations, "session"),))
        if others:
            head.append((f"{words.count(others, 'file')} without a conversation",))
    if agents or not named:
        head.append((f"{words.count(found.files, 'file')} in all",))
    head += [(words.size(counts.bytes),), (words.count(counts.lines, "line"),)]
    if counts.damaged:
        check = found.sessions[0].id[:8] if named else "--all"
        head.append((span(f"{counts.damaged:,} damaged", "yellow"), f": clew check {check}"))
    screen.lines(flow(head, width=screen.width))
    screen.print()
    talk = {
        "human turns": counts.human_turns,
        "messages": counts.messages,
        "tool calls": counts.tool_calls,
        "tool results": counts.tool_results,
        "calls without result": counts.unpaired_calls,
        "results without call": counts.unpaired_results,
    }
    sections = {
        "CONVERSATION": talk,
        "ENTRY TYPES": counts.entry_types,
        "BLOCKS": counts.blocks,
        "STOP REASONS, BY LINE": counts.stop_reasons,
        "STOP REASONS, BY MESSAGE": counts.message_stop_reasons,
        "MODELS": counts.models,
        "VERSIONS": counts.versions,
    }
    if named:
        sections["SESSION IDS"] = counts.session_ids
    blocks = [
        _section(
            name, rows, most=None if screen.width is None else _MOST_NAMES, ranked=name != "CONVERSATION"
        )
        for name, rows in sections.items()
        if rows
    ]
    screen.lines(beside(blocks, width=screen.width))


def _section(heading: str, rows: Mapping[str, int], *, most: int | None, ranked: bool) -> list[list[Part]]:
    ordered = sorted(rows.items(), key=lambda row: (-row[1], row[0])) if ranked else list(rows.items())
    shown = [(cells.cut_end(one_line(name), 44), words.number(count)) for name, count in ordered[:most]]
    wide = max([cells.width(heading) - 2, *(cells.width(name) for name, _ in shown)])
    figures = max(len(count) for _, count in shown)
    lines: list[list[Part]] = [[span(heading, "bold")]]
    for name, count in shown:
        lines.append([cells.pad(name, max(wide, 1)), "  ", cells.pad(count, figures, right=True)])
    if len(ordered) > len(shown):
        lines.append([span(f"{len(ordered) - len(shown):,} more", "dim")])
    return lines
