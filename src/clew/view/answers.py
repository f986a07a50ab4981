"""A message of the model as parts: what it said, thought and called, block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format.blocks import (
    Document,
    RedactedThinking,
    ServerToolResult,
    ServerToolUse,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from clew.session.messages import blocks_of
from clew.view import parts
from clew.view.calls import server_call, stray_call
from clew.view.pictures import picture
from clew.view.texts import one_line
from clew.view.tools.plainly import content, unknown_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clew.format.blocks import Block
    from clew.session.calls import Call
    from clew.session.messages import Message
    from clew.session.session import Session

Place = tuple[int, int]
"""A message's row, and which of its blocks."""


def message_parts(
    session: Session,
    message: Message,
    calls: Mapping[int, Sequence[Call]],
    *,
    call_part: Callable[[Call], parts.Call],
    last: Place | None,
) -> Iterator[parts.Flow]:
    """Give the parts of a message. `calls` are by row; `last` is the block that ends its turn's answers."""
    found = blocks_of(session, message)
    if message.is_api_error:
        yield _error(session, message, found)
        return
    if (message.is_synthetic or message.is_meta) and not _has_call(found):
        yield from _of_client(session, message, found)
        return
    pending = {(call.row, call.id): call for row in message.rows for call in calls.get(row, ()) if call.id}
    loose = [call for row in message.rows for call in calls.get(row, ()) if not call.id]
    answered = {
        block.tool_use_id: block
        for _, block in found
        if isinstance(block, ServerToolResult) and block.tool_use_id
    }
    served = {block.id for _, block in found if isinstance(block, ServerToolUse)}
    for at, (row, block) in enumerate(found):
        match block:
            case ServerToolUse():
                yield server_call(session, row, block, answered.get(block.id) if block.id else None)
            case ToolUse():
                call = _take(pending, loose, row, block)
                yield stray_call(session, row, block) if call is None else call_part(call)
            case ServerToolResult() if block.tool_use_id in served:
                pass
            case ToolResult():
                yield parts.Note("a result without its call", tuple(content(block.content)))
            case _:
                made = _said(session, message, row, block, is_last=(message.row, at) == last)
                if made is not None:
                    yield made


def _has_call(found: Sequence[tuple[int, Block]]) -> bool:
    return any(isinstance(block, ToolUse) for _, block in found)


def _take(pending: dict[tuple[int, str], Call], loose: list[Call], row: int, block: ToolUse) -> Call | None:
    """Return the call of a block; calls without an id are taken in their order."""
    if block.id:
        exact = pending.pop((row, block.id), None)
        if exact is not None:
            return exact
        # Of a line written twice the first counts for the call and the last for the message.
        key = next((key for key in pending if key[1] == block.id), None)
        return None if key is None else pending.pop(key)
    at = next((at for at, call in enumerate(loose) if call.row == row), None)
    return None if at is None else loose.pop(at)


def _said(session: Session, message: Message, row: int, block: Block, *, is_last: bool) -> parts.Flow | None:
    entry = session.entry(row)
    match block:
        case Text():
            if not block.text.strip():
                return None
            inner: parts.Part = parts.Markdown(block.text)
        case Thinking():
            return parts.Thinking(block.text, uuid=entry.uuid, is_encrypted=not block.text.strip())
        case RedactedThinking():
            return parts.Thinking("", uuid=entry.uuid, is_encrypted=True)
        case Document():
            inner = picture(block)
        case _:
            return unknown_block(block)
    return parts.Answer(
        (inner,),
        uuid=entry.uuid,
        time=session.table.time_of(row),
        model=message.model,
        is_last=is_last,
    )


def _error(session: Session, message: Message, found: Sequence[tuple[int, Block]]) -> parts.Answer:
    first = message.rows[0]
    return parts.Answer(
        tuple(_plain(found)),
        uuid=session.entry(first).uuid,
        time=session.table.time_of(first),
        is_error=True,
    )


def _of_client(
    session: Session, message: Message, found: Sequence[tuple[int, Block]]
) -> Iterator[parts.Note]:
    """Give what the client wrote in the model's place, such as that no answer was asked for."""
    inner = tuple(_plain(found))
    if inner:
        first = message.rows[0]
        said = next((one.text for one in inner if isinstance(one, parts.Text)), "")
        yield parts.Note(
            one_line(f"the client answered: {said}", longest=200),
            inner,
            uuid=session.entry(first).uuid,
            time=session.table.time_of(first),
            is_meta=True,
        )


def _plain(found: Sequence[tuple[int, Block]]) -> Iterator[parts.Part]:
    for _, block in found:
        match block:
            case Text():
                if block.text.strip():
                    yield parts.Text(block.text)
            case Thinking():
                yield parts.Text(block.text, is_muted=True)
            case Document():
                yield picture(block)
            case _:
                yield unknown_block(block)


def last_answer(session: Session, messages: Sequence[Message]) -> Place | None:
    """Return the block with the last words of some messages, such as a turn's."""
    for message in reversed(messages):
        if message.is_api_error or message.is_synthetic or message.is_meta:
            continue
        found = blocks_of(session, message)
        for at in range(len(found) - 1, -1, -1):
            block = found[at][1]
            if isinstance(block, Text) and block.text.strip():
                return message.row, at
    return None
