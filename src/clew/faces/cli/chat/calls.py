"""The calls of a turn as they are shown: what runs, the last lines of what it writes, what came of it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from clew.faces.cli import cells, words
from clew.faces.cli.styled import Row, cut, safe, width
from clew.faces.cli.terminal import Span, one_line
from clew.faces.cli.tool_lines import argument, outcome
from clew.format.blocks import ToolResult
from clew.format.compose import tool_result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clew.agent.tool import Outcome

_LIVE: Final = 3
"""Last lines of a running call that are shown."""

_KEPT: Final = 3
_FAILED: Final = 8
_MOST_BELOW: Final = 12
"""Calls of a sub-agent that are shown when it is done."""

_INTERRUPTED: Final = "[Request interrupted by user"
_LONGEST: Final = 400
_SHOWN_AFTER: Final = 2.0
"""Seconds after which it is told how long a call runs."""


@dataclass(slots=True)
class Call:
    """A call that was made."""

    name: str
    what: str
    started: float
    given: Mapping[str, object] = field(default_factory=dict[str, object])
    is_begun: bool = False
    lines: int = 0
    """How many lines it has written."""

    last: deque[str] = field(default_factory=lambda: deque[str](maxlen=max(_LIVE, _KEPT)))
    below: list[Call] = field(default_factory=list["Call"])
    """The calls of the sub-agent that it started."""

    said: str = ""
    """What the sub-agent is saying."""

    is_done: bool = False
    is_error: bool = False
    came: str = ""
    """What came of it, in a word or two."""

    failure: tuple[str, ...] = ()

    def report(self, text: str) -> None:
        """Hear a line that it writes."""
        for line in text.split("\n"):
            self.lines += 1
            self.last.append(line[:_LONGEST])

    def end(self, result: Outcome, now: float, call_id: str) -> None:
        """Hear what came of it."""
        block = ToolResult(tool_result(call_id, result.content, is_error=result.is_error))
        self.is_done, self.is_error = True, result.is_error
        came = outcome(self.name, block, result.structured, given=self.given)
        if result.is_error and _INTERRUPTED in block.text():
            came = "interrupted"
        if self.lines > _KEPT and not result.is_error and self.name == "Bash":
            came = words.count(self.lines, "line")
        if self.below:
            came = words.count(len(self.below), "call")
        long = f"{now - self.started:.0f} s" if self.is_begun and now - self.started >= _SHOWN_AFTER else ""
        self.came = " · ".join(part for part in (came, long) if part)
        # What the person refused or stopped they need not be told.
        if result.is_error and came not in ("refused", "interrupted"):
            said = [line for line in block.text().strip().split("\n") if line.strip()]
            if said and came.startswith("exit ") and said[0].strip().endswith(f"Exit code {came[5:]}"):
                del said[0]  # the line above says it
            self.failure = tuple(said[-_FAILED:])


def called(name: str, given: Mapping[str, object], *, folder: str, now: float) -> Call:
    """Return a call that is made now."""
    return Call(name, argument(name, given, folder=folder), now, given)


def live(call: Call, now: float, room: int, indent: str = "") -> Iterator[Row]:
    """Draw a call that runs."""
    long = now - call.started
    told = f" · {long:.0f} s" if long >= _SHOWN_AFTER else ""
    yield _row(call, Span("● ", ("cyan",)), Span(told, ("dim",)), room, indent)
    indent = " " * len(indent)
    if call.below:
        ended = [one for one in call.below if one.is_done]
        running = [one for one in call.below if not one.is_done]
        hidden = len(ended) - 2
        if hidden > 0:
            yield (Span(f"{indent}  └ {words.count(hidden, 'call')} before", ("dim",)),)
        for one in ended[-2:]:
            yield _line(one, room, _under(indent))
        for one in running:
            yield from live(one, now, room, _under(indent))
    elif call.last:
        if call.lines > _LIVE:
            yield (Span(f"{indent}  │ {words.count(call.lines - _LIVE, 'line')} before", ("dim",)),)
        for line in list(call.last)[-_LIVE:]:
            yield cut((Span(f"{indent}  │ {safe(line)}", ("dim",)),), room)
    elif call.said:
        yield (Span(f"{indent}  {one_line(call.said)[-200:]}", ("dim",)),)


def done(call: Call, room: int, indent: str = "") -> Iterator[Row]:
    """Draw a call that has ended: a line, and a few of what it wrote or why it failed."""
    yield _line(call, room, indent)
    indent = " " * len(indent)
    if call.failure:
        for line in call.failure:
            yield cut((Span(f"{indent}  │ {safe(line[:_LONGEST])}", ("red",)),), room)
    elif call.below:
        hidden = len(call.below) - _MOST_BELOW
        for one in call.below[-_MOST_BELOW:] if hidden > 1 else call.below:
            if one.is_error or one.below:
                yield from done(one, room, _under(indent))
            else:
                yield _line(one, room, _under(indent))
        if hidden > 1:
            yield (Span(f"{indent}  {words.count(hidden, 'call')} more before these", ("dim",)),)
    elif call.last and call.name == "Bash":
        hidden = call.lines - _KEPT
        if hidden > 0:
            yield (Span(f"{indent}  │ {words.count(hidden, 'line')} before", ("dim",)),)
        for line in list(call.last)[-_KEPT:]:
            yield cut((Span(f"{indent}  │ {safe(line)}", ("dim",)),), room)


def _under(indent: str) -> str:
    return f"{' ' * len(indent)}  └ "


def _line(call: Call, room: int, indent: str) -> Row:
    mark = Span("✗ ", ("red",)) if call.is_error else Span("✓ ", ("green",))
    came = f" · {call.came}" if call.came else ""
    return _row(call, mark, Span(came, ("red",) if call.is_error else ("dim",)), room, indent)


def _row(call: Call, mark: Span, came: Span, room: int, indent: str) -> Row:
    """Draw a call in one row: what it was asked is cut, what came of it stays."""
    head = (Span(indent, ("dim",)), mark, Span(one_line(call.name), ("bold",)))
    left = room - width(head) - width((came,)) - 1
    what = cells.cut_end(call.what, left) if left > 1 else ""
    return (*head, f" {what}" if what else "", came)
