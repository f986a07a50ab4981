"""Markdown: the session reads well, and nothing in it is more than text for any renderer."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from clew.export import md_escape
from clew.export.md_answer import answer
from tests.export import hostile
from tests.export.contract import ExporterContract

if TYPE_CHECKING:
    from clew.export.story import Story

OURS = {
    *("h1", "h2", "h4", "h5", "h6", "p", "ul", "ol", "li", "strong", "em", "s", "code", "pre", "blockquote"),
    *("table", "thead", "tbody", "tr", "th", "td", "a", "details", "summary", "br", "hr"),
}
HREF = re.compile(r"https?://[^\s]*|[\w./%-]+(#[\w-]*)?|#[\w-]+")


class Seen(HTMLParser):
    """What a browser would make of a page: its elements, and whatever in them is not allowed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.text: list[str] = []
        self.wrong: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        if tag not in OURS:
            self.wrong.append(tag)
        for name, value in attrs:
            if not _is_fine(tag, name, value or ""):
                self.wrong.append(f"{tag} {name}={value}")

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.wrong.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.wrong.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.wrong.append(f"instruction {data}")

    def unknown_decl(self, data: str) -> None:
        self.wrong.append(f"unknown {data}")


def _is_fine(tag: str, name: str, value: str) -> bool:
    match tag, name:
        case "a", "id":
            return re.fullmatch(r"turn-\d+", value) is not None
        case "a", "href":
            return HREF.fullmatch(value) is not None
        case "code", "class":
            return re.fullmatch(r"language-[\w+#.-]+", value) is not None
        case (("th" | "td"), "style"):
            return value.startswith("text-align:")
        case "ol", "start":
            return value.isdigit()
        case "details", "open":
            return True
        case "a", "title":
            return True
        case _:
            return False


def rendered(text: str) -> Seen:
    """Render as the most trusting renderer does: HTML is passed on."""
    return Seen(renderer().render(text))


def renderer() -> MarkdownIt:
    found = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    # It would not make links of these; others do, so the test must not depend on it.
    found.validateLink = lambda _url: True  # type: ignore[method-assign]
    return found


class TestMarkdown(ExporterContract):
    """Markdown."""

    name = "md"

    def validate(self, data: bytes, story: Story, /) -> None:
        seen = rendered(data.decode("utf-8"))
        assert seen.wrong == []
        assert seen.elements.count("h1") == 1
        assert seen.elements.count("h2") == sum(1 for _ in story.turns())
        assert seen.elements.count("details") == seen.elements.count("summary")

    def validate_hostile(self, data: bytes, story: Story, payload: str, /) -> None:
        self.validate(data, story)
        assert "img" not in rendered(data.decode("utf-8")).elements
        if hostile.MARK in payload:
            assert hostile.MARK.encode() in data


SIGNS = [
    *("`", "``", "```", "~~~", "<b>", "<img src=x onerror=y>", "</details>", "\n", "\n\n", "    ", "  "),
    *("- ", "1. ", "> ", "# ", "|", "a", "b\\", "[x](", "javascript:y", ")", "[r]: ", "[r]", "![", "]("),
    *("---", "===", "&lt;", "\\", "\t", "|-|-|", "*", "_", "<!--", "https://e.example/", "$", "\u00a0"),
    *("<", " ", "\n    ", "\n   ", "\n> ", "\n- "),
]
PIECES = st.sampled_from(SIGNS)


@settings(max_examples=30)
@given(st.lists(PIECES, max_size=24).map("".join))
def test_whatever_a_model_writes_is_only_what_it_may_be(text: str) -> None:
    seen = rendered(f"before\n\n{answer(text)}\n\nafter")
    assert seen.wrong == []
    assert {"h1", "h2", "h3"}.isdisjoint(seen.elements)


@settings(max_examples=30)
@given(st.lists(PIECES, max_size=24).map("".join))
def test_whatever_a_person_types_reads_as_they_typed_it(text: str) -> None:
    seen = rendered(md_escape.quote(text))
    assert set(seen.elements) <= {"blockquote", "p", "br"}
    shown = "".join(seen.text).replace("\u00a0", " ")
    assert "".join(shown.split()) == "".join(text.replace("\u00a0", " ").split())


@settings(max_examples=30)
@given(st.lists(PIECES, max_size=24).map("".join))
def test_code_is_code_to_its_last_sign(text: str) -> None:
    seen = rendered(f"before\n\n{md_escape.fence(text)}\n\nafter")
    assert [one for one in seen.elements if one != "p"] == ["pre", "code"]
    assert text.strip("\n") in "".join(seen.text)


@settings(max_examples=30)
@given(st.lists(PIECES, min_size=1, max_size=12).map("".join).filter(str.strip))
def test_code_within_a_line_is_code(text: str) -> None:
    assert set(rendered(f"a {md_escape.code(text)} b").elements) == {"p", "code"}


@pytest.mark.parametrize(
    ("given_", "told"),
    [
        ("# Plan", "#### Plan"),
        ("Plan\n===", "Plan\n\\==="),
        ("Use `<div>` here", "Use `<div>` here"),
        ("a <b> c", "a &lt;b> c"),
        ("[docs](https://a.example/b?c=d)", "[docs](https://a.example/b?c=d)"),
        ("[x](javascript:y)", "[x\\](javascript:y)"),
        ("b\\](# )", "b\\](# )"),
        ("![x](https://a.example/b.png)", "\\!\\[x](https://a.example/b.png)"),
        ("- [x] done", "- [x] done"),
        ("1. first\n   ```py\n   <x>\n   ```", "1. first\n\n   ```py\n   <x>\n   ```"),
        ("| a | b |\n|---|---|\n| `x` | 1 |", "| a | b |\n|---|---|\n| `x` | 1 |"),
        ("one\n\n---\n\ntwo", "one\n\n* * *\n\ntwo"),
    ],
)
def test_what_a_model_writes_keeps_its_shape(given_: str, told: str) -> None:
    assert answer(given_) == told


def test_a_fence_is_longer_than_any_inside() -> None:
    assert answer("````md\n```\nx\n```\n````") == "````md\n```\nx\n```\n````"
    assert md_escape.fence("```\nx\n```").startswith("````\n")
