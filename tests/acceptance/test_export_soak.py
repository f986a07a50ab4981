"""Markdown of models and people, thousands of made-up pieces of it: nothing is ever more than it may be."""

from __future__ import annotations

from random import Random

import pytest

from clew.export import md_escape
from clew.export.md_answer import answer
from tests.export.test_md import SIGNS, rendered


def try_them(seed: int, count: int) -> None:
    random = Random(seed)
    for _ in range(count):
        made = "".join(random.choice(SIGNS) for _ in range(random.randint(1, 30)))
        seen = rendered(f"before\n\n{answer(made)}\n\nafter")
        assert seen.wrong == [], made
        assert {"h1", "h2", "h3"}.isdisjoint(seen.elements), made
        assert set(rendered(md_escape.quote(made)).elements) <= {"blockquote", "p", "br"}, made
        code = rendered(f"before\n\n{md_escape.fence(made)}\n\nafter").elements
        assert [one for one in code if one != "p"] == ["pre", "code"], made
        cell = md_escape.cell(made)
        table = rendered(f"| {cell} | x |\n| --- | --- |\n| {cell} | {cell} |\n").elements
        assert set(table) <= {"table", "thead", "tbody", "tr", "th", "td", "br"}, made
        assert table.count("td") == 2, made


@pytest.mark.acceptance
def test_two_thousand_pieces_of_markdown_are_harmless() -> None:
    try_them(1, 2_000)


@pytest.mark.soak
def test_twenty_thousand_pieces_of_markdown_are_harmless() -> None:
    try_them(2, 20_000)
