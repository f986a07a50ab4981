"""New lines look as the client's do, and keep to the profile every version reads alike."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from clew.format import compose
from clew.format.compose import Chain, Envelope, Link
from clew.format.times import milliseconds
from tests.format.samples import recorded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

ENVELOPE = Envelope("sid", "/home/user/maze", "2.1.325", git_branch="main", entrypoint="cli")
LINK = Link("u", "p", "2026-01-02T03:04:05.678Z")
USAGE = {"input_tokens": 1, "output_tokens": 2}


def lines() -> dict[str, bytes]:
    """One line of each sort, by the kind the client's own lines go by."""
    chain = Chain(after=1_767_323_045_678)
    made = {
        "user": compose.user(ENVELOPE, chain.link("1", 0), "find the way", permission_mode="default"),
        "assistant": compose.assistant(
            ENVELOPE,
            chain.link("2", 0),
            [{"type": "tool_use", "id": "c", "name": "Read", "input": {}}],
            message_id="m",
            model="x",
            stop_reason="tool_use",
            usage=USAGE,
            request_id="r",
        ),
        "results": compose.results(
            ENVELOPE,
            chain.link("3", 0),
            [compose.tool_result("c", "text")],
            structured={"a": 1},
            source_uuid="2",
        ),
    }
    link, before = chain.cut("4", 0)
    made["boundary"] = compose.compact_boundary(ENVELOPE, link, follows=before, trigger="auto", pre_tokens=9)
    made["summary"] = compose.compact_summary(ENVELOPE, chain.link("5", 0), "so far")
    return made


@pytest.mark.parametrize("name", sorted(lines()))
def test_a_line_is_compact_json_with_a_newline(name: str) -> None:
    raw = lines()[name]
    assert raw == json.dumps(json.loads(raw), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def of_client(kind: str) -> list[dict[str, Any]]:
    """Lines that version 2.1.150 wrote, by the names above; synthetic ones have an order of their own."""
    kinds: dict[str, Callable[[Mapping[str, Any]], bool]] = {
        "user": lambda data: data["type"] == "user" and "permissionMode" in data,
        "results": lambda data: data["type"] == "user" and "sourceToolAssistantUUID" in data,
        "assistant": lambda data: data["type"] == "assistant" and data["message"]["model"] != "<synthetic>",
        "boundary": lambda data: data.get("subtype") == "compact_boundary",
        "summary": lambda data: "isCompactSummary" in data,
    }
    return [dict(one.data) for one in recorded() if one.version == "2.1.150" and kinds[kind](one.data)]


@pytest.mark.parametrize("name", sorted(lines()))
def test_the_keys_are_in_the_order_of_the_client(name: str) -> None:
    ours = list(json.loads(lines()[name]))
    theirs = of_client(name)
    assert theirs
    for data in theirs:
        shared = [key for key in data if key in ours]
        assert shared == [key for key in ours if key in data]
    assert set(ours) <= {key for data in theirs for key in data}


def test_lines_hang_on_each_other_and_times_grow() -> None:
    made = [json.loads(raw) for raw in lines().values()]
    assert [one["parentUuid"] for one in made] == [None, "1", "2", None, "4"]
    assert made[3]["logicalParentUuid"] == "3"
    times = [milliseconds(one["timestamp"]) for one in made]
    assert times == sorted(set(times), key=lambda time: time or 0)


def test_a_chain_takes_the_time_it_is_given_unless_that_is_not_later() -> None:
    chain = Chain(parent="p", after=1000)
    first = chain.link("a", 5000)
    second = chain.link("b", 5000)
    third = chain.link("c", 10)
    assert [milliseconds(one.timestamp) for one in (first, second, third)] == [5000, 5001, 5002]
    assert [one.parent for one in (first, second, third)] == ["p", "a", "b"]
    assert Chain().link("a", -5).timestamp == "1969-12-31T23:59:59.995Z"
    with pytest.raises(ValueError, match="no time"):
        Chain().link("a", 10**18)


def test_a_prompt_may_be_words_or_blocks_and_meta() -> None:
    block = {"type": "text", "text": "x"}
    data = json.loads(compose.user(ENVELOPE, LINK, [block], is_meta=True))
    assert data["message"] == {"role": "user", "content": [block]}
    assert data["isMeta"] is True
    assert "permissionMode" not in data


def test_the_content_of_the_model_is_always_a_list() -> None:
    data = json.loads(
        compose.assistant(
            ENVELOPE,
            LINK,
            ({"type": "text", "text": "x"},),
            message_id="m",
            model="x",
            stop_reason=None,
            usage=USAGE,
        )
    )
    assert data["message"]["content"] == [{"type": "text", "text": "x"}]
    assert data["message"]["usage"] == USAGE
    assert "requestId" not in data


def test_usage_is_written_so_that_peers_find_it() -> None:
    assert b'"usage":{' in lines()["assistant"]


def test_a_result_is_an_error_only_where_it_says_so() -> None:
    assert compose.tool_result("c", "x") == {"tool_use_id": "c", "type": "tool_result", "content": "x"}
    assert compose.tool_result("c", ({"type": "text"},), is_error=True)["content"] == [{"type": "text"}]
    assert compose.tool_result("c", "x", is_error=True)["is_error"] is True
    bare = json.loads(compose.results(ENVELOPE, LINK, [compose.tool_result("c", "x")]))
    assert "toolUseResult" not in bare
    assert "sourceToolAssistantUUID" not in bare


def test_empty_content_is_refused() -> None:
    with pytest.raises(ValueError, match="words or blocks"):
        compose.user(ENVELOPE, LINK, "")
    with pytest.raises(ValueError, match="words or blocks"):
        compose.results(ENVELOPE, LINK, [])
    with pytest.raises(ValueError, match="at least one block"):
        compose.assistant(ENVELOPE, LINK, [], message_id="m", model="x", stop_reason=None, usage={})


def test_a_compaction_hangs_on_nothing() -> None:
    with pytest.raises(ValueError, match="hangs on nothing"):
        compose.compact_boundary(ENVELOPE, LINK, follows="p")
    link, before = Chain().cut("u", 0)
    data = json.loads(compose.compact_boundary(ENVELOPE, link, follows=before))
    assert (data["parentUuid"], "logicalParentUuid" in data) == (None, False)
    assert data["compactMetadata"] == {"trigger": "manual", "preTokens": 0}


def test_lines_of_a_sub_agent_are_marked() -> None:
    agent = Envelope("sid", "/c", "2.1.325", agent_id="a1", slug="quiet-lamp")
    data = json.loads(compose.user(agent, LINK, "x"))
    assert (data["isSidechain"], data["agentId"], data["slug"]) == (True, "a1", "quiet-lamp")
    assert "gitBranch" not in data


def test_titles_and_hints_are_written_as_the_client_does() -> None:
    assert (
        compose.custom_title("sid", "é")
        == '{"type":"custom-title","customTitle":"é","sessionId":"sid"}\n'.encode()
    )
    assert compose.last_prompt("sid", "x", "u") == (
        b'{"type":"last-prompt","lastPrompt":"x","leafUuid":"u","sessionId":"sid"}\n'
    )
    assert json.loads(compose.last_prompt("sid", "x", "u", is_explicit=True))["explicit"] is True
    assert compose.summary("x", "u") == b'{"type":"summary","summary":"x","leafUuid":"u"}\n'


def test_half_a_character_is_never_written() -> None:
    raw = compose.user(ENVELOPE, LINK, "a\ud83d b\ud83d\ude80")
    assert json.loads(raw)["message"]["content"] == "a\ufffd b🚀"
