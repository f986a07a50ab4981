"""What a session tells of one happening to a file: what a call started from and made, what a read showed.

Results come in the shapes of all clients since 1.0.35: with the whole file before, without it for a large
one, and, for sub-agents since 2.1, as words alone; then what was asked for says it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from clew.format import fields, results
from clew.format.blocks import ToolResult, blocks
from clew.format.kinds.attachment import Attachment
from clew.session.calls import call_block, result_block, structured
from clew.session.eras import version_key
from clew.session.file_contents import plain
from clew.session.file_patches import Piece, numbered
from clew.session.session import ABRIDGED

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.session.calls import Call
    from clew.session.file_happenings import Happening
    from clew.session.session import Session

Action = Literal["create", "edit", "overwrite"]

_CREATED: Final = "File created successfully"
_REMINDER: Final = "<system-reminder>"
_MOST_SHOWN: Final = 2000
"""Lines that a read shows at most when it is not asked for more, and characters of each."""

_KEPT_ENDS_UNTIL: Final = (2, 1, 100)
"""Clients kept the line ends of a file that Write wrote anew: seen up to 2.1.45, no more from 2.1.150 on."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a call that changed a file tells."""

    action: Action
    original: str | None = None
    """The whole file before, as the client noted it."""

    whole: str | None = None
    """The whole file after."""

    pieces: tuple[Piece, ...] = ()
    hunks: tuple[results.Hunk, ...] = ()
    keeps_ends: bool = False
    """Whether the file keeps its line ends though all of it was written anew."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Lines of a file that were shown to the model, with plain ends and without a mark."""

    first: int
    lines: tuple[str, ...]
    is_whole: bool

    @property
    def text(self) -> str:
        """The lines as a text."""
        return "\n".join(self.lines)


def told(one: Happening) -> Told | None:
    """Return what a call that changed a file tells; None when it says that it did not."""
    call, session = one.call, one.session
    assert call is not None
    if call.result_row is None or _is_cut(session, call):
        return Told("edit")  # a line too long to be held: something changed, nobody knows what
    given = call_block(session, call).input
    said = results.result(call.name, _noted(session, call, given))
    if isinstance(said, results.ErrorText):
        return None
    match call.name:
        case "Write":
            return _written(one, call, said if isinstance(said, results.Write) else None, given)
        case "Edit":
            return _edited(said if isinstance(said, results.Edit) else None, given)
        case "MultiEdit":
            return _edited_often(said if isinstance(said, results.MultiEdit) else None, given)
        case _:
            if not isinstance(said, results.NotebookEdit):
                return Told("edit")
            if said.error is not None:
                return None
            return Told("edit", said.original, said.updated)


def _written(
    one: Happening, call: Call, said: results.Write | None, given: Mapping[str, object]
) -> Told | None:
    whole = fields.string(given, "content")
    if said is None:
        block = result_block(one.session, call)
        is_new = block is not None and block.text().startswith(_CREATED)
        return Told("create" if is_new else "overwrite", whole=whole, keeps_ends=_keeps(one))
    return Told(
        "create" if said.action == "create" else "overwrite",
        said.original,
        whole if said.content is None else said.content,
        (),
        said.hunks,
        keeps_ends=said.action != "create" and _keeps(one),
    )


def _edited(said: results.Edit | None, given: Mapping[str, object]) -> Told:
    if said is None or said.old is None or said.new is None:
        old, new = fields.string(given, "old_string"), fields.string(given, "new_string")
        every = bool(fields.flag(given, "replace_all"))
    else:
        old, new, every = said.old, said.new, bool(said.replace_all)
    pieces = () if old is None or new is None else (Piece(old, new, every),)
    hunks = () if said is None else said.hunks
    return Told("edit", None if said is None else said.original, None, pieces, hunks)


def _edited_often(said: results.MultiEdit | None, given: Mapping[str, object]) -> Told:
    edits = fields.mappings(given if said is None or "edits" not in said.data else said.data, "edits")
    pieces = [
        Piece(
            fields.string(edit, "old_string") or "",
            fields.string(edit, "new_string") or "",
            bool(fields.flag(edit, "replace_all")),
        )
        for edit in edits
    ]
    return Told(
        "edit",
        None if said is None else said.original,
        None,
        tuple(pieces),
        () if said is None else said.hunks,
    )


def shown(one: Happening) -> Shown | None:
    """Return the lines that a read or an attachment shows; None when it shows none that can be told."""
    session, call = one.session, one.call
    if call is None:
        if session.table.flags[one.row] & ABRIDGED:
            return None
        return _attached(Attachment(session.entry(one.row).data))
    if call.result_row is None or _is_cut(session, call):
        return None
    said = results.result(call.name, structured(session, call))
    if isinstance(said, results.Read):
        return _read(said)
    block = result_block(session, call)
    rows = None if block is None else numbered(block.text())
    if rows is None or (rows.below and not rows.below.startswith(_REMINDER)):
        return None
    given = call_block(session, call).input
    is_whole = (
        rows.first == 1
        and len(rows.lines) < _MOST_SHOWN
        and given.get("offset") is None
        and given.get("limit") is None
    )
    return _lines(rows.first, rows.lines, is_whole=is_whole)


def _read(said: results.Read) -> Shown | None:
    text, first = said.content, said.start_line
    if said.type != "text" or text is None or first is None or first < 1:
        return None
    lines = plain(text).split("\n")
    is_whole = first == 1 and said.num_lines is not None and said.num_lines == said.total_lines
    return _lines(first, lines, is_whole=is_whole)


def _attached(attachment: Attachment) -> Shown | None:
    part = attachment.part
    if attachment.subtype == "file":
        return _read(results.Read(part.get("content"))) if fields.mapping(part, "content") else None
    rows = numbered(fields.string(part, "snippet") or "")
    if rows is None or rows.below:
        return None
    # The client says how long the file is: by that its excerpt is known to be all of it.
    length = fields.integer(fields.mapping(part, "rereadEntry") or {}, "contentLength")
    text = "\n".join(rows.lines)
    is_whole = rows.first == 1 and length is not None and length == len(text.encode("utf-16-le")) // 2
    return _lines(rows.first, rows.lines, is_whole=is_whole)


def _lines(first: int, lines: list[str], *, is_whole: bool) -> Shown | None:
    if any(len(line) >= _MOST_SHOWN or "\0" in line for line in lines):
        return None  # some clients cut long lines where they show them, or show what is no text
    return Shown(first, tuple(lines), is_whole)


def _noted(session: Session, call: Call, given: Mapping[str, object]) -> object:
    """Return the structured result of a call, unless it is that of another call in the same line."""
    value = structured(session, call)
    path = fields.string(fields.as_mapping(value) or {}, "filePath")
    if path is None or path == fields.string(given, "file_path") or call.result_row is None:
        return value
    found = [one for one in blocks(session.entry(call.result_row).content) if isinstance(one, ToolResult)]
    return None if len(found) > 1 else value


def _is_cut(session: Session, call: Call) -> bool:
    """Say whether a line of a call is too long to be read whole."""
    flags = session.table.flags
    row = call.row if call.result_row is None else call.result_row
    return bool((flags[call.row] | flags[row]) & ABRIDGED)


def _keeps(one: Happening) -> bool:
    version = one.session.entry(one.row).version
    return version is not None and version_key(version) < _KEPT_ENDS_UNTIL
