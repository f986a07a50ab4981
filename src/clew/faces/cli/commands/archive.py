"""`clew archive add|ls|get|verify|mend`: sessions put aside, where no clean-up finds them."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from clew.errors import UsageError
from clew.faces.cli import table, words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import one_line, span

if TYPE_CHECKING:
    from clew.actions.archiving import ArchiveListing, Put
    from clew.faces.cli.terminal import Screen
    from clew.store.archive import Verified
    from clew.store.archive_restore import Restored

_EXAMPLES: Final = """\b
Examples:
  clew archive add @1 @2
  clew archive add --all
  clew archive ls
  clew archive get 5e52
"""
_STATES: Final = {"same": "in place", "changed": "has changed", "gone": "gone"}
_COLUMNS: Final = (
    table.Column("ARCHIVED", align="right"),
    table.Column("PROJECT", needs=80),
    table.Column("TITLE", flexible=True),
    table.Column("SIZE", align="right"),
    table.Column("COPIES", align="right", needs=80, words="{} copies"),
    table.Column("SESSION NOW"),
    table.Column("ID", style=("cyan",)),
)


@click.command("archive", epilog=_EXAMPLES)
@click.argument(
    "what", type=click.Choice(["add", "ls", "get", "verify", "mend"]), metavar="add|ls|get|verify|mend"
)
@click.argument("sessions", metavar="[S…]", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="Every session; with get, every one that is gone.")
@click.option("--at", metavar="SNAPSHOT", help="With get: an older copy.")
@click.option("--to", metavar="DIR", help="With get: another config folder to put it into.")
@click.option(
    "--archive", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Where the archive is."
)
@shared
def command(
    common: Shared,
    what: str,
    sessions: tuple[str, ...],
    is_all: bool,
    at: str | None,
    to: str | None,
    folder: Path | None,
) -> int:
    """Keep whole copies of sessions outside the client's folder, and put them back.

    The client deletes sessions after 30 days. An archive keeps them, byte for byte, with everything that
    belongs to them; what stands in several sessions is kept once. Adding again writes only what is new.
    verify reads every copy and says what is damaged; mend sets damaged packs aside, so that the next add puts
    in again what they held of sessions that are still there.
    """
    match what:
        case "add":
            return _add(common, sessions, is_all, folder)
        case "get":
            return _get(common, sessions, is_all, at, to, folder)
        case "verify":
            return _verify(common, folder)
        case "mend":
            return _mend(common, folder)
        case _:
            return _list(common, folder)


def _add(common: Shared, sessions: tuple[str, ...], is_all: bool, folder: Path | None) -> int:
    from clew.actions.archiving import add_sessions
    from clew.actions.stores import open_store
    from clew.faces.cli.notices import tell_skipped

    if not sessions and not is_all:
        raise UsageError("which sessions?", hint="clew archive add @1, or clew archive add --all")
    store = open_store(common.roots)
    many = len(store.listing().sessions) if is_all else len(sessions)
    with common.screen.progress(many, "Archiving", "sessions") as progress:
        found = add_sessions(
            store,
            sessions,
            now_ms=int(time.time() * 1000),
            everything=is_all,
            archive=folder,
            advance=progress.advance,
        )
    if common.is_data:
        common.emit(found.as_dict())
    else:
        _show_added(common.screen, found)
    tell_skipped(common.screen, found.skipped, verbose=common.is_verbose)
    return 0


def _show_added(screen: Screen, found: Put) -> None:
    new = len(found.new)
    screen.print(
        span(f"{words.count(new, 'session')} archived", "bold"),
        f", {len(found.added) - new:,} were there already. {words.size(found.bytes_written)} written.",
    )
    screen.print("  ", span(found.archive, "cyan"))
    if not found.is_lasting:
        screen.note("Done, but the disk has not confirmed it: durability not confirmed.")


def _list(common: Shared, folder: Path | None) -> int:
    from clew.actions.archiving import list_archive
    from clew.actions.stores import open_store

    found = list_archive(open_store(common.roots), archive=folder)
    if common.is_data:
        common.emit(found.as_dict())
    else:
        _show_list(common.screen, found)
    return DAMAGED if found.damage else 0


def _show_list(screen: Screen, found: ArchiveListing) -> None:
    if not found.sessions:
        screen.note("Nothing is archived in ", found.archive, " yet: clew archive add --all")
        return
    now = datetime.now(UTC)
    rows = [
        [
            words.age(datetime.fromtimestamp(one.last.manifest.archived_ms / 1000, UTC), now=now),
            Path(one.last.manifest.cwd or one.last.manifest.folder).name,
            one_line(one.last.manifest.title or "–"),
            words.size(one.last.manifest.size),
            words.number(len(one.snapshots)),
            _STATES[one.in_store],
            one.last.manifest.session[:8],
        ]
        for one in found.sessions
    ]
    screen.lines(table.lines(_COLUMNS, rows, width=screen.width, ascii_only=screen.is_ascii))
    total = sum(one.last.manifest.size for one in found.sessions)
    if screen.is_terminal:
        kept = f"{words.size(found.stored_bytes)} for {words.size(total)} of sessions"
        screen.print(span(f"{words.count(len(rows), 'session')} · {kept} · {found.archive}", "dim"))
    for one in found.damage:
        screen.note(span("! ", "yellow"), f"{one.path} cannot be read: {one.detail}")


def _get(
    common: Shared,
    sessions: tuple[str, ...],
    is_all: bool,
    at: str | None,
    to: str | None,
    folder: Path | None,
) -> int:
    from clew.actions.archiving import (
        MTIME_NOTE,
        get_everything,
        get_session,
        restored_document,
    )
    from clew.actions.stores import open_store
    from clew.store.files import Skipped

    if not sessions and not is_all:
        raise UsageError("which session?", hint="clew archive ls lists them")
    store = open_store(common.roots)
    found: list[Restored] = []
    skipped: list[Skipped] = []
    if is_all:
        for one in get_everything(store, to=to, archive=folder):
            if isinstance(one, Skipped):
                skipped.append(one)
            else:
                found.append(one)
    else:
        found = [get_session(store, name, at=at, to=to, archive=folder) for name in sessions]
    if common.is_data:
        common.emit([restored_document(one) for one in found])
        return 0
    for one in found:
        common.screen.print(span("Put back ", "bold"), span(one.path, "cyan"))
        common.screen.print(
            f"  {words.count(len(one.put), 'file')} written, {len(one.kept):,} were there already"
        )
        common.screen.print("  resume    ", span(f"claude --resume {one.snapshot.manifest.session}", "bold"))
        for lost in one.lost:
            common.screen.note(span("! ", "yellow"), f"{lost.place} is lost: {lost.reason}")
    for one in skipped:
        common.screen.note(span("! ", "yellow"), f"{one.path}: {one.reason}")
    if found:
        common.screen.note(MTIME_NOTE)
    elif not skipped:
        common.screen.note("No archived session is gone: there is nothing to put back.")
    return DAMAGED if skipped or any(one.lost for one in found) else 0


def _verify(common: Shared, folder: Path | None) -> int:
    from clew.actions.archiving import verified_document, verify_archive

    found = verify_archive(archive=folder)
    if common.is_data:
        common.emit(verified_document(found))
    else:
        _show_verified(common.screen, found)
    return DAMAGED if found.damage or found.lost else 0


def _mend(common: Shared, folder: Path | None) -> int:
    from clew.actions.archiving import mend_archive, verified_document, verify_archive

    aside = mend_archive(archive=folder)
    found = verify_archive(archive=folder)
    if common.is_data:
        common.emit({"set_aside": [*aside], **verified_document(found)})
        return DAMAGED if found.damage or found.lost else 0
    for path in aside:
        common.screen.print("Set aside ", span(path, "cyan"))
    if not aside:
        common.screen.print("No pack is damaged.")
    if found.damage or found.lost:
        _show_verified(common.screen, found)
    if aside:
        common.screen.print(
            "  ",
            span("clew archive add --all", "bold"),
            " puts in again what is still there of what they held",
        )
    return DAMAGED if found.damage or found.lost else 0


def _show_verified(screen: Screen, found: Verified) -> None:
    many = f"{words.count(found.snapshots, 'copy', 'copies')}, {words.size(found.bytes_stored)}"
    if not found.damage and not found.lost:
        screen.print(span("All is well: ", "green"), many)
        return
    screen.print(span("Not all is well: ", "red"), many)
    for one in found.damage:
        screen.print(span("  ✗ ", "red"), f"{one.path}: {one_line(one.detail)}")
    for snapshot, place in found.lost:
        screen.print(span("  ✗ ", "red"), f"{snapshot.manifest.session[:8]} {place} cannot be put back whole")
    if any(one.path.endswith(".pack") for one in found.damage):
        screen.print("  ", span("clew archive mend", "bold"), " sets the damaged packs aside")
