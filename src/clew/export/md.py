"""A session as Markdown: facts, then turn by turn what was said and done.

All text passes `md_escape`, what the model wrote `md_answer`; everything else here is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.export import md_escape as gate
from clew.export.facts import DEEPEST, MARKS, SILENT, agent_line, facts, image_line, turn_facts
from clew.export.md_answer import answer
from clew.view import parts, words
from clew.view.texts import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew.export.options import Options
    from clew.export.story import Story
    from clew.view.timeline import TurnView

_TITLE: Final = 90
"""As much of a prompt as stands in the heading of its turn."""

_TODOS: Final[dict[parts.TodoState, str]] = {
    "pending": "[ ]", "in_progress": "[ ] *now:*", "completed": "[x]", "removed": "[ ] *taken off:*",
}  # fmt: skip


def write(story: Story, options: Options) -> Iterator[bytes]:
    """Give the document."""
    for block in _Document(story, options).blocks():
        yield f"{block}\n\n".encode()
    yield f"*Exported by clew {gate.inline(story.version)}*\n".encode()


@dataclass(frozen=True, slots=True)
class _Document:
    story: Story
    options: Options

    def blocks(self) -> Iterator[str]:
        """Give its blocks, between which there are blank lines."""
        story = self.story
        yield f"# {gate.inline(story.head.title) or '(no title)'}"
        yield "\n".join(f"- **{name}:** {gate.inline(value)}" for name, value in facts(story))
        is_empty = True
        for turn in story.turns():
            is_empty = False
            yield from self._turn(turn)
        if is_empty:
            yield SILENT

    def _turn(self, turn: TurnView) -> Iterator[str]:
        head = turn.head
        title = gate.inline(one_line(head.title, longest=_TITLE))
        yield f'<a id="turn-{head.n}"></a>'
        yield f"## {head.n}. {title}".rstrip() if head.n else "## Before the first prompt"
        if told := turn_facts(head):
            yield f"*{gate.inline(told)}*"
        yield from self._flows(turn, 0)

    def _flows(self, turn: TurnView, depth: int) -> Iterator[str]:
        for flow in turn.flow():
            yield from self._flow(flow, depth)

    def _flow(self, flow: parts.Flow, depth: int) -> Iterator[str]:
        match flow:
            case parts.Prompt(found):
                yield "**Sent meanwhile**" if flow.is_queued else "**Prompt**"
                yield from _parts(found)
            case parts.Answer(found):
                if flow.is_error:
                    yield "**Error**"
                yield from _parts(found)
            case parts.Thinking(text):
                if self.options.with_thinking and text.strip():
                    yield from _folded("Thinking", [gate.quote(text)])
            case parts.Call():
                yield from self._call(flow, depth)
            case parts.Note(text):
                if not flow.is_meta:
                    yield f"*{gate.inline(text)}*"
                    yield from _parts(flow.parts)
                    yield from self._agents(flow.agents, depth)
            case parts.Rule(text):
                yield f"---\n\n*{gate.inline(text)}*"
                yield from _parts(flow.parts)
            case parts.Notice():
                yield from _notice(flow)

    def _call(self, call: parts.Call, depth: int) -> Iterator[str]:
        told = [f"{MARKS[call.state]} **{gate.inline(call.tool)}**"]
        if argument := gate.code(call.argument):
            told.append(argument)
        outcome = [gate.inline(call.outcome)] if call.outcome else []
        if call.duration_ms is not None:
            outcome.append(words.duration(call.duration_ms))
        yield " ".join(told) + (f" · {' · '.join(outcome)}" if outcome else "")
        yield from _given(call)
        yield from _result(call)
        yield from self._agents(call.agents, depth)

    def _agents(self, agents: Iterable[parts.Agent], depth: int) -> Iterator[str]:
        if not self.options.with_agents:
            return
        for agent in agents:
            if depth >= DEEPEST:
                yield f"*{gate.inline(agent_line(agent))}*"
                continue
            yield f"<details><summary>{gate.label(agent_line(agent))}</summary>"
            for turn in self.story.agent_turns(agent.agent_id):
                yield from self._flows(turn, depth + 1)
            yield "</details>"


def _given(call: parts.Call) -> Iterator[str]:
    if call.given:
        yield from _folded("Input", _parts(call.given))


def _result(call: parts.Call) -> Iterator[str]:
    """Give what came back: changes are seen at once, all else is folded."""
    for part in call.result:
        if isinstance(part, parts.Diff):
            yield from _part(part)
    rest = [part for part in call.result if not isinstance(part, parts.Diff)]
    if all(isinstance(part, parts.Section) for part in rest):
        yield from _parts(rest)  # folded by themselves
    else:
        yield from _folded("Result", _parts(rest))


def _folded(title: str, blocks: Iterable[str], *, is_open: bool = False) -> Iterator[str]:
    yield f"<details{' open' if is_open else ''}><summary>{gate.label(title)}</summary>"
    yield from blocks
    yield "</details>"


def _parts(found: Iterable[parts.Part], depth: int = 0) -> Iterator[str]:
    for part in found:
        yield from _part(part, depth)


def _part(part: parts.Part, depth: int = 0) -> Iterator[str]:
    match part:
        case parts.Text(text):
            if text.strip():
                yield gate.quote(text)
        case parts.Markdown(text):
            if told := answer(text):
                yield told
        case parts.Code(text):
            yield from _code(part)
        case parts.Diff():
            yield from _diff(part)
        case parts.Table(rows):
            if rows or part.head:
                yield _table(part.head, rows)
        case parts.Image():
            yield f"*{gate.inline(image_line(part))}*"
        case parts.Notice():
            yield from _notice(part)
        case parts.Todos(items):
            yield "\n".join(f"- {_TODOS[one.state]} {gate.inline(one.text)}" for one in items)
        case parts.Section(title):
            if depth < DEEPEST:
                yield from _folded(title, _parts(part.parts, depth + 1), is_open=part.is_open)


def _code(code: parts.Code) -> Iterator[str]:
    facts = [gate.code(code.path)] if code.path else []
    if code.stream == "err":
        facts.append("standard error")
    if code.first_line is not None and code.first_line > 1:
        facts.append(f"from line {code.first_line:,}")
    if code.total_lines is not None:
        facts.append(f"{code.total_lines:,} lines in all")
    if facts:
        yield " · ".join(facts)
    if code.text:
        yield gate.fence(code.text, code.language)


def _diff(diff: parts.Diff) -> Iterator[str]:
    what = "new file" if diff.is_new else f"+{diff.added:,} −{diff.removed:,}"
    yield f"{gate.code(diff.path)} · {what}"
    lines = [
        line for hunk in diff.hunks for line in (f"@@ -{hunk.old_start} +{hunk.new_start} @@", *hunk.lines)
    ]
    if lines:
        yield gate.fence("\n".join(lines), "diff")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    width = max(len(row) for row in (head, *rows))
    lines = [head, *rows]
    told = [f"| {' | '.join([*map(gate.cell, row), *[''] * (width - len(row))])} |" for row in lines]
    return "\n".join((told[0], f"|{' --- |' * width}", *told[1:]))


def _notice(notice: parts.Notice) -> Iterator[str]:
    where = f" (line {notice.line:,})" if notice.line is not None else ""
    yield f"> **{notice.level}:** {gate.inline(notice.text)}{where}"
    if notice.detail:
        yield from _folded("Detail", [gate.fence(notice.detail)])
