"""A session as plain text. One gate: every line is printable, and what cannot be seen is a symbol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.export.facts import DEEPEST, MARKS, SILENT, agent_line, facts, image_line, turn_facts
from clew.view import parts, words
from clew.view.plain import one_line, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from clew.export.options import Options
    from clew.export.story import Story
    from clew.view.timeline import TurnView

_WIDTH: Final = 80
_TODOS: Final[dict[parts.TodoState, str]] = {
    "pending": "[ ]", "in_progress": "[>]", "completed": "[x]", "removed": "[-]",
}  # fmt: skip


def write(story: Story, options: Options) -> Iterator[bytes]:
    """Give the lines."""
    for line in _Document(story, options).lines():
        # The one gate: whatever made the line, this is what is written of it.
        yield f"{plain(line).rstrip()}\n".encode()


@dataclass(frozen=True, slots=True)
class _Document:
    story: Story
    options: Options

    def lines(self) -> Iterator[str]:
        """Give its lines."""
        story = self.story
        yield one_line(story.head.title) or "(no title)"
        yield ""
        for name, value in facts(story):
            yield f"{name + ':':<10} {one_line(value)}"
        is_empty = True
        for turn in story.turns():
            is_empty = False
            yield from self._turn(turn)
        if is_empty:
            yield ""
            yield SILENT

    def _turn(self, turn: TurnView) -> Iterator[str]:
        head = turn.head
        yield ""
        yield "=" * _WIDTH
        yield f"{head.n}. {one_line(head.title)}" if head.n else "Before the first prompt"
        if told := turn_facts(head):
            yield one_line(told)
        yield "=" * _WIDTH
        yield from self._flows(turn, 0)

    def _flows(self, turn: TurnView, depth: int) -> Iterator[str]:
        for flow in turn.flow():
            yield from self._flow(flow, depth)

    def _flow(self, flow: parts.Flow, depth: int) -> Iterator[str]:
        match flow:
            case parts.Prompt(found):
                yield ""
                yield from _led("> ", _parts(found))
            case parts.Answer(found):
                yield ""
                yield from _led("error: ", _parts(found)) if flow.is_error else _parts(found)
            case parts.Thinking(text):
                if self.options.with_thinking and text.strip():
                    yield ""
                    yield from _led("~ ", text.strip("\n").split("\n"))
            case parts.Call():
                yield from self._call(flow, depth)
            case parts.Note(text):
                if not flow.is_meta:
                    yield ""
                    yield f"({one_line(text)})"
                    yield from _led("    ", _parts(flow.parts))
                    yield from self._agents(flow.agents, depth)
            case parts.Rule(text):
                yield ""
                yield f"---- {one_line(text)} ".ljust(_WIDTH, "-")
                yield from _parts(flow.parts)
            case parts.Notice():
                yield ""
                yield from _notice(flow)

    def _call(self, call: parts.Call, depth: int) -> Iterator[str]:
        told = [part for part in (one_line(call.tool), one_line(call.argument)) if part]
        ends = [one_line(call.outcome)] if call.outcome else []
        if call.duration_ms is not None:
            ends.append(words.duration(call.duration_ms))
        yield ""
        end = f" · {' · '.join(ends)}" if ends else ""
        yield f"{MARKS[call.state]} {' '.join(told)}{end}"
        yield from _led("    < ", _parts(call.given))
        yield from _led("    ", _parts(call.result))
        yield from self._agents(call.agents, depth)

    def _agents(self, agents: Iterable[parts.Agent], depth: int) -> Iterator[str]:
        if not self.options.with_agents:
            return
        for agent in agents:
            yield ""
            yield f"  └ {one_line(agent_line(agent))}"
            if depth < DEEPEST:
                for turn in self.story.agent_turns(agent.agent_id):
                    yield from _led("  │ ", self._flows(turn, depth + 1))


def _led(start: str, lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        # Line by line: what a part holds may be more lines than it says.
        yield from (f"{start}{one}" for one in line.split("\n"))


def _parts(found: Iterable[parts.Part], depth: int = 0) -> Iterator[str]:
    for at, part in enumerate(found):
        if at and not isinstance(part, parts.Text):
            yield ""
        yield from _part(part, depth)


def _part(part: parts.Part, depth: int) -> Iterator[str]:
    match part:
        case parts.Text(text) | parts.Markdown(text):
            yield from text.strip("\n").split("\n")
        case parts.Code(text):
            if part.path:
                yield f"{one_line(part.path)}:"
            yield from text.rstrip("\n").split("\n")
        case parts.Diff():
            yield f"{one_line(part.path)}  {'new file' if part.is_new else f'+{part.added} −{part.removed}'}"
            for hunk in part.hunks:
                yield f"@@ -{hunk.old_start} +{hunk.new_start} @@"
                yield from hunk.lines
        case parts.Table(rows):
            for row in (part.head, *rows) if part.head else rows:
                yield "  ".join(one_line(cell) for cell in row)
        case parts.Image():
            yield one_line(image_line(part))
        case parts.Notice():
            yield from _notice(part)
        case parts.Todos(items):
            yield from (f"{_TODOS[one.state]} {one_line(one.text)}" for one in items)
        case parts.Section(title):
            yield f"{one_line(title)}:"
            if depth < DEEPEST:
                yield from _led("  ", _parts(part.parts, depth + 1))


def _notice(notice: parts.Notice) -> Iterator[str]:
    where = f" (line {notice.line:,})" if notice.line is not None else ""
    yield f"! {one_line(notice.text)}{where}"
    if notice.detail:
        yield from _led("    ", notice.detail.rstrip("\n").split("\n"))
