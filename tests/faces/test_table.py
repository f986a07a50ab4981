"""A table fits its terminal: columns leave in a stated order, rows are never wrapped."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli import cells, table
from clew.faces.cli.table import Column
from clew.faces.cli.terminal import Part, Span, span

LS = [
    Column(""),
    Column("AGE", align="right"),
    Column("PROJECT", needs=80, most=16),
    Column("TITLE", flexible=True),
    Column("TURNS", align="right", needs=80, words="{} turns"),
    Column("CALLS", align="right", needs=100),
    Column("FAIL", align="right", words="{} failed", style=("red",)),
    Column("COST", align="right"),
    Column("MODEL", needs=120),
    Column("ID", style=("cyan",)),
]
ROWS: list[list[Part]] = [
    [span("●", "green"), "now", "api", "Port the queue to asyncio", "12", "84", "", "$4.10", "sonnet-4-5",
     "9f3c"],
    ["", "2h", "shop", "Fix double refund credit", "3", "8", "1", "$0.17", "sonnet-4-5", "1111"],
    ["!", "58m", "shop", "Damaged session: the middle of this one was cut off by a crash", "1", "6", "",
     "$0.10", "haiku-4-5", "4444"],
]  # fmt: skip


def drawn(
    columns: list[Column], rows: list[list[Part]], width: int | None, footer: list[Part] | None = None
) -> list[str]:
    return [
        "".join(part if isinstance(part, str) else part.text for part in line)
        for line in table.lines(columns, rows, width=width, footer=footer)
    ]


def headings(width: int) -> list[str]:
    return drawn(LS, ROWS, width)[0].split()


AT_A_HUNDRED = """
   AGE  PROJECT  TITLE                                               TURNS  CALLS  FAIL   COST  ID
●  now  api      Port the queue to asyncio                              12     84        $4.10  9f3c
    2h  shop     Fix double refund credit                                3      8     1  $0.17  1111
!  58m  shop     Damaged session: the middle of this one was cut o…      1      6        $0.10  4444
134 sessions
"""


def test_at_a_hundred_cells_it_looks_as_designed() -> None:
    assert "\n".join(drawn(LS, ROWS, 100, footer=["134 sessions"])) == AT_A_HUNDRED.strip("\n")


@pytest.mark.parametrize(
    ("width", "gone"),
    [
        (200, set[str]()),
        (120, set[str]()),
        (119, {"MODEL"}),
        (100, {"MODEL"}),
        (99, {"MODEL", "CALLS"}),
        (80, {"MODEL", "CALLS"}),
        (79, {"MODEL", "CALLS", "TURNS", "PROJECT"}),
        (60, {"MODEL", "CALLS", "TURNS", "PROJECT"}),
    ],
)
def test_columns_leave_in_the_stated_order(width: int, gone: set[str]) -> None:
    everything = {column.heading for column in LS if column.heading}
    assert set(headings(width)) == everything - gone


@pytest.mark.parametrize("width", [60, 61, 79, 80, 99, 100, 119, 120, 200])
def test_no_row_is_wider_than_the_terminal(width: int) -> None:
    assert max(cells.width(line) for line in drawn(LS, ROWS, width)) <= width


def test_the_title_is_cut_only_where_it_must_be() -> None:
    assert "the middle of this one was cut off by a crash" in "\n".join(drawn(LS, ROWS, 200))
    assert (
        len(
            {
                line.index(cost)
                for line, cost in zip(drawn(LS, ROWS, 200)[1:], ("$4.10", "$0.17", "$0.10"), strict=True)
            }
        )
        == 1
    )


def test_below_sixty_cells_a_record_takes_two_lines() -> None:
    assert drawn(LS, ROWS, 40) == [
        "● Port the queue to asyncio",
        "  now · $4.10 · 9f3c",
        "  Fix double refund credit",
        "  2h · 1 failed · $0.17 · 1111",
        "! Damaged session: the middle of this o…",
        "  58m · $0.10 · 4444",
    ]


def test_more_columns_leave_when_the_title_would_get_less_than_twenty_cells() -> None:
    wide: list[list[Part]] = [
        ["", "3d", "p" * 40, "A title that is rather long", "1", "2", "3", "$1,234,567.00", "m", "i" * 30]
    ]
    columns = [*LS]
    columns[2] = Column("PROJECT", needs=80)
    line = drawn(columns, wide, 100)[1]
    assert "p" * 40 not in line
    assert "A title that is rath" in line
    assert cells.width(line) <= 100


def test_when_nothing_more_can_leave_it_takes_two_lines() -> None:
    columns = [Column("NAME", flexible=True), Column("A"), Column("B")]
    rows: list[list[Part]] = [["a name of more than twenty cells", "a" * 40, "b" * 30]]
    assert drawn(columns, rows, 70) == [
        "a name of more than twenty cells",
        "a" * 40 + " · " + "b" * 26 + "…",
    ]


def test_piped_output_keeps_every_column_and_cuts_nothing() -> None:
    lines = drawn(LS, ROWS, None, footer=["134 sessions"])
    assert lines[0].split() == [column.heading for column in LS if column.heading]
    assert "the middle of this one was cut off by a crash" in lines[3]
    assert len(lines) == 4


def test_a_monstrous_title_does_not_push_the_others_away_when_piped() -> None:
    rows: list[list[Part]] = [["x" * 5000, "1"], ["short", "2"]]
    lines = drawn([Column("TITLE", flexible=True), Column("N")], rows, None)
    assert "x" * 5000 in lines[1]
    assert len(lines[2]) < 100


def test_wide_characters_keep_the_columns_straight() -> None:
    rows: list[list[Part]] = [["日本語のタイトル", "1"], ["👩‍👩‍👧 family", "2"], ["plain", "3"]]
    lines = drawn([Column("TITLE", flexible=True), Column("N", align="right")], rows, 80)
    assert {cells.width(line) for line in lines} == {19}


def test_a_cell_of_many_lines_stays_on_its_own() -> None:
    assert drawn([Column("T")], [["one\ntwo\tthree\x1b[2J"]], 80)[1] == "one two three␛[2J"


def test_paths_are_cut_in_the_middle_and_columns_can_have_a_limit() -> None:
    columns = [Column("PATH", cut="middle", most=20), Column("NAME", flexible=True)]
    line = drawn(columns, [["/home/robin/greenhouse/vents.py", "x"]], 80)[1]
    assert line.split() == ["/home/…ouse/vents.py", "x"]


def test_an_empty_column_can_be_left_out() -> None:
    columns = [Column("N"), Column("FAIL", hide_if_empty=True)]
    assert drawn(columns, [["1", ""], ["2", ""]], 80) == ["N", "1", "2"]
    assert drawn(columns, [["1", ""], ["2", "3"]], 80) == ["N  FAIL", "1", "2  3"]


def test_headings_are_bold_and_cells_take_their_own_style_or_their_columns() -> None:
    head, row = table.lines(
        [Column("ID", style=("cyan",)), Column("S")], [["9f3c", span("x", "red")]], width=80
    )
    assert [part.styles for part in head if isinstance(part, Span)] == [("bold",), ("bold",)]
    assert [part.styles for part in row if isinstance(part, Span)] == [("cyan",), ("red",)]


def test_colour_covers_the_text_and_not_the_space_around_it() -> None:
    _, row = table.lines(
        [Column("NUMBER", align="right", style=("red",)), Column("X")], [["7", "y"]], width=80
    )
    assert [part.text for part in row if isinstance(part, Span)] == ["7", "y"]


def test_no_records_are_a_heading_alone() -> None:
    assert drawn([Column("ID"), Column("TITLE", flexible=True)], [], 80) == ["ID  TITLE"]


def test_in_ascii_the_cuts_and_separators_are_ascii() -> None:
    columns = [Column("T", flexible=True), Column("N"), Column("M")]
    rows: list[list[Part]] = [["x" * 90, "●", "2"]]
    one = table.lines(columns, rows, width=70, ascii_only=True)[1]
    assert "".join(p if isinstance(p, str) else p.text for p in one) == "x" * 61 + "...  *  2"
    two = table.lines(columns, rows, width=40, ascii_only=True)
    assert [line[-1] for line in two] == [Span("x" * 37 + "..."), Span("* - 2", ("dim",))]


@given(
    st.lists(st.lists(st.text(max_size=30), min_size=4, max_size=4), max_size=4),
    st.integers(20, 140),
)
def test_no_data_makes_a_line_wider_than_the_terminal(rows: list[list[str]], width: int) -> None:
    columns = [
        Column("", most=2),
        Column("A", needs=90, most=9),
        Column("T", flexible=True),
        Column("N", most=9),
    ]
    parts: list[list[Part]] = [[*row] for row in rows]
    for line in drawn(columns, parts, width):
        assert cells.width(line) <= width
        assert "\n" not in line
        assert line == line.rstrip(" ")
