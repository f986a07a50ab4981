"""A session as messages of the Chat Completions API: one line `{"messages": […], "tools": […]}`.

So a file is one request's messages and one line of a data set. Thinking has no place there and is left out,
and so are what a compaction said of turns that are there themselves and errors in the place of answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.export.dialogue import Answered, dialogue, told, words_of
from clew.export.json_bytes import json_pieces, json_text
from clew.export.tool_lists import function_name, functions
from clew.format.blocks import Document, Image

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.export.dialogue import Called, Said
    from clew.export.options import Options
    from clew.export.story import Story
    from clew.format.blocks import Block


def write(story: Story, options: Options) -> Iterator[bytes]:  # noqa: ARG001  # the same for all exporters
    """Give the line."""
    document: dict[str, object] = {"messages": _messages(story)}
    names = [call.name or "unknown" for turn in story.cuts for call in turn.calls]
    if names:
        document["tools"] = functions(names)
    return json_pieces(document)


def _messages(story: Story) -> Iterator[dict[str, object]]:
    for spoken in dialogue(story.session, story.cuts):
        if isinstance(spoken, Answered):
            if not spoken.message.is_api_error:
                yield from _answer(spoken)
        elif not spoken.is_summary:
            yield _prompt(spoken)


def _prompt(said: Said) -> dict[str, object]:
    return {"role": "user", "content": _content(said.blocks)}


def _content(blocks: Iterable[Block]) -> str | list[dict[str, object]]:
    parts = [_part(block) for block in blocks]
    if all(part["type"] == "text" for part in parts):
        return "\n".join(str(part["text"]) for part in parts)
    return parts


def _part(block: Block) -> dict[str, object]:
    # A picture that is elsewhere is one the model saw; its address is text here, and fetched by nobody.
    if isinstance(block, Image) and block.base64 is not None:
        url = f"data:{block.media_type or 'image/png'};base64,{block.base64}"
        return {"type": "image_url", "image_url": {"url": url}}
    if isinstance(block, Document) and not isinstance(block, Image) and block.base64 is not None:
        data = f"data:{block.media_type or 'application/pdf'};base64,{block.base64}"
        return {"type": "file", "file": {"filename": block.title or "document", "file_data": data}}
    return {"type": "text", "text": words_of(block)}


def _answer(answered: Answered) -> Iterator[dict[str, object]]:
    message: dict[str, object] = {"role": "assistant"}
    text = answered.text
    if not text and not answered.calls:
        return  # it only thought
    message["content"] = text if text or not answered.calls else None
    if answered.calls:
        message["tool_calls"] = [_call(call) for call in answered.calls]
    yield message
    # Each call has its result, before anything else is said.
    pictures: list[Block] = []
    for call in answered.calls:
        yield {"role": "tool", "tool_call_id": call.id, "content": told(call.result)}
        pictures += (block for block in call.result or () if isinstance(block, Document) and block.base64)
    if pictures:
        # A tool's message holds only text; what it showed comes in the next one.
        yield {"role": "user", "content": [_part(block) for block in pictures]}


def _call(call: Called) -> dict[str, object]:
    function = {"name": function_name(call.name), "arguments": json_text(dict(call.input))}
    return {"id": call.id, "type": "function", "function": function}
