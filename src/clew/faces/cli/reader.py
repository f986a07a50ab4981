"""A session as a person reads it on a terminal: turn by turn, written out as it goes.

Plain text throughout; what is folded carries a note, and what failed is seen while folded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells, prose, tool_lines, words
from clew.faces.cli.agent_lines import agent_line
from clew.faces.cli.rows import QUEUED, ROW_NOTES, damage_notice, note_of, queued
from clew.faces.cli.terminal import Part, Screen, Span, one_line
from clew.format import known
from clew.format.blocks import (
    Block,
    Document,
    RedactedThinking,
    ServerToolResult,
    ServerToolUse,
    Text,
    Thinking,
    ToolUse,
    blocks,
)
from clew.session.calls import call_block, result_block, structured
from clew.session.messages import blocks_of
from clew.session.prompts import read as read_prompt
from clew.session.session import ABRIDGED, COMPACT_SUMMARY, HUMAN, META, SALVAGED, TOOL_RESULT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.format.records import Fragment
    from clew.session.calls import Call
    from clew.session.messages import Message
    from clew.session.session import Session
    from clew.session.spending import Spent
    from clew.session.subagents import Agent
    from clew.session.turns import Turn

TAIL: Final = 12
"""Lines of a failed call that are shown."""

PROMPT: Final = 40
"""Lines of a prompt that are shown; a pasted book is folded."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_NAME: Final = 6
_LONG_CALL_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class Choice:
    """How much is shown."""

    thinking: bool = False
    full: bool = False
    agents: bool = False


class Reader:
    """Writes the turns of one session, or of one sub-agent, to a screen."""

    def __init__(
        self,
        screen: Screen,
        session: Session,
        agents: Mapping[str, Sequence[Agent]],
        choice: Choice,
        *,
        margin: str = "",
    ) -> None:
        self._screen = screen
        self._session = session
        self._agents = agents
        self._choice = choice
        self._margin = margin
        self._day: str | None = None
        self._strange: set[str] = set()
        self._recovered = 0
        self._queue: list[tuple[str, bool]] = []
        self._sent_along: list[tuple[str, bool]] = []
        self._has_written = False
        self._owes_gap = False

    @property
    def _room(self) -> int | None:
        width = self._screen.width
        return None if width is None else max(20, width - cells.width(self._margin))

    def _print(self, *parts: Part) -> None:
        if self._owes_gap:
            self._owes_gap = False
            self._line()
        self._has_written = True
        self._line(*parts)

    def _line(self, *parts: Part) -> None:
        if self._margin:
            self._screen.print(Span(self._margin if parts else self._margin.rstrip(), ("dim",)), *parts)
        else:
            self._screen.print(*parts)

    def gap(self) -> None:
        """Leave a line free before whatever comes next."""
        self._owes_gap = self._has_written

    # Turns ----------------------------------------------------------------------------------------

    def rule(self, *parts: Part) -> None:
        """Write a line that goes all the way across."""
        self.gap()
        room = min(self._room or prose.WIDEST, prose.WIDEST)
        rest = max(0, room - _width(parts) - 4)
        self._print(Span("── ", ("dim",)), *parts, Span(" " + "─" * rest, ("dim",)))

    def turn(
        self,
        turn: Turn,
        spent: Spent,
        *,
        damage: Sequence[Fragment] = (),
        marks: Sequence[str] = (),
    ) -> None:
        """Write one turn."""
        heading = self._heading(turn, spent, marks)
        if marks and _width(heading) + 6 > (self._room or prose.WIDEST):
            heading = self._heading(turn, spent, ())
            self.rule(*heading)
            self._print(Span(f"· {', '.join(marks)}", ("yellow",)))
        else:
            self.rule(*heading)
        self.rows(turn.rows, turn, damage=damage)
        if turn.status != "complete":
            self._status(turn)

    def _heading(self, turn: Turn, spent: Spent, marks: Sequence[str]) -> list[Part]:
        facts: list[Part] = []
        moment = local(turn.started)
        if moment is not None:
            day = moment.date().isoformat()
            facts.append(f"{moment:%H:%M}" if day == self._day else f"{day} {moment:%H:%M}")
            self._day = day
        if turn.duration_ms is not None:
            facts.append(("≈" if turn.is_estimated else "") + words.duration(turn.duration_ms))
        if turn.calls:
            facts.append(words.count(len(turn.calls), "call"))
        if spent.tokens.total or spent.cost_usd is None:
            facts.append(words.money(spent.cost_usd))
        facts += [Span(mark, ("yellow",)) for mark in marks]
        parts: list[Part] = [Span(str(turn.n), ("bold",)), Span(" ── ", ("dim",))]
        for at, fact in enumerate(facts):
            parts += [Span(" · ", ("dim",)), fact] if at else [fact]
            if fact == words.count(len(turn.calls), "call") and (failed := _failed(turn)):
                parts += [", ", Span(f"{failed} failed", ("red",))]
        return parts

    def _status(self, turn: Turn) -> None:
        said = {
            "incomplete": "no answer came" if not turn.messages else "the turn was not finished",
            "cut": "the answer was cut short",
            "error": "ended in an error",
        }.get(turn.status)
        if said:
            self._print(Span(f"  ({said})", ("yellow",)))

    # Rows -----------------------------------------------------------------------------------------

    def rows(self, rows: Sequence[int], turn: Turn | None, *, damage: Sequence[Fragment] = ()) -> None:
        """Write what stands in some rows, with the damage among them in its place."""
        session, table = self._session, self._session.table
        messages = {} if turn is None else {message.row: message for message in turn.messages}
        calls: dict[int, list[Call]] = {}
        for call in () if turn is None else turn.calls:
            calls.setdefault(call.row, []).append(call)
        waiting = list(reversed(damage))
        for row in rows:
            while waiting and waiting[-1].offset < table.offset[row]:
                self._damage(waiting)
            self._row_marks(row)
            flags, kind = table.flags[row], table.kind_of(row)
            if turn is not None and row == turn.prompt_row:
                self._prompt(row)
            elif row in messages:
                for found in self._sent_along:
                    self._say_queued(*found)
                self._sent_along = []
                self._message(messages[row], calls)
            elif kind == "user" and not flags & (TOOL_RESULT | HUMAN | META):
                self._input(row)
            elif kind in ROW_NOTES:
                self._note(note_of(session.entry(row), kind), row)
            elif kind in QUEUED:
                self._queued(row, kind)
            elif kind.partition("/")[0] not in {"user", "assistant"} and not known.is_known_type(kind):
                self._unknown(one_line(kind))
        while waiting:
            self._damage(waiting)

    def _row_marks(self, row: int) -> None:
        flags, number = self._session.table.flags[row], self._session.table.number[row]
        if flags & SALVAGED and number != self._recovered:
            self._recovered = number  # once a line, however many records it holds
            self._notice(f"recovered from line {number:,}, which the client skips")
        if flags & ABRIDGED:
            length = words.size(self._session.table.length[row])
            self._notice(f"large record, {length} (line {number:,}): its long texts are cut here")

    def _damage(self, waiting: list[Fragment]) -> None:
        """Write what could not be read; what stands in adjoining lines is one notice."""
        run = [waiting.pop()]
        while waiting and waiting[-1].number <= run[-1].number + 1 and waiting[-1].damage == run[0].damage:
            run.append(waiting.pop())
        self._notice(damage_notice(run))

    def _notice(self, text: str) -> None:
        room = self._room
        for at, line in enumerate(prose.wrapped([one_line(text)], None if room is None else room - 2)):
            self._print(Span(f"{'  ' if at else '! '}{line}", ("yellow",)))

    def _unknown(self, kind: str) -> None:
        if kind not in self._strange:  # one line a type, however many there are
            self._strange.add(kind)
            self._print(Span(self._cut(f"· a line of a type clew does not know: {kind}", 0), ("dim",)))

    def _prompt(self, row: int) -> None:
        entry = self._session.entry(row)
        prompt = read_prompt(entry)
        room = self._room
        lines = list(prose.wrapped(prose.lines_of(prompt.words), None if room is None else room - 2))
        self._folded(lines, "› ", ("bold",), most=PROMPT)
        for block in blocks(entry.content):
            if isinstance(block, Document):
                self._print(Span("› ", ("bold",)), Span(f"[{tool_lines.picture(block)}]", ("cyan",)))
        for tag in prompt.tags:
            if tag.name in {"ide_selection", "ide_opened_file"}:
                said = self._cut(f"({tag.name.removeprefix('ide_').replace('_', ' ')}: {tag.text})", 2)
                self._print(Span("› ", ("bold",)), Span(said, ("dim",)))
        if not lines and not prompt.images:
            self._print(Span("› ", ("bold",)), Span("(empty)", ("dim",)))
        self.gap()

    def _queued(self, row: int, kind: str) -> None:
        """Follow what was said while the model worked.

        From 2.1.150 on it has a line of its own where it was sent. Before, the queue's log alone tells: what
        is removed from the queue was sent along with a tool's result, what is dequeued becomes a prompt.
        """
        found = queued(self._session.entry(row))
        match kind:
            case "queue-operation/enqueue" if found is not None:
                self._queue.append(found)
            case "queue-operation/dequeue":
                self._queue = self._queue[1:]
            case "queue-operation/remove" if found or self._queue:
                self._sent_along.append(found or self._queue[0])
                self._queue = [one for one in self._queue if one != self._sent_along[-1]]
            case "attachment/queued_command" if found is not None:
                self._sent_along = [one for one in self._sent_along if one != found]
                self._say_queued(*found)
            case _:
                pass

    def _say_queued(self, said: str, is_typed: bool) -> None:
        self.gap()
        if is_typed:
            room = self._room
            lines = list(prose.wrapped(prose.lines_of(said), None if room is None else room - 2))
            self._folded(lines, "› ", ("bold",), most=PROMPT)
        else:
            self._print(Span(self._cut(f"· {one_line(said)}", 0), ("dim",)))
        self.gap()

    def _folded(
        self, lines: Sequence[str], margin: str, styles: tuple[str, ...], *, most: int, tail: bool = False
    ) -> None:
        shown, note = (lines, None) if self._choice.full else prose.folded(lines, most=most, from_end=tail)
        left = Span(margin, ("bold",)) if "bold" in styles else margin
        if note and tail:
            self._print(left, Span(f"… {note}", ("dim",)))
        for line in shown:
            self._print(left, Span(line, ("dim",)) if "dim" in styles else line)
        if note and not tail:
            self._print(left, Span(f"… {note}", ("dim",)))

    def _input(self, row: int) -> None:
        """Write what came under the user's role and is no prompt: local commands, interruptions, news."""
        self._note(note_of(self._session.entry(row), "user"), row)

    def _note(self, note: tuple[str, str] | None, row: int) -> None:
        if note is None:
            return
        head, body = note
        lines = prose.lines_of(body)
        is_summary = self._session.table.flags[row] & COMPACT_SUMMARY
        if is_summary and lines and not self._choice.full:
            # The model wrote it for itself; few want to read it here.
            length = words.size(len(body.encode("utf-8", "replace")))
            head += f", {words.count(len(lines), 'line')} ({length}): --full"
            lines = []
        if head.startswith("──"):
            self.rule(Span(one_line(head[2:]), ("bold",)))
        elif head:
            self._print(Span(self._cut(one_line(head), 0), ("dim",)))
        if lines:
            self._folded([self._cut(line, 4) for line in lines], "    ", ("dim",), most=TAIL)
        if lines or not head.startswith("$"):  # what a command printed stands under it
            self.gap()

    # Answers --------------------------------------------------------------------------------------

    def _message(self, message: Message, calls: Mapping[int, Sequence[Call]]) -> None:
        session = self._session
        if message.is_api_error:
            said = " ".join(b.text for _, b in blocks_of(session, message) if isinstance(b, Text))
            self._print(Span(self._cut(f"✗ API error: {one_line(said)}", 0), ("red",)))
            return
        if (message.is_synthetic or message.is_meta) and not self._choice.full:
            return
        by_id = {call.id: call for row in message.rows for call in calls.get(row, ()) if call.id}
        loose = {(call.row, call.index): call for row in message.rows for call in calls.get(row, ())}
        done: set[int] = set()
        for row, block in blocks_of(session, message):
            if isinstance(block, ToolUse) and not isinstance(block, ServerToolUse):
                call = by_id.get(block.id or "") or next(
                    (one for (at, _), one in loose.items() if at == row and id(one) not in done), None
                )
                if call is not None and id(call) not in done:
                    done.add(id(call))
                    self._call(call)
            else:
                self._block(block)

    def _block(self, block: Block) -> None:
        match block:
            case Text():
                lines = prose.lines_of(block.text)
                if lines:
                    self.gap()
                    for line in prose.wrapped(lines, self._room):
                        self._print(*([line] if line else []))
                    self.gap()
            case Thinking() | RedactedThinking():
                self._thinking(block)
            case ServerToolUse():
                asked = tool_lines.argument(block.name, block.input, folder=None)
                self._print(Span(self._cut(f"· {one_line(block.name or '?')}  {asked}", 0), ("dim",)))
            case ServerToolResult():
                pass
            case Document():
                self._print(Span(f"[{tool_lines.picture(block)}]", ("cyan",)))
            case _:
                kind = one_line(block.type or "no type at all")
                self._print(Span(self._cut(f"· a block clew does not know: {kind}", 0), ("dim",)))

    def _thinking(self, block: Block) -> None:
        if not self._choice.thinking:
            return
        text = block.text if isinstance(block, Thinking) else "(encrypted)"
        room = self._room
        self.gap()
        lines = prose.lines_of(text) or ["(no words)"]
        for at, line in enumerate(prose.wrapped(lines, None if room is None else room - 10)):
            self._print(Span(f"{'          ' if at else 'thinking  '}{line}".rstrip(), ("dim",)))
        self.gap()

    # Calls ----------------------------------------------------------------------------------------

    def _call(self, call: Call) -> None:
        session = self._session
        given = call_block(session, call).input
        result = result_block(session, call)
        mark, style = ("✗", "red") if call.is_error else ("✓", "green") if result else ("?", "yellow")
        asked = tool_lines.argument(call.name, given, folder=session.entry(call.row).cwd)
        came = [tool_lines.outcome(call.name, result, structured(session, call))]
        if call.duration_ms is not None and call.duration_ms >= _LONG_CALL_MS:
            came.append(words.duration(call.duration_ms))
        after = " · ".join(part for part in came if part)
        room = self._room
        widest = 40 if room is None else max(_NAME, min(40, room // 3))
        name = cells.pad(cells.cut_end(one_line(call.name or "?"), widest), _NAME)
        if room is not None:
            left = room - 2 - cells.width(name) - 2 - (cells.width(after) + 3 if after else 0)
            cut = cells.cut_middle if "/" in asked and " " not in asked else cells.cut_end
            asked = cut(asked, max(8, left))
        parts: list[Part] = [Span(f"{mark} ", (style,)), name, "  ", asked]
        if after:
            parts += [Span(" · ", ("dim",)), Span(after, ("red",) if call.is_error else ("dim",))]
        self._print(*parts)
        if self._choice.full:
            self._whole(given, tool_lines.result_text(result))
        elif call.is_error:
            lines = [self._cut(line, 4) for line in prose.lines_of(tool_lines.result_text(result))]
            self._folded(lines, "    ", (), most=TAIL, tail=True)
        for agent in self._agents.get(call.id or "", ()):
            self._agent(agent)

    def _whole(self, given: Mapping[str, object], said: str) -> None:
        for key, value in given.items():
            lines = prose.lines_of(value if isinstance(value, str) else str(value))
            if len(lines) > 1:
                self._print("    ", Span(f"{one_line(key)[:60]}:", ("dim",)))
                self._folded(lines, "      ", (), most=0)
            else:
                self._print("    ", Span(f"{one_line(key)[:60]}: ", ("dim",)), lines[0] if lines else "")
        self._folded(prose.lines_of(said), "    ", ("dim",), most=0)

    def _cut(self, text: str, margin: int) -> str:
        room = self._room
        return text if room is None else cells.cut_end(one_line_of(text), max(8, room - margin))

    # Sub-agents -----------------------------------------------------------------------------------

    def _agent(self, agent: Agent) -> None:
        from clew.actions.reading import agent_turns
        from clew.actions.trees import work
        from clew.session.spending import turn_spent

        self._print(*agent_line(agent, work(self._session, agent), room=self._room))
        if not self._choice.agents:
            return
        home, found = agent_turns(self._session, agent)
        below: dict[str, list[Agent]] = {}
        for child in agent.children:
            below.setdefault(child.started_by or "", []).append(child)
        inner = Reader(self._screen, home, below, self._choice, margin=self._margin + "  │ ")
        for turn in found:
            inner.turn(turn, turn_spent(home, turn))
        self.gap()

    def loose(self, found: Sequence[Agent]) -> None:
        """Write the sub-agents that no call is known to have started."""
        if found:
            self.rule(f"{words.count(len(found), 'sub-agent')} that no call here started")
            for agent in found:
                self._agent(agent)


def one_line_of(text: str) -> str:
    """Return a line as it is but for line breaks, indentation kept."""
    return text.replace("\n", " ")


def _width(parts: Sequence[Part]) -> int:
    return sum(cells.width(part if isinstance(part, str) else part.text) for part in parts)


def _failed(turn: Turn) -> int:
    return sum(call.is_error for call in turn.calls)


def local(ms: int | None) -> datetime | None:
    """Return a time in the person's own zone; None where no calendar has it."""
    try:
        return None if ms is None else (_EPOCH + timedelta(milliseconds=ms)).astimezone()
    except (OverflowError, OSError, ValueError):
        return None
