"""KillShell and TaskStop: a command or an agent in the background that was stopped."""

from __future__ import annotations

from clew.format import fields
from clew.format.fields import as_mapping
from clew.view.texts import one_line
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown


def show(asked: Asked) -> Shown:
    """Show what was stopped."""
    names = ("shell_id", "task_id", "bash_id")
    name = next((one for key in names if (one := fields.string(asked.given, key))), "")
    command = fields.string(as_mapping(asked.kept) or {}, "command")
    argument = one_line(f"{name}  {command}" if command else name) or plainly.first(asked)
    outcome = plainly.failure(asked) or "stopped"
    return Shown(argument, outcome, plainly.given(asked, but=names), plainly.told(asked))
