"""A session as it is written, line by line on a terminal, with the words of `clew show`.

A call is told when its result is there, on one line; one that takes longer is told when it begins as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells, tool_lines, words
from clew.faces.cli.naming import projects
from clew.faces.cli.reader import Choice, Reader, local
from clew.faces.cli.terminal import Part, Screen, Span, one_line
from clew.format import known
from clew.format.blocks import ServerToolResult, ToolResult, blocks
from clew.format.records import Fragment, Record
from clew.session.calls import call_block, pairs
from clew.session.messages import messages
from clew.session.session import HUMAN, TOOL_RESULT, Session
from clew.view import parts, queued
from clew.view.answers import message_parts
from clew.view.calls import Lines, call_part
from clew.view.notes import beside, under_user
from clew.view.notices import damage_words, unknown_line
from clew.view.parts import Notice
from clew.view.prompts import prompt_part

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.actions.watching import Changed, Gone, Said, Stream

_SLOW: Final = 2.0
"""Seconds after which a call without a result is told as running."""

_MOST: Final = 200
"""Calls of one file that are waited for; more are told as they come."""

_ID: Final = 8
_QUEUED: Final = frozenset(
    {
        "attachment/queued_command",
        "queue-operation/enqueue",
        "queue-operation/dequeue",
        "queue-operation/remove",
    }
)
_CHANGES: Final = {
    "cut": "the file was cut",
    "rewritten": "the file was rewritten",
    "replaced": "the file was replaced",
}


_Sent = parts.Prompt | parts.Note
"""What was said while the model worked, by a person or by a task."""


@dataclass(slots=True)
class _Waiting:
    """A call whose result has not come."""

    line: bytes
    since: float
    is_told: bool = False


class _LiveReader(Reader):
    """Writes records one at a time, each as soon as it is there."""

    def __init__(self, screen: Screen, choice: Choice, *, margin: str, clock: Callable[[], float]) -> None:
        super().__init__(screen, choice, margin=margin)
        self._clock = clock
        self._waiting: dict[str, _Waiting] = {}
        self._done: dict[str, None] = {}
        self._recovered = 0
        self._queue: list[_Sent] = []
        self._sent_along: list[_Sent] = []

    def begin(self, *row: Part) -> None:
        """Write the line that says who speaks now."""
        self._owes_gap = self._has_written = False
        self._screen.print(*row)

    def record(self, record: Record) -> None:
        """Write one record."""
        number, kind = record.number, record.facts.kind
        if not record.is_whole and number != self._recovered:
            self._recovered = number
            self.part(Notice(f"recovered from line {number:,}, which the client skips", "warning"))
        if record.is_abridged:
            length = words.size(record.length)
            said = f"large record, {length} (line {number:,}): its long texts are cut here"
            self.part(Notice(said, "warning"))
        session = Session.read(record.raw)
        if not len(session):
            return
        if kind == "user":
            self._user(session, record.raw)
        elif kind == "assistant":
            self._assistant(session, record.raw)
        elif kind in _QUEUED:
            self._queued(session, kind)
        else:
            found = beside(session, 0, kind)
            if found is not None:
                self.part(found)
            elif not known.is_known_type(kind):
                self.part(unknown_line(session, 0, kind))

    def fragment(self, fragment: Fragment) -> None:
        """Write what could not be read."""
        self.part(Notice(damage_words([fragment]), "warning"))

    def notice(self, text: str) -> None:
        """Write what became of the file."""
        self._print(Span(self._cut(one_line(text), 0), ("yellow",)))

    def _user(self, session: Session, line: bytes) -> None:
        flags = session.table.flags[0]
        if flags & HUMAN:
            moment = local(session.table.time_of(0))
            if moment is not None:
                self.rule(f"{moment:%H:%M}")
            self.part(prompt_part(session, 0))
        elif flags & TOOL_RESULT:
            self._results(session, line)
        else:
            found = under_user(session, 0)
            if found is not None:
                self.part(found)

    def _assistant(self, session: Session, line: bytes) -> None:
        self._say_sent_along()
        calls = pairs(session).calls
        by_row = {0: calls}
        lines = Lines(session)
        for message in messages(session):
            made = message_parts(
                session, message, by_row, call_part=lambda call: call_part(lines, call), last=None
            )
            named = {call.id for call in calls}
            for one in made:
                if not isinstance(one, parts.Call) or one.id not in named:
                    self.part(one)
        for call in calls:
            if call.id is None or len(self._waiting) >= _MOST:
                self.part(call_part(lines, call))
            elif call.id not in self._waiting and call.id not in self._done:
                self._waiting[call.id] = _Waiting(line, self._clock())

    def _queued(self, session: Session, kind: str) -> None:
        """Follow what was said while the model worked, as `view.queued` does for a whole session."""
        found = queued.part(session, 0)
        match kind:
            case "queue-operation/enqueue" if found is not None:
                self._queue.append(found)
            case "queue-operation/dequeue":
                self._queue = self._queue[1:]
            case "queue-operation/remove" if found or self._queue:
                sent = found or self._queue[0]
                self._sent_along.append(sent)
                self._queue = [one for one in self._queue if not _is_same(one, sent)]
            case "attachment/queued_command" if found is not None:
                self._sent_along = [one for one in self._sent_along if not _is_same(one, found)]
                self.part(found)
            case _:
                pass

    def _say_sent_along(self) -> None:
        for found in self._sent_along:
            self.part(found)
        self._sent_along = []

    def _results(self, session: Session, line: bytes) -> None:
        for block in blocks(session.entry(0).content):
            if not isinstance(block, ToolResult) or isinstance(block, ServerToolResult):
                continue
            name = block.tool_use_id or ""
            asked = self._waiting.pop(name, None)
            if asked is None:
                if name not in self._done:
                    came = tool_lines.outcome(None, block, None)
                    mark = Span("✗ ", ("red",)) if block.is_error else Span("✓ ", ("green",))
                    self._print(
                        mark, Span(f"an earlier call · {came}" if came else "an earlier call", ("dim",))
                    )
                continue
            self._done[name] = None
            while len(self._done) > 10 * _MOST:
                del self._done[next(iter(self._done))]
            both = Session.read(asked.line.rstrip(b"\r\n") + b"\n" + line)
            for call in pairs(both).calls:
                if call.id == name:
                    self.part(call_part(Lines(both), call))

    def has_running(self, *, everything: bool = False) -> bool:
        """Say whether there are calls that take their time, or any at all, and were not told."""
        return any(self._is_due(one, everything=everything) for one in self._waiting.values())

    def _is_due(self, one: _Waiting, *, everything: bool) -> bool:
        return not one.is_told and (everything or self._clock() - one.since >= _SLOW)

    def running(self, *, everything: bool = False) -> None:
        """Write the calls that take their time."""
        for name, one in self._waiting.items():
            if not self._is_due(one, everything=everything):
                continue
            one.is_told = True
            session = Session.read(one.line)
            for call in pairs(session).calls:
                if call.id == name:
                    folder = session.entry(0).cwd
                    asked = tool_lines.argument(call.name, call_block(session, call).input, folder=folder)
                    tool = cells.pad(one_line(call.name or "?")[:40], 6)
                    room = self._room
                    if room is not None:
                        asked = cells.cut_end(asked, max(8, room - cells.width(tool) - 14))
                    self._print(Span("· ", ("dim",)), tool, "  ", asked, Span(" · running", ("dim",)))


def _is_same(one: _Sent, other: _Sent) -> bool:
    """Say whether two messages have the same words, wherever they stood."""
    return one.parts == other.parts


class View:
    """Shows what a watch tells, of any number of files, each under its own heading."""

    def __init__(self, screen: Screen, choice: Choice, *, clock: Callable[[], float]) -> None:
        self._screen = screen
        self._choice = choice
        self._clock = clock
        self._readers: dict[tuple[str, bool], _LiveReader] = {}
        self._streams: dict[str, Stream] = {}
        self._current: tuple[str, bool] | None = None
        self.is_damaged = False

    def said(self, said: Said) -> None:
        """Show a record, or what could not be read."""
        item = said.item
        if isinstance(item, Fragment):
            self.is_damaged = True
            self._reader(said.stream).fragment(item)
        else:
            # Up to 1.0.128 a sub-agent's lines stand in the session's own file.
            is_side = said.stream.agent is None and item.facts.is_sidechain is True
            self._reader(said.stream, is_side=is_side).record(item)

    def changed(self, changed: Changed) -> None:
        """Say that a file is no longer what it was."""
        reader = self._reader(changed.stream)
        if changed.what == "left out":
            before = words.count(changed.number - 1, "earlier line")
            reader.notice(f"~ {before} not shown: clew show {changed.stream.session[:_ID]}")
        else:
            reader.notice(f"~ {_CHANGES[changed.what]}; going on from line {changed.number:,}")

    def gone(self, gone: Gone) -> None:
        """Say that a file cannot be read now."""
        self._reader(gone.stream).notice(f"~ the file cannot be read now: {gone.reason}")

    def pause(self, *, everything: bool = False) -> None:
        """Show which calls are still running, and write out what is held back."""
        for (path, is_side), reader in list(self._readers.items()):
            if reader.has_running(everything=everything):
                self._reader(self._streams[path], is_side=is_side).running(everything=everything)
        self._screen.flush()

    def _reader(self, stream: Stream, *, is_side: bool = False) -> _LiveReader:
        key = (stream.path, is_side)
        reader = self._readers.pop(key, None)
        is_agent = is_side or stream.agent is not None
        if reader is None:
            margin = "  │ " if is_agent else ""
            reader = _LiveReader(self._screen, self._choice, margin=margin, clock=self._clock)
        self._readers[key] = reader  # the one that spoke last is last
        self._streams[stream.path] = stream
        while len(self._readers) > _MOST:
            path, _ = old = next(iter(self._readers))
            del self._readers[old]
            if all(key[0] != path for key in self._readers):
                self._streams.pop(path, None)
        if key != self._current:
            if self._current is not None:
                self._screen.print()
            self._current = key
            reader.begin(*(self._agent(stream) if is_agent else self._session(stream)))
        return reader

    def _session(self, stream: Stream) -> list[Part]:
        project = one_line(projects([stream.project]).get(stream.project, stream.project))
        name = one_line(stream.session)[:_ID]
        title = one_line(stream.title or "(no prompt)")
        width = self._screen.width
        if width is not None:
            project = cells.cut_end(project, 24)
            title = cells.cut_end(title, max(8, width - cells.width(project) - len(name) - 8))
        gap = Span(" · ", ("dim",))
        return [Span("● ", ("green",)), Span(title, ("bold",)), gap, project, gap, Span(name, ("cyan",))]

    def _agent(self, stream: Stream) -> list[Part]:
        name = one_line(stream.agent or "")[:_ID]
        title = one_line(stream.title or "") if stream.agent is not None else ""
        width = self._screen.width
        if width is not None:
            title = cells.cut_end(title, max(8, width - len(name) - 20))
        parts: list[Part] = [Span("  └ ", ("dim",)), "sub-agent"]
        if name:
            parts += [" ", Span(name, ("cyan",))]
        return [*parts, Span(" · ", ("dim",)), title] if title else parts
