"""What stays scrolls by, what changes is drawn in its place, and nothing but that reaches the terminal."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli.chat.painter import Frame, Ink, Painter
from clew.faces.cli.terminal import Span
from tests.faces.cli.chat.screens import Terminal


def pair(columns: int = 20, lines: int = 6, *, is_ascii: bool = False) -> tuple[Painter, Terminal]:
    return Painter(Ink(color=True, is_ascii=is_ascii), (columns, lines)), Terminal(columns, lines)


def frame(*rows: str, cursor: tuple[int, int] | None = None) -> Frame:
    return Frame(tuple((row,) for row in rows), cursor)


def test_rows_that_change_are_drawn_in_their_place_below_those_that_stay() -> None:
    painter, terminal = pair()
    terminal.write(painter.draw([("one",)], frame("live", "box")))
    terminal.write(painter.draw([("two",)], frame("other live", "more", "box")))
    terminal.write(painter.draw([], frame("box")))
    assert terminal.text == ["one", "two", "box"]


def test_the_cursor_stands_where_it_should() -> None:
    painter, terminal = pair()
    terminal.write(painter.draw([("one",)], frame("live", "box", "status", cursor=(1, 2))))
    assert (terminal.row, terminal.column) == (2, 2)
    assert terminal.is_cursor_shown
    terminal.write(painter.draw([("two",)], frame("box")))
    assert terminal.text == ["one", "two", "box"]
    assert not terminal.is_cursor_shown


def test_a_picture_that_did_not_change_is_not_written_again() -> None:
    painter, _ = pair()
    assert painter.draw([], frame("box", cursor=(0, 1)))
    assert painter.draw([], frame("box", cursor=(0, 1))) == ""
    assert painter.draw([], frame("box", cursor=(0, 2)))


def test_more_rows_than_the_screen_has_are_left_out_at_the_top() -> None:
    painter, terminal = pair(lines=4)
    terminal.write(painter.draw([], frame(*map(str, range(10)), cursor=(9, 0))))
    assert terminal.text == ["7", "8", "9"]
    terminal.write(painter.draw([("stays",)], frame("box")))
    assert terminal.text == ["stays", "box"]


def test_ten_thousand_rows_that_stay_scroll_away_whole() -> None:
    painter, terminal = pair(lines=5)
    terminal.write(painter.draw([], frame("live", "box")))
    terminal.write(painter.draw([(str(number),) for number in range(10_000)], frame("box")))
    assert terminal.text == [*map(str, range(10_000)), "box"]


def test_leaving_takes_away_what_changes() -> None:
    painter, terminal = pair()
    terminal.write(painter.draw([("one",)], frame("live", "box", cursor=(1, 0))))
    terminal.write(painter.leave([("bye",)]))
    assert terminal.text == ["one", "bye", ""]
    assert terminal.is_cursor_shown
    assert terminal.wraps
    terminal.write(painter.draw([], frame("again")))
    assert terminal.text == ["one", "bye", "again"]


def test_the_screen_can_be_cleared() -> None:
    painter, terminal = pair(lines=3)
    terminal.write(painter.draw([("one",)], frame("live", "box")))
    terminal.write(painter.clear())
    terminal.write(painter.draw([], frame("live", "box")))
    assert terminal.text == ["live", "box"]


@pytest.mark.parametrize("columns", [10, 13, 19, 20, 40])
def test_a_terminal_of_another_width_is_drawn_properly(columns: int) -> None:
    painter, terminal = pair(columns=20, lines=12)
    rows = frame("─" * 20, "› typed", "a status of 20 cells", cursor=(1, 7))
    terminal.write(painter.draw([("stays",)], rows))
    terminal.resize(columns, 12)
    painter.resize((columns, 12))
    terminal.write(painter.draw([], frame("─" * columns, "› typed", "status", cursor=(1, 7))))
    assert terminal.text == ["stays", "─" * columns, "› typed", "status"]


def test_a_row_too_wide_is_cut_and_a_wide_letter_is_not_halved() -> None:
    painter, terminal = pair(columns=10)
    terminal.write(painter.draw([], frame("漢字漢字漢字漢字")))
    assert terminal.text == ["漢字漢字…"]


def test_text_cannot_act_on_the_terminal() -> None:
    painter, _ = pair()
    evil = "\x1b[2J\x1b]0;title\x07\r\n\x9b31m\u202eabc"
    written = painter.draw([(evil,), (Span(evil, ("red",)),)], frame(evil, evil))
    controls = re.findall(r"\x1b(?:\[[0-9;?]*[A-Za-z]|.)", written)
    known = r"\x1b\[(?:\?(?:7|25|2026)[hl]|[0-9]*[ACKJ]|[0-9;]*m)"
    assert all(re.fullmatch(known, one) for one in controls), controls
    rest = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written)
    assert not re.search(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u202e]", rest)


def test_a_terminal_without_unicode_gets_ascii() -> None:
    painter, terminal = pair(is_ascii=True)
    terminal.write(painter.draw([("✓ done · 3",)], frame("─" * 30)))
    assert terminal.text == ["+ done - 3", "-" * 19 + "."]


_ROWS = st.lists(st.text(max_size=25).map(lambda text: f"x{text}"), max_size=4)


@given(st.lists(st.tuples(_ROWS, _ROWS), max_size=6))
def test_whatever_is_drawn_what_stays_is_there_once(steps: list[tuple[list[str], list[str]]]) -> None:
    painter, terminal = pair(columns=300, lines=10)
    ink, expected = Ink(color=False, is_ascii=False), list[str]()
    for stays, live in steps:
        terminal.write(painter.draw([(row,) for row in stays], frame(*live)))
        expected += [ink.row((row,)).rstrip() for row in stays]
        assert terminal.text[: len(expected)] == expected
