"""The attributes say the same in the words of each family, as that family's own tools write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clew.session.session import Session
from clew.trace.spans import Options, SessionTraces
from tests.builder import Builder, call, image, text, thinking
from tests.trace.genai_rules import problems, refusals
from tests.trace.recorded import Case, cases

if TYPE_CHECKING:
    from clew.trace.span import Span

DATA = Path(__file__).parent.parent / "data" / "trace"
VERSIONS = sorted({case.name.split("/")[0] for case in cases()})


def story() -> list[Span]:
    """The spans of the first turn of the story that Langfuse's own SDK was told."""
    session = Session.read((DATA / "story.jsonl").read_bytes(), name="5b0c7c1e-6f1d-4a53-9d0e-2f6a7f3c9b10")
    return list(next(SessionTraces(session).turns()).spans())


def captured() -> list[dict[str, Any]]:
    return json.loads((DATA / "langfuse-attributes.json").read_bytes())["spans"]


def test_every_attribute_that_langfuses_sdk_sends_is_in_ours_with_the_same_value() -> None:
    # The SDK sends a span when it ends; ours come parents first.
    ours = {
        (span.label, span.attributes.get("tool.id"), span.attributes.get("gen_ai.response.id")): span
        for span in story()
    }
    theirs = captured()
    answers = iter(["msg_lamp1", "msg_lamp2"])
    calls = iter(["toolu_1", "toolu_2"])
    assert len(ours) == len(theirs) == 5
    for sent in theirs:
        kind = sent["attributes"]["langfuse.observation.type"]
        key = (
            sent["name"],
            next(calls) if kind == "tool" else None,
            next(answers) if kind == "generation" else None,
        )
        span = ours.pop(key)
        for name, value in sent["attributes"].items():
            told = span.attributes.get(name)
            assert (list(told) if isinstance(told, tuple) else told) == value, (key, name)
        assert (span.status == "error") == (sent["status"]["code"] == 2)
        assert span.status_message == sent["status"]["message"]


def test_what_langfuse_was_told_is_more_than_a_few_names() -> None:
    names = {name for sent in captured() for name in sent["attributes"]}
    for wanted in (
        "input",
        "output",
        "usage_details",
        "cost_details",
        "model.name",
        "level",
        "status_message",
    ):
        assert f"langfuse.observation.{wanted}" in names


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("limit", [64 * 1024, 600])
def test_all_messages_are_as_the_genai_conventions_want_them(version: str, limit: int) -> None:
    seen = 0
    for case in (case for case in cases() if case.name.startswith(f"{version}/")):
        for span in case.spans(Options(limit=limit)):
            for way in ("input", "output"):
                written = span.attributes.get(f"gen_ai.{way}.messages")
                if written is not None:
                    seen += 1
                    assert not problems(json.loads(str(written)), is_output=way == "output"), (
                        case.name,
                        written,
                    )
    assert seen > 100


def test_every_type_of_block_becomes_a_part_that_the_conventions_know() -> None:
    builder = Builder().prompt(
        [
            text("Look."),
            image(),
            {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
            {"type": "document", "source": {"type": "file", "file_id": "file_1"}},
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
            },
            {"type": "hologram", "light": 3},
            7,
        ]
    )
    builder.answer(
        thinking("Hm."),
        {"type": "redacted_thinking", "data": "xx"},
        {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "lamps"}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": "srv_1",
            "content": [{"type": "web_search_result"}],
        },
        text("Found."),
        call("t1"),
        stop="tool_use",
    )
    builder.result("t1", [text("a"), image()]).answer("So.", stop=None)
    (turn,) = SessionTraces(builder.session("s1")).turns()
    found: list[list[str]] = []
    for span in turn.spans():
        for way in ("input", "output"):
            if (written := span.attributes.get(f"gen_ai.{way}.messages")) and span.type == "generation":
                messages = json.loads(str(written))
                assert not problems(messages, is_output=way == "output")
                found.append([part["type"] for message in messages for part in message["parts"]])
    assert found == [
        ["text", "blob", "uri", "file", "blob", "unknown:hologram", "unknown:?"],
        ["reasoning", "server_tool_call", "server_tool_call_response", "text", "tool_call"],
        ["tool_call_response"],
        ["text"],
    ]


def test_a_generation_counts_the_cache_into_its_input_and_apart() -> None:
    told = next(span for span in story() if span.type == "generation").attributes
    assert told["gen_ai.usage.input_tokens"] == told["llm.token_count.prompt"] == 3 + 11 + 5 + 2
    assert told["gen_ai.usage.cache_read.input_tokens"] == 11
    assert told["gen_ai.usage.cache_creation.input_tokens"] == 7
    assert told["llm.token_count.prompt_details.cache_write"] == 7
    assert told["llm.token_count.total"] == 41


def test_phoenix_finds_what_it_looks_for_on_every_span() -> None:
    kinds = {"agent": "AGENT", "generation": "LLM", "tool": "TOOL"}
    for span in story():
        told = span.attributes
        assert told["openinference.span.kind"] == kinds[span.type]
        assert told["session.id"] == "5b0c7c1e-6f1d-4a53-9d0e-2f6a7f3c9b10"
        assert json.loads(str(told["metadata"]))["branch"] == "main"
        assert told["input.mime_type"] in ("text/plain", "application/json")
        if told["input.mime_type"] == "application/json":
            json.loads(str(told["input.value"]))
    first = next(span for span in story() if span.type == "generation").attributes
    assert first["llm.model_name"] == "claude-sonnet-4-5-20250929"
    assert first["llm.output_messages.0.message.content"] == "Let me look."
    assert (
        first["llm.output_messages.0.message.tool_calls.1.tool_call.function.arguments"]
        == '{"command":"ls cellar"}'
    )
    second = [span for span in story() if span.type == "generation"][1].attributes
    assert second["llm.input_messages.1.message.role"] == "tool"
    assert second["llm.input_messages.1.message.tool_call_id"] == "toolu_2"
    assert second["llm.input_messages.1.message.content"] == "no such folder"


def test_a_long_result_is_whole_with_its_call_and_short_where_it_is_answered() -> None:
    long = "x" * 50_000
    builder = Builder().prompt("Go.").answer(call("t1"), stop="tool_use").result("t1", long).answer("Done.")
    (turn,) = SessionTraces(builder.session("s1")).turns()
    _, _, tool, last = turn.spans()
    for name in ("gen_ai.tool.call.result", "langfuse.observation.output", "output.value"):
        assert tool.attributes[name] == long
    for name in (
        "gen_ai.input.messages",
        "langfuse.observation.input",
        "llm.input_messages.0.message.content",
    ):
        assert "[cut, 50000 characters in all]" in str(last.attributes[name])
        assert len(str(last.attributes[name])) < 5000


def test_spans_are_named_by_the_conventions() -> None:
    assert [(span.name, span.label, span.kind) for span in story()] == [
        ("invoke_agent claude-code", "Turn 1", "internal"),
        ("chat claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", "client"),
        ("execute_tool Read", "Read", "internal"),
        ("execute_tool Bash", "Bash", "internal"),
        ("chat claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250929", "client"),
    ]


def test_a_tool_that_failed_is_an_error_and_has_no_result_for_genai() -> None:
    bash = next(span for span in story() if span.label == "Bash")
    assert (bash.status, bash.attributes["error.type"]) == ("error", "tool_error")
    assert "gen_ai.tool.call.result" not in bash.attributes
    assert bash.attributes["output.value"] == "no such folder"


def test_a_model_without_a_price_has_tokens_and_no_cost() -> None:
    session = Builder().prompt("Go.").answer("Done.", model="tomorrow-9").session("s1")
    (turn,) = SessionTraces(session).turns()
    told = next(span for span in turn.spans() if span.type == "generation").attributes
    assert "llm.cost.total" not in told
    assert "langfuse.observation.cost_details" not in told
    assert told["gen_ai.usage.output_tokens"] == 1


@pytest.mark.parametrize("version", VERSIONS)
def test_every_span_of_every_version_carries_all_three_families(version: str) -> None:
    some: list[Case] = [case for case in cases() if case.name.startswith(f"{version}/")]
    for case in some:
        for span in case.spans():
            for family in ("gen_ai.operation.name", "langfuse.observation.type", "openinference.span.kind"):
                assert family in span.attributes
            assert span.attributes["langfuse.trace.metadata.client_version"]


def test_the_published_schemas_refuse_what_is_wrong() -> None:
    right: list[dict[str, object]] = [
        {"role": "assistant", "parts": [{"type": "text", "content": "a"}], "finish_reason": "stop"}
    ]
    assert not problems(right, is_output=True)
    wrongs: list[object] = [
        {},
        [{"role": "assistant", "parts": [{"type": "text", "content": "a"}]}],
        [{**right[0], "parts": "a"}],
        [{**right[0], "role": 1}],
        [{**right[0], "parts": [{"content": "a"}]}],
    ]
    for wrong in wrongs:
        assert refusals(wrong, is_output=True), wrong
