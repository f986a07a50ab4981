"""A question in the place of the box that is typed in: what, why, and a key for each answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from clew.agent.asking import Answer, Question
from clew.faces.cli.chat.editor import Editor
from clew.faces.cli.styled import Row, broken, safe, wrap
from clew.faces.cli.terminal import Span
from clew.faces.cli.words import count
from clew.format import fields

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clew.faces.cli.chat.engine import Asked
    from clew.faces.cli.chat.keys import Key

SETTLES: Final = 0.35
"""Seconds in which a key is not taken for an answer: it was meant for what was being typed."""

_MOST: Final = 400
_MOST_CHANGED: Final = 12
"""Lines that are shown of what goes and of what comes, each."""


class Asking:
    """A question that is being asked."""

    def __init__(self, asked: Asked, now: float) -> None:
        self.asked = asked
        self._since = now
        self.words: Editor | None = None
        """What the model is told with a no, while it is typed. It is kept nowhere."""

    def is_meant(self, now: float) -> bool:
        """Say whether a key that is pressed now can be an answer."""
        return now - self._since >= SETTLES

    def told(self, width: int) -> Iterator[Row]:
        """Draw what is asked, whole; it stays above."""
        question = self.asked.question
        if isinstance(question, Question):
            yield (Span("? ", ("yellow", "bold")), Span(f"May {safe(question.tool)} do this?", ("bold",)))
            yield from _whole(question.what, width)
            yield from changed(question.given, width)
            yield from wrap(
                (Span(safe(f"because {question.why}"), ("dim",)),), width, first=("  ",), rest=("  ",)
            )
            return
        yield from wrap(
            (Span("This project brings settings of its own. They count only if you say so:", ("bold",)),),
            width,
            first=(Span("? ", ("yellow", "bold")),),
            rest=("  ",),
        )
        for grant in question:
            yield from _whole(f"{grant.kind}: {grant.text}", width)

    def choices(self, width: int) -> Iterator[Row]:
        """Draw the keys that answer."""
        question = self.asked.question
        keys: list[tuple[str, str]] = [("y", "yes, let them count"), ("n", "no, not this time")]
        if isinstance(question, Question):
            keys = [("y", "yes, once")]
            rules = ", ".join(question.rules)
            if "session" in question.choices:
                keys.append(("s", f"for this session: {rules}"))
            if "rule" in question.choices:
                keys.append(("a", "always, in this project's settings.local.json"))
            keys += [("n", "no"), ("t", "no, and tell why")]
        if self.words is not None:
            yield (Span("No. What shall be done instead? Enter sends it, Esc goes back.", ("yellow",)),)
            return
        for key, text in keys:
            mark = (Span(f"  {key}", ("cyan", "bold")), "  ")
            yield from wrap((safe(text),), width, first=mark, rest=("     ",))

    def press(self, key: Key) -> bool:
        """Take a key; say whether that answered the question."""
        question = self.asked.question
        if not isinstance(question, Question):
            answer = {"y": True, "n": False}.get(key.text) if key.name == "text" else None
            if key.name == "escape":
                answer = False
            if answer is not None:
                self.asked.answer(answer)
            return answer is not None
        if self.words is not None:
            return self._type(self.words, key)
        if key.name != "text":
            return False
        match key.text:
            case "y":
                self.asked.answer(Answer("once"))
            case "s" if "session" in question.choices:
                self.asked.answer(Answer("session"))
            case "a" if "rule" in question.choices:
                self.asked.answer(Answer("rule"))
            case "n":
                self.asked.answer(Answer("no"))
            case "t":
                self.words = Editor()
                return False
            case _:
                return False
        return True

    def _type(self, words: Editor, key: Key) -> bool:
        if key.name == "escape":
            self.words = None
            return False
        if key.name != "enter":
            words.press(key)
            return False
        self.asked.answer(Answer("no", words.take(keeps=False)))
        return True


def said(answer: Answer | bool) -> str:
    """Say what was answered, in the words of the keys."""
    if isinstance(answer, bool):
        return "yes, they count" if answer else "no, they do not count"
    told = {"once": "yes, once", "session": "yes, for this session", "rule": "yes, always"}
    return told.get(answer.choice) or ("no: " + safe(answer.words) if answer.words else "no")


def changed(given: Mapping[str, object], width: int) -> Iterator[Row]:
    """Draw what a file would become by an edit."""
    edits = fields.mappings(given, "edits") or (given,)
    for edit in edits:
        old, new = fields.string(edit, "old_string"), fields.string(edit, "new_string")
        content = fields.string(edit, "content") or fields.string(edit, "new_source")
        if old is not None:
            yield from _side(old, "−", "red", width)
        if new is not None or content is not None:
            yield from _side(new if new is not None else content or "", "+", "green", width)


def _side(text: str, sign: str, style: Literal["red", "green"], width: int) -> Iterator[Row]:
    lines = text.removesuffix("\n").split("\n") if text else []
    shown = lines if len(lines) <= _MOST_CHANGED + 1 else lines[:_MOST_CHANGED]
    for line in shown:
        for piece in broken(safe(line), width - 6):
            yield (Span("  │ ", ("dim",)), Span(f"{sign} {piece}", (style,)))
    if len(shown) < len(lines):
        yield (Span(f"  │ {sign} {count(len(lines) - len(shown), 'line')} more", ("dim",)),)


def _whole(text: str, width: int) -> Iterator[Row]:
    lines = text.split("\n")
    for line in lines[:_MOST]:
        for piece in broken(safe(line), width - 4):
            yield (Span("  │ ", ("dim",)), Span(piece, ("cyan",)))
    if len(lines) > _MOST:
        yield (Span(f"  │ {len(lines) - _MOST:,} lines more", ("yellow",)),)
