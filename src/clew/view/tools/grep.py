"""Grep: files or lines found by what they hold."""

from __future__ import annotations

import re
from typing import Final

from clew.format import fields, results
from clew.view import words
from clew.view.texts import one_line, relative
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

_FOUND: Final = re.compile(r"Found (\d{1,9}) files?\b")


def show(asked: Asked) -> Shown:
    """Show the pattern, where it was looked for and what was found."""
    pattern = fields.string(asked.given, "pattern") or ""
    where = fields.string(asked.given, "path") or fields.string(asked.given, "glob")
    argument = f"{pattern}  in {relative(where, asked.folder)}" if where else pattern
    shown = {"pattern", "path"} if fields.string(asked.given, "path") else {"pattern", "glob"}
    given = plainly.given(asked, but=shown)
    return Shown(one_line(argument), _outcome(asked), given, plainly.told(asked))


def _outcome(asked: Asked) -> str:
    if not asked.is_done:
        return plainly.outcome(asked)
    found = asked.structured
    if not isinstance(found, results.Grep):
        number = _FOUND.match(asked.said)
        return words.count(int(number[1]), "file") if number else plainly.outcome(asked)
    match found.mode:
        case "content":
            lines = found.num_lines
            number_of = len((found.content or "").splitlines()) if lines is None else lines
            return words.count(number_of, "line") + (" and more" if found.applied_limit else "")
        case "count":
            matches = fields.integer(found.data, "numMatches")
            if matches is not None:
                return words.count(matches, "match", "matches")
        case _:
            pass
    number_of = len(found.filenames) if found.num_files is None else found.num_files
    return words.count(number_of, "file") + (" and more" if found.applied_limit else "")
