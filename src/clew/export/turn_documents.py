"""A turn as a document for programs: the shape of `clew show --json`, with what each message and turn cost.

The long lists in a document are iterators: a turn is put together as it is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format.times import iso
from clew.session.calls import call_block, result_block, structured
from clew.session.messages import blocks_of
from clew.session.prompts import read as read_prompt
from clew.session.spending import spent, turn_spent

if TYPE_CHECKING:
    from clew.session.calls import Call
    from clew.session.messages import Message
    from clew.session.pricing import Tokens
    from clew.session.session import Session
    from clew.session.turns import Turn


def turn_document(session: Session, turn: Turn, *, with_thinking: bool = True) -> dict[str, object]:
    """Return a turn; its messages and calls are iterators, for one use."""
    prompt = None if turn.prompt_row is None else session.entry(turn.prompt_row)
    total = turn_spent(session, turn)
    return {
        "n": turn.n,
        "uuid": None if prompt is None else prompt.uuid,
        "round": turn.round,
        "input_kind": turn.input_kind,
        "prompt": None if prompt is None else read_prompt(prompt).words,
        "started": iso(turn.started),
        "ended": iso(turn.ended),
        "duration_ms": turn.duration_ms,
        "messages": (_message(session, message, with_thinking) for message in turn.messages),
        "calls": (_call(session, call) for call in turn.calls),
        "tokens": tokens_document(total.tokens),
        "cost_usd": total.cost_usd,
        "status": turn.status,
    }


def _message(session: Session, message: Message, with_thinking: bool) -> dict[str, object]:
    cost = spent(session, message)
    found = (block for _, block in blocks_of(session, message))
    return {
        "id": message.id,
        "uuids": [session.entry(row).uuid for row in message.rows],
        "request_id": message.request_id,
        "model": message.model,
        "stop_reason": message.stop_reason,
        "blocks": [
            block.raw
            for block in found
            if with_thinking or block.type not in {"thinking", "redacted_thinking"}
        ],
        "tokens": tokens_document(cost.tokens),
        "cost_usd": cost.cost_usd,
    }


def _call(session: Session, call: Call) -> dict[str, object]:
    result = result_block(session, call)
    return {
        "id": call.id,
        "uuid": session.entry(call.row).uuid,
        "result_uuid": None if call.result_row is None else session.entry(call.result_row).uuid,
        "name": call.name,
        "input": call_block(session, call).data.get("input"),
        "result": None if result is None else result.data.get("content"),
        "structured": structured(session, call),
        "is_error": call.is_error,
        "duration_ms": call.duration_ms,
        "agent_id": call.agent_id,
    }


def tokens_document(tokens: Tokens) -> dict[str, int]:
    """Return token counts in the shape that every command gives them in."""
    return {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write_5m": tokens.cache_write_5m,
        "cache_write_1h": tokens.cache_write_1h,
    }
