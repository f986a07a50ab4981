"""Skill: instructions that the model called up by name."""

from __future__ import annotations

from clew.format import fields
from clew.view.texts import one_line
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown


def show(asked: Asked) -> Shown:
    """Show which skill, and with what."""
    name = fields.string(asked.given, "skill") or fields.string(asked.given, "command") or ""
    argument = one_line(f"{name} {fields.string(asked.given, 'args') or ''}")
    given = plainly.given(asked, but={"skill", "args"})
    return Shown(argument, plainly.failure(asked) or "", given, plainly.told(asked))
