"""`clew index status|rebuild`: the index itself."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import Screen, span

if TYPE_CHECKING:
    from clew.actions.indexing import IndexState, Pending, Rebuilt
    from clew.faces.cli.terminal import Part

_LABEL: Final = 9
_EXAMPLES: Final = """\b
Examples:
  clew index status
  clew index rebuild --jobs 2
  clew index status --json | jq .pending.files
"""


@click.command("index", epilog=_EXAMPLES)
@click.argument(
    "what", type=click.Choice(["status", "rebuild"]), default="status", metavar="[status|rebuild]"
)
@shared
def command(common: Shared, what: str) -> int:
    """Show what the index holds and how far behind it is, or build it anew.

    The index is what makes search and sql quick. It lies in your cache folder and holds nothing that is not
    in the sessions: commands bring it up to date themselves, and you can delete it at any time. A rebuild
    that is interrupted loses nothing; the next command goes on from there.

    JSON: {"folder", "exists", "files", "sessions", "agents", "outputs", "entries", "messages",
    "source_bytes", "index_bytes", "words_bytes", "pending": {"files", "gone", "bytes", "tools_bytes"},
    "updated", "busy", "looked_in": []}; rebuild adds "rebuilt", "files_read", "seconds", "skipped": [],
    "notes": [].
    """
    from clew.actions.indexing import index_state, rebuild_index
    from clew.actions.stores import open_store
    from clew.errors import UsageError
    from clew.faces.cli.building import building
    from clew.faces.cli.notices import tell_skipped

    if common.no_index:
        raise UsageError("clew index is about the index, so --no-index makes no sense here")
    store = open_store(common.roots)
    if what == "status":
        state = index_state(store)
        if common.is_data:
            common.emit(state.as_dict())
        else:
            show(common.screen, state, now=time.time())
        return 0
    with building(common.screen) as tell:
        done = rebuild_index(store, jobs=common.jobs, tell=tell)
    for note in done.notes:
        common.screen.note(span("note: ", "yellow"), note)
    if common.is_data:
        common.emit(done.as_dict())
    elif done.is_done:
        show_rebuilt(common.screen, done)
    tell_skipped(common.screen, done.skipped, verbose=common.is_verbose)
    if not done.is_done:
        return 1
    return DAMAGED if done.skipped else 0


def show(screen: Screen, state: IndexState, *, now: float) -> None:
    """Show what there is, one fact a line."""
    held = state.held
    _line(screen, "folder", state.folder if held is not None else f"{state.folder} (not made yet)")
    if held is not None:
        facts = [words.count(held.sessions, "session"), words.count(held.agents, "sub-agent")]
        if held.outputs:
            facts.append(words.count(held.outputs, "output") + " of tools")
        _line(screen, "files", f"{held.files:,}: {', '.join(facts)}")
        _line(
            screen,
            "holds",
            f"{words.count(held.entries, 'entry', 'entries')}, {words.count(held.messages, 'message')}",
        )
        _line(screen, "source", words.size(held.source_bytes))
        share = words.percent(held.bytes, held.source_bytes)
        _line(
            screen,
            "size",
            f"{words.size(held.bytes)}, {share} of the source; {words.size(held.words_bytes)} for search",
        )
        if state.updated_ms is not None:
            then = datetime.fromtimestamp(state.updated_ms / 1000, UTC)
            age = words.age(then, now=datetime.fromtimestamp(now, UTC))
            _line(screen, "updated", words.iso(then) + (", just now" if age == "now" else f", {age} ago"))
    _line(screen, "pending", _pending(state.pending))
    if state.is_busy:
        screen.note(span("note: ", "yellow"), "another clew is indexing now")
    if not state.pending.files and (held is None or not held.files):
        screen.note("No sessions in ", " or ".join(state.looked_in), ".")


def show_rebuilt(screen: Screen, done: Rebuilt) -> None:
    """Say what a rebuild did."""
    held = done.state.held
    if held is None:
        screen.note("No sessions in ", " or ".join(done.state.looked_in), ".")
        return
    read = f"{words.count(done.files_read, 'file')} of {words.size(held.source_bytes)}"
    share = words.percent(held.bytes, held.source_bytes)
    screen.print(
        f"Built the index of {read} in {words.duration(done.seconds * 1000)}: ",
        span(words.size(held.bytes), "bold"),
        f", {share} of the source.",
    )


def _pending(pending: Pending) -> str:
    facts: list[str] = []
    if pending.files:
        facts.append(f"{words.count(pending.files, 'file')} to read ({words.size(pending.bytes)})")
    if pending.gone:
        facts.append(f"{words.count(pending.gone, 'file')} gone")
    if pending.tools_bytes:
        facts.append(f"{words.size(pending.tools_bytes)} to read for what tools said")
    return ", ".join(facts) or "nothing"


def _line(screen: Screen, label: str, value: Part) -> None:
    screen.print(span(f"{label:<{_LABEL}}", "bold"), value)
