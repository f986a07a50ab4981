"""A diff keeps its line numbers and marks the words that changed."""

from __future__ import annotations

import pytest

from clew.faces.cli.diff_lines import diff_rows, trimmed
from clew.faces.cli.styled import text_of, width
from clew.view.parts import Diff, Hunk

OIL = Diff(
    "lamp.py",
    (
        Hunk(
            8, 8, (" a", " b", "-oil = 1 # cup", "+oil = 2 # cup", "+wick = 3", " c", " d", " e", " f", "-g")
        ),
        Hunk(40, 41, (" x", "+y")),
    ),
    3,
    2,
)


def drawn(diff: Diff, room: int | None = None, *, whole: bool = False) -> list[str]:
    return [text_of(row) for row in diff_rows(diff, room, whole=whole)]


def test_every_line_has_the_number_it_has_in_its_file() -> None:
    assert drawn(OIL) == [
        " 8   a",
        " 9   b",
        "10 - oil = 1 # cup",
        "10 + oil = 2 # cup",
        "11 + wick = 3",
        "12   c",
        "13   d",
        "14   e",
        "15   f",
        "15 - g",
        " ⋮",
        "41   x",
        "42 + y",
    ]


def test_fewer_lines_around_keep_their_numbers() -> None:
    assert drawn(trimmed(OIL)) == [
        " 9   b",
        "10 - oil = 1 # cup",
        "10 + oil = 2 # cup",
        "11 + wick = 3",
        "12   c",
        " ⋮",
        "15   f",
        "15 - g",
        " ⋮",
        "41   x",
        "42 + y",
    ]


def test_only_the_words_that_changed_are_marked() -> None:
    rows = [*diff_rows(OIL, None, whole=False)]
    marked = [[part[0] for part in row if not isinstance(part, str) and "reverse" in part[1]] for row in rows]
    assert [words for words in marked if words] == [["1"], ["2"]]


def test_lines_that_have_little_in_common_are_not_marked() -> None:
    rows = diff_rows(Diff("x", (Hunk(1, 1, ("-abc def", "+uvw xyz")),)), None, whole=False)
    assert not any("reverse" in part[1] for row in rows for part in row if not isinstance(part, str))


def test_without_a_place_there_are_no_numbers() -> None:
    assert drawn(Diff("x", (Hunk(0, 0, ("-a", "+b")),))) == ["- a", "+ b"]


@pytest.mark.parametrize("room", [12, 20, 60])
def test_wide_lines_are_cut_or_go_on_below(room: int) -> None:
    long = Diff("x", (Hunk(1, 1, ("-" + "古い灯台 " * 9, "+" + "new lamp " * 9)),))
    assert all(width(row) <= room for row in diff_rows(long, room, whole=False))
    rows = [*diff_rows(long, room, whole=True)]
    assert all(width(row) <= room for row in rows)
    said = "".join(text_of(row) for row in rows).replace(" ", "")
    assert said.count("newlamp") == 9


@pytest.mark.parametrize("line", ["", "+", "-", "\\ No newline at end of file", "+\ttab", "-\x1b[2J"])
def test_odd_lines_are_drawn(line: str) -> None:
    assert drawn(Diff("x", (Hunk(1, 1, (line,)),)))
