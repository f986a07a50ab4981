"""`clew export S… --to FORMAT`: sessions in other formats."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.chosen_sessions import ChosenSessions
    from clew.actions.export_stories import Cleaning
    from clew.actions.exporting import Wish
    from clew.actions.exporting_folder import Folder
    from clew.store.files import SessionFile

FOLDER: Final = "clew-export"
"""Where many sessions go when nobody says where."""

_MOST: Final = 5
_EXAMPLES: Final = """\b
Examples:
  clew export @1 --to html
  clew export @1 --to md -o notes.md --turn 3-5
  clew export --all --to html -o site
  clew export --project shop --since 7d --to openai -o - > shop.jsonl
  clew export --all --to parquet -o tables
"""


@click.command("export", epilog=_EXAMPLES)
@click.argument("sessions", metavar="S…", nargs=-1)
@click.option("--to", "format_", metavar="FORMAT", help="The format; --list names all.")
@click.option(
    "-o", "--output", metavar="PATH", help="The file, or the folder for several; - is standard output."
)
@click.option("--list", "is_list", is_flag=True, help="List the formats.")
@click.option(
    "--redact/--no-redact",
    "wants_redaction",
    default=None,
    help="Take secrets out, or leave them in. Out without being asked: html, md, bundle.",
)
@click.option("--pattern", "patterns", metavar="RE", multiple=True, help="What else is a secret.")
@click.option("--turn", "turn_range", metavar="N[-M]", help="Only turn N, or the turns from N to M.")
@click.option("--at", metavar="UUID", help="The way to one line, and nothing after it.")
@click.option("--branch", metavar="B", help="The way to the end of a branch.")
@click.option("--no-agents", is_flag=True, help="Without what sub-agents did.")
@click.option("--no-thinking", is_flag=True, help="Without what the model thought.")
@click.option("--all", "is_all", is_flag=True, help="Every session.")
@click.option("--project", metavar="P", help="Every session of a project: its path, or a part of it.")
@click.option("--since", metavar="T", help="Every session written since: 2h, 3d, 1w, 2026-02-03.")
@click.option("--until", metavar="T", help="Every session begun before, or on that day.")
@click.option("--force", is_flag=True, help="Write over what is there.")
@shared
def command(
    common: Shared,
    sessions: tuple[str, ...],
    format_: str | None,
    output: str | None,
    is_list: bool,
    wants_redaction: bool | None,
    patterns: tuple[str, ...],
    turn_range: str | None,
    at: str | None,
    branch: str | None,
    no_agents: bool,
    no_thinking: bool,
    is_all: bool,
    project: str | None,
    since: str | None,
    until: str | None,
    force: bool,
) -> int:
    """Write sessions in another format.

    One session becomes a file in the current folder, named by its title. Several, or --all, --project or
    --since, become a folder with a file each and, where the format has one, an index; run again, only what
    changed is written. The files can be read by you alone.

    What is made to be shown to others (html, md, bundle) has passwords, keys and tokens taken out; --redact
    does so in any format. What is there and was not written by clew stays, unless --force is given.
    """
    from clew.errors import UsageError
    from clew.export.registry import ELSEWHERE, find

    if is_list:
        return _list(common)
    if format_ is None:
        raise UsageError("in which format?", hint="--to html; clew export --list names all")
    has_filter = is_all or any(one is not None for one in (project, since, until))
    if sessions and has_filter:
        raise UsageError(
            "--all and the like choose sessions, so name none", hint="clew export --all --to html"
        )
    if not sessions and not has_filter:
        raise UsageError("which session?", hint=f"clew export @1 --to {format_}, or --all")
    elsewhere = next((one for one in ELSEWHERE if one.name == format_), None)
    exporter = None if elsewhere is not None else find(format_)
    if elsewhere is not None:
        chosen = _chosen(common, sessions, project, since, until)
        is_whole = not (turn_range or at or branch or no_agents or no_thinking)
        if not is_whole:
            raise UsageError(f"{format_} is made of whole sessions", hint=f"clew export @1 --to {format_}")
        _check_patterns(wants_redaction, patterns)
        if elsewhere.name == "parquet":
            from clew.faces.cli.export_tables import export_tables

            if output == "-":
                raise UsageError("the tables are several files", hint="-o DIR")
            files = _files(common, chosen)
            _tell_nothing(common, chosen, files)
            with ExitStack() as stack:
                wants = bool(wants_redaction or patterns)
                cleaning = _cleaning(stack, patterns) if wants else None
                return export_tables(common, chosen, files, output or FOLDER, cleaning=cleaning, force=force)
        from clew.faces.cli.export_bundles import export_bundles

        is_redacted = elsewhere.redacts if wants_redaction is None else wants_redaction
        files = _files(common, chosen)
        _tell_nothing(common, chosen, files)
        is_one = len(sessions) == 1
        where = output if is_one else output or FOLDER
        return export_bundles(
            common, chosen, files, where, is_one=is_one, redact=is_redacted, patterns=patterns, force=force
        )
    assert exporter is not None
    if common.is_data and output == "-":
        raise UsageError("--json tells of files, and -o - writes none", hint="give one of them")
    from clew.actions.export_stories import Chosen
    from clew.actions.exporting import Wish
    from clew.export.options import Options
    from clew.faces.cli.commands.show import read_range

    first, last = read_range(turn_range)
    options = Options(with_thinking=not no_thinking, with_agents=not no_agents)
    wish = Wish(exporter, options, Chosen(first=first, last=last, at=at, branch=branch))
    with ExitStack() as stack:
        wish = _wish(stack, wish, wants_redaction, patterns)
        if len(sessions) == 1:
            if output == "-":
                return _one_out(common, sessions[0], wish)
            return _one(common, sessions[0], wish, output, force=force)
        chosen = _chosen(common, sessions, project, since, until)
        if output == "-":
            return _stream(common, chosen, wish)
        return _folder(common, chosen, wish, output or FOLDER, force=force)


def _wish(
    stack: ExitStack,
    wish: Wish,
    wants_redaction: bool | None,
    patterns: tuple[str, ...],
) -> Wish:
    """Add to what is wished how secrets are taken out, if they are."""
    from dataclasses import replace

    from clew.actions.exporting import check

    check(wish)
    _check_patterns(wants_redaction, patterns)
    is_redacted = wish.exporter.redacts if wants_redaction is None else wants_redaction
    if not is_redacted and not patterns:
        return wish
    cleaning = _cleaning(stack, patterns)
    return replace(wish, key=cleaning.key, own=cleaning.own, patterns=patterns)


def _check_patterns(wants_redaction: bool | None, patterns: tuple[str, ...]) -> None:
    from clew.errors import UsageError

    if patterns and wants_redaction is False:
        raise UsageError(
            "--pattern says what is a secret, and --no-redact leaves it in", hint="give one of them"
        )


def _cleaning(stack: ExitStack, patterns: tuple[str, ...]) -> Cleaning:
    """Return how secrets are taken out, until the stack ends."""
    import secrets

    from clew.actions.export_stories import Cleaning
    from clew.actions.own_patterns import compiled, watched
    from clew.store.redaction_key import placeholder_key
    from clew.store.state import state_folder

    own = stack.enter_context(watched(compiled(patterns)))
    return Cleaning(placeholder_key(state_folder(), draw=secrets.token_bytes), own)


def _chosen(
    common: Shared, names: tuple[str, ...], project: str | None, since: str | None, until: str | None
) -> ChosenSessions:
    from clew.actions.chosen_sessions import ChosenSessions
    from clew.actions.session_filters import Wanted
    from clew.actions.stores import open_store
    from clew.faces.cli.commands.ls import moment_of

    now = datetime.now(UTC).astimezone()
    first, last = moment_of(since, "--since", now=now), moment_of(until, "--until", now=now)
    store = open_store(common.roots)
    return ChosenSessions(store, store.listing(), names, Wanted(project, first, last))


def _files(common: Shared, chosen: ChosenSessions) -> Sequence[SessionFile]:
    now = datetime.now(UTC).timestamp()
    return chosen.files(now=now, use_index=not common.no_index, jobs=common.jobs)


# One session --------------------------------------------------------------------------------------------


def _one(common: Shared, name: str, wish: Wish, output: str | None, *, force: bool) -> int:
    from clew.actions.exporting import export_session
    from clew.actions.stores import open_store
    from clew.faces.cli.notices import measuring, tell_left

    with measuring(common.screen, "Looking for secrets in") as start:
        done = export_session(
            open_store(common.roots), name, wish, target=output, force=force, jobs=common.jobs, progress=start
        )
    if common.is_data:
        common.emit(
            {
                "format": wish.exporter.name,
                "session": done.session,
                "path": done.written.path,
                "bytes": done.written.size,
                "redacted": None if wish.key is None else dict(done.redacted),
                "left": None if wish.key is None else done.left,
            }
        )
    else:
        common.screen.print(done.written.path)
        common.screen.note(span(_told(wish, done.written.size, sum(done.redacted.values())), "dim"))
    tell_left(common.screen, done.left)
    return DAMAGED if done.is_damaged else 0


def _one_out(common: Shared, name: str, wish: Wish) -> int:
    """Write a session to standard output."""
    from clew.actions.exporting import export_pieces
    from clew.actions.stores import open_store
    from clew.errors import UsageError
    from clew.faces.cli.notices import measuring, tell_left

    if not wish.exporter.is_text and common.screen.is_terminal:
        raise UsageError(f"{wish.exporter.name} is not for a terminal", hint="-o FILE, or into a pipe")
    with measuring(common.screen, "Looking for secrets in") as start:
        store = open_store(common.roots)
        pieces, opened, left = export_pieces(store, name, wish, jobs=common.jobs, progress=start)
    common.screen.document(pieces)
    tell_left(common.screen, left)
    return DAMAGED if opened.is_damaged else 0


def _told(wish: Wish, size: int, redacted: int) -> str:
    if wish.key is None:
        secrets = "secrets, if there are any, are still in it: --redact takes them out"
    else:
        secrets = (
            f"{words.count(redacted, 'secret')} taken out" if redacted else "no secrets were found in it"
        )
    return f"{words.size(size)} · {secrets}"


# Several ------------------------------------------------------------------------------------------------


def _stream(common: Shared, chosen: ChosenSessions, wish: Wish) -> int:
    """Write the lines of all sessions one after the other, in a format of lines."""
    from clew.actions.exporting import open_file, pieces, story
    from clew.errors import ClewError, UsageError
    from clew.faces.cli.notices import tell_left

    if wish.exporter.media_type != "application/jsonl":
        raise UsageError(
            f"several sessions in {wish.exporter.name} are several files", hint=f"-o {FOLDER}, a folder"
        )
    code = left = 0
    files = _files(common, chosen)
    for file in files:
        try:
            opened = open_file(chosen.store, file, listing=chosen.listing)
            told = story(opened, wish)
            common.screen.document(pieces(told, wish))
            left += told.left
            code = DAMAGED if opened.is_damaged else code
        except ClewError as error:
            common.screen.note(span("skipped: ", "yellow"), f"{file.path}: {error.message}")
            code = DAMAGED
    tell_left(common.screen, left)
    _tell_nothing(common, chosen, files)
    return code


def _folder(common: Shared, chosen: ChosenSessions, wish: Wish, output: str, *, force: bool) -> int:
    from clew.actions.exporting_folder import export_folder
    from clew.faces.cli.notices import tell_left, tell_skipped

    files = _files(common, chosen)
    with common.screen.progress(len(files), "Exporting", "sessions") as progress:
        done = export_folder(
            chosen.store,
            files,
            wish,
            output,
            listing=chosen.listing,
            force=force,
            jobs=common.jobs,
            advance=progress.advance,
        )
    if common.is_data:
        looked_in = list(chosen.store.roots.looked_in)
        common.emit({"format": wish.exporter.name, **done.as_dict(), "looked_in": looked_in})
    elif files or done.index:
        _show(common, wish, done)
    _tell_nothing(common, chosen, files)
    tell_left(common.screen, sum(one.left for one in (*done.written, *done.unchanged)))
    tell_skipped(common.screen, chosen.listing.skipped, verbose=common.is_verbose)
    return 0 if done.is_whole else DAMAGED


def _tell_nothing(common: Shared, chosen: ChosenSessions, files: Sequence[SessionFile]) -> None:
    """Say where no session was found, if none was."""
    if not files:
        where, many = " or ".join(chosen.store.roots.looked_in), len(chosen.listing.sessions)
        common.screen.note(
            f"Of {words.count(many, 'session')} in {where} none fits." if many else f"No sessions in {where}."
        )


def _show(common: Shared, wish: Wish, done: Folder) -> None:
    screen = common.screen
    screen.print(done.index or done.path)
    facts = [f"{words.count(len(done.written), 'session')} written"]
    if done.unchanged:
        facts.append(f"{len(done.unchanged):,} as before")
    if done.gone:
        facts.append(f"{done.gone:,} kept whose sessions are gone")
    if wish.key is not None:
        facts.append(f"{words.count(sum(one.redacted for one in done.written), 'secret')} taken out")
    screen.note(span(" · ".join(facts), "dim"))
    if done.damaged:
        screen.note(
            span("note: ", "yellow"), f"{words.count(done.damaged, 'session')} with damage in the file"
        )
    most = len(done.failed) if common.is_verbose else _MOST
    for one in done.failed[:most]:
        screen.note(span("failed: ", "red"), f"{one.session}: {one.reason}")
    if len(done.failed) > most:
        screen.note(span("failed: ", "red"), f"{len(done.failed) - most:,} more; -v lists them")


# The list of formats ------------------------------------------------------------------------------------


def _list(common: Shared) -> int:
    from clew.export.registry import ELSEWHERE, exporters

    found = [
        *((one.name, one.help, one.suffix, one.redacts) for one in exporters()),
        *((one.name, one.help, one.suffix, one.redacts) for one in ELSEWHERE),
    ]
    if common.is_data:
        common.emit(
            [
                {"name": name, "help": help_, "suffix": suffix or None, "redacts": redacts}
                for name, help_, suffix, redacts in found
            ]
        )
        return 0
    wide = max(len(name) for name, _, _, _ in found)
    for name, help_, _, redacts in found:
        mark = span(" · without secrets", "dim") if redacts else ""
        common.screen.print(span(name.ljust(wide), "cyan"), f"  {help_}", mark)
    return 0
