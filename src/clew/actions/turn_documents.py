"""Turns as documents for programs, with what each message and turn cost.

The long lists in a document are iterators: a turn is put together as it is written out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.actions.reading import until_cut
from clew.actions.token_documents import tokens_document
from clew.format.times import iso
from clew.session.calls import call_block, result_block, structured
from clew.session.messages import blocks_of
from clew.session.prompts import read as read_prompt
from clew.session.spending import spent, turn_spent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.actions.reading import Reading
    from clew.session.calls import Call
    from clew.session.messages import Message
    from clew.session.session import Session
    from clew.session.turns import Turn


def show_document(reading: Reading, places: Iterator[int] | None = None) -> dict[str, object]:
    """Return the reading in the shape of `clew show --json`; its turns are an iterator, for one use."""
    wanted = iter(reading.wanted) if places is None else places
    return {
        "session": reading.opened.file.id,
        "path": reading.opened.file.path,
        "turns": until_cut(reading.opened, (turn_document(reading, reading.turns[at]) for at in wanted)),
    }


def turn_document(reading: Reading, turn: Turn) -> dict[str, object]:
    """Return a turn as `clew show --json` gives it; messages and calls are iterators."""
    session, opened = reading.session, reading.opened
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
        "messages": until_cut(opened, (_message(session, message) for message in turn.messages)),
        "calls": until_cut(opened, (_call(session, call) for call in turn.calls)),
        "tokens": tokens_document(total.tokens),
        "cost_usd": total.cost_usd,
        "status": turn.status,
    }


def _message(session: Session, message: Message) -> dict[str, object]:
    cost = spent(session, message)
    return {
        "id": message.id,
        "uuids": [session.entry(row).uuid for row in message.rows],
        "request_id": message.request_id,
        "model": message.model,
        "stop_reason": message.stop_reason,
        "blocks": [block.raw for _, block in blocks_of(session, message)],
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
