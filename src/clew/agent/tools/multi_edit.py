"""MultiEdit: replace several pieces of one file, all of them or none. Clients up to 1.0 have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.agent.paths import BadPathError
from clew.agent.tool import Outcome
from clew.agent.tools.changing import CallRefusedError, commit, current
from clew.agent.tools.granted import ChangingTool
from clew.agent.tools.hunks import hunks
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import missing, refused
from clew.agent.tools.pieces import MismatchError, replaced
from clew.agent.tools.texts import Text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.agent.tool import Work

_EDIT: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "old_string": {"type": "string", "description": "The text that is there when this edit's turn comes"},
        "new_string": {"type": "string", "description": "The text to put in its place"},
        "replace_all": {"type": "boolean", "default": False, "description": "Replace every occurrence"},
    },
    "required": ["old_string", "new_string"],
    "additionalProperties": False,
}
_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "The file to change, from the root on"},
        "edits": {"type": "array", "minItems": 1, "items": _EDIT, "description": "The edits, in order"},
    },
    "required": ["file_path", "edits"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class _Piece:
    old: str
    new: str
    every: bool


class MultiEdit(ChangingTool):
    """Replaces several pieces of a file that was read."""

    name = "MultiEdit"
    description = (
        "Makes several edits to one file, one after the other: each sees what the ones before it left. The "
        "rules are those of Edit, and when one edit cannot be made none is. To make a new file, let the "
        "first edit have an empty `old_string`."
    )
    schema = _SCHEMA

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Replace the pieces."""
        asked = Given(self.name, given, self.schema)
        path = asked.text("file_path")
        edits = asked.mappings("edits")
        if not edits:
            asked.complain("At least one edit is required")
        pieces: list[_Piece] = []
        for at, edit in enumerate(edits):
            inner = Given(f"{self.name}: edit {at + 1}", edit, _EDIT)
            pieces.append(
                _Piece(inner.text("old_string"), inner.text("new_string"), inner.flag("replace_all"))
            )
            if inner.refusal is not None:
                return inner.refusal
        if asked.refusal is not None:
            return asked.refusal
        try:
            return _edited(path, self._granted.take(path, work), pieces, work)
        except CallRefusedError as refusal:
            return refusal.outcome
        except (BadPathError, MismatchError) as error:
            return refused(error.message)


def _edited(path: str, resolved: str, pieces: Sequence[_Piece], work: Work) -> Outcome:
    if resolved.lower().endswith(".ipynb"):
        return refused("File is a Jupyter Notebook. Use the NotebookEdit to edit this file.")
    before = current(path, resolved, work)
    is_new = not pieces[0].old
    if before is None and not is_new:
        return refused(missing(resolved, work))
    text = before.text if before else Text("")
    for at, piece in enumerate(pieces):
        if piece.old == piece.new:
            return refused("No changes to make: old_string and new_string are exactly the same.")
        if at == 0 and is_new:
            if text.plain.strip():
                return refused("Cannot create new file - file already exists.")
            text = text.with_whole(piece.new)
        else:
            text = replaced(text, piece.old, piece.new, every=piece.every).text
    commit(path, resolved, before, text, work)
    was = before.text.recorded if before else ""
    told = "\n".join(f'{at}. Replaced "{one.old}" with "{one.new}"' for at, one in enumerate(pieces, 1))
    return Outcome(
        f"Applied {len(pieces)} edit{'' if len(pieces) == 1 else 's'} to {path}:\n{told}",
        {
            "filePath": path,
            "edits": [
                {"old_string": one.old, "new_string": one.new, "replace_all": one.every} for one in pieces
            ],
            "originalFileContents": was,
            "structuredPatch": hunks(was, text.recorded),
            "userModified": False,
        },
    )
