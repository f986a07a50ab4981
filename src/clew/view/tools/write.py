"""Write: a whole file, new or in the place of another."""

from __future__ import annotations

from clew.format import fields
from clew.view import words
from clew.view.changes import change, path_of
from clew.view.languages import language_of
from clew.view.parts import Code, Section
from clew.view.texts import one_line, relative
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown
from clew.view.tools.edit import by_person, counted


def show(asked: Asked) -> Shown:
    """Show a new file as such, and what changed in one that was there."""
    diff = change(asked)
    if diff is None:
        return plainly.show(asked)
    path = path_of(asked)
    argument = one_line(relative(path, asked.folder))
    others = plainly.given(asked, but={"file_path", "content"})
    if not asked.is_done:
        return Shown(argument, plainly.outcome(asked), (diff, *others), plainly.told(asked))
    drawn = (diff,) if diff.hunks or diff.is_new else ()
    result = (*drawn, *by_person(asked), *plainly.rest(asked))
    if diff.is_new:
        return Shown(argument, f"new, {words.count(diff.added, 'line')}", others, result)
    content = fields.string(asked.given, "content")
    if content:
        whole = Code(content, language=language_of(path), path=argument, first_line=1)
        others = (*others, Section("the whole file", (whole,)))
    return Shown(argument, counted(diff) if drawn else "unchanged", others, result)
