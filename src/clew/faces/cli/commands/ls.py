"""`clew ls`: the sessions there are, newest first. `clew` alone shows the newest of them with a few hints."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

import click

from clew.errors import UsageError
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.row_documents import texts, write_list

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew.actions.listing import SessionList, SessionRow
    from clew.actions.session_filters import Sort
    from clew.faces.cli.terminal import Screen
    from clew.store.files import Listing, Skipped, Store

ON_A_TERMINAL: Final = 30
NEWEST: Final = 10
SMALL: Final = 200_000_000
"""Bytes up to which every file is read for its counts without being asked: a second or two."""

_SORTS: Final = ("changed", "started", "ended", "cost", "tokens", "turns", "size", "title")
_EXAMPLES: Final = """\b
Examples:
  clew ls
  clew ls --project shop --since 3d
  clew ls --json --full | jq '.[].cost_usd'
"""


@click.command("ls", epilog=_EXAMPLES)
@click.option("--full", is_flag=True, help="Read every file for its counts where there is no index.")
@click.option("--project", metavar="P", help="Only sessions of a project: its path, or a part of it.")
@click.option("--since", metavar="T", help="Only sessions written since: 2h, 3d, 1w, 2026-02-03.")
@click.option("--until", metavar="T", help="Only sessions begun before, or on that day.")
@click.option("--title", metavar="TEXT", help="Only sessions with this in their title.")
@click.option("--git-branch", metavar="B", help="Only sessions that were last on this branch.")
@click.option("--model", metavar="M", help="Only sessions that used a model: its name, or a part of it.")
@click.option("--errors", "has_errors", is_flag=True, help="Only sessions with calls that failed.")
@click.option("--tool", metavar="NAME", help="Only sessions that called a tool, or whose sub-agents did.")
@click.option("--sort", type=click.Choice(_SORTS), default="changed", show_default=True, help="The order.")
@click.option("--reverse", "is_reversed", is_flag=True, help="The other way round.")
@click.option("--columns", metavar="A,B", help="The columns of the table: id,title,tokens,cost…")
@click.option("--all", "is_all", is_flag=True, help=f"All of them, not the newest {ON_A_TERMINAL}.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@click.option("--newest", is_flag=True, hidden=True)
@shared
def command(
    common: Shared,
    full: bool,
    project: str | None,
    since: str | None,
    until: str | None,
    title: str | None,
    git_branch: str | None,
    model: str | None,
    has_errors: bool,
    tool: str | None,
    sort: str,
    is_reversed: bool,
    columns: str | None,
    is_all: bool,
    limit: int | None,
    newest: bool,
) -> int:
    """List sessions, newest first.

    Counts and costs come from the index (clew index). Where there is none, every file is read for them if the
    store is small (up to 200 MB) and text is printed, or with --full; else they are missing, in JSON null.
    JSON also lists the files that hold no conversation; their "kind" says so.

    Marks: ● live, ! damaged.
    """
    from clew.actions.stores import open_store

    now = datetime.now(UTC).astimezone()
    named = _columns(columns)
    since_, until_ = moment_of(since, "--since", now=now), moment_of(until, "--until", now=now)
    store = open_store(common.roots)
    listing = store.listing()
    options = (project, since_, until_, title, git_branch, model, has_errors, tool)
    is_plain = sort == "changed" and not is_reversed and all(one is None or one is False for one in options)
    notes: tuple[str, ...] | None = None
    if common.is_data and not common.no_index and is_plain:
        answer = _documents(common, store, listing, now=now, limit=limit)
        if isinstance(answer, int):
            return answer
        notes = answer
    from clew.actions.indexed_listing import list_best
    from clew.actions.session_filters import Wanted, choose

    wanted = Wanted(*options)
    if common.screen.is_terminal and limit is None and not is_all and not common.is_data:
        limit = NEWEST if newest else ON_A_TERMINAL
    with common.screen.progress(None, what="files") as progress:

        def start(files: int) -> Callable[[], None]:
            progress.total = files
            return progress.advance

        found = list_best(
            store,
            now=now.timestamp(),
            listing=listing,
            use_index=not common.no_index and notes is None,
            full=True if full else False if common.is_data else SMALL,
            tool=tool,
            first=limit if is_plain and not common.is_data else None,
            jobs=common.jobs,
            start=start,
        )
    every = found.rows if common.is_data else found.conversations
    rows = choose(found, every, wanted, sort=cast("Sort", sort), is_reversed=is_reversed)
    if common.is_data:
        rows = rows[:limit]
        write_list(common, texts(row.as_dict() for row in rows))
    else:
        show(common.screen, found, rows, now=now, limit=limit, newest=newest, columns=named)
    _tell(common, (*(notes or ()), *found.notes), found.skipped, cut=found.was_cut)
    if not found.is_full and found.rows and not common.no_index and not common.is_data:
        from clew.faces.cli.terminal import span

        common.screen.note(span("counts come with the index: clew index rebuild", "dim"))
    return DAMAGED if found.totals(rows).is_damaged or found.was_cut else 0


def _documents(
    common: Shared, store: Store, listing: Listing, *, now: datetime, limit: int | None
) -> int | tuple[str, ...] | None:
    """Write all sessions as JSON straight from the index; where it cannot tell, return what to say of that.

    None means that it could, but some session has to be looked at.
    """
    from clew.actions.session_documents import session_documents
    from clew.catalog.current import NotCurrentError

    try:
        found = session_documents(store, listing, now=now.timestamp(), limit=limit)
    except NotCurrentError as error:
        return (error.note,) if error.note else ()
    if found is None:
        return None
    write_list(common, found.rows)
    _tell(common, found.notes, found.skipped)
    return DAMAGED if found.is_damaged else 0


def moment_of(text: str | None, option: str, *, now: datetime) -> float | None:
    """Return the moment that an option names, in seconds since 1970."""
    if text is None:
        return None
    from clew.session.periods import moment

    found = moment(text, now=int(now.timestamp() * 1000), zone=None, is_end=option == "--until")
    if found is None:
        raise UsageError(f"{text!r} is no time", hint=f"{option} 2026-02-03, or {option} 2d for two days ago")
    return found / 1000


def _columns(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    from clew.faces.cli.session_table import chosen_columns

    return chosen_columns(text)


def _tell(
    common: Shared, notes: Sequence[str], skipped: Sequence[Skipped], *, cut: Sequence[str] = ()
) -> None:
    """Say on standard error how the list was made, and what was passed over."""
    if not (notes or skipped or cut):
        return
    from clew.faces.cli.notices import tell_skipped
    from clew.faces.cli.terminal import span

    for note in notes:
        common.screen.note(span(f"note: {note}", "dim"))
    tell_skipped(common.screen, skipped, cut=cut, verbose=common.is_verbose)


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
    # Imported here: most of it is only for text.
    from clew.faces.cli.session_table import show as show_table

    show_table(screen, found, rows, now=now, limit=limit, newest=newest, columns=columns)
