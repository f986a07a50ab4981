"""Turns: what a person asked, and everything that came of it until they asked again.

Over the whole history turns follow the file, every branch included; along a branch they follow its rows. What
was spent is told by `clew.session.usage` from the rows of the messages.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol

from clew.format.blocks import Text, blocks
from clew.format.kinds import TurnDuration
from clew.session.calls import Call
from clew.session.messages import Message
from clew.session.order import in_order
from clew.session.prompts import InputKind, read
from clew.session.rounds import PAUSE_MS, Round, Rounds
from clew.session.said import Said, said
from clew.session.session import HUMAN, META, SIDECHAIN, SYNTHETIC, TOOL_RESULT, TOOL_USE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.graph import Graph
    from clew.session.session import Session

Status = Literal["complete", "incomplete", "interrupted", "cut", "error"]

_CUT_SHORT: Final = frozenset({"max_tokens", "model_context_window_exceeded", "refusal"})
_UNFINISHED: Final = frozenset({"tool_use", "pause_turn"})


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn. It has the rows of its lines, not their content."""

    n: int
    """From 1; 0 is for answers that came before any prompt."""

    prompt_row: int | None
    input_kind: InputKind | None
    round: Round | None
    rows: Sequence[int]
    """All its lines, those without meaning for the conversation too."""

    messages: tuple[Message, ...]
    calls: tuple[Call, ...]
    started: int | None
    ended: int | None
    duration_ms: int | None
    is_estimated: bool
    """Whether times were missing or ran backwards, so that the duration is a guess."""

    status: Status


def main_rows(session: Session) -> Sequence[int]:
    """Return the rows of the conversation itself, without sub-agents; in a sub-agent's own file all rows.

    They follow the file; in a sub-agent's own file they follow each other as they were said.
    """
    table = session.table
    if not any(flags & SIDECHAIN for flags in table.flags):
        return range(len(table))
    rest = array("i", (row for row, flags in enumerate(table.flags) if not flags & SIDECHAIN))
    if any(table.kind_of(row) in {"user", "assistant"} for row in rest):
        return rest
    return in_order(table)


class TellsRounds(Protocol):
    """Whoever can tell the round of a prompt, by its row."""

    def of(self, row: int) -> Round:
        """Return the round of the user entry in `row`."""
        ...


def turns(
    session: Session,
    rows: Sequence[int] | None = None,
    *,
    graph: Graph | None = None,
    rounds: TellsRounds | None = None,
    gathered: Said | None = None,
    pause_ms: int = PAUSE_MS,
) -> tuple[Turn, ...]:
    """Cut a session, or the branch given by `rows`, into turns.

    `graph`, `rounds` and what is `gathered` of those rows are its, if made.
    """
    path = main_rows(session) if rows is None else rows
    rounds = rounds or Rounds(session, graph=graph, pause_ms=pause_ms)
    builder = _Builder(session, gathered or said(session, path))
    for row in path:
        builder.add(row)
    return tuple(draft.finish(session, rounds, n) for n, draft in builder.numbered())


@dataclass(slots=True)
class _Draft:
    """A turn while its rows are being gathered."""

    prompt_row: int | None = None
    rows: array[int] = field(default_factory=lambda: array("i"))
    messages: list[Message] = field(default_factory=list[Message])
    calls: list[Call] = field(default_factory=list[Call])
    answered: int = 0
    """How many of the messages had been answered in their turn, by results or news."""

    ended: int | None = None
    measured_ms: int | None = None
    is_interrupted: bool = False
    has_answer: bool = False
    """Whether the model itself spoke."""

    def spent(self, time: int | None) -> None:
        """Take note that the turn went on until `time`."""
        if time is not None:
            self.ended = time if self.ended is None else max(self.ended, time)

    def finish(self, session: Session, rounds: TellsRounds, n: int) -> Turn:
        prompt = self.prompt_row
        started = None if prompt is None else session.table.time_of(prompt)
        if started is None:
            started = next((m.started for m in self.messages if m.started is not None), None)
        duration, is_estimated = self.measured_ms, False
        if duration is None and started is not None and self.ended is not None:
            duration, is_estimated = max(0, self.ended - started), self.ended < started
        elif duration is None:
            is_estimated = True
        return Turn(
            n,
            prompt,
            None if prompt is None else read(session.entry(prompt)).kind,
            None if prompt is None else rounds.of(prompt),
            _span(self.rows),
            tuple(self.messages),
            tuple(self.calls),
            started,
            self.ended if started is None or self.ended is None else max(started, self.ended),
            duration,
            is_estimated,
            self._status(session),
        )

    def _status(self, session: Session) -> Status:
        if self.is_interrupted:
            return "interrupted"
        # "No response requested." and the like stand where the client went on; they answer nothing.
        last = [message for message in self.messages[self.answered :] if _counts(message)]
        if not last:
            return "incomplete"
        if last[-1].is_api_error:
            # The client reports an answer that was cut as an error; 2.0.42 before it, the others after it.
            return "cut" if len(last) > 1 and last[-2].stop_reason in _CUT_SHORT else "error"
        if last[-1].stop_reason in _CUT_SHORT:
            return "cut"
        return "complete" if _is_final(session, last[-1]) else "incomplete"


def _counts(message: Message) -> bool:
    """Say whether a message is an answer: the model's, or an error in its place."""
    return not message.is_meta and (not message.is_synthetic or message.is_api_error)


def _is_final(session: Session, message: Message) -> bool:
    """Say whether a message ends its turn."""
    flags = session.table.flags
    if message.stop_reason in _UNFINISHED or any(flags[row] & TOOL_USE for row in message.rows):
        return False
    if message.stop_reason is not None:
        return True
    # Without a reason (2.1.29 to 2.1.45, slow streams) words are an answer; thoughts alone are not.
    return any(
        isinstance(block, Text) for row in message.rows for block in blocks(session.entry(row).content)
    )


class _Builder:
    """Hands each row to its turn."""

    def __init__(self, session: Session, found: Said) -> None:
        self._session = session
        self._drafts: list[_Draft] = [_Draft()]
        self._messages = {message.row: message for message in found.messages}
        self._calls: dict[int, list[Call]] = {}
        for call in found.pairs.calls:
            self._calls.setdefault(call.row, []).append(call)
        paired = [call for calls in self._calls.values() for call in calls]
        self._results = {call.result_row for call in paired}
        # What the client wrote on resuming says nothing of how long the turn went on.
        self._timed = {call.result_row for call in paired if not call.is_stand_in}
        self._prompts: dict[int, _Draft] = {}
        self._seen: set[int] = set()

    def numbered(self) -> list[tuple[int, _Draft]]:
        """Return the turns with their numbers; answers before any prompt are turn 0."""
        kept = list(enumerate(self._drafts))
        return kept if self._drafts[0].has_answer else kept[1:]

    def add(self, row: int) -> None:
        table = self._session.table
        flags = table.flags[row]
        kind = table.kind_of(row)
        if flags & HUMAN and not self._is_again(row):
            self._drafts.append(_Draft(row))
            if table.uuid[row]:
                self._prompts[table.uuid[row]] = self._drafts[-1]
        draft = self._drafts[-1]
        draft.rows.append(row)
        if kind == "assistant":
            self._add_answer(draft, row)
        elif kind == "user" and not flags & HUMAN:
            self._add_input(draft, row)
        elif kind == "system/turn_duration" and self._is_new(row):
            measured = TurnDuration(self._session.entry(row).data).duration_ms
            if measured is not None and 0 <= measured < 2**53:
                draft.measured_ms = (draft.measured_ms or 0) + int(measured)

    def _is_again(self, row: int) -> bool:
        """Say whether a prompt was there before; then the later copy counts, at the earlier one's place."""
        draft = self._prompts.get(self._session.table.uuid[row])
        if draft is None:
            return False
        draft.prompt_row = row
        return True

    def _is_new(self, row: int) -> bool:
        uuid = self._session.table.uuid[row]
        if uuid in self._seen:
            return False
        if uuid:
            self._seen.add(uuid)
        return True

    def _add_answer(self, draft: _Draft, row: int) -> None:
        if not self._session.table.flags[row] & (META | SYNTHETIC):
            draft.has_answer = True
        message = self._messages.get(row)
        if message is not None:
            if _counts(message):
                draft.spent(message.ended)
            draft.messages.append(message)
        draft.calls.extend(self._calls.get(row, ()))

    def _add_input(self, draft: _Draft, row: int) -> None:
        flags = self._session.table.flags[row]
        if flags & TOOL_RESULT:
            # A result counts once and where its call is; copies that a compaction writes again do not.
            if row in self._results:
                draft.answered = len(draft.messages)
                if row in self._timed:
                    draft.spent(self._session.table.time_of(row))
        elif not flags & META and self._is_new(row):
            kind = read(self._session.entry(row)).kind
            if kind == "interrupt":
                draft.is_interrupted = True
                draft.spent(self._session.table.time_of(row))
            elif kind == "task_notification":
                draft.answered = len(draft.messages)


def _span(rows: array[int]) -> Sequence[int]:
    """Return the rows as a range where they are one: a turn of a long session then costs next to nothing."""
    if rows and all(one == row for one, row in enumerate(rows, rows[0])):
        return range(rows[0], rows[0] + len(rows))
    return rows
