"""Search texts for a pattern that a person gave, without letting a bad pattern run for ever.

Python's own matcher can take longer than anyone lives for a pattern such as `(a+)+$`. It does look for
signals while it works, so a timer stops it.
"""

from __future__ import annotations

import re
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from clew.errors import UsageError
from clew.faces.cli.terminal import Part, Span
from clew.faces.cli.tool_lines import result_text
from clew.format.blocks import Text, Thinking
from clew.session.calls import call_block, result_block
from clew.session.messages import blocks_of
from clew.session.prompts import read as read_prompt

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from types import FrameType

    from clew.faces.cli.styled import Row
    from clew.session.session import Session
    from clew.session.turns import Turn

LIMIT: Final = 1.0
"""Seconds one text may take."""


class _TooLongError(Exception):
    pass


class Pattern:
    """A pattern to look for in texts; capitals count only where the pattern has some."""

    def __init__(self, text: str) -> None:
        has_capitals = any(letter.isupper() for letter in text)
        try:
            self._pattern = re.compile(text, 0 if has_capitals else re.IGNORECASE)
        except (re.error, RecursionError, OverflowError) as error:
            raise UsageError(f"{text!r} is not a pattern: {error}") from error
        self.text = text

    def is_in(self, text: str) -> bool:
        """Say whether the pattern occurs in a text; a pattern that takes too long is an error."""
        try:
            with _timer():
                return self._pattern.search(text) is not None
        except _TooLongError:
            raise UsageError(
                f"the pattern {self.text!r} took longer than {LIMIT:.0f} s on one text",
                hint="a pattern without nested repeats, such as (a+)+",
            ) from None

    def marked(self, row: Sequence[Part]) -> Row:
        """Return a row with what the pattern finds in it in reverse."""
        made: list[Part] = []
        for part in row:
            text, styles = (part, ()) if isinstance(part, str) else part
            at = 0
            for start, end in self._found(text):
                if start > at:
                    made.append(Span(text[at:start], styles))
                made.append(Span(text[start:end], (*styles, "reverse")))
                at = end
            if at < len(text) or not text:
                made.append(part if not at else Span(text[at:], styles))
        return tuple(made)

    def _found(self, text: str) -> list[tuple[int, int]]:
        try:
            with _timer():
                return [found.span() for found in self._pattern.finditer(text) if found.end() > found.start()]
        except _TooLongError:
            return []  # what takes long to find is not marked; that it occurs was found before


@contextmanager
def _timer() -> Generator[None]:
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def texts_of(session: Session, turn: Turn, *, thinking: bool) -> Iterator[str]:
    """Give the texts of a turn that a search looks through: prompt, answers, calls and results."""
    if turn.prompt_row is not None:
        yield read_prompt(session.entry(turn.prompt_row)).words
    for message in turn.messages:
        for _, block in blocks_of(session, message):
            if isinstance(block, Text) or (thinking and isinstance(block, Thinking)):
                yield block.text
    for call in turn.calls:
        yield call.name or ""
        for value in call_block(session, call).input.values():
            yield value if isinstance(value, str) else str(value)
        yield result_text(result_block(session, call))
