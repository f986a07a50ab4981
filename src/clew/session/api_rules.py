"""What the Messages API itself would refuse in a conversation: sent is not yet accepted.

The rules are those that have bricked sessions: pairing of calls and results, empty texts, thinking that
cannot be checked, images too large, half characters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from clew.format.blocks import Image, ToolResult, blocks
from clew.format.decode import has_lone_surrogate
from clew.format.entry import as_mapping

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MOST_IMAGE_BYTES: Final = 5 << 20
"""Of its base64 text, not of what that stands for."""

MOST_IMAGE_PIXELS: Final = 8000
MANY_IMAGES: Final = 20
MOST_PIXELS_OF_MANY: Final = 2000


@dataclass(frozen=True, slots=True)
class ApiProblem:
    """One thing the API would answer with an error, and the message it is in."""

    code: str
    message: int
    """The index of the message."""

    detail: str


def api_problems(messages: Sequence[Mapping[str, Any]]) -> tuple[ApiProblem, ...]:
    """List what the API would refuse in `messages`, in order."""
    found = [problem for at in range(len(messages)) for problem in _of(messages, at)]
    found.extend(_images(messages))
    return tuple(sorted(found, key=lambda problem: problem.message))


def _of(messages: Sequence[Mapping[str, Any]], at: int) -> Iterator[ApiProblem]:
    message = messages[at]
    content = _content(message)
    if not content:
        yield ApiProblem("empty-message", at, "a message without content")
    if message.get("role") == "assistant":
        yield from _calls(messages, at, content)
    else:
        yield from _results(messages, at, content)
    for block in content:
        kind = block.get("type")
        if kind == "text" and not str(block.get("text") or "").strip():
            yield ApiProblem("empty-text", at, "a text block without words")
        if kind == "thinking" and not block.get("signature"):
            yield ApiProblem("unsigned-thinking", at, "thinking without a signature")
        if kind == "thinking" and block.get("signature") and not block.get("thinking"):
            yield ApiProblem("empty-thinking", at, "thinking without words; some models refuse it")
        if has_lone_surrogate(block):
            yield ApiProblem("lone-surrogate", at, f"half a character in a {kind} block")


def _calls(
    messages: Sequence[Mapping[str, Any]], at: int, content: list[Mapping[str, Any]]
) -> Iterator[ApiProblem]:
    """Every call needs its result in the next message."""
    following = _content(messages[at + 1]) if at + 1 < len(messages) else []
    answered = {_ref(block, "tool_use_id") for block in following if block.get("type") == "tool_result"}
    seen: set[str] = set()
    for block in content:
        if block.get("type") != "tool_use":
            continue
        call = _ref(block, "id")
        if call in seen:
            yield ApiProblem("repeated-call", at, f"two calls under the id {call}")
        seen.add(call)
        if call not in answered:
            yield ApiProblem("unpaired-call", at, f"no result for the call {call}")


def _results(
    messages: Sequence[Mapping[str, Any]], at: int, content: list[Mapping[str, Any]]
) -> Iterator[ApiProblem]:
    """Every result needs its call in the message before, and results come before anything else."""
    previous = _content(messages[at - 1]) if at else []
    called = {_ref(block, "id") for block in previous if block.get("type") == "tool_use"}
    seen: set[str] = set()
    other = False
    for block in content:
        if block.get("type") != "tool_result":
            other = True
            continue
        call = _ref(block, "tool_use_id")
        if call not in called:
            yield ApiProblem("unpaired-result", at, f"no call for the result {call}")
        if call in seen:
            yield ApiProblem("repeated-result", at, f"two results for the call {call}")
        if other:
            yield ApiProblem("result-order", at, f"the result {call} comes after other content")
        seen.add(call)


def _images(messages: Sequence[Mapping[str, Any]]) -> Iterator[ApiProblem]:
    images = [
        (at, image) for at, message in enumerate(messages) for image in _images_in(message.get("content"))
    ]
    limit = MOST_PIXELS_OF_MANY if len(images) > MANY_IMAGES else MOST_IMAGE_PIXELS
    for at, image in images:
        size = image.size
        if size is not None and max(size) > limit:
            detail = f"an image of {size[0]} × {size[1]} pixels; at most {limit} here"
            yield ApiProblem("image-too-large", at, detail)
        sent = len(image.base64 or "")
        if sent > MOST_IMAGE_BYTES:
            yield ApiProblem("image-too-large", at, f"an image of {sent:,} bytes in base64; at most 5 MB")


def _images_in(content: object) -> Iterator[Image]:
    """Give the images among blocks and inside results; they stand nowhere else."""
    for block in blocks(content):
        inner = block.content if isinstance(block, ToolResult) else (block,)
        yield from (part for part in inner if isinstance(part, Image))


def _content(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [as_mapping(block) for block in cast("list[object]", content)] if isinstance(content, list) else []


def _ref(block: Mapping[str, Any], name: str) -> str:
    """Return the id a block goes by; what is no string goes by how it looks."""
    value = block.get(name)
    return value if isinstance(value, str) else repr(value)
