"""What happens in a session, as rows: those that stay, and those that show what is going on just now."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.agent.happenings import (
    Answered,
    BlockDone,
    CallBegan,
    CallEnded,
    CallReported,
    Compacted,
    Compacting,
    InAgent,
    Noted,
    Said,
    Thought,
    Waits,
)
from clew.faces.cli import words
from clew.faces.cli.chat import calls
from clew.faces.cli.markdown import WIDEST, Markdown, inline
from clew.faces.cli.styled import Row, cut, safe, text_of, wrap
from clew.faces.cli.terminal import Span, one_line
from clew.format.entry import as_mapping

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.agent.happenings import Happening
    from clew.faces.cli.chat.calls import Call

_THOUGHT: Final = 4000
"""As much of a thought as is kept to be shown."""

_MOST_LINES: Final = 30
"""Lines of a prompt that are shown; whoever sent it has seen it."""

_APART: Final = frozenset({"text", "prompt", "rows", "question"})
"""What stands apart from its like too."""


class Telling:
    """Hears what happens and draws it."""

    def __init__(self, width: int, folder: str) -> None:
        self._folder = folder
        self._markdown = Markdown(width)
        self._is_saying = False
        self._thought = ""
        self._calls: dict[str, Call] = {}
        """The calls of this turn, by their ids; those of sub-agents too."""
        self._shown: dict[str, Call] = {}
        """Those of the session itself that have not ended."""
        self._kind = ""
        """What the last row that stays was of; a row of another kind comes behind an empty one."""
        self._waits = ""
        self.tokens = 0
        """How long the conversation is."""

    @property
    def width(self) -> int:
        """Cells in a row."""
        return self._markdown.width

    @width.setter
    def width(self, width: int) -> None:
        self._markdown.width = width

    # What stays -------------------------------------------------------------------------------------

    def hear(self, happening: Happening, now: float) -> list[Row]:
        """Take what happens; return the rows that stay."""
        if not isinstance(happening, CallReported | Noted | InAgent | Waits):
            self._waits = ""
        match happening:
            case Said():
                return self._said(happening.text)
            case Thought():
                self._thought = (self._thought + happening.text)[:_THOUGHT]
                return []
            case BlockDone():
                return self._block(happening, now)
            case CallBegan() | CallReported() | CallEnded():
                return self._call(happening, now)
            case Answered():
                self.tokens = happening.context_tokens
                return self._end_text()
            case InAgent():
                self._in_agent(happening, now)
                return []
            case _:
                return self._aside(happening)

    def _said(self, text: str) -> list[Row]:
        rows = self._end_thought()
        if not self._is_saying:
            text = text.lstrip("\n")
            if not text:
                return rows
            self._is_saying = True
            rows += self._add("text", ())
        return rows + self._markdown.feed(text)

    def _block(self, happening: BlockDone, now: float) -> list[Row]:
        block = happening.block
        rows = self._end_thought() + self._end_text()
        if block.get("type") == "tool_use":
            call = calls.called(
                str(block.get("name") or ""), as_mapping(block.get("input")), folder=self._folder, now=now
            )
            self._calls[str(block.get("id") or "")] = call
        return rows

    def _call(self, happening: CallBegan | CallReported | CallEnded, now: float) -> list[Row]:
        call = self._calls.get(happening.call_id)
        if call is None:
            name = "" if isinstance(happening, CallReported) else happening.name
            call = self._calls[happening.call_id] = calls.called(name, {}, folder=self._folder, now=now)
        match happening:
            case CallBegan():
                call.started, call.is_begun = now, True
                self._shown[happening.call_id] = call
                return []
            case CallReported():
                call.report(happening.text)
                return []
            case CallEnded():
                self._shown.pop(happening.call_id, None)
                call.end(happening.outcome, now, happening.call_id)
                return self._add("call", [*calls.done(call, self.width)])

    def _in_agent(self, happening: InAgent, now: float) -> None:
        above = self._calls.get(happening.call_id)
        inner = happening.happening
        if above is None:
            return
        match inner:
            case Said():
                above.said = (above.said + inner.text)[-_THOUGHT:]
            case BlockDone() if inner.block.get("type") == "tool_use":
                given = as_mapping(inner.block.get("input"))
                call = calls.called(str(inner.block.get("name") or ""), given, folder=self._folder, now=now)
                self._calls[str(inner.block.get("id") or "")] = call
                above.below.append(call)
                above.said = ""
            case CallBegan() | CallReported() | CallEnded():
                found = self._calls.get(inner.call_id)
                if found is None:
                    return
                if isinstance(inner, CallBegan):
                    found.started, found.is_begun = now, True
                elif isinstance(inner, CallReported):
                    found.report(inner.text)
                else:
                    found.end(inner.outcome, now, inner.call_id)
            case _:
                pass

    def _aside(self, happening: Happening) -> list[Row]:
        match happening:
            case Waits():
                self._waits = (
                    f"{one_line(happening.reason)}; trying again in {happening.seconds:.0f} s "
                    f"({happening.attempt} of {happening.tries})"
                )
                return []
            case Compacting():
                return self._rule("summing up the conversation")
            case Compacted():
                before, after = words.tokens(happening.tokens_before), words.tokens(happening.tokens_after)
                how = ", without the model" if happening.is_extract else ""
                return self._rule(f"summed up: {before} → ≈{after} tokens{how}")
            case Noted():
                return self.note(happening.text)
            case _:
                return []

    def note(self, text: str) -> list[Row]:
        """Draw something the person should know."""
        rows: list[Row] = []
        for number, line in enumerate(text.strip("\n").split("\n")):
            first = (Span("! ", ("yellow",)),) if number == 0 else ("  ",)
            rows += wrap((Span(safe(line), ("yellow",)),), self.width, first=first, rest=("  ",))
        return self._add("note", rows)

    def end(self, *, is_interrupted: bool = False) -> list[Row]:
        """Hear that the turn is over; what is still open is drawn as it is."""
        rows = self._end_thought() + self._end_text()
        for call in self._shown.values():
            call.is_done, call.is_error, call.came = True, True, "interrupted"
            rows += self._add("call", [*calls.done(call, self.width)])
        self._shown.clear()
        self._calls.clear()
        self._waits = ""
        if is_interrupted:
            rows += self._add("rule", [(Span("── interrupted ──", ("yellow",)),)])
        return rows

    def prompt(self, text: str) -> list[Row]:
        """Draw what the person said."""
        rows: list[Row] = []
        lines = text.strip("\n").split("\n")
        for number, line in enumerate(lines[:_MOST_LINES]):
            first = (Span("› ", ("bold", "cyan")),) if number == 0 else ("  ",)
            rows += wrap((Span(safe(line), ("bold",)),), self.width, first=first, rest=("  ",))
        if len(lines) > _MOST_LINES:
            rows.append((Span(f"  {words.count(len(lines) - _MOST_LINES, 'line')} more", ("dim",)),))
        return self._add("prompt", rows)

    def answer(self, text: str) -> list[Row]:
        """Draw what was answered before."""
        markdown = Markdown(self.width)
        return self._add("text", [*markdown.feed(text), *markdown.end()])

    def rows(self, rows: Sequence[Row], kind: str = "rows") -> list[Row]:
        """Draw anything else."""
        return self._add(kind, rows)

    def _end_thought(self) -> list[Row]:
        thought, self._thought = self._thought, ""
        first = text_of(inline(one_line(thought).lstrip("# ")))
        if not first:
            return []
        return self._add("thought", [cut((Span(f"thought: {first}", ("dim",)),), min(self.width, WIDEST))])

    def _end_text(self) -> list[Row]:
        if not self._is_saying:
            return []
        self._is_saying = False
        return self._markdown.end()

    def _rule(self, text: str) -> list[Row]:
        return self._add("rule", [cut((Span(f"── {text} ──", ("dim",)),), self.width)])

    def _add(self, kind: str, rows: Sequence[Row]) -> list[Row]:
        """Put an empty row before something, unless it belongs to what was last."""
        before, self._kind = self._kind, kind
        is_apart = before and kind != "answer" and (before != kind or kind in _APART)
        return [(), *rows] if is_apart else [*rows]

    # What goes on -----------------------------------------------------------------------------------

    def live(self, now: float, room: int) -> list[Row]:
        """Return at most so many rows that show what is going on."""
        rows: list[Row] = []
        if self._thought:
            rows.append((Span(f"thinking: {one_line(self._thought[-400:])[-self.width + 12 :]}", ("dim",)),))
        if self._is_saying:
            rows += self._markdown.tail()
        for call in self._shown.values():
            rows += calls.live(call, now, self.width)
        if self._waits:
            rows += wrap((Span(f"! {self._waits}", ("yellow",)),), self.width)
        if rows and self._kind and not self._is_saying:
            rows.insert(0, ())
        return rows[-room:]
