"""Edit: what was replaced in a file, as a diff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import results
from clew.view.changes import change, path_of
from clew.view.parts import Notice
from clew.view.texts import one_line, relative
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from clew.view.parts import Diff, Part

_IN_DIFF: Final = frozenset({"file_path", "old_string", "new_string", "edits"})


def show(asked: Asked) -> Shown:
    """Show what was replaced; of a call that failed what was to be."""
    diff = change(asked)
    if diff is None:
        return plainly.show(asked)
    given = _flags(asked)
    argument = one_line(relative(path_of(asked), asked.folder))
    if not asked.is_done:
        return Shown(argument, plainly.outcome(asked), (diff, *given), plainly.told(asked))
    return Shown(argument, counted(diff), given, (diff, *by_person(asked), *plainly.rest(asked)))


def _flags(asked: Asked) -> tuple[Part, ...]:
    given = {key: value for key, value in asked.given.items() if key not in _IN_DIFF}
    if given.get("replace_all") is False:
        del given["replace_all"]
    return plainly.named(given)


def counted(diff: Diff) -> str:
    """Say how many lines came and went."""
    return f"+{diff.added} −{diff.removed}"


def by_person(asked: Asked) -> tuple[Part, ...]:
    """Say it where the person changed what was to be written before they accepted it."""
    found = asked.structured
    if isinstance(found, results.Change) and found.user_modified:
        return (Notice("the person changed this before accepting it"),)
    return ()
