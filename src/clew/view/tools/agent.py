"""Task and Agent: a sub-agent, what it was told and what it answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format import fields, results
from clew.view.parts import Markdown, Section
from clew.view.texts import one_line
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from clew.view.parts import Part


def show(asked: Asked) -> Shown:
    """Show what it was for; what it did is its own."""
    kind, what = fields.string(asked.given, "subagent_type"), fields.string(asked.given, "description")
    prompt = fields.string(asked.given, "prompt")
    argument = one_line(": ".join(part for part in (kind, what or prompt) if part))
    given = plainly.given(asked, but={"subagent_type", "description", "prompt"})
    if prompt:
        given = (Section("prompt", (Markdown(prompt),), is_open=True), *given)
    return Shown(argument, _outcome(asked), given, _result(asked))


def _outcome(asked: Asked) -> str:
    found = asked.structured
    if isinstance(found, results.Agent) and found.is_async and asked.is_done:
        return "in the background"
    return plainly.failure(asked) or ""


def _result(asked: Asked) -> tuple[Part, ...]:
    found = asked.structured
    if not isinstance(found, results.Agent) or not found.text.strip():
        is_answer = not (isinstance(found, results.Agent) and found.is_async)
        return plainly.told(asked) if is_answer else plainly.rest(asked)
    return (Markdown(found.text), *plainly.rest(asked, found.text))
