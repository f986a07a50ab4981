"""Which files the model has seen in a session, and what they were then, from what the tools gave back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from clew.format.results import result
from clew.format.results_files import Edit, MultiEdit, NotebookEdit, Read, Write
from clew.session.calls import pairs, structured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.session import Session


class FileSeen(NamedTuple):
    """A file as the model last saw it, or made it."""

    path: str
    time: int | None
    """When, in milliseconds; None if the line does not say."""

    text: str | None
    """All that was in it; None if only a part was shown, or it is no text."""


def files_seen(session: Session, rows: Sequence[int]) -> tuple[FileSeen, ...]:
    """Return the files that calls on these rows read or wrote, the one seen last at the end."""
    found: dict[str, FileSeen] = {}
    for call in sorted(pairs(session, rows).calls, key=lambda one: one.result_row or -1):
        if call.result_row is None or call.is_error:
            continue
        seen = _seen(call.name, structured(session, call))
        if seen is not None:
            path, text = seen
            found.pop(path, None)
            found[path] = FileSeen(path, session.table.time_of(call.result_row), text)
    return tuple(found.values())


def _seen(tool: str | None, value: object) -> tuple[str, str | None] | None:
    match result(tool, value):
        case Read() as read if read.path:
            is_whole = read.start_line in (None, 1) and read.num_lines == read.total_lines
            return read.path, read.content if is_whole and read.type == "text" else None
        case Write() as written if written.path:
            return written.path, written.content
        case MultiEdit() as edited if edited.path:
            return edited.path, _edited(edited.original, [(*one, False) for one in edited.edits])
        case Edit() as edited if edited.path:
            if edited.old is None or edited.new is None:
                return edited.path, None
            return edited.path, _edited(
                edited.original, [(edited.old, edited.new, edited.replace_all is True)]
            )
        case NotebookEdit() as notebook if notebook.path:
            return notebook.path, notebook.updated
        case _:
            return None


def _edited(before: str | None, edits: Sequence[tuple[str, str, bool]]) -> str | None:
    """Return what edits make of a text; None if that cannot be told."""
    text = before
    for old, new, is_all in edits:
        if text is None or not old or old not in text:
            return None
        text = text.replace(old, new) if is_all else text.replace(old, new, 1)
    return text
