"""ExitPlanMode: a plan that was put to the person."""

from __future__ import annotations

from clew.format import fields, results
from clew.view.parts import Markdown
from clew.view.texts import one_line
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown


def show(asked: Asked) -> Shown:
    """Show the plan, and whether it was accepted."""
    found = asked.structured
    kept = found.plan if isinstance(found, results.ExitPlanMode) else None
    plan = fields.string(asked.given, "plan") or kept
    if plan is None:
        return plainly.show(asked)
    title = next((line.lstrip("# ") for line in plan.split("\n") if line.strip()), "")
    given = (Markdown(plan), *plainly.given(asked, but={"plan"}))
    outcome = plainly.failure(asked) or "approved"
    result = plainly.rest(asked, plan) if asked.is_done else plainly.told(asked)
    return Shown(one_line(title), outcome, given, result)
