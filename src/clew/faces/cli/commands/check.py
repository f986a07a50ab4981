"""`clew check S…`: every problem of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import cells, words
from clew.faces.cli.notices import tell_skipped
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import Part, Span, one_line, span
from clew.session.problems import KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.checking import Asked, Checked
    from clew.faces.cli.terminal import Screen, Style
    from clew.session.problems import Problem

_STYLES: Final[dict[str, Style]] = {"error": "red", "warning": "yellow", "info": "dim"}
_MARKS: Final = {"error": "✗", "warning": "!", "info": "·"}
_MOST: Final = 20
"""Problems of one code that a screen lists of one session; JSON has more."""


_EXAMPLES: Final = """\b
Examples:
  clew check @1
  clew check --all
  clew check --all --json | jq '.[] | select(.resumable | not) | .path'
"""


@click.command("check", epilog=_EXAMPLES)
@click.argument("sessions", metavar="S…", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="Check every session.")
@click.option("--agents", is_flag=True, help="Check the files of their sub-agents too.")
@shared
def command(common: Shared, sessions: tuple[str, ...], is_all: bool, agents: bool) -> int:
    """List every problem in a session, by code, with line and offset, and say whether it can be resumed.

    Nothing is repaired. The exit code is 3 when something is wrong; remarks do not count.
    """
    from clew.actions.checking import check_document, check_files, files_to_check
    from clew.errors import UsageError

    if not sessions and not is_all:
        raise UsageError("which session?", hint="clew check @1, or clew check --all")
    if sessions and is_all:
        raise UsageError("--all checks every session, so name none", hint="clew check --all")
    asked = files_to_check(common.roots, sessions, everything=is_all, with_agents=agents)
    with common.screen.progress(len(asked.files), "Checking", "files") as progress:
        found = check_files(asked.files, jobs=common.jobs, advance=progress.advance)
    if common.is_data:
        common.emit([check_document(one) for one in found])
    else:
        _show(common.screen, asked, found, verbose=common.is_verbose)
    cut = [one.file.path for one in found if one.was_cut]
    tell_skipped(common.screen, asked.skipped, cut=cut, verbose=common.is_verbose)
    return 0 if all(one.is_sound for one in found) else DAMAGED


def _show(screen: Screen, asked: Asked, found: Sequence[Checked], *, verbose: bool) -> None:
    if not found:
        screen.note("No sessions in ", " or ".join(asked.looked_in), ".")
        return
    is_one = len(found) == 1
    for checked in found:
        # Remarks alone are not worth a heading among hundreds of sessions.
        if is_one or verbose or not checked.is_sound:
            _session(screen, checked, with_remarks=is_one or verbose)
    _summary(screen, asked, found)


def _session(screen: Screen, checked: Checked, *, with_remarks: bool) -> None:
    state: Part = span("can be resumed", "green")
    if checked.unreadable is not None:
        state = span("cannot be read", "red")
    elif checked.is_empty:
        state = span("nothing to resume", "dim")
    elif not checked.resumable:
        state = span("cannot be resumed", "red")
    screen.print(span(_path(screen, checked.file.path, 22), "cyan"), "  ", state)
    if checked.unreadable is not None:
        screen.print(span("  ✗ ", "red"), one_line(checked.unreadable))
        return
    groups: dict[tuple[str, str], list[Problem]] = {}
    for problem in checked.report.problems if checked.report is not None else ():
        groups.setdefault((problem.severity, problem.code), []).append(problem)
    left = 0
    for severity in ("error", "warning", "info"):
        for (how_bad, _), found in groups.items():
            if how_bad != severity:
                continue
            if severity == "info" and not with_remarks:
                left += len(found)
            else:
                _problems(screen, checked, found)
    if left:
        screen.print(span(f"  · {words.count(left, 'remark')}: -v", "dim"))


def _problems(screen: Screen, checked: Checked, found: Sequence[Problem]) -> None:
    """Write the problems of one code: what it means, where each is, how it would be mended."""
    first = found[0]
    meaning = KINDS[first.code].meaning
    head = f"  {_MARKS[first.severity]} {first.code}"
    many = f" ×{len(found):,}" if len(found) > 1 else ""
    room = None if screen.width is None else screen.width - cells.width(head + many) - 2
    screen.print(
        Span(head + many, (_STYLES[first.severity],)),
        "  ",
        meaning if room is None else cells.cut_end(meaning, max(20, room)),
    )
    for problem in found[:_MOST]:
        detail = one_line(problem.detail.removeprefix(meaning).removeprefix(": "))
        where = "" if problem.line is None else f"{checked.file.id[:8]}:{problem.line}:{problem.offset}"
        length = "" if problem.length is None else words.size(problem.length)
        facts = " · ".join(part for part in (length, detail) if part)
        if not where and not facts:
            continue
        if screen.width is not None:
            facts = cells.cut_end(facts, max(20, screen.width - 8 - cells.width(where)))
        screen.print("      ", Span(where, ("cyan",)), "  " if where and facts else "", facts)
    if len(found) > _MOST:
        screen.print(span(f"      {len(found) - _MOST:,} more: --json", "dim"))
    if first.repair is not None and first.severity != "info":
        mend = f"      clew repair {one_line(first.repair)}"
        screen.print(span(mend if screen.width is None else cells.cut_end(mend, screen.width), "dim"))


def _path(screen: Screen, path: str, other: int) -> str:
    text = one_line(path)
    return text if screen.width is None else cells.cut_middle(text, max(20, screen.width - other))


def _summary(screen: Screen, asked: Asked, found: Sequence[Checked]) -> None:
    sessions = sum(not one.file.is_agent for one in found)
    agents = len(found) - sessions
    parts = [words.count(sessions, "session")] if sessions or not agents else []
    if agents:
        parts.append(words.count(agents, "sub-agent"))
    of = " and ".join(parts)
    bad = [one for one in found if not one.is_sound]
    empty = sum(one.is_empty and not one.file.is_agent for one in found)
    told: list[Part] = []
    if not bad:
        told.append(span(f"nothing wrong in {of}", "green"))
    else:
        stuck = sum(not one.resumable and not one.is_empty for one in bad)
        where = of if len(bad) == len(found) else f"{len(bad):,} of {of}"
        told.append(span(f"{words.count(sum(map(_weighty, bad)), 'problem')} in {where}", "yellow"))
        if stuck:
            told.append(span(f", {stuck:,} cannot be resumed", "red"))
    screen.print(*told)
    aside = [f"{empty:,} with no conversation"] if empty and len(found) > 1 else []
    if asked.agents_left:
        aside.append(f"{words.count(asked.agents_left, 'sub-agent')} not checked: --agents")
    if aside and screen.is_terminal:
        screen.print(span(" · ".join(aside), "dim"))


def _weighty(checked: Checked) -> int:
    """Count what is more than a remark; a file that cannot be read is one problem."""
    if checked.report is None:
        return 1
    return sum(one.severity != "info" for one in checked.report.problems) or 1
