"""Short texts side by side, and short names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.faces.cli.flows import beside, flow, measure
from clew.faces.cli.naming import models, projects, short_model
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.faces.cli.terminal import Part


def texts(lines: Sequence[Sequence[Part]]) -> list[str]:
    return ["".join(part if isinstance(part, str) else part.text for part in line) for line in lines]


FACTS: list[Sequence[Part]] = [("one",), (span("two", "bold"), "!"), ("three",)]
BLOCKS: list[list[list[Part]]] = [[["A"], ["a1"], ["a2"]], [["BB"], ["b1"]], [["CCC"]]]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (None, ["one · two! · three"]),
        (18, ["one · two! · three"]),
        (17, ["one · two!", "three"]),
        (5, ["one", "two!", "three"]),
        (1, ["one", "two!", "three"]),
    ],
)
def test_facts_share_a_line_as_far_as_they_fit(width: int | None, lines: list[str]) -> None:
    assert texts(flow(FACTS, width=width)) == lines


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (15, ["A     BB    CCC", "a1    b1", "a2"]),
        (14, ["A     BB", "a1    b1", "a2", "", "CCC"]),
        (3, ["A", "a1", "a2", "", "BB", "b1", "", "CCC"]),
        (None, ["A", "a1", "a2", "", "BB", "b1", "", "CCC"]),
    ],
)
def test_blocks_stand_beside_each_other_as_far_as_they_fit(width: int | None, lines: list[str]) -> None:
    assert texts(beside(BLOCKS, width=width)) == lines


def test_a_text_is_measured_as_it_will_be_shown() -> None:
    assert measure(["\x1b[31m", span("パン", "red"), "  "]) == 5 + 4 + 2


def test_a_project_is_named_by_its_last_part_and_two_alike_by_one_more() -> None:
    folders = ["/home/ada/shop", "/srv/shop", "/home/ada/mill", "E:\\work\\tower", "-home-x", "/", ""]
    assert projects(folders) == {
        "/home/ada/shop": "ada/shop",
        "/srv/shop": "srv/shop",
        "/home/ada/mill": "mill",
        "E:\\work\\tower": "tower",
        "-home-x": "-home-x",
        "/": "/",
        "": "",
    }


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("claude-sonnet-4-5-20250929", "sonnet-4-5"),
        ("claude-opus-4-6", "opus-4-6"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "haiku-4-5"),
        ("claude-opus-4-1@20250805", "opus-4-1"),
        ("gpt-oss", "gpt-oss"),
        ("claude-", "claude-"),
    ],
)
def test_a_model_is_named_without_what_all_have_in_common(name: str, short: str) -> None:
    assert short_model(name) == short


def test_of_several_models_the_first_is_named_and_the_others_counted() -> None:
    assert models(["claude-opus-4-6", "a", "b"]) == "opus-4-6 +2"
    assert models([]) == ""
