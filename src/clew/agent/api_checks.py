"""What the Messages API refuses in a request, said as it says it.

This is the independent judge of what the rest of the package writes: it knows JSON values alone and shares
no code with the rooms that read and edit sessions. Only the first thing found is told, as the API does; the
order among several is ours. Where the API is known to take something odd (an empty result of a tool, messages
of one role in a row, since the end of 2024 an answer first), so does this. What has not even the right form
is found in `api_shapes`.

Where the wording comes from. *Seen*: in public reports, word for word. *Form*: the API checks types with a
library whose messages are public; the place and the words follow it. *Ours*: no report was found.

| what is refused | wording |
|---|---|
| a body that is not JSON, half a surrogate pair in it | seen |
| a body over 32 MB (413) | seen |
| `messages`, `model`, `max_tokens` missing; a field of the wrong type | form |
| a block of a kind that does not exist; a field that does not exist | seen |
| no messages at all | ours |
| a system message at the start, or not after the user's, or not before an answer | seen; seen in part |
| a message without content, an empty text, a message whose texts are all blank | seen |
| an id of a call with other signs in it, two calls under one id | seen |
| a call without its result in the next message, or with a result behind other content | seen |
| a result without its call in the message before, two results for one call | seen |
| a result of the server's tool without its call | seen |
| calls outside answers; results, thinking in the wrong role | seen; ours |
| thinking without a signature, with an empty one, at the end of an answer | seen |
| redacted thinking without data | form; ours when it is empty |
| an image over 5 MB (as base64), over 8,000 pixels, over 2,000 among more than 20 | seen |
| an image of a kind not taken, or not of the kind it says; one that cannot be read | seen |
| base64 that is none | ours |
| more than 100 images and documents | seen |
| calls or results without any tools, if that is asked for | seen; newer models are known to answer |
| more than four `cache_control`, or one on an empty text or on thinking | seen; seen; form |
| an answer at the end that ends in space, or for a model that takes none | seen |

Not checked: that a prompt is too long for the model, that an answer amid calls begins with thinking (it
depends on model and date), which models may read each other's thinking, tools and their input, and whatever
else is not in the messages. Whether thinking comes back as it was given out is for `thinking_memory`.
"""

from __future__ import annotations

import binascii
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

import orjson

from clew.agent.api_shapes import (
    Placed,
    Refusal,
    RefusedError,
    Run,
    all_blocks,
    checked_messages,
    content,
    inner_blocks,
    need_string,
    refuse,
    runs,
)
from clew.agent.image_size import image_size

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Refusal", "refusal"]

MOST_BYTES: Final = 32 << 20
MOST_IMAGE_BYTES: Final = 5 << 20
MOST_PIXELS: Final = 8000
MANY_IMAGES: Final = 20
MOST_PIXELS_OF_MANY: Final = 2000
MOST_IMAGES: Final = 100
MOST_CACHE_MARKS: Final = 4

_MEDIA_TYPES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
_NO_PREFILL: Final = re.compile(r"claude-(?:(?:opus|sonnet)-4-[6-9]|[a-z]+-[5-9])(?![0-9])")

_ROLE_OF: Final = {
    "tool_use": "assistant",
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_result": "user",
}


def refusal(
    body: Mapping[str, object],
    *,
    raw: bytes | None = None,
    counting: bool = False,
    takes_empty_thinking: bool = True,
    needs_tools: bool = False,
) -> Refusal | None:
    """Say what the API would refuse about a request, or nothing when it would answer.

    `raw` is the body as it was sent; left out, it is made from `body`. `counting` is for a request to count
    tokens, which has no `max_tokens`. Newer models write signed thinking without words; with
    `takes_empty_thinking` off it is refused.

    With `needs_tools` calls are refused where the request has no tools. So did the API until 2025, and so do
    gateways before it; since 2026 it was seen to answer. Off, the messages alone are judged.
    """
    try:
        _bytes(_encoded(body) if raw is None else raw)
        for name in ("model", "messages") if counting else ("model", "max_tokens", "messages"):
            if name not in body:
                refuse(f"{name}: Field required")
        messages = checked_messages(body["messages"])
        _cache_marks(body)
        _images(messages)
        _order(messages)
        _texts(messages)
        _server_results(messages)
        _pairs(runs(messages))
        _thinking(runs(messages), takes_empty=takes_empty_thinking)
        _end(messages, str(body["model"]))
        if needs_tools:
            _tools(body, messages)
    except RefusedError as refused:
        return refused.refusal
    return None


def _bytes(raw: bytes) -> None:
    if len(raw) > MOST_BYTES:
        raise RefusedError(Refusal(413, "request_too_large", "Request exceeds the maximum size"))
    try:
        found: object = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        refuse(f"The request body is not valid JSON: {error}")
    if not isinstance(found, dict):
        refuse("Input should be a valid dictionary")


def _encoded(body: Mapping[str, object]) -> bytes:
    try:
        return orjson.dumps(body, default=_plain)
    except TypeError:  # half a surrogate pair, among others: written as a client would write it
        try:
            return json.dumps(body, default=_plain).encode()
        except RecursionError:
            refuse("The request body is not valid JSON: depth limit exceeded")


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, tuple):
        return list(cast("tuple[object, ...]", value))
    raise TypeError(type(value).__name__)


def _cache_marks(body: Mapping[str, object]) -> None:
    messages = cast("Sequence[Mapping[str, object]]", body["messages"])
    for block in all_blocks(messages):
        for path, value in inner_blocks(block):
            if value.get("cache_control") and value.get("text") == "":
                refuse(f"{path}: cache_control cannot be set for empty text blocks")
    marked: list[Any] = [*_listed(body, "tools"), *_listed(body, "system")]
    for block in all_blocks(messages):
        marked.append(block.value)
        if block.kind == "tool_result":
            marked += content(block.value)
    count = sum(bool(isinstance(one, Mapping) and cast("Any", one).get("cache_control")) for one in marked)
    if count > MOST_CACHE_MARKS:
        refuse(f"A maximum of {MOST_CACHE_MARKS} blocks with cache_control may be provided. Found {count}.")


def _listed(body: Mapping[str, object], name: str) -> Sequence[object]:
    found = body.get(name)
    return cast("Sequence[object]", found) if isinstance(found, list | tuple) else ()


def _images(messages: Sequence[Mapping[str, object]]) -> None:
    found = [each for block in all_blocks(messages) for each in inner_blocks(block)]
    images = [(path, value) for path, value in found if value.get("type") == "image"]
    documents = sum(value.get("type") == "document" for _, value in found)
    if len(images) + documents > MOST_IMAGES:
        refuse(f"too many images and documents: {len(images)} + {documents} > {MOST_IMAGES}")
    for path, value in images:
        source = cast("Mapping[str, object]", value.get("source"))
        if source.get("type") == "base64":
            _image(source, f"{path}.source.base64", many=len(images) > MANY_IMAGES)


def _image(source: Mapping[str, object], path: str, *, many: bool) -> None:
    need_string(source, "data", path)
    need_string(source, "media_type", path)
    data, media_type = str(source["data"]), str(source["media_type"])
    if media_type not in _MEDIA_TYPES:
        refuse(f"{path}.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'")
    if len(data) > MOST_IMAGE_BYTES:
        refuse(f"{path}: image exceeds 5 MB maximum: {len(data)} bytes > {MOST_IMAGE_BYTES} bytes")
    try:
        size = image_size(binascii.a2b_base64(data))
    except ValueError:
        refuse(f"{path}.data: Input should be valid base64")
    if size is None:
        refuse("Could not process image")
    if size.media_type != media_type:
        refuse(
            f"{path}: The image was specified using the {media_type} media type, but the image appears to "
            f"be a {size.media_type} image"
        )
    limit = MOST_PIXELS_OF_MANY if many else MOST_PIXELS
    if max(size.width, size.height) > limit:
        among = " for many-image requests" if many else ""
        refuse(
            f"{path}.data: At least one of the image dimensions exceed max allowed size{among}: "
            f"{limit} pixels"
        )


def _order(messages: Sequence[Mapping[str, object]]) -> None:
    if not messages:
        refuse("messages: at least one message is required")
    roles = [message["role"] for message in messages]
    if roles[0] == "system":
        refuse(
            'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter, '
            'not "system" as an input message role.'
        )
    for at, role in enumerate(roles):
        if role != "system":
            continue
        after_server = roles[at - 1] == "assistant" and _ends_in_server_tool(messages[at - 1])
        if roles[at - 1] != "user" and not after_server:
            refuse(f"messages.{at}: role 'system' must follow a 'user' message")
        if at + 1 < len(roles) and roles[at + 1] != "assistant":
            refuse(f"messages.{at}: role 'system' must be followed by an 'assistant' message")


def _ends_in_server_tool(message: Mapping[str, object]) -> bool:
    kinds = [str(cast("Mapping[str, object]", block).get("type")) for block in content(message)]
    kind = kinds[-1] if kinds else ""
    return kind == "server_tool_use" or kind.endswith("_tool_result")


def _texts(messages: Sequence[Mapping[str, object]]) -> None:
    for at, message in enumerate(messages):
        blocks = content(message)
        role = message["role"]
        if not blocks and role != "system" and not (role == "assistant" and at == len(messages) - 1):
            refuse(
                f"messages.{at}: all messages must have non-empty content except for the optional final "
                "assistant message"
            )
        texts = [str(b["text"]) for b in cast("list[Any]", blocks) if b["type"] == "text"]
        if "" in texts:
            refuse("messages: text content blocks must be non-empty")
        # One text with words in it is enough: the API takes blank ones beside it.
        if texts and not any(text.strip() for text in texts):
            refuse("messages: text content blocks must contain non-whitespace text")
        for block in cast("list[Any]", blocks):
            needed = _ROLE_OF.get(block["type"], role)
            if needed != role:
                refuse(f"messages.{at}: `{block['type']}` blocks can only be in `{needed}` messages")


def _server_results(messages: Sequence[Mapping[str, object]]) -> None:
    """What a tool of the server's gave needs its call before it, be it in an earlier message."""
    called: set[object] = set()
    for block in all_blocks(messages):
        if block.kind in {"server_tool_use", "mcp_tool_use"}:
            called.add(str(block.value.get("id")))
        elif block.kind.endswith("_tool_result"):
            call = str(block.value.get("tool_use_id"))
            if call not in called:
                use = "mcp_tool_use" if block.kind == "mcp_tool_result" else "server_tool_use"
                refuse(
                    f"{block.path}: unexpected `tool_use_id` found in `{block.kind}` blocks: {call}. "
                    f"Each `{block.kind}` block must have a corresponding `{use}` block before it."
                )


def _pairs(found: Sequence[Run]) -> None:
    """Every call has its one result at the start of the next message, and every result its call before it."""
    seen: set[str] = set()
    for at, run in enumerate(found):
        if run.role == "assistant":
            following = found[at + 1].blocks if at + 1 < len(found) else []
            _calls(run, following, seen)
        else:
            _results(run, found[at - 1].blocks if at else [])


def _calls(run: Run, following: Sequence[Placed], seen: set[str]) -> None:
    calls = [block for block in run.blocks if block.kind == "tool_use"]
    for block in calls:
        call = str(block.value["id"])
        if call in seen:
            refuse(f"{block.path}: `tool_use` ids must be unique")
        seen.add(call)
    answered: set[object] = set()
    for block in following:
        if block.kind != "tool_result":
            break  # results come first; those behind other content are not looked for
        answered.add(block.value["tool_use_id"])
    missing = [block for block in calls if block.value["id"] not in answered]
    if missing:
        names = ", ".join(str(block.value["id"]) for block in missing)
        refuse(
            f"messages.{missing[0].message}: `tool_use` ids were found without `tool_result` blocks "
            f"immediately after: {names}. Each `tool_use` block must have a corresponding `tool_result` "
            "block in the next message."
        )


def _results(run: Run, previous: Sequence[Placed]) -> None:
    called = {block.value["id"] for block in previous if block.kind == "tool_use"}
    answered: set[object] = set()
    for block in run.blocks:
        if block.kind != "tool_result":
            continue
        call = block.value["tool_use_id"]
        if call not in called:
            refuse(
                f"{block.path}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. Each "
                "`tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        if call in answered:
            refuse(
                f"{block.path}: each tool_use must have a single result. Found multiple `tool_result` "
                f"blocks with id: {call}"
            )
        answered.add(call)


def _thinking(found: Sequence[Run], *, takes_empty: bool) -> None:
    for run in found:
        for block in run.blocks:
            if block.kind == "thinking" and not block.value["signature"]:
                refuse(f"{block.path}: Invalid `signature` in `thinking` block")
            if block.kind == "thinking" and not takes_empty and not block.value["thinking"]:
                refuse(f"{block.path}.thinking: each thinking block must contain thinking")
            if block.kind == "redacted_thinking" and not block.value["data"]:
                refuse(f"{block.path}: Invalid `data` in `redacted_thinking` block")
        last = run.blocks[-1] if run.blocks else None
        if run.role == "assistant" and last and last.kind in {"thinking", "redacted_thinking"}:
            refuse(
                f"messages.{last.message}: The final block in an assistant message cannot be `{last.kind}`."
            )


def _tools(body: Mapping[str, object], messages: Sequence[Mapping[str, object]]) -> None:
    calls = any(block.kind in {"tool_use", "tool_result"} for block in all_blocks(messages))
    if calls and not _listed(body, "tools"):
        refuse("Requests which include `tool_use` or `tool_result` blocks must define tools.")


def _end(messages: Sequence[Mapping[str, object]], model: str) -> None:
    last = messages[-1]
    if last["role"] != "assistant":
        return
    if _NO_PREFILL.match(model):
        refuse(
            "This model does not support assistant message prefill. The conversation must end with a user "
            "message."
        )
    blocks = cast("list[Any]", content(last))
    if blocks and blocks[-1]["type"] == "text" and blocks[-1]["text"] != blocks[-1]["text"].rstrip():
        refuse("messages: final assistant content cannot end with trailing whitespace")
