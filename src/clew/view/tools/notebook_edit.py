"""NotebookEdit: a cell of a notebook that was replaced, inserted or deleted."""

from __future__ import annotations

from clew.format import fields, results
from clew.view.changes import change, path_of
from clew.view.texts import one_line, relative
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown
from clew.view.tools.edit import counted


def show(asked: Asked) -> Shown:
    """Show which cell became what."""
    found = asked.structured
    kept = found if isinstance(found, results.NotebookEdit) else None
    cell = fields.string(asked.given, "cell_id") or (kept.cell_id if kept else None) or ""
    mode = fields.string(asked.given, "edit_mode") or (kept.mode if kept else None) or "replace"
    argument = one_line(f"{relative(path_of(asked), asked.folder)} {mode} {cell}".strip())
    diff = change(asked)
    others = plainly.given(asked, but={"notebook_path", "new_source", "cell_id", "edit_mode"})
    drawn = () if diff is None else (diff,)
    if not asked.is_done or (kept is not None and kept.error):
        failed = plainly.failure(asked) or "failed"
        return Shown(argument, failed, (*drawn, *others), plainly.told(asked))
    outcome = "deleted" if diff is None else counted(diff)
    return Shown(argument, outcome, others, (*drawn, *plainly.rest(asked)))
