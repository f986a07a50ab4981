"""What a watch tells, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format.blocks import Text, Thinking, ToolResult, ToolUse, blocks
from clew.format.records import Fragment
from clew.format.times import iso, milliseconds

if TYPE_CHECKING:
    from clew.actions.watching import Said
    from clew.format.blocks import Block
    from clew.format.entry import Entry


def document(said: Said) -> dict[str, object]:
    """Return a record, or bytes that are none, in the shape of `clew watch --jsonl`."""
    stream, item = said.stream, said.item
    found: dict[str, object] = {
        "session": stream.session,
        "agent": stream.agent,
        "path": stream.path,
        "line": item.number,
        "offset": item.offset,
    }
    if isinstance(item, Fragment):
        found |= {"uuid": None, "type": None, "kind": "damaged", "time": None}
        return {**found, "parts": (), "damage": item.damage, "length": item.length}
    facts = item.facts
    return {
        **found,
        "uuid": facts.uuid,
        "type": facts.role,
        "kind": facts.kind,
        "time": iso(milliseconds(facts.time)),
        "parts": [_part(block) for block in blocks(_content(item.decoded()))],
    }


def _content(entry: Entry) -> object:
    if entry.content is not None:
        return entry.content
    return entry.text("summary")


def _part(block: Block) -> dict[str, object]:
    found: dict[str, object] = {"type": block.type}
    match block:
        case Text() | Thinking():
            found["text"] = block.text
        case ToolUse():
            found |= {"id": block.id, "name": block.name, "input": dict(block.input)}
        case ToolResult():
            found |= {"id": block.tool_use_id, "is_error": block.is_error, "text": block.text()}
        case _:
            pass
    return found
