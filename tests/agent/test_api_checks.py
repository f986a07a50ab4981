"""What the API refuses: for each rule the smallest request that breaks it, and its nearest good neighbour."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import Any

import pytest

from clew.agent.api_checks import MOST_BYTES, MOST_IMAGE_BYTES, Refusal, refusal
from tests.agent.requests import (
    Json,
    answer,
    body,
    call,
    gif,
    image,
    jpeg,
    png,
    result,
    text,
    thinking,
    user,
    webp,
    without,
)

HI = user("hi")
PAIR = (HI, answer(call()), user(result()))
MARK = {"cache_control": {"type": "ephemeral"}}
FABLE = "claude-fable-5-1"

SERVER: Json = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND: Json = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
REDACTED: Json = {"type": "redacted_thinking", "data": "abc"}


NO_RESULT = (
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1. Each "
    "`tool_use` block must have a corresponding `tool_result` block in the next message."
)
NO_CALL = (
    "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each `tool_result` "
    "block must have a corresponding `tool_use` block in the previous message."
)
TWO_RESULTS = (
    "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks "
    "with id: t1"
)
NO_SERVER_CALL = (
    "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. "
    "Each `web_search_tool_result` block must have a corresponding `server_tool_use` block before it."
)
TOO_WIDE = (
    "messages.0.content.0.image.source.base64.data: At least one of the image dimensions exceed max "
    "allowed size: 8000 pixels"
)
TOO_WIDE_AMONG_MANY = (
    "messages.0.content.20.image.source.base64.data: At least one of the image dimensions exceed max "
    "allowed size for many-image requests: 2000 pixels"
)
NOT_TAKEN = (
    "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', "
    "'image/gif' or 'image/webp'"
)
OTHER_KIND = (
    "messages.0.content.0.image.source.base64: The image was specified using the image/jpeg media type, "
    "but the image appears to be a image/png image"
)


def at_5_mb(over: int) -> Json:
    """An image whose base64 text is just this much too long."""
    block = image(png())
    block["source"]["data"] += "A" * (MOST_IMAGE_BYTES + over - len(block["source"]["data"]))
    return block


# The name of the rule, what breaks it, what the API says, what is good again.
TABLE: list[tuple[str, Json, str, Json]] = [
    ("no model", without(body(HI), "model"), "model: Field required", body(HI)),
    ("no limit", without(body(HI), "max_tokens"), "max_tokens: Field required", body(HI)),
    ("no messages field", without(body(HI), "messages"), "messages: Field required", body(HI)),
    ("messages no list", {**body(), "messages": {}}, "messages: Input should be a valid list", body(HI)),
    ("no messages", body(), "messages: at least one message is required", body(HI)),
    (
        "a message that is none",
        {**body(), "messages": ["hi"]},
        "messages.0: Input should be a valid dictionary",
        body(HI),
    ),
    (
        "a role that is none",
        body({"role": ["user"], "content": "hi"}),
        "messages.0.role: Input should be 'user' or 'assistant'",
        body({"role": "user", "content": "hi"}),
    ),
    ("no content", body({"role": "user"}), "messages.0.content: Field required", body(HI)),
    (
        "content of another type",
        body({"role": "user", "content": 7}),
        "messages.0.content: Input should be a valid list",
        body({"role": "user", "content": "7"}),
    ),
    (
        "a field too many",
        body({**HI, "name": "x"}),
        "messages.0.name: Extra inputs are not permitted",
        body(HI),
    ),
    (
        "a block that is none",
        body({"role": "user", "content": ["hi"]}),
        "messages.0.content.0: Input should be a valid dictionary",
        body(HI),
    ),
    (
        "a block without a type",
        body(user({"text": "hi"})),
        "messages.0.content.0: Unable to extract tag using discriminator 'type'",
        body(user(text())),
    ),
    (
        "a block of a kind that does not exist",
        body(user(text(), {"type": "image_url"})),
        "messages.0.content.1: Input tag 'image_url' found using 'type' does not match any of the expected",
        body(user(text())),
    ),
    (
        "a block that cannot be in a result",
        body(HI, answer(call()), user(result(content=[call()]))),
        "messages.2.content.0.tool_result.content.0: Input tag 'tool_use' found",
        body(HI, answer(call()), user(result(content=[text()]))),
    ),
    (
        "a field too many in a block",
        body(HI, answer({**call(), "text": ""}), user(result())),
        "messages.1.content.0.tool_use.text: Extra inputs are not permitted",
        body(*PAIR),
    ),
    (
        "a text that is none",
        body(user({"type": "text", "text": None})),
        "messages.0.content.0.text.text: Input should be a valid string",
        body(HI),
    ),
    (
        "input that is no object",
        body(HI, answer({**call(), "input": "{}"}), user(result())),
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
        body(HI, answer({**call(), "input": {}}), user(result())),
    ),
    (
        "a call without a name",
        body(HI, answer({**call(), "name": ""}), user(result())),
        "messages.1.content.0.tool_use.name: String should have at least 1 character",
        body(*PAIR),
    ),
    (
        "a call without an id",
        body(HI, answer(without(call(), "id")), user(result())),
        "messages.1.content.0.tool_use.id: Field required",
        body(*PAIR),
    ),
    (
        "an id with other signs",
        body(HI, answer(call("a.b")), user(result("a.b"))),
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
        body(HI, answer(call("a_b")), user(result("a_b"))),
    ),
    (
        "an id with a line end",
        body(HI, answer(call("a\n")), user(result("a\n"))),
        "messages.1.content.0.tool_use.id: String should match pattern",
        body(HI, answer(call("a")), user(result("a"))),
    ),
    (
        "the system first",
        body({"role": "system", "content": "be"}, HI),
        'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, not',
        body(HI, {"role": "system", "content": "be"}),
    ),
    (
        "the system after an answer",
        body(HI, answer("a"), {"role": "system", "content": "be"}),
        "messages.2: role 'system' must follow a 'user' message",
        body(HI, answer("a"), HI, {"role": "system", "content": "be"}),
    ),
    (
        "the system before the user",
        body(HI, {"role": "system", "content": "be"}, HI),
        "messages.1: role 'system' must be followed by an 'assistant' message",
        body(HI, {"role": "system", "content": [], "output_config": {}}, answer("a"), HI),
    ),
    (
        "the system between a call and its result",
        body(HI, answer(call()), {"role": "system", "content": "be"}, user(result())),
        "messages.2: role 'system' must follow a 'user' message",
        body(*PAIR, {"role": "system", "content": "be"}),
    ),
    (
        "a message without content",
        body(HI, answer(), HI),
        "messages.1: all messages must have non-empty content except for the optional final assistant",
        body(HI, answer()),
    ),
    (
        "a message of no letters",
        body({"role": "user", "content": ""}),
        "messages.0: all messages must have non-empty content",
        body({"role": "user", "content": "x"}),
    ),
    (
        "an empty text",
        body(user("hi", "")),
        "messages: text content blocks must be non-empty",
        body(user("hi", " ")),
    ),
    (
        "an empty text beside a call",
        body(HI, answer("", call()), user(result())),
        "messages: text content blocks must be non-empty",
        body(*PAIR),
    ),
    (
        "a blank text alone",
        body(HI, answer("\n\n"), HI),
        "messages: text content blocks must contain non-whitespace text",
        body(HI, answer("\n\n", "a"), HI),
    ),
    (
        "a call of the user's",
        body(user(call())),
        "messages.0: `tool_use` blocks can only be in `assistant` messages",
        body(*PAIR),
    ),
    (
        "a result in an answer",
        body(HI, answer(call(), result())),
        "messages.1: `tool_result` blocks can only be in `user` messages",
        body(*PAIR),
    ),
    (
        "thinking of the user's",
        body(user(thinking(), "a")),
        "messages.0: `thinking` blocks can only be in `assistant` messages",
        body(HI, answer(thinking(), "a"), HI),
    ),
    (
        "a call without its result",
        body(HI, answer(call()), HI),
        NO_RESULT,
        body(HI, answer(call()), user(result(), "hi")),
    ),
    (
        "two calls, no results",
        body(HI, answer(call(), call("t2"), call("t3")), user(result("t2"))),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1, t3. Each",
        body(HI, answer(call(), call("t2"), call("t3")), user(result("t2"), result("t3"), result("t1"))),
    ),
    (
        "a call at the end",
        body(HI, answer(call())),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1.",
        body(*PAIR),
    ),
    (
        "a result a message late",
        body(HI, answer(call()), HI, answer("a"), user(result())),
        "messages.1: `tool_use` ids were found without",
        body(HI, answer(call()), user(result()), HI),
    ),
    (
        "a result behind other content",
        body(HI, answer(call()), user("hi", result())),
        "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: t1.",
        body(HI, answer(call()), user(result(), "hi")),
    ),
    (
        "a result without its call",
        body(user(result())),
        NO_CALL,
        body(*PAIR),
    ),
    (
        "a result of an older call",
        body(*PAIR, answer("a"), user("hi", result())),
        "messages.4.content.1: unexpected `tool_use_id` found in `tool_result` blocks: t1.",
        body(*PAIR, answer("a"), user("hi")),
    ),
    (
        "two results for one call",
        body(HI, answer(call()), user(result(), result())),
        TWO_RESULTS,
        body(HI, answer(call(), call("t2")), user(result(), result("t2"))),
    ),
    (
        "two calls under one id",
        body(HI, answer(call(), call()), user(result())),
        "messages.1.content.1: `tool_use` ids must be unique",
        body(HI, answer(call(), call("t2")), user(result(), result("t2"))),
    ),
    (
        "an id used again later",
        body(*PAIR, answer(call()), user(result())),
        "messages.3.content.0: `tool_use` ids must be unique",
        body(*PAIR, answer(call("t2")), user(result("t2"))),
    ),
    (
        "a result of the server's without its call",
        body(HI, answer(FOUND, "a"), HI),
        NO_SERVER_CALL,
        body(HI, answer(SERVER, FOUND, "a"), HI),
    ),
    (
        "thinking without a signature",
        body(HI, answer(without(thinking(), "signature"), "a"), HI),
        "messages.1.content.0.thinking.signature: Field required",
        body(HI, answer(thinking(), "a"), HI),
    ),
    (
        "thinking with an empty signature",
        body(HI, answer(thinking(signature=""), "a"), HI),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        body(HI, answer(thinking(words=""), "a"), HI),
    ),
    (
        "thinking without the field",
        body(HI, answer(without(thinking(), "thinking"), "a"), HI),
        "messages.1.content.0.thinking.thinking: Field required",
        body(HI, answer(thinking(words=""), "a"), HI),
    ),
    (
        "thinking at the end of an answer",
        body(HI, answer("a", thinking()), HI),
        "messages.1: The final block in an assistant message cannot be `thinking`.",
        body(HI, answer(thinking(), "a"), HI),
    ),
    (
        "redacted thinking alone",
        body(HI, answer(REDACTED), HI),
        "messages.1: The final block in an assistant message cannot be `redacted_thinking`.",
        body(HI, answer(REDACTED, "a"), HI),
    ),
    (
        "redacted thinking of nothing",
        body(HI, answer({**REDACTED, "data": ""}, "a"), HI),
        "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
        body(HI, answer(REDACTED, "a"), HI),
    ),
    (
        "an image too wide",
        body(user(image(png(8001, 1)))),
        TOO_WIDE,
        body(user(image(png(8000, 8000)))),
    ),
    (
        "an image too high in a result",
        body(HI, answer(call()), user(result(content=[text(), image(jpeg(1, 8001), "image/jpeg")]))),
        "messages.2.content.0.tool_result.content.1.image.source.base64.data: At least one of the image",
        body(HI, answer(call()), user(result(content=[text(), image(jpeg(1, 8000), "image/jpeg")]))),
    ),
    (
        "an image too wide among many",
        body(user(*[image(gif(), "image/gif")] * 20, image(webp(2001, 5), "image/webp"))),
        TOO_WIDE_AMONG_MANY,
        body(user(*[image(gif(), "image/gif")] * 19, image(webp(2001, 5), "image/webp"))),
    ),
    (
        "an image over 5 MB",
        body(user(at_5_mb(4))),
        "messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: 5242884 bytes > 5242880 bytes",
        body(user(at_5_mb(0))),
    ),
    (
        "too many images",
        body(user(*[image(png())] * 100, {"type": "document", "source": {"type": "text", "data": "x"}})),
        "too many images and documents: 100 + 1 > 100",
        body(user(*[image(png())] * 100)),
    ),
    (
        "an image of a kind not taken",
        body(user(image(png(), "image/bmp"))),
        NOT_TAKEN,
        body(user(image(png()))),
    ),
    (
        "an image of another kind than it says",
        body(user(image(png(), "image/jpeg"))),
        OTHER_KIND,
        body(user(image(jpeg(), "image/jpeg"))),
    ),
    ("an image cut off", body(user(image(png()[:20]))), "Could not process image", body(user(image(png())))),
    (
        "an image without a source",
        body(user({"type": "image", "source": "x"})),
        "messages.0.content.0.image.source: Input should be a valid dictionary",
        body(user(image(png()))),
    ),
    (
        "base64 that is none",
        body(user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A"}})),
        "messages.0.content.0.image.source.base64.data: Input should be valid base64",
        body(user({"type": "image", "source": {"type": "url", "url": "A"}})),
    ),
    (
        "five marks for the cache",
        body(
            user({**text(), **MARK}, {**text(), **MARK}, {**text(), **MARK}),
            system=[{**text(), **MARK}],
            tools=[{"name": "x", **MARK}],
        ),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
        body(user({**text(), **MARK}, {**text(), **MARK}), system=[{**text(), **MARK}], tools=[MARK]),
    ),
    (
        "a mark on an empty text",
        body(user("a", {**text(""), **MARK})),
        "messages.0.content.1.text: cache_control cannot be set for empty text blocks",
        body(user("a", {**text("b"), **MARK})),
    ),
    (
        "a mark on thinking",
        body(HI, answer({**thinking(), **MARK}, "a"), HI),
        "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
        body(HI, answer(thinking(), {**text(), **MARK}), HI),
    ),
    (
        "an answer begun with space at its end",
        body(HI, answer("title: ")),
        "messages: final assistant content cannot end with trailing whitespace",
        body(HI, answer("title:")),
    ),
    (
        "an answer begun for a model that takes none",
        body(HI, answer("title:"), model=FABLE),
        "This model does not support assistant message prefill. The conversation must end with a user",
        body(HI, answer("title:"), model="claude-sonnet-4-5"),
    ),
    (
        "half a character",
        body(user("a \ud83d b")),
        "The request body is not valid JSON: no low surrogate in string: line 1 column ",
        body(user("a \U0001f9f6 b")),
    ),
    (
        "the other half",
        body(HI, answer({**call(), "input": {"\udc00": 1}}), user(result())),
        "The request body is not valid JSON: ",
        body(*PAIR),
    ),
]


@pytest.mark.parametrize(("bad", "words"), [row[1:3] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_breaks_a_rule_is_refused_in_the_words_of_the_api(bad: Json, words: str) -> None:
    found = refusal(bad)
    assert found is not None
    assert (found.status, found.kind) == (400, "invalid_request_error")
    assert found.message.startswith(words)


@pytest.mark.parametrize("good", [row[3] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_nearest_good_neighbour_is_answered(good: Json) -> None:
    assert refusal(good) is None


GOOD: dict[str, Json] = {
    "an empty result": body(HI, answer(call()), user(result(content=""))),
    "an empty text in a result": body(HI, answer(call()), user(result(content=[text("")]))),
    "a result without content": body(HI, answer(call()), user(without(result(), "content"))),
    "a blank text in a result": body(HI, answer(call()), user(result(content=" "))),
    "an answer first": body(answer("a"), HI),
    "users in a row": body(HI, HI, HI),
    "answers in a row": body(HI, answer("a"), answer("b"), HI),
    "calls in answers in a row": body(HI, answer(call()), answer(call("t2")), user(result("t2"), result())),
    "results in users in a row": body(
        HI, answer(call(), call("t2")), user(result()), user(result("t2")), user("hi")
    ),
    "a call and words behind it": body(HI, answer(call(), "a"), user(result())),
    "thinking between calls": body(
        HI, answer(thinking(), call(), thinking("so"), call("t2")), user(result("t2"), result())
    ),
    "thinking behind words": body(HI, answer("a", thinking(), call()), user(result())),
    "the server's result an answer later": body(
        HI, answer(SERVER, call()), user(result()), answer(FOUND, "a"), HI
    ),
    "what the system says amid the messages": body(
        HI,
        {"role": "system", "content": [], "output_config": {"effort": "high"}},
        answer("a"),
        HI,
        model=FABLE,
    ),
    "a result that is an error": body(HI, answer(call()), user({**result(), "is_error": True})),
}


@pytest.mark.parametrize("good", GOOD.values(), ids=GOOD.keys())
def test_what_the_api_is_known_to_take_is_answered(good: Json) -> None:
    assert refusal(good) is None


def test_a_request_to_count_has_no_limit_of_tokens() -> None:
    counting = without(body(HI), "max_tokens")
    assert refusal(counting, counting=True) is None
    assert refusal(without(counting, "model"), counting=True) == Refusal(
        400, "invalid_request_error", "model: Field required"
    )


def test_empty_thinking_is_refused_on_demand() -> None:
    empty = body(HI, answer(thinking(words=""), "a"), HI)
    found = refusal(empty, takes_empty_thinking=False)
    assert found is not None
    assert found.message == "messages.1.content.0.thinking: each thinking block must contain thinking"
    assert refusal(body(HI, answer(thinking(), "a"), HI), takes_empty_thinking=False) is None


def test_a_body_that_is_too_large_is_refused_with_413() -> None:
    around = len(json.dumps(body(user("")), separators=(",", ":")))
    assert refusal(body(user("x" * (MOST_BYTES - around)))) is None
    assert refusal(body(user("x" * (MOST_BYTES - around + 1)))) == Refusal(
        413, "request_too_large", "Request exceeds the maximum size"
    )


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"a":"\\ud83d"}', "no low surrogate in string: line 1 column 7 (char 6)"),
        (b'{"a":NaN}', "unexpected character"),
        (b"", "Input is a zero-length, empty document"),
        (b'{"a":"\xff"}', "str is not valid UTF-8"),
    ],
)
def test_bytes_that_are_not_json_are_refused_with_the_place(raw: bytes, words: str) -> None:
    found = refusal({}, raw=raw)
    assert found is not None
    assert found.message.startswith(f"The request body is not valid JSON: {words}")


def test_bytes_that_are_no_object_are_refused() -> None:
    assert refusal({}, raw=b"[1]") == Refusal(
        400, "invalid_request_error", "Input should be a valid dictionary"
    )


def test_values_that_cannot_be_changed_are_judged_alike() -> None:
    frozen = MappingProxyType({**body(), "messages": tuple(MappingProxyType(m) for m in PAIR)})
    assert refusal(frozen) is None
    torn = MappingProxyType({**body(), "messages": tuple(MappingProxyType(m) for m in PAIR[:2])})
    assert refusal(torn) is not None


def test_what_nests_too_deep_is_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    found = refusal(body(HI, answer({**call(), "input": deep}), user(result())))
    assert found is not None
    assert "not valid JSON" in found.message
    while deep:  # taken apart by hand: freeing it at once would go as deep
        deep = deep.pop("a")
