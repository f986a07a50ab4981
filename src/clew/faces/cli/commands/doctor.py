"""`clew doctor`: what is wrong with the sessions, and what is deleted next."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import words
from clew.faces.cli.notices import counting, tell_skipped
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import one_line, span
from clew.session.problems import KINDS

if TYPE_CHECKING:
    from clew.actions.archiving import Endangered
    from clew.actions.doctoring import Diagnosis, Patient
    from clew.faces.cli.terminal import Screen

_LISTED: Final = 12
_EXAMPLES: Final = """\b
Examples:
  clew doctor
  clew doctor --json | jq '.patients[] | select(.resumable | not) | .needs'
"""


@click.command("doctor", epilog=_EXAMPLES)
@click.option(
    "--archive", "folder", type=click.Path(path_type=Path), metavar="DIR", help="Where the archive is."
)
@shared
def command(common: Shared, folder: Path | None) -> int:
    """Check every session, say what each that cannot be resumed needs, and what the client deletes next.

    Nothing is changed. The exit code is 3 when something is wrong.
    """
    from clew.actions.doctoring import examine
    from clew.actions.stores import open_store
    from clew.store.state import state_folder

    with counting(common.screen, "Checking") as start:
        found = examine(
            open_store(common.roots),
            now=time.time(),
            state=state_folder(),
            archive=folder,
            jobs=common.jobs,
            start=start,
        )
    if common.is_data:
        common.emit(found.as_dict())
    else:
        show(common.screen, found, verbose=common.is_verbose)
    tell_skipped(common.screen, found.skipped, verbose=common.is_verbose)
    return DAMAGED if found.patients or found.interrupted else 0


def show(screen: Screen, found: Diagnosis, *, verbose: bool = False) -> None:
    """Show what was found."""
    from clew.actions.doctoring import worst_first

    files = found.sessions + found.agents + found.empty + found.unreadable
    screen.print(
        span(words.count(files, "file"), "bold"),
        f": {words.count(found.sessions, 'session')}, {words.count(found.agents, 'sub-agent')}, "
        f"{found.empty:,} empty, {found.unreadable:,} unreadable",
    )
    patients = worst_first(found.patients)
    if not patients:
        screen.print(span("Every session is sound and can be resumed.", "green"))
    else:
        bricked = len(found.bricked)
        told = f"{words.count(bricked, 'session')} cannot be resumed" if bricked else "All can be resumed"
        screen.print(
            span(told, "red" if bricked else "green"),
            f"; {words.count(len(patients), 'file')} with problems:",
        )
        for one in patients if verbose else patients[:_LISTED]:
            _patient(screen, one)
        if len(patients) > _LISTED and not verbose:
            screen.print(span(f"  … {words.count(len(patients) - _LISTED, 'more')}: -v", "dim"))
    for edit in found.interrupted:
        screen.print(span("! ", "yellow"), f"an edit was interrupted: {edit}; the next edit puts that right")
    _going(screen, found)
    _losing(screen, found, verbose=verbose)


def _patient(screen: Screen, one: Patient) -> None:
    checked = one.checked
    mark, style = ("✗", "red") if not checked.resumable else ("!", "yellow")
    screen.print(
        span(f"  {mark} {checked.file.id[:13]}", style),
        f"  {Path(checked.file.folder).name}" if screen.width is None or screen.width >= 100 else "",
    )
    if checked.unreadable is not None:
        screen.print(f"      cannot be read: {one_line(checked.unreadable)}")
    for code, count in one.codes[:4]:
        times = f" ×{count:,}" if count > 1 else ""
        screen.print(f"      {KINDS[code].meaning}{times}")
    if one.needs is not None:
        screen.print("      ", span(one.needs, "bold"))


def _going(screen: Screen, found: Diagnosis) -> None:
    for root, period in found.periods:
        days = "nothing" if period.days is None else f"what is older than {words.count(period.days, 'day')}"
        screen.print(span(f"The client deletes {days} in {root}.", "dim"))
    if not found.endangered:
        return
    bare = [one for one in found.endangered if not one.is_archived]
    screen.print(
        span(words.count(len(found.endangered), "session"), "bold"),
        " will be deleted within a week" if len(found.endangered) == 1 else " will be deleted within a week;",
        f" {len(bare):,} of them not archived" if bare else " all of them are archived",
    )
    for one in found.endangered[:_LISTED]:
        screen.print(
            f"  {_when(one)}  ", span(one.doomed.file.id[:8], "cyan"), "  archived" if one.is_archived else ""
        )
    if len(found.endangered) > _LISTED:
        screen.print(span(f"  … {words.count(len(found.endangered) - _LISTED, 'more')}", "dim"))
    if bare:
        screen.print("  ", span("clew archive add --all", "bold"), " keeps them")


def _losing(screen: Screen, found: Diagnosis, *, verbose: bool) -> None:
    if not found.sides:
        return
    sessions = len({one.session.path for one in found.sides})
    screen.print(
        span(words.count(len(found.sides), "file"), "bold"),
        f" beside {words.count(sessions, 'session')} that {'stays' if sessions == 1 else 'stay'} will be "
        "deleted within a week: tool results, todos, file history or tasks",
    )
    for one in found.sides if verbose else ():
        screen.print("  ", span(one.path, "dim"))
    if not verbose:
        screen.print(span("  -v names them", "dim"))


def _when(one: Endangered) -> str:
    days = one.doomed.days_left
    return "any moment" if days <= 0 else f"in {max(1, round(days))} d".rjust(10)
