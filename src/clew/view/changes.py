"""What a call changed in a file: a diff with numbers where the client kept one, else from what it was given.

The same diff gives the counts of a call, of a turn and of a session.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

import orjson

from clew.format import fields, results
from clew.view.parts import Diff, Hunk
from clew.view.texts import relative

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew.view.tools.display import Asked

CHANGING: Final = frozenset({"Edit", "MultiEdit", "NotebookEdit", "Write"})
"""The tools that change a file."""

_MOST_LINES: Final = 400
"""As many lines on each side are compared; of more all are taken to have changed."""

_CONTEXT: Final = 3
_LONGEST_NOTEBOOK: Final = 4 << 20


def change(asked: Asked) -> Diff | None:
    """Return what a call changed, or was to change when it failed; None for another shape."""
    path = relative(path_of(asked), asked.folder)
    found = asked.structured if asked.is_done else None
    if isinstance(found, results.Change):
        if found.hunks:
            return _kept(path, found.hunks)
        if isinstance(found, results.Write):
            text = found.content if found.content is not None else fields.string(asked.given, "content")
            if text is not None and found.action != "update":
                return _new(path, text)
            if found.original is not None and text is not None:
                return replaced(path, [(found.original, text)], is_whole=True)
    pieces = list(_pieces(asked))
    if asked.name == "Write":
        return _new(path, pieces[0][1]) if pieces else None
    return replaced(path, pieces) if pieces else None


def path_of(asked: Asked) -> str | None:
    """Return the file a call names."""
    for key in ("file_path", "notebook_path", "path"):
        path = fields.string(asked.given, key)
        if path:
            return path
    found = asked.structured
    return found.path if isinstance(found, results.Change | results.NotebookEdit) else None


def _pieces(asked: Asked) -> Iterator[tuple[str, str]]:
    """Give the texts before and after, as the call was given them."""
    match asked.name:
        case "Write":
            content = fields.string(asked.given, "content")
            if content is not None:
                yield "", content
        case "NotebookEdit":
            mode = fields.string(asked.given, "edit_mode")
            source = fields.string(asked.given, "new_source") or ""
            before = "" if mode == "insert" else _cell_before(asked)
            if before or source:
                yield before, "" if mode == "delete" else source
        case _:
            several = fields.mappings(asked.given, "edits")
            for one in several or (asked.given,):
                old, new = fields.string(one, "old_string"), fields.string(one, "new_string")
                if old is not None or new is not None:
                    yield old or "", new or ""


def _cell_before(asked: Asked) -> str:
    """Return what stood in a notebook's cell; only the whole notebook, as the client keeps it, tells."""
    found = asked.structured
    whole = found.original if isinstance(found, results.NotebookEdit) else None
    name = fields.string(asked.given, "cell_id")
    if not whole or not name or len(whole) > _LONGEST_NOTEBOOK:
        return ""
    try:
        notebook = fields.as_mapping(orjson.loads(whole.encode("utf-8", "replace")))
    except orjson.JSONDecodeError:
        return ""
    for cell in fields.mappings(notebook or {}, "cells"):
        if fields.string(cell, "id") == name:
            return fields.string(cell, "source") or "".join(fields.strings(cell, "source"))
    return ""


def _kept(path: str, hunks: Sequence[results.Hunk]) -> Diff:
    # A line without its sign would be drawn as context that it is not.
    made = tuple(
        Hunk(one.old_start, one.new_start, tuple(line or " " for line in one.lines)) for one in hunks
    )
    return Diff(path, made, *_counted(made))


def _new(path: str, text: str) -> Diff:
    lines = tuple(f"+{line}" for line in lines_of(text))
    return Diff(path, (Hunk(0, 1, lines),) if lines else (), len(lines), 0, is_new=True)


def replaced(path: str, pieces: Iterable[tuple[str, str]], *, is_whole: bool = False) -> Diff:
    """Return the diff of texts before and after; where they stand in the file is known only of whole ones.

    A hunk whose place is not known begins at 0.
    """
    made: list[Hunk] = []
    for old, new in pieces:
        before, after = lines_of(old), lines_of(new)
        made += _compared(before, after) if is_whole else [_side_by_side(before, after)]
    kept = tuple(one for one in made if one.lines)
    return Diff(path, kept, *_counted(kept))


def lines_of(text: str) -> list[str]:
    """Return the lines of a text; the newline at its end begins none."""
    return text.removesuffix("\n").split("\n") if text else []


def _counted(hunks: Iterable[Hunk]) -> tuple[int, int]:
    added = removed = 0
    for hunk in hunks:
        for line in hunk.lines:
            added += line.startswith("+")
            removed += line.startswith("-")
    return added, removed


def _side_by_side(before: Sequence[str], after: Sequence[str]) -> Hunk:
    lines: list[str] = []
    for tag, low, high, new_low, new_high in _steps(before, after):
        if tag == "equal":
            lines += [f" {line}" for line in before[low:high]]
        else:
            lines += [f"-{line}" for line in before[low:high]]
            lines += [f"+{line}" for line in after[new_low:new_high]]
    return Hunk(0, 0, tuple(lines))


def _steps(before: Sequence[str], after: Sequence[str]) -> Iterable[tuple[str, int, int, int, int]]:
    if max(len(before), len(after)) > _MOST_LINES:
        return [("replace", 0, len(before), 0, len(after))]
    return SequenceMatcher(None, before, after, autojunk=False).get_opcodes()


def _compared(before: Sequence[str], after: Sequence[str]) -> list[Hunk]:
    if max(len(before), len(after)) > _MOST_LINES:
        lines = (*(f"-{line}" for line in before), *(f"+{line}" for line in after))
        return [Hunk(1, 1, lines)]
    made: list[Hunk] = []
    for group in SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(_CONTEXT):
        lines_here: list[str] = []
        for tag, low, high, new_low, new_high in group:
            if tag == "equal":
                lines_here += [f" {line}" for line in before[low:high]]
            else:
                lines_here += [f"-{line}" for line in before[low:high]]
                lines_here += [f"+{line}" for line in after[new_low:new_high]]
        made.append(Hunk(group[0][1] + 1, group[0][3] + 1, tuple(lines_here)))
    return made
