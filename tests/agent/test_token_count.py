"""The estimate of tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.token_count import count_text, count_tokens
from tests.agent.requests import Json, answer, body, call, image, png, result, text, thinking, user

PROSE = (
    "The keeper of the light went up the stairs each evening, wound the clock, trimmed the lamp and wrote "
    "down the weather. In forty years he had missed two nights, and both of them were entered in the book."
)


def count(*messages: Json, **more: object) -> int:
    return count_tokens({**body(*messages), **more})


def test_prose_comes_to_about_four_characters_a_token() -> None:
    assert 3.8 < len(PROSE) / count_text(PROSE) < 5


@pytest.mark.parametrize(
    ("words", "tokens"),
    [
        ("", 0),
        ("a", 1),
        ("hello world", 2),
        ("日本語", 3),
        ("a\n\n\nb", 3),
        ("{}", 1),
        ("1234", 1),
        ("x" * 80, 10),
    ],
)
def test_pieces_are_cut_as_tokenizers_cut_them(words: str, tokens: int) -> None:
    assert count_text(words) == tokens


@given(st.text(), st.text())
def test_a_text_in_two_blocks_is_about_the_same_as_in_one(one: str, two: str) -> None:
    apart, together = count_text(one) + count_text(two), count_text(one + two)
    assert abs(apart - together) <= 2
    assert together >= 1 or not one + two


def test_everything_that_is_sent_counts() -> None:
    talk = [user("hi"), answer(call()), user(result(content=PROSE))]
    least = count(*talk)
    assert count(*talk, system=PROSE) == least + count_text(PROSE)
    assert count(*talk, system=[text(PROSE)]) == least + count_text(PROSE)
    assert count(*talk, tools=[{"name": "Read", "description": PROSE}]) > least + 346
    assert count(*talk, answer(PROSE)) == least + 4 + count_text(PROSE)
    assert count(user("hi"), answer(thinking(PROSE), text("a"))) > count_text(PROSE)
    assert count(user("hi"), answer(call()), user(result(content=[text(PROSE)]))) == least


@pytest.mark.parametrize(
    ("size", "tokens"), [((750, 100), 101), ((1000, 1000), 1334), ((8000, 8000), 1600), ((8000, 100), 41)]
)
def test_an_image_counts_by_its_size_after_scaling(size: tuple[int, int], tokens: int) -> None:
    assert count(user("hi", image(png(*size)))) - count(user("hi")) == tokens


def test_an_image_that_cannot_be_read_counts_as_the_largest() -> None:
    for source in (
        {"type": "url", "url": "x"},
        {"type": "base64", "data": "A"},
        {"type": "base64", "data": "AAAA"},
    ):
        assert count(user({"type": "image", "source": source})) == 4 + 1600


def test_an_odd_request_is_counted_without_an_error() -> None:
    assert count_tokens({}) == 1
    assert count_tokens({"messages": [1, {"content": [None, {"type": ["x"]}]}], "tools": {}, "system": 3}) > 0
