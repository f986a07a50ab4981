"""WebSearch: have the API search the web."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final, cast

from clew.agent.tool import Outcome, Reach
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import failed
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.agent.cancel import Cancel
    from clew.agent.tool import Work

_MOST_SEARCHES: Final = 8
_DESCRIPTION: Final = """\
Searches the web and returns titles, addresses and a summary of what was found.

- For what is newer than the model knows, and for what it does not know.
- `allowed_domains` restricts the search to some sites, `blocked_domains` leaves some out; not both at once.
- Name the sources, as Markdown links, in what is told from it."""


class WebSearch:
    """Searches by the API's own tool.

    `search` is given what the request is made of (messages, tools, the choice of one, a system prompt) and
    the wish to stop, and returns the content of the answer.
    """

    name = "WebSearch"
    description = _DESCRIPTION

    def __init__(self, search: Callable[[Mapping[str, object], Cancel], Sequence[Mapping[str, Any]]]) -> None:
        self._search = search

    @property
    def schema(self) -> Mapping[str, object]:
        """What its input looks like."""
        domains = {"type": "array", "items": {"type": "string"}}
        return {
            "type": "object",
            "properties": {
                "query": {"type": "string", "minLength": 2, "description": "What to search for"},
                "allowed_domains": {**domains, "description": "Only these sites"},
                "blocked_domains": {**domains, "description": "None of these sites"},
            },
            "required": ["query"],
            "additionalProperties": False,
        }

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Say that it changes nothing."""
        return True

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:  # noqa: ARG002
        """Say that it searches the web."""
        return Reach(searches_web=True)

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Search."""
        asked = Given(self.name, given, self.schema)
        query = asked.text("query")
        allowed = _domains(asked, given, "allowed_domains")
        blocked = _domains(asked, given, "blocked_domains")
        if allowed and blocked:
            asked.complain("Only one of `allowed_domains` and `blocked_domains` can be given")
        if "query" in given and len(query.strip()) < 2:
            asked.complain("The parameter `query` must have at least 2 characters")
        if asked.refusal is not None:
            return asked.refusal
        started = time.monotonic()
        try:
            blocks = self._search(_request(query, allowed, blocked), work.cancel)
        except ClewError as error:
            return failed(f"The web could not be searched: {error.message}")
        results = _results(blocks)
        searches = sum(1 for block in blocks if block.get("type") == "server_tool_use")
        structured = {
            "query": query,
            "results": results,
            "durationSeconds": time.monotonic() - started,
            "searchCount": searches,
        }
        return Outcome(_told(query, results), structured)


def _domains(asked: Given, given: Mapping[str, object], name: str) -> list[str]:
    value = given.get(name)
    if value is None:
        return []
    items = cast("list[object]", value) if isinstance(value, list) else [None]
    if not all(isinstance(one, str) for one in items):
        asked.complain(f"The parameter `{name}` type is expected as `array` of strings")
        return []
    return cast("list[str]", items)


def _request(query: str, allowed: list[str], blocked: list[str]) -> dict[str, object]:
    tool: dict[str, object] = {
        "type": "web_search_20250305",
        "name": "web_search",
        "max_uses": _MOST_SEARCHES,
    }
    if allowed:
        tool["allowed_domains"] = allowed
    if blocked:
        tool["blocked_domains"] = blocked
    return {
        "system": [{"type": "text", "text": "Search the web as asked, then say in short what was found."}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": f"Search the web for: {query}"}]}],
        "tools": [tool],
        "tool_choice": {"type": "tool", "name": "web_search"},
    }


def _results(blocks: Sequence[Mapping[str, Any]]) -> list[str | dict[str, object]]:
    """Return the hits of each search and the words between, in the form the client keeps."""
    found: list[str | dict[str, object]] = []
    for block in blocks:
        kind, content = block.get("type"), block.get("content")
        if kind == "text" and isinstance(block.get("text"), str) and block["text"]:
            last = found[-1] if found else None
            # An answer with sources comes in many pieces, one for each source.
            if isinstance(last, str):
                found[-1] = last + block["text"]
            else:
                found.append(block["text"])
        elif kind == "web_search_tool_result" and isinstance(content, list):
            hits = [_hit(one) for one in cast("list[object]", content)]
            found.append({"tool_use_id": block.get("tool_use_id"), "content": hits})
        elif kind == "web_search_tool_result":
            code = cast("dict[str, object]", content).get("error_code") if isinstance(content, dict) else None
            found.append({"tool_use_id": block.get("tool_use_id"), "content": []})
            found.append(f"Web search error: {code or 'unknown'}\n")
    return found


def _hit(found: object) -> dict[str, str]:
    hit = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    return {name: str(hit.get(name) or "") for name in ("title", "url")}


def _told(query: str, results: Sequence[str | Mapping[str, object]]) -> str:
    parts = [f'Web search results for query: "{query}"']
    for one in results:
        if isinstance(one, str):
            parts.append(one.strip())
        elif one["content"]:
            parts.append(f"Links: {json.dumps(one['content'], ensure_ascii=False, separators=(',', ':'))}")
        else:
            parts.append("No links found.")
    if not results:
        parts.append("Nothing was found.")
    return "\n\n".join((*parts, "Name the sources above, as Markdown links, in what you tell the person."))
