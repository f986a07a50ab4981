"""`clew watch [S]`: sessions as they are written."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli.main import INTERRUPTED
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from clew.actions.watching import Changed, Gone, Watch
    from clew.store.files import Store

_EXAMPLES: Final = """\b
Examples:
  clew watch
  clew watch @1 --lines 30
  clew watch 9f3c --jsonl --exit-when-idle 60 | jq -r '.parts[].text? // empty'
"""


@click.command("watch", epilog=_EXAMPLES)
@click.argument("session", metavar="[S]", required=False)
@click.option(
    "--lines",
    type=click.IntRange(0, 10_000),
    metavar="N",
    help="Show the last N messages first; a few without.",
)
@click.option("--from-start", is_flag=True, help="Show all there is first.")
@click.option(
    "--exit-when-idle",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="End when nothing has come for so long.",
)
@click.option("--thinking", is_flag=True, help="Show what the model thinks.")
@click.option("--full", is_flag=True, help="Fold nothing: inputs and results of all calls.")
@shared
def command(
    common: Shared,
    session: str | None,
    lines: int | None,
    from_start: bool,
    exit_when_idle: float | None,
    thinking: bool,
    full: bool,
) -> int:
    """Follow a session while it is written; without S, every session that is live or comes to life.

    Each record is shown once, also when the file is cut, rewritten or replaced meanwhile. A line is shown
    when it is finished. Sub-agents are shown with their session, with a margin. Ctrl-C ends the watch.

    Marks: ✓ done, ✗ failed, └ sub-agent, ! damaged, ~ the file itself changed.
    """
    from clew.actions.opening import find_file
    from clew.actions.stores import open_store
    from clew.actions.watching import Watch, Wish
    from clew.errors import UsageError

    if common.is_json:
        raise UsageError("a watch has no end, so it is no one JSON document", hint="clew watch --jsonl")
    store = open_store(common.roots)
    file = None if session is None else find_file(store, session)
    wish = Wish(file, lines, from_start, common.is_jsonl, exit_when_idle)
    watch = Watch(store, wish)
    try:
        is_damaged = (
            _as_data(common, watch) if common.is_jsonl else _as_text(common, watch, store, thinking, full)
        )
    except KeyboardInterrupt:
        if common.screen.is_terminal:  # what follows begins on a line of its own, not behind the ^C
            raise
        common.screen.flush()
        return INTERRUPTED
    for stream, length in watch.unfinished():
        common.screen.note(
            span("note: ", "yellow"),
            f"the last line of {stream.path} is being written: {length:,} bytes so far",
        )
    return DAMAGED if is_damaged else 0


def _as_text(common: Shared, watch: Watch, store: Store, thinking: bool, full: bool) -> bool:
    from clew.actions.watching import Changed, Gone, Pause, Said
    from clew.faces.cli.live import View
    from clew.faces.cli.reader import Choice

    view = View(common.screen, Choice(thinking, full), clock=time.monotonic)
    is_told = False
    for news in watch.news():
        match news:
            case Said():
                view.said(news)
            case Changed():
                view.changed(news)
            case Gone():
                view.gone(news)
            case Pause():
                view.pause()
                if not is_told and not watch.watched:
                    where = " or ".join(store.roots.looked_in)
                    common.screen.note(f"No session is being written in {where}; waiting for one.")
                is_told = True
    view.pause(everything=True)
    return view.is_damaged


def _as_data(common: Shared, watch: Watch) -> bool:
    from clew.actions.watch_documents import document
    from clew.actions.watching import Pause, Said
    from clew.faces.cli.documents import whole
    from clew.format.records import Fragment

    is_damaged = False
    for news in watch.news():
        match news:
            case Said():
                is_damaged |= isinstance(news.item, Fragment)
                common.screen.json(whole(document(news)))
                common.screen.flush()
            case Pause():
                pass
            case _:
                _tell(common, news)
    return is_damaged


def _tell(common: Shared, news: Changed | Gone) -> None:
    from clew.actions.watching import Changed

    path = news.stream.path
    if isinstance(news, Changed):
        common.screen.note(
            span("note: ", "yellow"), f"{path} was {news.what}; going on from line {news.number:,}"
        )
    else:
        common.screen.note(span("note: ", "yellow"), f"{path}: {news.reason}")
