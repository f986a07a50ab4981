"""Glob: files found by name."""

from __future__ import annotations

from clew.format import fields, results
from clew.view import words
from clew.view.texts import one_line, relative
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown


def show(asked: Asked) -> Shown:
    """Show what was looked for and the files that were found."""
    pattern, where = fields.string(asked.given, "pattern") or "", fields.string(asked.given, "path")
    argument = f"{pattern}  in {relative(where, asked.folder)}" if where else pattern
    given = plainly.given(asked, but={"pattern", "path"})
    return Shown(one_line(argument), _outcome(asked), given, plainly.told(asked))


def _outcome(asked: Asked) -> str:
    found = asked.structured
    if not asked.is_done or not isinstance(found, results.Glob):
        said = asked.said.strip()
        if not asked.is_done or not said or said.startswith("<"):
            return plainly.outcome(asked)
        return words.count(0 if said == "No files found" else said.count("\n") + 1, "file")
    number = len(found.filenames) if found.num_files is None else found.num_files
    return words.count(number, "file") + (" and more" if found.truncated else "")
