"""Searches of the web by the API's own tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.cancel import Cancel
from clew.agent.tools.web_search import WebSearch
from clew.errors import ClewError
from clew.format.results_work import WebSearch as WebSearchView
from tests.agent.running.bench import work_in

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "Searching."},
    {
        "type": "server_tool_use",
        "id": "srvtoolu_01abc",
        "name": "web_search",
        "input": {"query": "clew thread"},
    },
    {
        "type": "web_search_tool_result",
        "tool_use_id": "srvtoolu_01abc",
        "content": [
            {
                "type": "web_search_result",
                "title": "One",
                "url": "https://one.example/",
                "encrypted_content": "x",
            },
            {
                "type": "web_search_result",
                "title": "Two",
                "url": "https://two.example/",
                "encrypted_content": "x",
            },
        ],
    },
    {"type": "text", "text": "Found "},
    {"type": "text", "text": "two.", "citations": []},
]


class Search:
    """Remembers what it was asked, and answers the same."""

    def __init__(self, blocks: Sequence[Mapping[str, Any]]) -> None:
        self.blocks = blocks
        self.asked: list[Mapping[str, Any]] = []

    def __call__(self, request: Mapping[str, object], cancel: Cancel) -> Sequence[Mapping[str, Any]]:
        assert isinstance(cancel, Cancel)
        self.asked.append(request)
        return self.blocks


def test_a_search_is_told_as_the_client_tells_it(tmp_path: Path) -> None:
    """2.1.325 wrote this for the same answer of the API, but for the last sentence."""
    search = Search(BLOCKS)
    outcome = WebSearch(search).run({"query": "clew thread"}, work_in(tmp_path))
    assert str(outcome.content).startswith(
        'Web search results for query: "clew thread"\n\nSearching.\n\n'
        'Links: [{"title":"One","url":"https://one.example/"},{"title":"Two","url":"https://two.example/"}]\n\n'
        "Found two.\n\n"
    )
    view = WebSearchView(outcome.structured)
    assert view.duration_seconds is not None
    assert {name: value for name, value in view.data.items() if name != "durationSeconds"} == {
        "query": "clew thread",
        "results": [
            "Searching.",
            {
                "tool_use_id": "srvtoolu_01abc",
                "content": [
                    {"title": "One", "url": "https://one.example/"},
                    {"title": "Two", "url": "https://two.example/"},
                ],
            },
            "Found two.",
        ],
        "searchCount": 1,
    }
    assert view.links == (("One", "https://one.example/"), ("Two", "https://two.example/"))


def test_the_request_is_the_one_the_api_takes(tmp_path: Path) -> None:
    search = Search(BLOCKS)
    WebSearch(search).run({"query": "clew", "allowed_domains": ["one.example"]}, work_in(tmp_path))
    tool = {
        "type": "web_search_20250305",
        "name": "web_search",
        "max_uses": 8,
        "allowed_domains": ["one.example"],
    }
    assert search.asked[0]["tools"] == [tool]
    assert search.asked[0]["tool_choice"] == {"type": "tool", "name": "web_search"}
    assert search.asked[0]["messages"][0]["content"][0]["text"].endswith("clew")


def test_an_error_of_the_search_is_told(tmp_path: Path) -> None:
    failed = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    search = Search([{"type": "web_search_tool_result", "tool_use_id": "s", "content": failed}])
    outcome = WebSearch(search).run({"query": "clew"}, work_in(tmp_path))
    assert "Web search error: max_uses_exceeded" in str(outcome.content)
    assert "No links found." in str(outcome.content)


@pytest.mark.parametrize(
    "blocks",
    [
        [],
        [{"type": "text"}],
        [{"type": "web_search_tool_result"}],
        [{"type": "web_search_tool_result", "content": ["x", None]}],
        [{}],
    ],
)
def test_an_odd_answer_is_told_as_far_as_it_goes(tmp_path: Path, blocks: list[dict[str, Any]]) -> None:
    outcome = WebSearch(Search(blocks)).run({"query": "clew"}, work_in(tmp_path))
    assert str(outcome.content).startswith("Web search results")


def test_an_api_that_refuses_is_told(tmp_path: Path) -> None:
    def refuse(request: Mapping[str, object], cancel: Cancel) -> Sequence[Mapping[str, Any]]:
        raise ClewError("the API is busy")

    outcome = WebSearch(refuse).run({"query": "clew"}, work_in(tmp_path))
    assert outcome.is_error
    assert "busy" in str(outcome.content)


@pytest.mark.parametrize(
    "given",
    [
        {}, {"query": ""}, {"query": " x "}, {"query": 3},
        {"query": "clew", "allowed_domains": "one.example"}, {"query": "clew", "blocked_domains": [3]},
        {"query": "clew", "allowed_domains": ["a.example"], "blocked_domains": ["b.example"]},
    ],
)  # fmt: skip
def test_wrong_input_is_told_and_nothing_is_searched(tmp_path: Path, given: dict[str, object]) -> None:
    search = Search(BLOCKS)
    tool = WebSearch(search)
    assert tool.run(given, work_in(tmp_path)).is_error
    assert tool.reach(given, work_in(tmp_path)).searches_web
    assert not search.asked
