"""A session as one conversation, block by block: who said what, what was called and what came back.

For the formats that programs learn from or replay. Everything that stood under the user's role is there as
the model was given it, but for what a compaction said of turns that are told themselves. Each is read when
it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.format.blocks import ServerToolResult, ServerToolUse, Text, ToolResult, ToolUse, blocks, text_of
from clew.format.entry import as_mapping
from clew.session.calls import call_block, result_block
from clew.session.drafts import NO_RESPONSE
from clew.session.messages import blocks_of
from clew.session.session import COMPACT_SUMMARY, HUMAN, META, TOOL_RESULT
from clew.session.turns import turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew.format.blocks import Block
    from clew.session.calls import Call
    from clew.session.messages import Message
    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.session.turns import Turn

NO_RESULT: Final = "[no result was recorded]"
"""Stands for the result of a call that has none."""

_QUEUED: Final = "attachment/queued_command"


@dataclass(frozen=True, slots=True)
class Said:
    """What was said to the model: by a person, or by the client in their place."""

    blocks: tuple[Block, ...]
    time: int | None = None
    uuid: str | None = None
    is_meta: bool = False
    """Whether the client put it in."""

    is_summary: bool = False
    """Whether it is what a compaction made of all before it."""


@dataclass(frozen=True, slots=True)
class Called:
    """A call in an answer, and what came back."""

    id: str
    name: str
    input: Mapping[str, object]
    result: tuple[Block, ...] | None
    """None when nothing came back."""

    is_error: bool = False
    agent_id: str | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer of the model with its calls."""

    message: Message
    blocks: tuple[Block, ...]
    """What it said and thought, in order, without the calls."""

    calls: tuple[Called, ...]

    @property
    def text(self) -> str:
        """Its words."""
        texts = (block.text for block in self.blocks if isinstance(block, Text))
        return "\n\n".join(text for text in texts if text)


Spoken = Said | Answered


def dialogue(session: Session, cuts: Iterable[Turn]) -> Iterator[Spoken]:
    """Tell the turns of a session."""
    seen: set[int] = set()
    numbers = _Numbers()
    for turn in cuts:
        yield from _turn(session, turn, seen, numbers)


def agent_dialogue(session: Session, agent: Agent) -> Iterator[Spoken]:
    """Tell what a sub-agent was told and did."""
    own = session if agent.source is None else agent.source.session
    found = turns(own, agent.rows) if agent.source is None else turns(own)
    return dialogue(own, found)


def everyone(agents: Iterable[Agent]) -> Iterator[Agent]:
    """Give sub-agents and those that they started, each before its own."""
    stack = [*agents][::-1]
    while stack:
        agent = stack.pop()
        yield agent
        stack += agent.children[::-1]


class _Numbers:
    """Ids for calls that have none, or one that was given before."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def of(self, wanted: str | None) -> str:
        name, number = wanted or "call", 1
        while name in self._taken:
            number += 1
            name = f"{wanted or 'call'}-{number}"
        self._taken.add(name)
        return name


def _turn(session: Session, turn: Turn, seen: set[int], numbers: _Numbers) -> Iterator[Spoken]:
    table = session.table
    starts = {message.row: message for message in turn.messages}
    calls: dict[int, list[Call]] = {}
    for call in turn.calls:
        calls.setdefault(call.row, []).append(call)
    for row in turn.rows:
        message = starts.get(row)
        if message is not None:
            answered = _answered(session, message, calls, numbers)
            if answered is not None:
                yield answered
            continue
        kind, flags = table.kind_of(row), table.flags[row]
        if (kind != "user" and kind != _QUEUED) or flags & TOOL_RESULT:
            continue
        # A prompt stands where it was first said; a later copy has its words.
        if flags & HUMAN and (row != turn.prompt_row and table.uuid[row] in seen):
            continue
        if table.uuid[row]:
            if table.uuid[row] in seen:
                continue
            seen.add(table.uuid[row])
        said = _said(session, row)
        if said.blocks:
            yield said


def _said(session: Session, row: int) -> Said:
    entry, flags = session.entry(row), session.table.flags[row]
    content = entry.content
    if entry.type == "attachment":
        content = as_mapping(entry.data.get("attachment")).get("prompt")
    return Said(
        tuple(block for block in blocks(content) if not isinstance(block, Text) or block.text),
        session.table.time_of(row),
        entry.uuid,
        bool(flags & META),
        bool(flags & COMPACT_SUMMARY),
    )


def _answered(
    session: Session, message: Message, calls: Mapping[int, list[Call]], numbers: _Numbers
) -> Answered | None:
    said: list[Block] = []
    called: list[Called] = []
    results: dict[str | None, ServerToolResult] = {}
    served: list[ServerToolUse] = []
    for _, block in blocks_of(session, message):
        if isinstance(block, ServerToolUse):
            served.append(block)
        elif isinstance(block, ServerToolResult):
            results[block.tool_use_id] = block
        elif not isinstance(block, ToolUse):
            said.append(block)
    for row in message.rows:
        called += (_called(session, call, numbers) for call in calls.get(row, ()))
    for block in served:
        found = results.get(block.id)
        told = None if found is None else found.content
        called.append(
            Called(numbers.of(block.id), block.name or "unknown", block.input, told, bool(_failed(found)))
        )
    answered = Answered(message, tuple(said), tuple(called))
    if message.is_synthetic and not called and answered.text in {"", NO_RESPONSE}:
        return None  # the client's own way to go on
    return answered if said or called else None


def _failed(result: ToolResult | None) -> bool:
    return result is not None and result.is_error


def _called(session: Session, call: Call, numbers: _Numbers) -> Called:
    result = result_block(session, call)
    return Called(
        numbers.of(call.id),
        call.name or "unknown",
        call_block(session, call).input,
        None if result is None else result.content,
        call.is_error,
        call.agent_id,
        call.duration_ms,
    )


def told(result: tuple[Block, ...] | None) -> str:
    """Return the words of a result; of pictures and documents that they are there."""
    if result is None:
        return NO_RESULT
    return "\n".join(found for block in result if (found := words_of(block)))


def words_of(block: Block) -> str:
    """Return a block as words."""
    if isinstance(block, Text):
        return block.text
    if isinstance(block, ToolResult):
        return text_of(block.content)
    return f"[{block.type or 'unknown'}]"
