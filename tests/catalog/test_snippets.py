"""A snippet is one line, cut around what was found."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from clew.catalog.query import parse
from clew.catalog.snippets import CUT, snippet
from tests.examples import examples

TEXT = (
    "The handler had no idempotency key, so a retried webhook was applied twice.\n\n"
    "\tdef refund(order):\n\t\treturn credit(order, key=None)\n"
) * 20


def marked(found: tuple[str, list[tuple[int, int]]]) -> list[str]:
    line, ranges = found
    return [line[start:end] for start, end in ranges]


def around(text: str, words: str, width: int = 160) -> tuple[str, list[tuple[int, int]]]:
    ranges = parse(words).match(text)
    assert ranges is not None
    return snippet(text, ranges, width=width)


@st.composite
def texts_with_ranges(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    text = draw(st.text(st.sampled_from("ab日 \n\t\r\u2028é.") | st.characters(), max_size=600))
    cuts = sorted(set(draw(st.lists(st.integers(0, len(text)), max_size=12))))
    return text, list(zip(cuts[::2], cuts[1::2], strict=False))


@examples(400)
@given(given=texts_with_ranges(), width=st.integers(3, 200))
def test_a_snippet_is_one_line_of_the_text_that_fits(
    given: tuple[str, list[tuple[int, int]]], width: int
) -> None:
    text, ranges = given
    line, kept = snippet(text, ranges, width=width)
    assert len(line) <= width
    assert not re.search(r"[^\S ]|  ", line)
    whole = " ".join(text.split())
    starts, ends = (
        line.startswith(CUT) and not whole.startswith(CUT),
        line.endswith(CUT) and not whole.endswith(CUT),
    )
    assert line[starts : len(line) - ends].strip() in whole
    last = 0
    for start, end in kept:
        assert last <= start < end <= len(line)
        last = end


@examples(400)
@given(given=texts_with_ranges(), width=st.integers(3, 200))
def test_what_is_marked_was_found(given: tuple[str, list[tuple[int, int]]], width: int) -> None:
    text, ranges = given
    found = snippet(text, ranges, width=width)
    words = [" ".join(text[start:end].split()) for start, end in ranges]
    assert all(any(one.strip() in word for word in words) for one in marked(found))
    if ranges and all(words):
        assert found[1], "something was found, and nothing of it is shown"


def test_it_is_cut_between_words_with_a_mark_at_the_cut_ends() -> None:
    line, ranges = around(TEXT, "webhook", 60)
    assert line == "…key, so a retried webhook was applied twice. def…"
    assert [line[start:end] for start, end in ranges] == ["webhook"]


def test_a_short_text_is_shown_whole() -> None:
    assert around("\n  fix the\n\tbug  \n", "bug") == ("fix the bug", [(8, 11)])


def test_the_stretch_with_the_most_different_words_is_shown() -> None:
    text = "refund refund refund " + "x " * 300 + "a refund for the webhook" + " y" * 300
    assert marked(around(text, "refund webhook", 60)) == ["refund", "webhook"]
    text = "refund " + "x " * 300 + "refund refund" + " y" * 300
    assert marked(around(text, "refund", 60)) == ["refund", "refund"]


def test_the_first_of_equal_stretches_is_shown() -> None:
    line, _ = around("first refund here " + "x " * 300 + "second refund there", "refund", 50)
    assert line.startswith("first refund")


def test_blanks_and_line_ends_are_one_space() -> None:
    assert around("a\r\n\r\n  b\t\tc\u2028d", "b")[0] == "a b c d"


def test_controls_stay_for_the_gate_of_each_output() -> None:
    assert around("\x1b[31mred\x1b[0m \x00 alert", "alert")[0] == "\x1b[31mred\x1b[0m \x00 alert"


def test_a_place_longer_than_the_line_is_shown_from_its_start() -> None:
    text = "x " * 50 + "word " * 100
    line, ranges = snippet(text, [(100, 599)], width=40)
    assert line.startswith("…word word")
    assert len(line) <= 40
    assert len(ranges) == 1


def test_text_without_spaces_is_cut_where_it_must_be() -> None:
    line, ranges = around("漢字" * 200 + "検索" + "仮名" * 200, "検索", 20)
    assert len(line) == 20
    assert [line[start:end] for start, end in ranges] == ["検索"]


def test_without_places_the_beginning_is_shown() -> None:
    assert snippet("word " * 100, [], width=22) == ("word word word word…", [])
    assert snippet("", []) == ("", [])


def test_a_word_a_million_times_takes_no_time() -> None:
    text = "the " * 1_000_000
    line, ranges = snippet(text, [(at, at + 3) for at in range(0, len(text), 4)])
    assert len(ranges) > 30
    assert line.startswith("the the")
