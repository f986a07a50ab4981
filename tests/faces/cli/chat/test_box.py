"""What is typed is laid out in rows with the cursor in its place; the status fits one row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from clew.faces.cli.chat import box
from clew.faces.cli.chat.draft import Draft, draft_of
from clew.faces.cli.styled import text_of, width


def test_a_draft_of_several_lines_hangs_under_the_mark() -> None:
    laid = box.lay_out(draft_of("one\ntwo"), 20, 5)
    assert [text_of(row) for row in laid.rows] == ["› one", "  two"]
    assert laid.cursor == (1, 5)


def test_a_long_line_is_wrapped_and_wide_letters_count_twice() -> None:
    laid = box.lay_out(draft_of("漢字漢字漢"), 9, 5)
    assert [text_of(row) for row in laid.rows] == ["› 漢字漢", "  字漢"]
    assert laid.cursor == (1, 6)
    assert box.lay_out(draft_of("漢字漢字漢").move(3), 9, 5).cursor == (1, 2)


def test_words_stay_whole_where_they_can() -> None:
    laid = box.lay_out(draft_of("one two three four"), 12, 5)
    assert [text_of(row).rstrip() for row in laid.rows] == ["› one two", "  three", "  four"]
    assert laid.cursor == (2, 6)
    assert box.lay_out(draft_of("one two three").move(8), 12, 5).cursor == (1, 2)
    assert [text_of(row) for row in box.lay_out(draft_of("x" * 12), 10, 5).rows] == ["› xxxxxxx", "  xxxxx"]


def test_only_the_rows_around_the_cursor_are_shown() -> None:
    draft = draft_of("\n".join(map(str, range(20))))
    assert [text_of(row) for row in box.lay_out(draft, 20, 3).rows] == ["  17", "  18", "  19"]
    top = box.lay_out(draft.move(0), 20, 3)
    assert [text_of(row) for row in top.rows] == ["› 0", "  1", "  2"]
    assert top.cursor == (0, 2)


def test_a_folded_paste_is_shown_by_its_label() -> None:
    laid = box.lay_out(Draft().insert("a ").paste("x\n" * 50), 60, 5)
    assert text_of(laid.rows[0]) == "› a [pasted 51 lines, 100 characters]"
    assert laid.cursor == (0, width(laid.rows[0]))


def test_what_cannot_be_seen_is_shown_in_the_box() -> None:
    assert text_of(box.lay_out(draft_of("a\x1b\u200bb"), 40, 5).rows[0]) == "› a␛‹ZWSP›b"


_TEXT = st.text(max_size=60) | st.text("ab \n漢", max_size=60)


@given(_TEXT, st.integers(0, 60), st.integers(12, 40), st.integers(1, 5))
def test_the_cursor_is_always_on_a_row_that_is_shown(text: str, at: int, columns: int, most: int) -> None:
    laid = box.lay_out(draft_of(text).move(at), columns, most)
    assert 1 <= len(laid.rows) <= most
    assert 0 <= laid.cursor[0] < len(laid.rows)
    assert 0 <= laid.cursor[1] < columns
    assert all(width(row) <= columns for row in laid.rows)


def test_the_status_tells_model_mode_context_and_cost() -> None:
    standing = box.Standing("claude-x", "plan", 12_345, 200_000, 0.12, 0, "Esc stops")
    assert text_of(box.status(standing, 60)) == (
        "claude-x · plan · 12.3k of 200k · $0.12            Esc stops"
    )
    assert text_of(box.status(standing, 30)) == "claude-x · plan · 12.3k of 20…"


def test_a_cost_that_is_not_known_is_no_number() -> None:
    assert "· –" in text_of(box.status(box.Standing("x", unpriced=1), 60))
    assert "$0.10+" in text_of(box.status(box.Standing("x", cost_usd=0.1, unpriced=1), 60))


def test_what_waits_is_shown_in_a_row_each() -> None:
    rows = box.queued(["one\ntwo", *"bcdef"], 20)
    assert [text_of(row) for row in rows] == [
        "queued › one two", "queued › b", "queued › c", "queued › d", "2 more",
    ]  # fmt: skip
