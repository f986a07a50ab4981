"""`clew import FILE`: a session out of a bundle."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import click

from clew.errors import ClewError, UsageError
from clew.faces.cli import words
from clew.faces.cli.editing import EditOptions, make_wish, tell_doubts
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.actions.import_outcomes import Imported
    from clew.faces.cli.terminal import Screen

_EXAMPLES: Final = """\b
Examples:
  clew import lamp.clew
  clew import lamp.clew --to ~/src/lamp
  clew import lamp.clew --map /Users/ada=/home/ada --dry-run
  ssh other clew export @1 --to bundle -o - | clew import -
"""
_INPUT: Final = "the standard input"


@click.command("import", epilog=_EXAMPLES)
@click.argument("files", metavar="FILE…", nargs=-1, required=True)
@click.option("--to", metavar="DIR", help="The folder of the project on this machine.")
@click.option(
    "--map",
    "maps",
    metavar="OLD=NEW",
    multiple=True,
    help="A folder that is elsewhere here; may be given several times.",
)
@click.option("--as-new", is_flag=True, help="A session of its own, under a new id.")
@shared
@click.option("--dry-run", "is_dry", is_flag=True, help="Only say what would be written.")
@click.option("--force", is_flag=True, help="Even if it grows to far more than a bundle should.")
def command(
    common: Shared,
    files: tuple[str, ...],
    to: str | None,
    maps: tuple[str, ...],
    as_new: bool,
    is_dry: bool,
    force: bool,
) -> int:
    """Put sessions that were taken along as bundles where the client finds them; - is the standard input.

    Without --to and --map every file is byte for byte what it was. With them the lines tell of the folders of
    this machine, as after clew mv, and the client resumes the session there. Nothing is written over: what is
    there just so is left, and anything else of the same id is refused. clew undo takes an import back.
    """
    import secrets

    from clew.actions.importing import Landing, import_bundle
    from clew.actions.stores import open_store

    landing = Landing(to, tuple(map(_pair, maps)), as_new)
    if files.count("-") > 1:
        raise UsageError("the standard input can be read once")
    if len(common.roots) > 1:
        raise UsageError("a session goes into one config folder", hint="give --root once")
    store = open_store(common.roots)
    done: list[Imported] = []
    try:
        for file in files:
            # For each of its own: the id of a session that is new.
            wish = make_wish("import", EditOptions(is_dry, in_place=False, force=force, keep_thinking=False))
            done.append(
                import_bundle(
                    store,
                    _INPUT if file == "-" else file,
                    wish,
                    landing=landing,
                    seed=secrets.token_bytes(32),
                    read=_input() if file == "-" else None,
                )
            )
    except ClewError:
        _tell(common, done)  # what was done before is done
        raise
    _tell(common, done)
    return 0


def _pair(text: str) -> tuple[str, str]:
    old, mark, new = text.partition("=")
    if not mark or not old or not new:
        raise UsageError(f"--map {text!r} is no pair of folders", hint="--map /home/ada/src=/home/me/src")
    return old, new


def _input() -> Callable[[int], bytes]:
    if sys.stdin is None or sys.stdin.isatty():  # pyright: ignore[reportUnnecessaryComparison]  # it may be closed
        raise UsageError("there is nothing on the standard input", hint="clew import - < FILE")
    return sys.stdin.buffer.read


def _tell(common: Shared, done: list[Imported]) -> None:
    if common.is_data:
        common.emit([one.as_dict() for one in done])
        return
    for one in done:
        show(common.screen, one)


def show(screen: Screen, one: Imported) -> None:
    """Say what was imported, or would be."""
    if one.is_there:
        screen.print(span("There already: ", "bold"), span(one.id, "cyan"))
        screen.print("  every file is as it is in the bundle")
    elif one.done is None:
        screen.print(span("Nothing was written. ", "bold"), "This would import ", span(one.id, "cyan"))
    else:
        screen.print(span("Imported ", "bold"), span(one.id, "cyan"))
    if one.cwd is not None:
        screen.print("  project   ", span(one.cwd, "cyan"))
    size = words.size(one.about.manifest.size)
    there = f", {len(one.there):,} were there already" if one.there and one.new else ""
    screen.print(f"  files     {words.count(len(one.about.manifest.files), 'file')}, {size}{there}")
    if one.counts.patched:
        screen.print(f"  lines     {one.counts.kept:,} kept · {one.counts.patched:,} changed")
    screen.print(span(f"  path      {one.path}", "dim"))
    if one.done is not None or one.is_there:
        screen.print("  resume    ", span(one.resume, "bold"))
    if one.done is not None:
        screen.print("  take back ", span("clew undo", "bold"))
        tell_doubts(screen, one.done)
    for note in one.notes:
        screen.note(note)
