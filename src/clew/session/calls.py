"""Tool calls and their results, paired by id over all lines of a session.

Nothing is matched by position: parallel calls interleave with other lines, results may come before their
calls, and a sub-agent's lines may stand between. Tools that the API's own servers run are blocks of their
message and have no line for the result; they are not listed here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.format.blocks import ServerToolResult, ServerToolUse, ToolResult, ToolUse, blocks
from clew.format.entry import as_mapping
from clew.session.session import SIDECHAIN, TOOL_RESULT, TOOL_USE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.format.entry import Entry
    from clew.session.session import Session

# How the result begins that 2.1.325 writes on resuming for a call the session ended in.
_NEVER_RECORDED: Final = "[Tool call interrupted: the session ended before this call's result was recorded"


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool and where its result is."""

    id: str | None
    name: str | None
    row: int
    index: int
    """Which of the line's blocks it is."""

    result_row: int | None = None
    is_error: bool = False
    duration_ms: int | None = None
    """From the line of the call to the line of its result; never below 0, and None for a stand-in."""

    agent_id: str | None = None
    """The sub-agent that the result names."""

    is_sidechain: bool = False
    is_stand_in: bool = False
    """Whether the client wrote the result on resuming, as the session had ended without one."""


@dataclass(frozen=True, slots=True)
class Loose:
    """A call or a result that belongs to no pair, or comes a second time."""

    id: str | None
    row: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """The calls of a session, each once, and what is odd about them."""

    calls: tuple[Call, ...]
    unpaired_results: tuple[Loose, ...] = ()
    duplicate_calls: tuple[Loose, ...] = ()
    """Further calls with the id of an earlier one, on lines of their own."""

    duplicate_results: tuple[Loose, ...] = ()

    @property
    def unpaired_calls(self) -> tuple[Call, ...]:
        """The calls without a result."""
        return tuple(call for call in self.calls if call.result_row is None)


@dataclass(frozen=True, slots=True)
class _Result:
    row: int
    is_error: bool
    agent_id: str | None
    is_stand_in: bool


class Pairing:
    """Pairs calls with their results, line by line; each line is asked for once."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._flags = session.table.flags
        self._calls: list[tuple[str | None, str | None, int, int]] = []
        """The id and the name, the row, and which of the line's blocks it is."""
        self._results: dict[str, _Result] = {}
        """The first by its id."""
        self._unnamed: list[Loose] = []
        self._doubled: list[Loose] = []

    def wants(self, row: int) -> bool:
        """Say whether a row has calls or results."""
        return bool(self._flags[row] & (TOOL_USE | TOOL_RESULT))

    def add(self, row: int, entry: Entry) -> None:
        """Take note of the calls and results on a row that is wanted."""
        flags = self._flags[row]
        if flags & TOOL_USE:
            self._calls += ((block.id, block.name, row, index) for index, block in _calls_in(entry))
        if flags & TOOL_RESULT:
            self._add_results(row, entry)

    def _add_results(self, row: int, entry: Entry) -> None:
        found = self._results
        blocks_here = list(_results_in(entry))
        agent_id = as_mapping(entry.tool_use_result).get("agentId") if len(blocks_here) == 1 else None
        for block in blocks_here:
            name = block.tool_use_id
            if not name:
                self._unnamed.append(Loose(None, row))
            elif name not in found:
                agent = agent_id if isinstance(agent_id, str) else None
                found[name] = _Result(row, block.is_error, agent, _stands_in(block))
            elif not _is_copy(self._session, found[name].row, row):
                self._doubled.append(Loose(name, row))

    def finish(self) -> Pairs:
        """Return the pairs: results may have come before their calls."""
        session, results = self._session, self._results
        calls: list[Call] = []
        first: dict[str, Call] = {}
        again: list[Loose] = []
        for call_id, name, row, index in self._calls:
            if call_id and (seen := first.get(call_id)):
                if not _is_copy(session, seen.row, row):
                    again.append(Loose(call_id, row))
                continue
            call = _paired(session, call_id, name, row, index, results.get(call_id) if call_id else None)
            calls.append(call)
            if call_id:
                first[call_id] = call
        orphans = [Loose(name, found.row) for name, found in results.items() if name not in first]
        orphans += self._unnamed
        orphans.sort(key=lambda loose: loose.row)
        return Pairs(tuple(calls), tuple(orphans), tuple(again), tuple(self._doubled))


def pairs(session: Session, rows: Iterable[int] | None = None) -> Pairs:
    """Pair the calls of a session, or those on `rows`, with their results."""
    pairing = Pairing(session)
    for row in range(len(session)) if rows is None else rows:
        if pairing.wants(row):
            pairing.add(row, session.entry(row))
    return pairing.finish()


def call_block(session: Session, call: Call) -> ToolUse:
    """Return the block of a call, with its input."""
    found = blocks(session.entry(call.row).content)[call.index]
    return found if isinstance(found, ToolUse) else ToolUse(found.raw)


def result_block(session: Session, call: Call) -> ToolResult | None:
    """Return the block of a call's result: what the model was told."""
    if call.result_row is None:
        return None
    found = _results_in(session.entry(call.result_row))
    return next((block for block in found if block.tool_use_id == call.id), None)


def structured(session: Session, call: Call) -> object:
    """Return the structured result the client keeps for itself; None when there is none."""
    return None if call.result_row is None else session.entry(call.result_row).tool_use_result


def is_stand_in(entry: Entry) -> bool:
    """Say whether all results an entry brings stand in for some that were never recorded."""
    found = list(_results_in(entry))
    return bool(found) and all(map(_stands_in, found))


def _stands_in(block: ToolResult) -> bool:
    return block.is_error and block.text().startswith(_NEVER_RECORDED)


def _paired(
    session: Session, call_id: str | None, name: str | None, row: int, index: int, result: _Result | None
) -> Call:
    is_sidechain = bool(session.table.flags[row] & SIDECHAIN)
    if result is None:
        return Call(call_id, name, row, index, is_sidechain=is_sidechain)
    began, ended = session.table.time_of(row), session.table.time_of(result.row)
    duration = None if began is None or ended is None else max(0, ended - began)
    if result.is_stand_in:
        # Its time is that of the resuming, which may be days later.
        duration = None
    return Call(
        call_id,
        name,
        row,
        index,
        result.row,
        result.is_error,
        duration,
        result.agent_id,
        is_sidechain,
        result.is_stand_in,
    )


def _is_copy(session: Session, row: int, other: int) -> bool:
    """Say whether two rows are the same line, written again."""
    uuid = session.table.uuid
    return row != other and uuid[row] != 0 and uuid[row] == uuid[other]


def _calls_in(entry: Entry) -> Iterator[tuple[int, ToolUse]]:
    for index, block in enumerate(blocks(entry.content)):
        if isinstance(block, ToolUse) and not isinstance(block, ServerToolUse):
            yield index, block


def _results_in(entry: Entry) -> Iterator[ToolResult]:
    for block in blocks(entry.content):
        if isinstance(block, ToolResult) and not isinstance(block, ServerToolResult):
            yield block
