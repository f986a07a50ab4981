"""`clew show S`: read a session."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import cells
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import one_line, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.actions.reading import Reading
    from clew.faces.cli.reader import Choice
    from clew.faces.cli.terminal import Screen
    from clew.view.timeline import Timeline

_TURNS: Final = re.compile(r"(\d{1,9})(-(\d{1,9})?)?")


_FIRST_LINES: Final = 20
_EXAMPLES: Final = """\b
Examples:
  clew show @1
  clew show 9f3c --last 2
  clew show 9f3c --turn 3-5 --thinking
  clew show 9f3c --grep 'idempoten'
  clew show 9f3c --json | jq '.turns[].prompt'
"""


@click.command("show", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option("--turn", "turn_range", metavar="N[-M]", help="Only turn N, or the turns from N to M.")
@click.option("--last", "newest", metavar="N", type=click.IntRange(min=1), help="Only the last N turns.")
@click.option("--at", metavar="UUID", help="The way to one line, and nothing after it.")
@click.option(
    "--branch", metavar="B", help="The way to the end of a branch: its number in clew tree, or its id."
)
@click.option("--agents", is_flag=True, help="Show what sub-agents did, in their place.")
@click.option("--thinking", is_flag=True, help="Show all that the model thought.")
@click.option("--full", is_flag=True, help="Fold nothing: inputs and results of all calls.")
@click.option("--grep", "grep", metavar="RE", help="Only turns in which a pattern occurs; hits are marked.")
@click.option("--images", is_flag=True, help="Draw pictures, where the terminal can (kitty, iTerm2).")
@click.option("--no-pager", is_flag=True, help="Write everything at once, however long.")
@shared
def command(
    common: Shared,
    session: str,
    turn_range: str | None,
    newest: int | None,
    at: str | None,
    branch: str | None,
    agents: bool,
    thinking: bool,
    full: bool,
    grep: str | None,
    images: bool,
    no_pager: bool,
) -> int:
    """Read a session, turn by turn.

    Every turn of the history is shown, in the order of the file. A turn that is not on the way to where
    the client would go on is marked; --branch and --at show one way alone.

    What is longer than the screen goes to your pager (PAGER, else less); n and N go from turn to turn.

    Marks: ✓ done, ✗ failed, ? no result, └ sub-agent, ! damaged.
    """
    from clew.actions.reading import open_reading, read_turns
    from clew.actions.turn_documents import show_document
    from clew.errors import UsageError
    from clew.faces.cli.patterns import Pattern

    if at is not None and branch is not None:
        raise UsageError("--at and --branch each name a way of their own", hint="give one of them")
    if turn_range is not None and newest is not None:
        raise UsageError("--turn and --last each choose turns", hint="give one of them")
    first, last = read_range(turn_range)
    pattern = None if grep is None else Pattern(grep)
    opened = open_reading(common.roots, session, with_agents=not common.is_data)
    reading = read_turns(opened, at=at, branch=branch, first=first, last=last, newest=newest)
    places = _matching(reading, pattern, thinking=thinking)
    if common.is_data:
        from clew.faces.cli.documents import write

        write(common, show_document(reading, places), "turns")
    else:
        from clew.faces.cli.pager import TURNS, paged
        from clew.faces.cli.reader import Choice

        choice = Choice(thinking, full, agents, images, pattern)
        with paged(common.screen, wanted=not no_pager and not images, pattern=TURNS) as screen:
            _show(screen, reading, places, choice)
    if opened.is_cut:
        common.screen.note(span("note: ", "yellow"), f"{opened.file.path} got shorter while it was read")
    return DAMAGED if opened.is_damaged else 0


def read_range(text: str | None) -> tuple[int | None, int | None]:
    """Read `3`, `3-5` or `3-`."""
    from clew.errors import UsageError

    if text is None:
        return None, None
    found = _TURNS.fullmatch(text.strip())
    if found is None or (found[3] is not None and int(found[3]) < int(found[1])):
        raise UsageError(f"{text!r} names no turns", hint="for example --turn 3, --turn 3-5 or --turn 3-")
    first = int(found[1])
    if found[2] is None:
        return first, first
    return first, None if found[3] is None else int(found[3])


def _matching(reading: Reading, pattern: object, *, thinking: bool) -> Iterator[int]:
    from clew.faces.cli.patterns import Pattern, texts_of

    for at in reading.wanted:
        if isinstance(pattern, Pattern):
            texts = texts_of(reading.session, reading.turns[at], thinking=thinking)
            if not any(map(pattern.is_in, texts)):
                continue
        yield at


def _show(screen: Screen, reading: Reading, places: Iterator[int], choice: Choice) -> None:
    from clew.actions.reading import sub_agents, until_cut
    from clew.actions.stories import timeline_of
    from clew.faces.cli.reader import Reader
    from clew.view.timeline import TurnView

    opened = reading.opened
    timeline = timeline_of(reading, sub_agents(opened))
    reader = Reader(screen, choice, timeline=timeline)
    _header(screen, reading)
    is_everything = reading.wanted == range(len(reading.turns)) and choice.marked is None
    if is_everything:
        reader.flow(until_cut(opened, timeline.front()))
    shown = 0
    for at in until_cut(opened, places):
        head = timeline.turn_head(at)
        reader.turn(TurnView(head, lambda at=at: until_cut(opened, timeline.flow(at))))
        shown += 1
    if is_everything:
        reader.flow(timeline.rest())
    if not shown:
        found_none = "No turn matches." if choice.marked is not None else "Nothing was said in this session."
        screen.note(found_none)
    elif screen.is_terminal:
        _footer(screen, timeline if shown == len(reading.turns) else None, reading, shown)


def _header(screen: Screen, reading: Reading) -> None:
    from clew.session.titles import title

    session, file = reading.session, reading.opened.file
    named = title(session)
    # The first lines of a file are often the client's own, without a folder.
    some = [session.entry(row) for turn in reading.turns[:1] for row in turn.rows[:_FIRST_LINES]]
    first = next((entry for entry in some if entry.cwd), None)
    facts = [first.cwd, first.git_branch, first.version] if first is not None else []
    words = one_line(named.text) if named else "(no prompt)"
    name = one_line(file.id)
    told = "".join(f" · {one_line(fact)}" for fact in facts if fact)
    if screen.width is not None:
        words = cells.cut_end(words, screen.width)
        told = cells.cut_end(told, max(0, screen.width - cells.width(name)))
    screen.print(span(words, "bold"))
    screen.print(span(name, "cyan"), span(told, "dim"))
    screen.print()


def _footer(screen: Screen, timeline: Timeline | None, reading: Reading, shown: int) -> None:
    """Say what all came to; `timeline` is there if all turns were shown, and so were added up."""
    from clew.errors import ClewError
    from clew.faces.cli import words
    from clew.session import pricing
    from clew.view import whole

    total = len(reading.turns)
    turns = words.count(total, "turn") if shown == total else f"{shown:,} of {words.count(total, 'turn')}"
    told = [turns]
    if timeline is not None:
        try:
            head = timeline.sums()
        except ClewError:  # the file got shorter meanwhile, which is told elsewhere
            pass
        else:
            told += [*whole.calls_words(head), whole.cost_words(head)]
            told += [f"no price known for {one_line(', '.join(head.unpriced))}"] if head.unpriced else []
    screen.print()
    line = ""
    for fact in (*told, f"prices of {pricing.DATE}"):
        longer = f"{line} · {fact}" if line else fact
        if line and screen.width is not None and cells.width(longer) > screen.width:
            screen.print(span(line, "dim"))
            longer = fact
        line = longer
    screen.print(span(line if screen.width is None else cells.cut_end(line, screen.width), "dim"))
