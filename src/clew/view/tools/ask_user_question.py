"""AskUserQuestion: what the person was asked, and what they answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format import fields, results
from clew.view.parts import Section, Table
from clew.view.texts import one_line, pretty
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.view.parts import Part


def show(asked: Asked) -> Shown:
    """Show the questions with their choices, and the answers."""
    questions = fields.mappings(asked.given, "questions")
    if not questions:
        return plainly.show(asked)
    first = one_line(fields.string(questions[0], "question") or "")
    argument = f"{first} and {len(questions) - 1} more" if len(questions) > 1 else first
    given = (*(_question(one) for one in questions), *plainly.given(asked, but={"questions", "answers"}))
    found = asked.structured
    answers: Mapping[str, object] = found.answers if isinstance(found, results.AskUserQuestion) else {}
    if not asked.is_done or not answers:
        return Shown(argument, plainly.outcome(asked), given, plainly.told(asked))
    rows = tuple((question, _words(answer)) for question, answer in answers.items())
    outcome = one_line(", ".join(answer for _, answer in rows), longest=80)
    return Shown(argument, outcome, given, (Table(rows), *plainly.rest(asked)))


def _question(one: Mapping[str, object]) -> Part:
    options = fields.mappings(one, "options")
    rows = tuple(
        (fields.string(option, "label") or "", fields.string(option, "description") or "")
        for option in options
    )
    title = fields.string(one, "question") or fields.string(one, "header") or ""
    return Section(one_line(title), (Table(rows),) if rows else (), is_open=True)


def _words(answer: object) -> str:
    return answer if isinstance(answer, str) else pretty(answer)
