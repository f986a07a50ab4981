"""Markdown is drawn as it arrives: nothing of it is lost, and no row is wider than the screen."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli.markdown import Markdown
from clew.faces.cli.styled import Row, cut, text_of, width, wrap
from clew.faces.cli.terminal import Span


def drawn(text: str, columns: int = 60) -> list[Row]:
    markdown = Markdown(columns)
    return [*markdown.feed(text), *markdown.end()]


def words(text: str, columns: int = 60) -> list[str]:
    return [text_of(row).rstrip() for row in drawn(text, columns)]


def styled(row: Row, style: str) -> str:
    return "".join(part.text for part in row if isinstance(part, Span) and style in part.styles)


def test_headings_and_bold_words_are_bold_and_code_has_its_colour() -> None:
    rows = drawn("## A **title** of `x`\n\nSome **bold** and `code` and __strong__.")
    assert text_of(rows[0]) == "A title of x"
    assert styled(rows[0], "bold") == "A title of x"
    assert styled(rows[2], "bold") == "boldstrong"
    assert styled(rows[2], "cyan") == "code"


@pytest.mark.parametrize(
    "text", ["2 * 3 * 4", "a_b_c", "**open", "`open", "snake__case__name", "[x] y", "a\\"]
)
def test_marks_that_mean_nothing_stay(text: str) -> None:
    assert words(text) == [text]


def test_lists_hang_under_their_words() -> None:
    assert words("- " + "word " * 14 + "\n  1. nested", 40) == [
        "- word word word word word word word",
        "  word word word word word word word",
        "  1. nested",
    ]


def test_code_stays_as_it_is_behind_a_dim_border() -> None:
    rows = drawn("```python\nx = 1  # **not bold**\n\n    y\n```\nafter")
    assert [text_of(row) for row in rows] == [
        "── python",
        "│ x = 1  # **not bold**",
        "│ ",
        "│     y",
        "after",
    ]
    assert styled(rows[1], "dim") == "│ "
    assert not styled(rows[1], "bold")


def test_a_fence_inside_a_longer_fence_is_code() -> None:
    assert words("````\n```\nx\n```\n````\ny") == ["│ ```", "│ x", "│ ```", "y"]


def test_a_long_line_of_code_is_broken_not_lost() -> None:
    assert words("```\n" + "x" * 50 + "\n```", 22) == ["│ " + "x" * 20, "│ " + "x" * 20, "│ " + "x" * 10]


def test_a_table_has_columns_that_fit() -> None:
    text = "| name | what |\n|---|:--|\n| a | " + "word " * 12 + "|\n| **b** | `c\\|d` |\n"
    assert words(text, 30) == [
        "name  what",
        "────  ────────────────────────",
        "a     word word word word word",
        "      word word word word word",
        "      word word",
        "b     c|d",
    ]


def test_what_looks_like_a_table_and_is_none_is_text() -> None:
    assert words("| just a line\nand another") == ["| just a line", "and another"]


def test_a_half_arrived_line_is_drawn_by_the_way_and_for_good_when_it_ends() -> None:
    markdown = Markdown(60)
    assert markdown.feed("some **bo") == []
    assert [text_of(row) for row in markdown.tail()] == ["some **bo"]
    assert markdown.feed("ld** wo") == []
    assert [text_of(row) for row in markdown.tail()] == ["some bold wo"]
    assert [text_of(row) for row in markdown.feed("rds\nnext")] == ["some bold words"]
    assert [text_of(row) for row in markdown.tail()] == ["next"]


def test_a_half_arrived_table_is_drawn_by_the_way() -> None:
    markdown = Markdown(60)
    assert markdown.feed("| a | b |\n|---|---|\n| 1 |") == []
    assert [text_of(row).rstrip() for row in markdown.tail()] == ["a  b", "─  ─", "1"]
    assert [text_of(row).rstrip() for row in markdown.feed(" 2 |\n\n")] == ["a  b", "─  ─", "1  2", ""]


def test_a_link_shows_where_it_leads() -> None:
    assert words("see [the docs](https://example.org/x)") == ["see the docs (https://example.org/x)"]


def test_a_line_without_an_end_is_drawn_in_pieces() -> None:
    markdown = Markdown(80)
    rows = markdown.feed("word " * 20_000)
    assert len(rows) > 900
    assert sum(width(row) for row in markdown.tail()) < 5000


_TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=()) | st.sampled_from(list("|`*_-#>[]()\n\n  ~.1漢é")),
    max_size=120,
)


@given(_TEXT, st.integers(20, 70))
def test_no_row_is_wider_than_the_screen(text: str, columns: int) -> None:
    rows = drawn(text, columns)
    # A table of more columns than there is room for keeps a few cells for each; the painter cuts it.
    if "|" not in text:
        assert all(width(row) <= columns for row in rows)


@given(_TEXT, st.lists(st.integers(0, 120), max_size=6))
def test_it_comes_out_the_same_in_however_many_pieces_it_arrives(text: str, cuts: list[int]) -> None:
    markdown, rows = Markdown(50), list[Row]()
    at = sorted({0, *(cut for cut in cuts if cut < len(text)), len(text)})
    for start, end in pairwise(at):
        rows += markdown.feed(text[start:end])
        markdown.tail()
    assert [*rows, *markdown.end()] == drawn(text, 50)


@given(st.lists(st.tuples(st.text(max_size=12), st.booleans()), max_size=8), st.integers(4, 30))
def test_wrapping_loses_no_letter(parts: list[tuple[str, bool]], room: int) -> None:
    from clew.faces.cli.styled import safe

    spans = [Span(safe(text), ("bold",) if bold else ()) for text, bold in parts]
    rows = [*wrap(spans, room)]
    assert "".join(text_of(row) for row in rows).replace(" ", "") == text_of(spans).replace(" ", "")
    assert all(width(row) <= max(room, 4) for row in rows)


def test_a_row_is_cut_with_a_mark() -> None:
    assert text_of(cut(("one ", Span("two three", ("bold",))), 8)) == "one two…"
    assert text_of(cut(("one", Span(" two", ())), 3)) == "on…"
    assert text_of(cut(("one",), 3)) == "one"
