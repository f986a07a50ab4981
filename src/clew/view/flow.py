"""What was said and done in a turn, part by part in the order of its lines.

Nothing vanishes: what is damaged, unknown or cut stands as a notice in its place, and what the client wrote
for the model alone as a note that says so. Only lines that say nothing of the conversation (counters,
settings, copies of files) are passed over.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from clew.format import known
from clew.format.blocks import Document, ServerToolResult, Text, ToolResult, blocks
from clew.session.session import HUMAN, META, SALVAGED, TOOL_RESULT
from clew.view import notes, notices, parts, queued
from clew.view.answers import last_answer, message_parts
from clew.view.pictures import picture
from clew.view.prompts import prompt_part
from clew.view.texts import one_line
from clew.view.tools.plainly import content, unknown_block

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from clew.format.entry import Entry
    from clew.format.records import Fragment
    from clew.session.calls import Call
    from clew.session.session import Session
    from clew.session.turns import Turn
    from clew.view.answers import Place

_TALK: Final = frozenset({"user", "assistant"})
_NONE: Final[frozenset[str]] = frozenset()
_INTERRUPTED: Final = "[Request interrupted by user"


_PASSED: Final = parts.Call("", "", "", "missing")
"""Stands for a call that nobody looks at."""


class Passing:
    """The first parts of a flow, that are passed over: what takes long is not made for them."""

    def __init__(self, left: int) -> None:
        self._left = left

    @property
    def is_on(self) -> bool:
        """Whether what is made now is passed over for certain: one part may be held back before it."""
        return self._left > 1

    def over(self, flow: Iterator[parts.Flow]) -> Iterator[parts.Flow]:
        """Give the parts behind them."""
        for one in flow:
            if self._left > 0:
                self._left -= 1
            else:
                yield one


class Flows:
    """Makes the parts of a session's turns. It knows what lies beyond a turn, and holds no content."""

    def __init__(
        self,
        session: Session,
        turns: Sequence[Turn],
        *,
        call_part: Callable[[int, Call], parts.Call],
    ) -> None:
        self.session = session
        self.turns = turns
        self.call_part = call_part
        self._last: dict[int, Place | None] = {}

    def of(
        self, place: int, damage: Sequence[Fragment] = (), passing: Passing | None = None
    ) -> Iterator[parts.Flow]:
        """Give the parts of the turn in a place."""
        turn = self.turns[place]
        return self._held(self._rows(turn, place, damage, passing))

    def of_front(
        self, front: Turn, damage: Sequence[Fragment] = (), passing: Passing | None = None
    ) -> Iterator[parts.Flow]:
        """Give the parts of the lines before the first turn."""
        return self._held(self._rows(front, -1, damage, passing))

    # What goes together -----------------------------------------------------------------------------

    def _held(self, flow: Iterator[parts.Flow]) -> Iterator[parts.Flow]:
        """Put what a command printed to the command, and the summary to its compaction."""
        held: parts.Flow | None = None
        for one in flow:
            joined = None if held is None else _joined(held, one)
            if joined is not None:
                held = joined
                continue
            if isinstance(held, parts.Note | parts.Rule) and isinstance(one, parts.Note) and one.is_meta:
                yield one  # a caveat or the like comes in between
                continue
            if held is not None:
                yield held
                held = None
            if isinstance(one, parts.Note | parts.Rule) and _waits(one):
                held = one
            else:
                yield one
        if held is not None:
            yield held

    # Rows -------------------------------------------------------------------------------------------

    def _rows(
        self, turn: Turn, place: int, damage: Sequence[Fragment], passing: Passing | None
    ) -> Iterator[parts.Flow]:
        session, table = self.session, self.session.table
        walk = _Walk(self, turn, place, passing or Passing(0))
        waiting = list(reversed(list(notices.runs(damage))))
        for row in turn.rows:
            while waiting and waiting[-1][0].offset < table.offset[row]:
                yield notices.damage(session, waiting.pop())
            flags, kind = table.flags[row], table.kind_of(row)
            if flags:
                yield from notices.of_row(session, row, is_first=self._is_first(row))
            if kind == "assistant":
                if row in walk.messages:
                    yield from walk.answer(row)
            elif kind == "user":
                if flags & HUMAN:
                    yield from walk.prompt(row)
                elif self._earlier[row] < 0:
                    yield from self._under_user(row, flags, turn if place < 0 else None)
            elif kind in queued.KINDS:
                yield from walk.queued(row, kind)
            else:
                yield from self._beside(row, kind)
        yield from walk.sent_along()
        while waiting:
            yield notices.damage(session, waiting.pop())

    def _is_first(self, row: int) -> bool:
        """Say whether a row is the first recovered one of its line."""
        table = self.session.table
        return not (row and table.number[row - 1] == table.number[row] and table.flags[row - 1] & SALVAGED)

    def _beside(self, row: int, kind: str) -> Iterator[parts.Flow]:
        found = notes.beside(self.session, row, kind) if "/" in kind or kind in notes.SAID else None
        if found is not None:
            if self._earlier[row] < 0:
                yield found
        elif not known.is_known_type(kind) and kind.partition("/")[0] not in _TALK:
            yield notices.unknown_line(self.session, row, kind)

    def _under_user(self, row: int, flags: int, front: Turn | None) -> Iterator[parts.Flow]:
        if flags & TOOL_RESULT:
            yield from self._results(row, front)
            return
        found = notes.under_user(self.session, row)
        if found is not None:
            yield found

    def _results(self, row: int, front: Turn | None) -> Iterator[parts.Flow]:
        """Give what comes with results and is no result of a call that is shown."""
        entry = self.session.entry(row)
        found = blocks(entry.content)
        shown = self._answered(row)
        if front is not None:
            shown = shown | {call.id for call in front.calls if call.id and call.result_row == row}
        if len(found) == 1 and shown:
            return
        rest: list[parts.Part] = []
        for block in found:
            if isinstance(block, ToolResult) and not isinstance(block, ServerToolResult):
                if block.tool_use_id not in shown:
                    yield self._stray(entry, block)
            elif isinstance(block, Text):
                if block.text.strip().startswith(_INTERRUPTED):
                    said = one_line(block.text.strip().strip("[]"))
                    yield parts.Rule(said, "interrupt", uuid=entry.uuid)
                elif block.text.strip():
                    rest.append(parts.Text(block.text, is_muted=True))
            elif isinstance(block, Document):
                rest.append(picture(block))
            else:
                rest.append(unknown_block(block))
        if rest:
            is_meta = all(isinstance(one, parts.Text) for one in rest)
            yield parts.Note("sent along with a result", tuple(rest), uuid=entry.uuid, is_meta=is_meta)

    def _stray(self, entry: Entry, block: ToolResult) -> parts.Note:
        """Return a result that is shown with no call: there is none, or it has another one."""
        is_second = block.tool_use_id in self._calls
        said = "another result of the same call" if is_second else "a result whose call is not here"
        return parts.Note(said, tuple(content(block.content)), uuid=entry.uuid)

    # What lies beyond a turn ------------------------------------------------------------------------

    def _answered(self, row: int) -> AbstractSet[str]:
        """Return the calls whose results stand in a row and are shown with them."""
        one, several = self._results_by_row
        return several.get(row) or ({one[row]} if row in one else _NONE)

    @cached_property
    def _results_by_row(self) -> tuple[Mapping[int, str], Mapping[int, AbstractSet[str]]]:
        """The call that a row answers; and all of them, where it answers several."""
        # Not a set for each: to make ten thousand takes longer than all the rest of a turn.
        one: dict[int, str] = {}
        several: dict[int, set[str]] = {}
        for turn in self.turns:
            for call in turn.calls:
                if call.result_row is not None and call.id:
                    before = one.setdefault(call.result_row, call.id)
                    if before != call.id:
                        several.setdefault(call.result_row, {before}).add(call.id)
        return one, several

    @cached_property
    def _calls(self) -> frozenset[str]:
        """The ids of all calls."""
        return frozenset(call.id for turn in self.turns for call in turn.calls if call.id)

    @cached_property
    def _earlier(self) -> Sequence[int]:
        """For each row the row before it with the same uuid, -1 for none."""
        return self.session.table.ids().earlier

    @cached_property
    def removed(self) -> Mapping[int, int]:
        """The messages that were taken out of the queue, by the row that says so."""
        return queued.removed(self.session)

    @cached_property
    def models(self) -> Sequence[str | None]:
        """The model that answered last before each turn."""
        found: list[str | None] = []
        model: str | None = None
        for turn in self.turns:
            found.append(model)
            for message in turn.messages:
                if message.model and not message.is_synthetic:
                    model = message.model
        return found

    def last_answer(self, turn: Turn, place: int) -> Place | None:
        """Return the block that ends the answers of the turn in a place; looked for once."""
        if place not in self._last:
            self._last[place] = last_answer(self.session, turn.messages)
        return self._last[place]

    def line_before(self, place: int) -> int | None:
        """Return the last line of the conversation before a turn."""
        table = self.session.table
        for at in range(place - 1, -1, -1):
            for row in reversed(self.turns[at].rows):
                if table.kind_of(row) in _TALK and not table.flags[row] & META:
                    return row
        return None


class _Walk:
    """The way through one turn: what was met and has not been told."""

    def __init__(self, flows: Flows, turn: Turn, place: int, passing: Passing) -> None:
        self.flows = flows
        self._passing = passing
        self.turn = turn
        self.place = place
        self.messages = {message.row: message for message in turn.messages}
        self._calls: dict[int, list[Call]] = {}
        for call in turn.calls:
            self._calls.setdefault(call.row, []).append(call)
        self._last = flows.last_answer(turn, place)
        self._changes = _Changes(flows, place)
        self._sent: dict[str, int] = {}
        self._is_asked = False

    def prompt(self, row: int) -> Iterator[parts.Flow]:
        """Give the turn's prompt. A line may be there twice: its first place counts, and its last text."""
        asked, uuid = self.turn.prompt_row, self.flows.session.table.uuid
        if asked is None or self._is_asked:
            return
        if row == asked or (uuid[row] and uuid[row] == uuid[asked]):
            self._is_asked = True
            yield from self._changes.before(row, None)
            yield prompt_part(self.flows.session, asked)

    def answer(self, row: int) -> Iterator[parts.Flow]:
        """Give a message of the model, and before it what was sent along with the results."""
        message = self.messages[row]
        yield from self.sent_along()
        yield from self._changes.before(row, message.model)
        yield from message_parts(
            self.flows.session,
            message,
            self._calls,
            call_part=self._call,
            last=self._last,
        )

    def _call(self, call: Call) -> parts.Call:
        return _PASSED if self._passing.is_on else self.flows.call_part(self.place, call)

    def queued(self, row: int, kind: str) -> Iterator[parts.Flow]:
        """Give what was said while the model worked, or keep it until the model goes on."""
        session = self.flows.session
        if kind == "queue-operation/remove":
            row = self.flows.removed.get(row, -1)
            said = None if row < 0 else queued.said(session.entry(row))
            if said is not None:
                self._sent[said] = row
            return
        self._sent.pop(queued.said(session.entry(row)) or "", None)
        found = queued.part(session, row)
        if found is not None:
            yield found

    def sent_along(self) -> Iterator[parts.Flow]:
        """Give the messages that were sent along and have no line of their own."""
        sent, self._sent = self._sent, {}
        for row in sent.values():
            found = queued.part(self.flows.session, row)
            if found is not None:
                yield found


class _Changes:
    """Tells where the model, the session or the client became another one."""

    def __init__(self, flows: Flows, place: int) -> None:
        self._session = flows.session
        self._model = flows.models[place] if place >= 0 else None
        before = flows.line_before(place)
        entry = None if before is None else flows.session.entry(before)
        self._id = None if entry is None else entry.session_id
        self._version = None if entry is None else entry.version

    def before(self, row: int, model: str | None) -> Iterator[parts.Rule]:
        """Give the rules that stand before a row."""
        entry = self._session.entry(row)
        name, version = entry.session_id, entry.version
        if name and name != self._id:
            if self._id:
                yield parts.Rule(
                    f"session {_short(name)}, before that {_short(self._id)}", "session", uuid=entry.uuid
                )
            self._id = name
        if version and version != self._version:
            if self._version:
                yield parts.Rule(
                    one_line(f"client {version}, before that {self._version}"), "resume", uuid=entry.uuid
                )
            self._version = version
        if model and not model.startswith("<") and model != self._model:
            if self._model:
                yield parts.Rule(
                    one_line(f"model {model}, before that {self._model}"), "model", uuid=entry.uuid
                )
            self._model = model


def _short(name: str) -> str:
    return one_line(name, longest=80)[:8]


def _waits(one: parts.Note | parts.Rule) -> bool:
    """Say whether what comes next may belong to a part."""
    if isinstance(one, parts.Rule):
        return one.reason == "compaction"
    return one.text.startswith(("/", "!")) and not one.parts


def _joined(held: parts.Flow, one: parts.Flow) -> parts.Flow | None:
    """Return two parts as one where the second belongs to the first."""
    if not isinstance(one, parts.Note):
        return None
    if isinstance(held, parts.Rule) and one.text == notes.SUMMARY:
        return parts.Rule(held.text, held.reason, uuid=held.uuid, parts=(parts.Section(one.text, one.parts),))
    if isinstance(held, parts.Note) and one.text == notes.PRINTED:
        return parts.Note(held.text, (*held.parts, *one.parts), uuid=held.uuid, time=held.time)
    return None
