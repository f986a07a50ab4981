"""The list of sessions as a table, with a footer of totals."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from clew.errors import UsageError
from clew.faces.cli import cells, table, words
from clew.faces.cli.flows import flow
from clew.faces.cli.naming import models, projects
from clew.faces.cli.terminal import Part, Screen, span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.actions.listing import SessionList, SessionRow, Totals

_MARK: Final = "mark"
_COLUMNS: Final[Mapping[str, table.Column]] = {
    _MARK: table.Column("", hide_if_empty=True),
    "age": table.Column("AGE", align="right", style=("dim",)),
    "project": table.Column("PROJECT", needs=80, most=18, cut="middle"),
    "title": table.Column("TITLE", flexible=True),
    "branch": table.Column("BRANCH", needs=140, most=20, hide_if_empty=True, style=("dim",)),
    "model": table.Column("MODEL", needs=120, most=18, hide_if_empty=True, style=("dim",)),
    "turns": table.Column("TURNS", align="right", needs=80, hide_if_empty=True, words="{} turns"),
    "calls": table.Column("CALLS", align="right", needs=100, hide_if_empty=True, words="{} calls"),
    "failed": table.Column("FAIL", align="right", hide_if_empty=True, words="{} failed", style=("red",)),
    "size": table.Column("SIZE", align="right", needs=80, hide_if_empty=True),
    "cost": table.Column("COST", align="right", hide_if_empty=True),
    "id": table.Column("ID", style=("cyan",)),
    "started": table.Column("STARTED"),
    "ended": table.Column("ENDED"),
    "messages": table.Column("MESSAGES", align="right", words="{} messages"),
    "tokens": table.Column("TOKENS", align="right", words="{} tokens"),
    "agents": table.Column("AGENTS", align="right", words="{} agents"),
    "lines": table.Column("LINES", align="right", words="{} lines"),
    "kind": table.Column("KIND"),
    "slug": table.Column("SLUG"),
    "version": table.Column("VERSION"),
    "path": table.Column("PATH", cut="middle", style=("cyan",)),
}
COLUMNS: Final = tuple(name for name in _COLUMNS if name != _MARK)
"""What `--columns` knows."""

_USUAL: Final = tuple(_COLUMNS)[:12]


def chosen_columns(text: str) -> tuple[str, ...]:
    """Return the columns that a person names, parted by commas."""
    names = tuple(dict.fromkeys(name for one in text.split(",") if (name := one.strip().lower())))
    strange = [name for name in names if name not in COLUMNS]
    if strange or not names:
        what = f"there is no column {strange[0]!r}" if strange else "no column is named"
        raise UsageError(what, hint=f"--columns {','.join(COLUMNS)}")
    return names


def show(
    screen: Screen,
    found: SessionList,
    rows: Sequence[SessionRow],
    *,
    now: datetime,
    limit: int | None = None,
    newest: bool = False,
    columns: Sequence[str] = (),
) -> None:
    """Show the list as a table, with a footer of totals where a person looks at it."""
    if not rows:
        _nothing(screen, found)
        return
    shown = rows[:limit]
    totals = found.totals(rows)
    ids = cells.short_ids(totals.tally.ids, of=[row.id for row in shown])
    view = _View(found.is_full, projects(totals.tally.projects), ids, now=now)
    chosen = (_MARK, *columns) if columns else _USUAL
    laid_out = [view.cells(row, chosen) for row in shown]
    shape = _shape(columns) if columns else [_COLUMNS[name] for name in chosen]
    screen.lines(table.lines(shape, laid_out, width=screen.width, ascii_only=screen.is_ascii))
    if not screen.is_terminal:
        return
    if len(shown) < totals.rows:
        more = "clew ls" if newest else "clew ls --all"
        screen.print(span(f"{totals.rows - len(shown):,} more: {more}", "dim"))
    screen.lines(flow(_totals(found, totals), width=screen.width))
    if newest:
        _hints(screen, ids[shown[0].id])


def _shape(names: Sequence[str]) -> list[table.Column]:
    """The columns somebody asked for; of those that do not fit the last goes first."""
    # One column takes the spare room, else a long one would push the others out.
    flexible = next((name for name in ("title", "path", "project", "slug") if name in names), names[0])
    asked = [
        _COLUMNS[name]._replace(
            needs=0 if name == flexible else 1 + at,
            flexible=name == flexible,
            hide_if_empty=False,
        )
        for at, name in enumerate(names)
    ]
    return [_COLUMNS[_MARK], *asked]


class _View:
    """What stands in each cell."""

    def __init__(
        self, is_full: bool, projects: Mapping[str, str], ids: Mapping[str, str], *, now: datetime
    ) -> None:
        self._is_full = is_full
        self._ids = ids
        self._projects = projects
        self._now = now

    def cells(self, row: SessionRow, names: Sequence[str]) -> list[Part]:
        """Return the cells of a row."""
        is_alone = _USUAL is not names
        return [self._cell(row, name, is_asked=is_alone) for name in names]

    def _cell(self, row: SessionRow, name: str, *, is_asked: bool) -> Part:
        match name:
            case "mark":
                mark = ("●" if row.live else "") + ("!" if row.damaged else "")
                return span(mark, "yellow" if row.damaged else "green")
            case "age":
                return words.age(datetime.fromtimestamp(row.changed, UTC), now=self._now)
            case "project":
                return self._projects[row.project]
            case "title":
                return row.title or span("(no prompt)", "dim")
            case "model":
                return models(row.models)
            case "failed":
                return str(row.failed_calls or "")
            case "size":
                # The counts take its place where there are any.
                return words.size(row.bytes) if is_asked or not self._is_full else ""
            case "cost":
                return _cost(row)
            case "id":
                return self._ids[row.id]
            case "tokens":
                return "" if row.tokens is None else words.tokens(row.tokens.total)
            case "version":
                return next(reversed(row.client_versions), "")
            case _:
                return _plain(row, name)


def _plain(row: SessionRow, name: str) -> str:
    match name:
        case "branch":
            return row.git_branch or ""
        case "started" | "ended":
            time = row.started if name == "started" else row.ended
            return "" if time is None else f"{time[:10]} {time[11:16]}"
        case "kind":
            return row.kind
        case "slug":
            return row.slug or ""
        case "path":
            return row.path
        case _:
            counts = {
                "turns": row.turns,
                "calls": row.tool_calls,
                "messages": row.messages,
                "lines": row.lines,
                "agents": row.agents,
            }
            count = counts.get(name)
            return "" if count is None else words.number(count)


def _cost(row: SessionRow) -> str:
    """What it cost; with a plus where some of it has no known price, and nothing where nothing was used."""
    if row.tokens is None or not row.tokens.total:
        return ""
    return words.money(row.cost_usd) + ("+" if row.unpriced_messages and row.cost_usd is not None else "")


def _totals(found: SessionList, of: Totals) -> list[Sequence[Part]]:
    """The totals, and what a person must know to read the numbers."""
    tally = of.tally
    all_of_them = words.count(tally.conversations, "session")
    first = all_of_them if of.rows == tally.conversations else f"{of.rows:,} of {all_of_them}"
    totals: list[Sequence[Part]] = [(f"{first}, {words.count(found.agents, 'sub-agent')}",)]
    odd = [
        f"{count:,} {word}"
        for count, word in (
            (tally.damaged + found.agents_damaged, "damaged"),
            (tally.kinds.get("empty", 0), "empty"),
            (tally.kinds.get("summary", 0), "with summaries only"),
            (tally.kinds.get("agent", 0), "of sub-agents only"),
        )
        if count
    ]
    if odd:
        totals.append((span(", ".join(odd), "yellow"), ": clew check --all"))
    if not found.is_full:
        totals.append(("turns and cost: clew ls --full",))
        return totals
    if of.unpriced_models:
        totals.append((f"no price known for {', '.join(of.unpriced_models[:3])}",))
    if of.has_cost:
        totals.append((span(f"prices of {found.price_date}", "dim"),))
    return totals


def _nothing(screen: Screen, found: SessionList) -> None:
    conversations = found.tally.conversations
    if conversations:
        screen.note(f"None of {words.count(conversations, 'session')} fits.")
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
