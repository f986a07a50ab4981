"""A session as a person reads it on a terminal: turn by turn, written out as it goes.

What is folded carries a note, and what failed is seen while folded. The parts come from `clew.view`; how each
looks is `drawing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells, drawing, prose, words
from clew.faces.cli.agent_lines import agent_line
from clew.faces.cli.diff_lines import diff_rows, trimmed
from clew.faces.cli.styled import Row, cut, joined, width
from clew.faces.cli.terminal import Part, Screen, Span, one_line
from clew.view import parts
from clew.view.notes import PRINTED, SUMMARY
from clew.view.texts import first_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew.faces.cli.patterns import Pattern
    from clew.view.parts import Flow, TurnHead
    from clew.view.timeline import Timeline, TurnView

TAIL: Final = 12
"""Lines of a failed call that are shown."""

PROMPT: Final = 40
"""Lines of a prompt that are shown; a pasted book is folded."""

DIFF: Final = 16
"""Lines of a change that are shown; a longer one begins."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DEEPEST: Final = 80
"""Cells of margin from which sub-agents of sub-agents are only named; nobody reads the rest."""

_NAME: Final = 6
_LONG_CALL_MS: Final = 1000
_MARKS: Final[dict[parts.State, Span]] = {
    "done": Span("✓ ", ("green",)),
    "failed": Span("✗ ", ("red",)),
    "refused": Span("✗ ", ("red",)),
    "missing": Span("? ", ("yellow",)),
    "running": Span("? ", ("yellow",)),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """How much is shown."""

    thinking: bool = False
    full: bool = False
    agents: bool = False
    images: bool = False
    marked: Pattern | None = None
    """What is marked wherever it occurs."""


class Reader:
    """Writes the turns of one session, or of one sub-agent, to a screen."""

    def __init__(
        self, screen: Screen, choice: Choice, *, timeline: Timeline | None = None, margin: str = ""
    ) -> None:
        self._screen = screen
        self._choice = choice
        self._timeline = timeline
        self._margin = margin
        self._day: str | None = None
        self._strange: set[str] = set()
        self._has_written = False
        self._owes_gap = False

    @property
    def _room(self) -> int | None:
        width = self._screen.width
        return None if width is None else max(20, width - cells.width(self._margin))

    def _less(self, margin: int) -> int | None:
        room = self._room
        return None if room is None else max(8, room - margin)

    def _print(self, *row: Part) -> None:
        if self._owes_gap:
            self._owes_gap = False
            self._line()
        self._has_written = True
        self._line(*row)

    def _line(self, *row: Part) -> None:
        row = joined(row)
        if self._choice.marked is not None:
            row = self._choice.marked.marked(row)
        if self._margin:
            self._screen.print(Span(self._margin if row else self._margin.rstrip(), ("dim",)), *row)
        else:
            self._screen.print(*row)

    def gap(self) -> None:
        """Leave a line free before whatever comes next."""
        self._owes_gap = self._has_written

    def rule(self, *row: Part) -> None:
        """Write a line that goes all the way across."""
        self.gap()
        room = min(self._room or prose.WIDEST, prose.WIDEST)
        kept = cut(row, max(8, room - 4)) if self._room is not None else row
        rest = max(0, room - width(kept) - 4)
        self._print(Span("── ", ("dim",)), *kept, Span(" " + "─" * rest, ("dim",)))

    # Turns ----------------------------------------------------------------------------------------

    def turn(self, view: TurnView) -> None:
        """Write one turn."""
        head = view.head
        heading = self._heading(head, head.marks)
        if head.marks and width(heading) + 6 > (self._room or prose.WIDEST):
            self.rule(*self._heading(head, ()))
            self._print(Span(f"· {', '.join(map(one_line, head.marks))}", ("yellow",)))
        else:
            self.rule(*heading)
        moment = local(head.started)
        self._day = self._day if moment is None else moment.date().isoformat()
        is_answered = self.flow(view.flow())
        said = {
            "incomplete": "the turn was not finished" if is_answered else "no answer came",
            "cut": "the answer was cut short",
            "error": "ended in an error",
        }.get(head.status)
        if said:
            self._print(Span(f"  ({said})", ("yellow",)))

    def _heading(self, head: TurnHead, marks: Sequence[str]) -> list[Part]:
        work = head.work
        facts: list[list[Part]] = []
        moment = local(head.started)
        if moment is not None:
            day = moment.date().isoformat()
            facts.append([f"{moment:%H:%M}" if day == self._day else f"{day} {moment:%H:%M}"])
        if work.duration_ms is not None:
            facts.append([("≈" if work.is_estimated else "") + words.duration(work.duration_ms)])
        if work.calls:
            failed: list[Part] = [", ", Span(f"{work.failed:,} failed", ("red",))] if work.failed else []
            facts.append([words.count(work.calls, "call"), *failed])
        if work.total_tokens or work.cost_usd is None:
            facts.append([words.money(work.cost_usd)])
        facts.extend([Span(one_line(mark), ("yellow",))] for mark in marks)
        row: list[Part] = [Span(str(head.n), ("bold",)), Span(" ── ", ("dim",))]
        for at, fact in enumerate(facts):
            row += [Span(" · ", ("dim",)), *fact] if at else fact
        return row

    # What is said and done --------------------------------------------------------------------------

    def flow(self, flow: Iterable[Flow]) -> bool:
        """Write some parts of a turn; say whether the model did anything in them."""
        is_answered = False
        for one in flow:
            self.part(one)
            is_answered |= isinstance(one, parts.Answer | parts.Call | parts.Thinking)
        return is_answered

    def part(self, one: Flow) -> None:
        """Write one part."""
        match one:
            case parts.Prompt():
                self._prompt(one)
            case parts.Answer():
                self._answer(one)
            case parts.Thinking():
                self._thinking(one)
            case parts.Call():
                self._call(one)
            case parts.Note():
                self._note(one)
            case parts.Rule():
                self._rule(one)
            case parts.Notice():
                self._notice(one)

    def _prompt(self, prompt: parts.Prompt) -> None:
        left = Span("› ", ("bold",))
        if prompt.is_queued:
            self.gap()
        if not prompt.parts:
            self._print(left, Span("(empty)", ("dim",)))
        for part in prompt.parts:
            if isinstance(part, parts.Section) and not self._choice.full:
                inner = " ".join(one.text for one in part.parts if isinstance(one, parts.Text))
                said = one_line(f"({part.title}: {inner})")
                self._print(left, Span(self._cut(said, 2), ("dim",)))
            else:
                self._folded([*drawing.rows_of(part, self._less(2))], left, most=PROMPT)
                self._picture(part)
        self.gap()

    def _answer(self, answer: parts.Answer) -> None:
        if answer.is_error:
            said = " ".join(one.text for one in answer.parts if isinstance(one, parts.Text))
            self._print(Span(self._cut(f"✗ API error: {one_line(said)}", 0), ("red",)))
            return
        self.gap()
        for part in answer.parts:
            for row in drawing.rows_of(part, self._room):
                self._print(*row)
            self._picture(part)
        self.gap()

    def _thinking(self, thinking: parts.Thinking) -> None:
        if not self._choice.thinking:
            if thinking.text.strip():
                self.gap()
                sentence = one_line(first_sentence(thinking.text))
                self._print(Span(self._cut(f"thinking  {sentence}", 0), ("dim",)))
                self.gap()
            return
        text = thinking.text if thinking.text.strip() else "(encrypted)"
        self.gap()
        for at, line in enumerate(prose.wrapped(prose.lines_of(text), self._less(10))):
            self._print(Span(f"{'          ' if at else 'thinking  '}{line}".rstrip(), ("dim",)))
        self.gap()

    def _note(self, note: parts.Note) -> None:
        if note.agents:
            self.rule(one_line(note.text))
            for agent in note.agents:
                self._agent(agent)
            return
        if note.is_meta and not self._choice.full:
            return
        head = one_line(note.text)
        if note.text == SUMMARY:
            self._summary(note.parts)
            return
        if note.text != PRINTED:
            start = "$ " if head.startswith(("/", "!")) else "" if head.startswith("#") else "· "
            self._print(Span(self._cut(f"{start}{head}", 0), ("dim",)))
        for part in note.parts:
            if self._choice.full:
                self._folded([*drawing.rows_of(part, self._less(4))], "    ", most=TAIL, look=("dim",))
                self._picture(part)
            elif not isinstance(part, parts.Section):
                self._folded(self._short([part]), "    ", most=TAIL, look=("dim",))
                self._picture(part)
        if note.parts or not head.startswith(("/", "!")):  # what a command printed may stand below it
            self.gap()

    def _rule(self, rule: parts.Rule) -> None:
        match rule.reason:
            case "rewind":
                return  # the turn's own rule says so
            case "fork":
                self.gap()
                self._print(Span(self._cut(f"· {one_line(rule.text)}", 0), ("yellow",)))
            case "interrupt":
                self._print(Span(self._cut(f"! {one_line(rule.text)}", 0), ("yellow",)))
            case _:
                self.rule(Span(one_line(rule.text), ("bold",)))
                self.gap()
        for part in rule.parts:
            if isinstance(part, parts.Section) and rule.reason == "compaction":
                self._summary(part.parts)

    def _summary(self, inner: Sequence[parts.Part]) -> None:
        """Write what a compaction kept; the model wrote it for itself, and few want to read it here."""
        text = "\n".join(one.text for one in inner if isinstance(one, parts.Markdown | parts.Text))
        lines = prose.lines_of(text)
        head = f"· {SUMMARY}"
        if lines and not self._choice.full:
            length = words.size(len(text.encode("utf-8", "replace")))
            head += f", {words.count(len(lines), 'line')} ({length}): --full"
        self._print(Span(self._cut(head, 0), ("dim",)))
        if self._choice.full:
            for part in inner:
                self._folded([*drawing.rows_of(part, self._less(4))], "    ", most=0)
        self.gap()

    def _notice(self, notice: parts.Notice) -> None:
        if notice.level == "info" and not self._choice.full:
            if notice.text in self._strange:  # one line a type, however many there are
                return
            self._strange.add(notice.text)
        rows = (
            drawing.rows_of(notice, self._room)
            if self._choice.full
            else drawing.notice_rows(notice, self._room)
        )
        for row in rows:
            self._print(*row)

    def _picture(self, part: parts.Part) -> None:
        if self._choice.images and isinstance(part, parts.Image):
            from clew.faces.cli.pictures import sequence_of

            sequence = sequence_of(part, self._screen)
            if sequence is not None:
                self._screen.picture(sequence)

    # Calls ----------------------------------------------------------------------------------------

    def _call(self, call: parts.Call) -> None:
        came = [one_line(call.outcome)]
        if call.duration_ms is not None and call.duration_ms >= _LONG_CALL_MS:
            came.append(words.duration(call.duration_ms))
        after = " · ".join(part for part in came if part)
        room = self._room
        widest = 40 if room is None else max(_NAME, min(40, room // 3))
        name = cells.pad(cells.cut_end(one_line(call.tool), widest), _NAME)
        asked = whole = one_line(call.argument)
        if room is not None:
            left = room - 2 - cells.width(name) - 2 - (cells.width(after) + 3 if after else 0)
            if left < 16 and after:
                after = cells.cut_end(after, max(8, room // 2))
                left = room - 2 - cells.width(name) - 2 - cells.width(after) - 3
            shorten = cells.cut_middle if "/" in asked and " " not in asked else cells.cut_end
            asked = shorten(asked, max(8, left))
        is_bad = call.state in {"failed", "refused"}
        row: list[Part] = [_MARKS[call.state], name, "  ", asked]
        if after:
            row += [Span(" · ", ("dim",)), Span(after, ("red",) if is_bad else ("dim",))]
        self._print(*row)
        if self._choice.full:
            self._whole(call, whole if whole != asked else "")
        else:
            self._glance(call)
        for agent in call.agents:
            self._agent(agent)

    def _whole(self, call: parts.Call, argument: str) -> None:
        if argument:
            self._folded([*drawing.rows_of(parts.Text(argument), self._less(4))], "    ", most=0)
        for part in (*call.given, *call.result):
            self._folded([*drawing.rows_of(part, self._less(4))], "    ", most=0)
            self._picture(part)

    def _glance(self, call: parts.Call) -> None:
        """Write as much of a call as is worth reading unasked: how it failed, a change, what is to do."""
        if call.state in {"failed", "refused"}:
            self._folded(self._short(call.result), "    ", most=TAIL, tail=True)
            return
        for part in (*call.given, *call.result):
            if isinstance(part, parts.Todos):
                self._folded([*drawing.todo_rows(drawing.changed(part), self._less(4))], "    ", most=TAIL)
            elif isinstance(part, parts.Diff) and call.state == "done" and not part.is_new:
                near = trimmed(part)
                self._folded([*diff_rows(near, self._less(4), whole=False)], "    ", most=DIFF)
            elif isinstance(part, parts.Image):
                self._picture(part)

    def _short(self, inner: Iterable[parts.Part]) -> list[Row]:
        """Return the lines of some parts, each on one row, cut where it is wide."""
        rows = [row for part in inner for row in drawing.rows_of(part, None)]
        room = self._less(4)
        return rows if room is None else [cut(row, room) for row in rows]

    def _folded(
        self,
        rows: Sequence[Row],
        margin: Part,
        *,
        most: int,
        tail: bool = False,
        look: tuple[str, ...] = (),
    ) -> None:
        shown, note = (rows, None) if self._choice.full else _fold(rows, most=most, from_end=tail)
        if note and tail:
            self._print(margin, Span(f"… {note}", ("dim",)))
        for row in shown:
            if look:
                row = tuple(Span(one, ("dim",)) if isinstance(one, str) else one for one in row)
            self._print(margin, *row)
        if note and not tail:
            self._print(margin, Span(f"… {note}", ("dim",)))

    def _cut(self, text: str, margin: int) -> str:
        room = self._room
        flat = text.replace("\n", " ")
        return flat if room is None else cells.cut_end(flat, max(8, room - margin))

    # Sub-agents -----------------------------------------------------------------------------------

    def _agent(self, agent: parts.Agent) -> None:
        self._print(*agent_line(agent, room=self._room))
        if not self._choice.agents or self._timeline is None or len(self._margin) >= _DEEPEST:
            return
        inner = self._timeline.agent(agent.agent_id)
        if inner is None:
            return
        reader = Reader(self._screen, self._choice, timeline=inner, margin=self._margin + "  │ ")
        for view in inner.turns():
            reader.turn(view)
        self.gap()


def _fold(rows: Sequence[Row], *, most: int, from_end: bool) -> tuple[Sequence[Row], str | None]:
    texts = ["".join(one if isinstance(one, str) else one.text for one in row) for row in rows]
    _, note = prose.folded(texts, most=most, from_end=from_end)
    if note is None:
        return rows, None
    return (rows[-most:] if from_end else rows[:most]), note


def local(ms: int | None) -> datetime | None:
    """Return a time in the person's own zone; None where no calendar has it."""
    try:
        return None if ms is None else (_EPOCH + timedelta(milliseconds=ms)).astimezone()
    except (OverflowError, OSError, ValueError):
        return None
