"""A line of progress is drawn for people alone, and leaves nothing behind."""

from __future__ import annotations

import pytest

from clew.faces.cli import cells
from tests.faces.terminal_lab import screen_on


def test_progress_is_silent_for_three_hundred_milliseconds() -> None:
    screen, _, err, clock = screen_on()
    with screen.progress(10) as progress:
        clock.now += 0.29
        progress.advance()
    assert err.getvalue() == ""


def test_progress_is_drawn_and_then_erased() -> None:
    screen, _, err, clock = screen_on()
    with screen.progress(1340) as progress:
        clock.now += 0.31
        progress.advance(96)
        assert err.getvalue() == "\rReading 96 of 1,340 sessions"
        clock.now += 0.05
        progress.advance()
        assert err.getvalue() == "\rReading 96 of 1,340 sessions"
        clock.now += 0.06
        progress.advance()
        assert err.getvalue().endswith("\rReading 98 of 1,340 sessions")
    assert shown_at_the_end(err.getvalue()) == ""


def shown_at_the_end(written: str) -> str:
    """What a terminal shows after all this was written to one line."""
    line: list[str] = []
    at = 0
    for char in written:
        if char == "\r":
            at = 0
        elif char == "\n":
            line, at = [], 0
        else:
            line[at : at + 1] = [char]
            at += 1
    return "".join(line).rstrip()


def test_a_note_takes_the_progress_line_away_first() -> None:
    screen, _, err, clock = screen_on(color="never")
    with screen.progress(None, "Reading", "lines") as progress:
        clock.now += 1
        progress.advance(5)
        screen.note("one file was skipped")
    before_note = err.getvalue().split("one file")[0]
    assert shown_at_the_end(before_note) == ""
    assert before_note.endswith("\r")


def test_a_progress_line_never_reaches_the_edge() -> None:
    screen, _, err, clock = screen_on(width=12)
    with screen.progress(10, "読み込み中です", "とても長い") as progress:
        clock.now += 1
        progress.advance()
        assert cells.width(err.getvalue().lstrip("\r")) <= 11


@pytest.mark.parametrize(("tty", "term"), [(False, "xterm"), (True, "dumb")])
def test_progress_is_for_terminals_only(tty: bool, term: str) -> None:
    screen, _, err, clock = screen_on(tty=tty, TERM=term)
    with screen.progress(2) as progress:
        clock.now += 1
        progress.advance(2)
    assert progress.done == 2
    assert err.getvalue() == ""
