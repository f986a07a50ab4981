"""`clew usage`: tokens and money."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast, get_args

import click

from clew.actions.usage import Request, Result, usage
from clew.faces.cli import cells, words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.row_documents import write_document
from clew.faces.cli.table import TWO_LINES_BELOW, Column, lines
from clew.faces.cli.terminal import Part, span
from clew.format.times import milliseconds
from clew.session.accounts import By
from clew.session.periods import BLOCK_MS, HOUR_MS, local_time
from clew.session.pricing import DATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.accounts import Group, Sum

_HEADINGS: Final = {"block": "BLOCK", "git-branch": "BRANCH"}
_BAR: Final = 20
_SHORT_BAR: Final = 8


@click.command(
    epilog="Examples: clew usage --by model --since 1w; clew usage --by session --since 2026-02-01",
    short_help="tokens and money",
)
@click.option(
    "--by", type=click.Choice(get_args(By)), default="day", show_default=True, help="What a row stands for."
)
@click.option(
    "--since", metavar="WHEN", help="From this day or moment on: 2026-02-03, or 2d for two days ago."
)
@click.option("--until", metavar="WHEN", help="To the end of this day, or before this moment.")
@click.option("--tz", metavar="ZONE", help="The zone whose days are meant: Europe/Berlin; yours without it.")
@click.option("--wide", is_flag=True, help="More columns: messages, and the two kinds of cache writes apart.")
@shared
def command(
    common: Shared, by: str, since: str | None, until: str | None, tz: str | None, wide: bool
) -> int | None:
    """Show tokens and money by day, model, project and more.

    Every message counts once, also where a session was forked or resumed into another file. Costs are what
    the API would have charged; a subscription is not billed by them.
    """
    roots = tuple(str(root) for root in common.roots)
    request = Request(cast("By", by), roots, since, until, tz, common.jobs, not common.no_index)
    with common.screen.progress(None, what="files") as progress:
        result = usage(request, progress=progress.advance)
    if common.is_data:
        write_document(common, result.as_json(), "rows")
    elif not result.account.groups:
        common.screen.note(_empty(result, is_bounded=bool(since or until)))
    else:
        _Look(common, result, wide=wide).show()
    _tell(common, result)
    return DAMAGED if result.is_flawed else 0


def _empty(result: Result, *, is_bounded: bool) -> str:
    where = ", ".join(result.looked_in)
    if not result.files:
        return f"No sessions in {where}"
    return (
        f"No usage {'in that time ' if is_bounded else ''}in {words.count(result.files, 'file')} of {where}"
    )


def _tell(common: Shared, result: Result) -> None:
    """Say on standard error what the figures leave out."""
    note = common.screen.note
    for text in result.notes:
        note(span(f"note: {text}", "dim"))
    if result.account.unpriced_models:
        some = words.count(result.account.total.unpriced, "message")
        models = ", ".join(result.account.unpriced_models)
        note(span("!", "yellow"), f" no price is known for {some} of {models}; the cost leaves them out")
    if result.damaged:
        # No number: only lines that may tell of usage were looked at, and `clew check` counts all of them.
        note(span("!", "yellow"), " damaged lines were passed over: clew check --all")
    if result.unread:
        note(span("!", "yellow"), f" {words.count(len(result.unread), 'file')} could not be read")
    if common.is_verbose:
        for one in (*result.unread, *result.skipped):
            note(span(f"  {one.path}: {one.reason}", "dim"))


class _Look:
    """The table."""

    def __init__(self, common: Shared, result: Result, *, wide: bool) -> None:
        self._screen = common.screen
        self._result = result
        self._wide = wide
        self._by = result.account.by
        self._zone = result.zone
        self._ids = (
            cells.short_ids(group.key for group in result.account.groups) if self._by == "session" else {}
        )

    def show(self) -> None:
        """Write the table, and what the running block comes to."""
        account, screen = self._result.account, self._screen
        most = max((group.sum.cost_usd or 0 for group in account.groups), default=0)
        rows = [self._row(group, most) for group in account.groups]
        rows.append(self._total(account.total))
        is_narrow = screen.width is not None and screen.width < TWO_LINES_BELOW
        columns = _columns(account.by, wide=self._wide, is_narrow=is_narrow)
        if is_narrow:
            # Two lines a record, the second cut at its end: the cost comes first there.
            at = next(at for at, column in enumerate(columns) if column.heading == "COST")
            for row in (columns, *rows):
                row.insert(1, row.pop(at))  # pyright: ignore[reportArgumentType]  # each goes back where it came from
        laid_out = lines(columns, rows, width=screen.width, ascii_only=screen.is_ascii)
        if not any(_prices() in _text(part) for part in laid_out[-1]):
            # The bars, and with them the place for this, are the first to go where there is little room.
            laid_out.append([span(_prices(), "dim")])
        screen.lines(laid_out)
        running = account.running_block(now=self._result.now)
        if running is not None and screen.is_terminal:
            screen.print(*self._running(running, screen.width or 0))

    def _row(self, group: Group, most: float) -> list[Part]:
        cost = group.sum.cost_usd
        bar = ""
        if self._screen.width is not None and most > 0 and cost:
            bar = cells.bar(cost / most, _BAR if self._screen.width >= 100 else _SHORT_BAR)
        return [*self._names(group), *self._figures(group.sum), *self._client(group), span(bar, "dim")]

    def _total(self, total: Sum) -> list[Part]:
        names: list[Part] = [span("total", "bold"), *([""] if self._by == "session" else [])]
        figures = [span(str(figure), "bold") if figure else "" for figure in self._texts(total)]
        client: list[Part] = [""] if self._by == "session" else []
        return [*names, *figures, *client, span(_prices(), "dim")]

    def _names(self, group: Group) -> list[Part]:
        match self._by:
            case "session":
                project = self._result.projects.get(group.key, "")
                return [span(self._ids[group.key], "cyan"), _last_part(project)]
            case "block":
                return [self._block(group.key)]
            case "project":
                return [span(group.key, "cyan")]
            case _:
                return [group.key]

    def _figures(self, total: Sum) -> Sequence[Part]:
        *counts, cost = self._texts(total)
        return [*counts, span(cost, "yellow") if total.unpriced else cost]

    def _texts(self, total: Sum) -> list[str]:
        tokens = total.tokens
        written = (
            [words.tokens(tokens.cache_write_5m), words.tokens(tokens.cache_write_1h)]
            if self._wide
            else [words.tokens(tokens.cache_write_5m + tokens.cache_write_1h)]
        )
        return [
            *([words.number(total.messages)] if self._wide else []),
            words.tokens(tokens.input),
            words.tokens(tokens.output),
            *written,
            words.tokens(tokens.cache_read),
            _money(total),
        ]

    def _client(self, group: Group) -> list[Part]:
        if self._by != "session":
            return []
        client = self._result.clients.get(group.key)
        return [words.money(client.cost_usd) if client else ""]

    def _block(self, key: str) -> str:
        start = milliseconds(key)
        if start is None:
            return key
        begins, ends = local_time(start, self._zone), local_time(start + BLOCK_MS, self._zone)
        return f"{begins:%Y-%m-%d %H:%M}–{ends:%H:%M}"

    def _running(self, group: Group, width: int) -> list[Part]:
        """Say how far the running block has come; what does not fit on one line is left out."""
        start = milliseconds(group.key) or 0
        gone, cost = max(1, self._result.now - start), group.sum.cost_usd
        share = min(1.0, gone / BLOCK_MS)
        facts = [f"{words.duration(gone)} gone", f"{words.duration(BLOCK_MS - gone)} left"]
        if cost is not None:
            ends = local_time(start + BLOCK_MS, self._zone)
            facts += [words.money(cost), f"≈ {words.money(cost / share)} by {ends:%H:%M}"]
            facts.append(f"{words.money(cost * HOUR_MS / gone)} an hour")
        bar = cells.pad(cells.bar(share, _SHORT_BAR), _SHORT_BAR)
        text = f" {facts[0]}"
        for fact in facts[1:]:
            # Letters that stand in for glyphs may take more room.
            if 8 + _SHORT_BAR + cells.width(text) + 4 + cells.width(fact) <= width:
                text += f" · {fact}"
        head = cells.cut_end(text, max(1, width - 8 - _SHORT_BAR))
        return [span("running ", "bold"), span(bar, "green"), head]


def _columns(by: By, *, wide: bool, is_narrow: bool) -> list[Column]:
    """The columns. Where they do not fit, the one with the greatest need goes first."""
    # A day is never cut; in the two-line shape the flexible column is the first line.
    is_flexible = is_narrow or by not in {"day", "week", "month", "block"}
    cut = "middle" if by == "project" else "end"
    found = [Column(_HEADINGS.get(by, by.upper()), flexible=is_flexible, cut=cut)]
    if by == "session":
        found.append(Column("PROJECT", needs=50, most=24))
    if wide:
        found.append(Column("MESSAGES", "right", needs=5, words="{} messages"))
    found += [
        Column("INPUT", "right", needs=3, words="{} in"),
        Column("OUTPUT", "right", words="{} out"),
    ]
    if wide:
        found += [
            Column("WRITE 5M", "right", needs=4, words="{} written for 5 m"),
            Column("WRITE 1H", "right", needs=4, words="{} written for 1 h"),
        ]
    else:
        found.append(Column("CACHE WRITE", "right", needs=2, words="{} written"))
    found += [Column("CACHE READ", "right", needs=1, words="{} read"), Column("COST", "right")]
    if by == "session":
        found.append(Column("CLIENT", "right", needs=55, hide_if_empty=True, words="client {}"))
    # Not in the two-line shape, where nothing would stand beside it.
    found.append(Column("", needs=TWO_LINES_BELOW, hide_if_empty=True))
    return found


def _money(total: Sum) -> str:
    """The cost; a plus says that it is more, by what messages without a price cost."""
    text = words.money(total.cost_usd)
    return f"{text}+" if total.unpriced and total.cost_usd is not None else text


def _text(part: Part) -> str:
    return part if isinstance(part, str) else part.text


def _prices() -> str:
    return f"prices of {DATE}"


def _last_part(path: str) -> str:
    return path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path
