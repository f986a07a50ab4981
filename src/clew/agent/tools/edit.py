"""Edit: replace a piece of a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from clew.agent.paths import BadPathError
from clew.agent.tool import Outcome
from clew.agent.tools.changing import CURRENT, CallRefusedError, commit, current
from clew.agent.tools.granted import ChangingTool
from clew.agent.tools.hunks import hunks
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import missing, refused
from clew.agent.tools.pieces import MismatchError, replaced
from clew.agent.tools.texts import Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.agent.tool import Work

_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "The file to change, from the root on"},
        "old_string": {"type": "string", "description": "The text that is there now"},
        "new_string": {"type": "string", "description": "The text to put in its place; must differ"},
        "replace_all": {
            "type": "boolean",
            "default": False,
            "description": "Replace every occurrence instead of the only one",
        },
    },
    "required": ["file_path", "old_string", "new_string"],
    "additionalProperties": False,
}


class Edit(ChangingTool):
    """Replaces a piece of a file that was read."""

    name = "Edit"
    description = (
        "Replaces one piece of a text file by another. Read the file first: an edit of a file that was not "
        "read, or that changed since, is refused. `old_string` must be in the file exactly once, with its "
        "indentation and without the line numbers that Read shows; give more lines around it to make it "
        "unique, or set `replace_all`. An empty `old_string` makes a new file."
    )
    schema = _SCHEMA

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Replace the piece."""
        asked = Given(self.name, given, self.schema)
        path, old, new = asked.text("file_path"), asked.text("old_string"), asked.text("new_string")
        every = asked.flag("replace_all")
        if asked.refusal is not None:
            return asked.refusal
        try:
            resolved = self._granted.take(path, work)
            return _edited(path, resolved, old, new, work, every=every)
        except CallRefusedError as refusal:
            return refusal.outcome
        except (BadPathError, MismatchError) as error:
            return refused(error.message)


def _edited(path: str, resolved: str, old: str, new: str, work: Work, *, every: bool) -> Outcome:
    if old == new:
        return refused("No changes to make: old_string and new_string are exactly the same.")
    if os.path.splitext(resolved)[1].lower() == ".ipynb":  # noqa: PTH122
        return refused("File is a Jupyter Notebook. Use the NotebookEdit to edit this file.")
    before = current(path, resolved, work)
    if old:
        if before is None:
            return refused(missing(resolved, work))
        done = replaced(before.text, old, new, every=every)
        text, found = done.text, done.old
    else:
        if before is not None and before.text.plain.strip():
            return refused("Cannot create new file - file already exists.")
        text, found = (before.text if before else Text("")).with_whole(new), ""
    commit(path, resolved, before, text, work)
    was = before.text.recorded if before else ""
    how = ". All occurrences were successfully replaced." if every else " successfully."
    return Outcome(
        f"The file {path} has been updated{how}{CURRENT}",
        {
            "filePath": path,
            "oldString": found,
            "newString": new,
            "originalFile": was,
            "structuredPatch": hunks(was, text.recorded),
            "userModified": False,
            "replaceAll": every,
        },
    )
