"""The parts the tools are made of: texts, hunks, quotation marks, input."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.tools import quotes, texts
from clew.agent.tools.hunks import hunks
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import size_words
from clew.agent.tools.pieces import replaced
from clew.agent.tools.texts import Text


@given(st.binary())
def test_bytes_that_are_taken_apart_are_put_back_the_same(data: bytes) -> None:
    try:
        text = texts.decode(data)
    except texts.NotTextError:
        return
    assert text.encode() == data


@given(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")),
    st.sampled_from(["utf-8", "utf-16-le", "utf-16-be"]),
)
def test_each_encoding_is_told_from_the_others(words: str, encoding: Any) -> None:
    text = Text(words, encoding, is_marked=True)
    assert texts.decode(text.encode()) == text


def _applied(old: str, found: list[dict[str, Any]]) -> str:
    """Apply hunks by their numbers alone, as a patch program would."""
    lines = old.split("\n")
    result: list[str] = []
    at = 0
    for hunk in found:
        start = hunk["oldStart"] - 1
        result += lines[at:start]
        body = [line for line in hunk["lines"] if not line.startswith("\\")]
        assert [line[1:] for line in body if line[0] in " -"] == lines[start : start + hunk["oldLines"]]
        new = [line[1:] for line in body if line[0] in " +"]
        assert len(new) == hunk["newLines"]
        assert hunk["newStart"] - 1 == len(result)
        result += new
        at = start + hunk["oldLines"]
    return "\n".join(result + lines[at:])


_LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=30).map(
    lambda lines: "".join(f"{x}\n" for x in lines)
)


@given(_LINES, _LINES)
def test_hunks_turn_one_text_into_the_other(old: str, new: str) -> None:
    found = hunks(old, new)
    assert _applied(old, found) == new
    assert bool(found) == (old != new)
    for hunk in found:
        assert hunk["lines"][:4] != [" " + line[1:] for line in hunk["lines"][:4]] or len(hunk["lines"]) < 4


def test_a_missing_line_end_is_told() -> None:
    assert hunks("a\nb", "a\nb\n")[0]["lines"] == [" a", "-b", "\\ No newline at end of file", "+b"]
    assert hunks("a\nb", "x\nb")[0]["lines"] == ["-a", "+x", " b", "\\ No newline at end of file"]


def test_changes_far_apart_are_apart_and_near_ones_together() -> None:
    old = "".join(f"{n}\n" for n in range(40))
    far = hunks(old, old.replace("5\n", "x\n", 1).replace("30\n", "y\n"))
    assert [(hunk["oldStart"], hunk["oldLines"]) for hunk in far] == [(3, 7), (28, 7)]
    assert len(hunks(old, old.replace("5\n", "x\n", 1).replace("\n12\n", "\ny\n"))) == 1


def test_large_texts_do_not_take_long() -> None:
    old = "".join(f"{n % 7}\n" for n in range(20_000))
    new = "".join(f"{n % 5}\n" for n in range(20_000))
    assert _applied(old, hunks(old, new)) == new


@given(st.text("ab\u2018\u2019\u201c\u201d'\" "))
def test_straight_marks_stay_in_their_place(text: str) -> None:
    straight = quotes.straightened(text)
    assert len(straight) == len(text)
    assert quotes.straightened(quotes.curled(straight, "\u2018\u201c")) == straight


def test_only_the_kinds_of_marks_that_are_there_are_curled() -> None:
    assert quotes.curled('say "it\'s" ("x")', "\u201c") == "say \u201cit's\u201d (\u201cx\u201d)"
    assert quotes.curled("it's", "\u2019") == "it\u2019s"
    assert quotes.curled("it's", "plain") == "it's"


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 bytes"), (1023, "1023 bytes"), (2934, "2.9KB"), (262_144, "256KB"), (5 << 30, "5GB")],
)
def test_sizes_are_written_for_people(size: int, words: str) -> None:
    assert size_words(size) == words


_SCHEMA: dict[str, object] = {"properties": {"a": {}, "b": {}}}


def test_what_is_wrong_with_input_is_told_at_once() -> None:
    given_ = Given("Tool", {"a": 5, "strange": 1}, _SCHEMA)
    given_.text("a")
    given_.text("b")
    assert given_.refusal is not None
    assert given_.refusal.content == (
        "<tool_use_error>InputValidationError: Tool failed due to the following issues:\n"
        "The parameter `a` type is expected as `string` but provided as `number`\n"
        "The required parameter `b` is missing\n"
        "An unexpected parameter `strange` was provided</tool_use_error>"
    )


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), ("3", 3), (3.0, 3), (None, None), (10**30, 1 << 53), (True, None), (1.5, None),
     ("x", None), (-1, None),
     (float("nan"), None), (float("inf"), None), ("9" * 5000, 1 << 53), ([], None)],
)  # fmt: skip
def test_numbers_are_taken_as_models_write_them(value: object, number: int | None) -> None:
    given_ = Given("Tool", {"a": value}, _SCHEMA)
    assert given_.number("a") == number
    assert (given_.refusal is None) == (number is not None or value is None)


@pytest.mark.parametrize(
    ("value", "flag"), [(True, True), ("true", True), ("False", False), (None, False), (1, None)]
)
def test_flags_are_taken_as_models_write_them(value: object, flag: bool | None) -> None:
    given_ = Given("Tool", {"a": value}, _SCHEMA)
    assert given_.flag("a") is bool(flag)
    assert (given_.refusal is None) == (flag is not None)


@pytest.mark.parametrize(
    ("whole", "old", "every", "left"),
    [
        ("a\nb\nc\n", "b", False, "a\nc\n"),
        ("a\r\nb\r\nc\r\n", "b", False, "a\r\nc\r\n"),
        ("a\nb\nc", "c", False, "a\nb\n"),
        ("a\nb c\n", "b ", False, "a\nc\n"),
        ("a\nb\nc\n", "b\n", False, "a\nc\n"),
        ("x\nx y\nx\n", "x", True, "x y\n"),
    ],
)
def test_what_is_taken_out_takes_its_line_end_along(whole: str, old: str, every: bool, left: str) -> None:
    """As the client does; of several pieces those stay that have something else behind them."""
    assert replaced(Text(whole), old, "", every=every).text.whole == left
