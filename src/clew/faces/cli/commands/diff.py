"""`clew diff S1 S2`: two sessions, or two branches of one, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli.options import DAMAGED, Shared, shared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.actions.comparing import Comparison, Pair, Side
    from clew.faces.cli.styled import Row
    from clew.faces.cli.terminal import Part, Screen
    from clew.view.parts import TurnHead

_EXAMPLES: Final = """\b
Examples:
  clew diff 9f3c 1111
  clew diff 9f3c --branch 1 active
  clew diff @1 @2 --json | jq .files
"""
_SIDE_BY_SIDE: Final = 80
_PROMPT: Final = 4
_ANSWER: Final = 6


@click.command("diff", epilog=_EXAMPLES)
@click.argument("first", metavar="S1")
@click.argument("second", metavar="[S2]", required=False)
@click.option(
    "--branch",
    "branches",
    nargs=2,
    metavar="A B",
    help="Two branches of S1: their numbers in clew tree or ids, or active for the one that goes on.",
)
@click.option("--no-pager", is_flag=True, help="Write everything at once, however long.")
@shared
def command(
    common: Shared, first: str, second: str | None, branches: tuple[str, str] | None, no_pager: bool
) -> int:
    """Compare two sessions, or two branches of one, turn by turn.

    Turns are the same when the same was asked, said and called, whatever ids the lines have; so a session
    and its copy, or two ways from a fork, begin with turns in common. Shown are the turns after those, the
    files that each side changed in them, and what they cost.
    """
    from clew.actions.comparing import compare_branches, compare_sessions, diff_document
    from clew.errors import UsageError

    if branches is not None and second is None:
        found = compare_branches(common.roots, first, *branches)
    elif second is not None and branches is None:
        found = compare_sessions(common.roots, first, second)
    else:
        raise UsageError(
            "diff compares two sessions, or two branches of one",
            hint="clew diff S1 S2, or clew diff S --branch 1 active",
        )
    if common.is_data:
        common.emit(diff_document(found))
    else:
        from clew.faces.cli.pager import paged

        with paged(common.screen, wanted=not no_pager) as screen:
            _show(screen, found)
    sides = (found.left.reading.opened, found.right.reading.opened)
    return DAMAGED if any(opened.is_damaged for opened in sides) else 0


def _show(screen: Screen, found: Comparison) -> None:
    from clew.faces.cli import words
    from clew.faces.cli.terminal import Span

    for letter, side in (("A", found.left), ("B", found.right)):
        for row in _heading(screen, letter, side):
            screen.print(*row)
    common = words.count(found.common, "turn") if found.common else "no turn"
    screen.print()
    if not found.pairs:
        screen.print(Span(f"The same {words.count(found.common, 'turn')} on both sides.", ("green",)))
        return
    screen.print(Span(f"{common} in common".capitalize(), ("dim",)))
    for pair in found.pairs:
        screen.print()
        for row in _pair(screen.width, found, pair):
            screen.print(*row)
    _files(screen, found)
    _totals(screen, found)


def _heading(screen: Screen, letter: str, side: Side) -> Iterator[Row]:
    from clew.faces.cli import words
    from clew.faces.cli.styled import cut
    from clew.faces.cli.terminal import Span, one_line

    name = one_line(side.reading.opened.file.id)[:8]
    branch = f" · branch {one_line(side.branch)}" if side.branch is not None else ""
    facts = f"{branch} · {words.count(len(side.heads), 'turn')} · {_money(side.heads)}"
    row = (
        Span(f"{letter}  ", ("bold",)),
        Span(name, ("cyan",)),
        Span(facts, ("dim",)),
        f"  {one_line(side.title)}",
    )
    yield row if screen.width is None else cut(row, screen.width)


def _money(heads: Sequence[TurnHead]) -> str:
    from clew.actions.comparing import cost_of
    from clew.faces.cli import words

    return words.money(cost_of(heads))


def _pair(width: int | None, found: Comparison, pair: Pair) -> Iterator[Row]:
    """Draw a turn of each side, beside each other where there is room."""
    from clew.faces.cli.styled import width as measure
    from clew.faces.cli.terminal import Span

    if width is None or width < _SIDE_BY_SIDE:
        for letter, side, place in (("A", found.left, pair.left), ("B", found.right, pair.right)):
            for at, row in enumerate(_turn(side, place, None if width is None else width - 3)):
                yield (Span("   " if at else f"{letter}  ", ("bold",)), *row)
        return
    room = min(100, (width - 3) // 2)
    left, right = [*_turn(found.left, pair.left, room)], [*_turn(found.right, pair.right, room)]
    for at in range(max(len(left), len(right))):
        row = left[at] if at < len(left) else ()
        other = right[at] if at < len(right) else ()
        gap = " " * max(0, room - measure(row))
        yield (*row, gap, Span(" │ ", ("dim",)), *other)


def _turn(side: Side, place: int | None, room: int | None) -> Iterator[Row]:
    from clew.actions.comparing import last_answer
    from clew.faces.cli import drawing, words
    from clew.faces.cli.styled import cut
    from clew.faces.cli.terminal import Span
    from clew.view.parts import Text

    if place is None:
        yield (Span("(no turn)", ("dim",)),)
        return
    head = side.heads[place]
    work = head.work
    facts: list[Part] = [Span(f"── {head.n} ── ", ("dim",))]
    if work.calls:
        facts.append(words.count(work.calls, "call"))
        facts += [", ", Span(f"{work.failed:,} failed", ("red",))] if work.failed else []
        facts.append(" · ")
    done: list[str] = []
    if work.files:
        done.append(f"{words.count(work.files, 'file')} +{work.added} −{work.removed}")
    if work.duration_ms is not None:
        done.append(words.duration(work.duration_ms))
    done.append(words.money(work.cost_usd))
    facts.append(" · ".join(done))
    yield tuple(facts) if room is None else cut(facts, room)
    less = None if room is None else room - 2
    yield from _some(drawing.rows_of(Text(head.title), less), _PROMPT, Span("› ", ("bold",)))
    answer = last_answer(side, place)
    yield from _some(drawing.markdown_rows(answer, less), _ANSWER, "  ")


def _some(rows: Iterator[Row], most: int, margin: Part) -> Iterator[Row]:
    from clew.faces.cli.terminal import Span

    for at, row in enumerate(rows):
        if at == most:
            yield (margin, Span("…", ("dim",)))
            return
        yield (margin, *row)


def _files(screen: Screen, found: Comparison) -> None:
    from clew.faces.cli import table

    if not found.files:
        return
    columns = (
        table.Column("FILE", flexible=True, cut="middle"),
        table.Column("A", align="right"),
        table.Column("B", align="right"),
    )
    rows = [
        [path, *("" if one is None else f"+{one.added} −{one.removed}" for one in sides)]
        for path, sides in found.files.items()
    ]
    screen.print()
    screen.lines(table.lines(columns, rows, width=screen.width, ascii_only=screen.is_ascii))


def _totals(screen: Screen, found: Comparison) -> None:
    from clew.faces.cli.terminal import Span
    from clew.session import pricing

    left, right = found.left.heads[found.common :], found.right.heads[found.common :]
    said = f"after that: A {_money(left)}, B {_money(right)} · prices of {pricing.DATE}"
    screen.print()
    screen.print(Span(said, ("dim",)))
