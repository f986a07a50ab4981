"""Make the rows of what was done in a session: its turns, its calls, the files it wrote.

Along the whole history, every branch of it. A caller who wants several of them hands in what they share, as
pairing the calls and cutting a session into turns is most of the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from clew.format import results
from clew.session.calls import structured
from clew.session.files import files
from clew.session.prompts import read
from clew.session.spending import turn_spent
from clew.session.titles import LONGEST
from clew.session.usage import SIDECHAIN as UNNAMED_AGENT
from clew.tables.cells import clean, day_of
from clew.tables.row_types import CallRow, FileRow, TurnRow
from clew.tables.shared import Shared
from clew.tables.strings import whole_characters

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.session.calls import Call
    from clew.session.files import File
    from clew.session.session import Session
    from clew.session.turns import Turn
    from clew.tables.cells import Home

Action = Literal["create", "edit", "overwrite", "backup"]

LONGEST_PROMPT: Final = LONGEST * 8
"""How much of a prompt a row has, as with the first prompt of a session."""


def turn_rows(
    session: Session, home: Home, *, found: Sequence[Turn] | None = None, shared: Shared | None = None
) -> Iterator[TurnRow]:
    """Make the rows of a session's turns.

    `shared` is what was made of it already, `found` its turns alone.
    """
    for turn in (shared or Shared(session, cut=found)).turns:
        yield _turn(session, home, turn)


def _turn(session: Session, home: Home, turn: Turn) -> TurnRow:
    row = turn.prompt_row
    prompt = None if row is None else session.entry(row)
    spent = turn_spent(session, turn)
    tokens = spent.tokens
    return TurnRow(
        *home,
        turn.n,
        None if row is None else session.table.number[row],
        None if prompt is None else clean(prompt.uuid),
        turn.round,
        turn.input_kind,
        None if prompt is None else clean(read(prompt).words[:LONGEST_PROMPT]),
        day_of(turn.started),
        turn.started,
        turn.ended,
        turn.duration_ms,
        turn.is_estimated,
        len(turn.messages),
        len(turn.calls),
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write_5m,
        tokens.cache_write_1h,
        spent.cost_usd,
        turn.status,
    )


# --- calls --------------------------------------------------------------------------------------------------


def call_rows(
    session: Session, home: Home, *, found: Sequence[Turn] | None = None, shared: Shared | None = None
) -> Iterator[CallRow]:
    """Make the rows of a session's calls, in file order."""
    known = shared or Shared(session, cut=found)
    numbers = known.turn_numbers
    for call in known.calls:
        yield _call(session, home, call, numbers.get((call.row, call.index)))


def _call(session: Session, home: Home, call: Call, turn: int | None) -> CallRow:
    table = session.table
    uuid, agent = _place(session, home, call)
    result, result_uuid = call.result_row, None
    if result is not None:
        result_uuid = clean(session.entry(result).uuid)
    time = table.time_of(call.row)
    return CallRow(
        home.session_id,
        agent,
        turn,
        clean(call.id),
        clean(call.name),
        table.number[call.row],
        call.index,
        uuid,
        None if result is None else table.number[result],
        result_uuid,
        day_of(time),
        time,
        call.duration_ms,
        call.is_error,
        call.is_stand_in,
        clean(call.agent_id),
    )


def _place(session: Session, home: Home, call: Call) -> tuple[str | None, str | None]:
    """Return the uuid of a call's line, and the sub-agent whose it is."""
    entry = session.entry(call.row)
    agent = clean(entry.agent_id) or home.agent_id or (UNNAMED_AGENT if call.is_sidechain else None)
    return clean(entry.uuid), agent


# --- files --------------------------------------------------------------------------------------------------


def file_rows(
    session: Session, home: Home, *, found: Sequence[Turn] | None = None, shared: Shared | None = None
) -> Iterator[FileRow]:
    """Make the rows of the files a session touched, file by file, in the order it first did."""
    known = shared or Shared(session, cut=found)
    numbers = known.turn_numbers
    for file in files(session, calls=known.calls):
        for call in file.calls:
            yield _written(session, home, file, call, numbers.get((call.row, call.index)))
        if not file.calls and file.snapshot_rows:
            yield _kept(session, home, file)


def _written(session: Session, home: Home, file: File, call: Call, turn: int | None) -> FileRow:
    table = session.table
    action, added, removed = _change(session, call)
    time = table.time_of(call.row if call.result_row is None else call.result_row)
    return FileRow(
        home.session_id,
        _place(session, home, call)[1],
        whole_characters(file.path),
        clean(call.name),
        action,
        added,
        removed,
        turn,
        clean(call.id),
        table.number[call.row],
        day_of(time),
        time,
        call.is_error,
    )


def _kept(session: Session, home: Home, file: File) -> FileRow:
    row = file.snapshot_rows[0]
    time = session.table.time_of(row)
    number = session.table.number[row]
    path = whole_characters(file.path)
    day = day_of(time)
    return FileRow(*home, path, None, "backup", None, None, None, None, number, day, time, False)


def _change(session: Session, call: Call) -> tuple[Action | None, int | None, int | None]:
    """Return what a call did to its file, and how many lines came in and went out."""
    if call.is_error or call.result_row is None:
        return None, None, None
    told = results.result(call.name, structured(session, call))
    match told:
        case results.Write():
            is_new = told.action == "create"
            made: Action | None = "create" if is_new else "overwrite" if told.action == "update" else None
            return (made, _lines(told.content), 0) if is_new else (made, *_hunks(told))
        case results.Edit() if not told.old and not told.original and told.new is not None:
            return "create", _lines(told.new), 0
        case results.Edit() | results.MultiEdit():
            return "edit", *_hunks(told)
        case results.NotebookEdit() if told.error is None:
            return "edit", None, None
        case _:
            return None, None, None


def _hunks(told: results.Change) -> tuple[int | None, int | None]:
    if "structuredPatch" not in told.data:
        return None, None
    return sum(hunk.added for hunk in told.hunks), sum(hunk.removed for hunk in told.hunks)


def _lines(text: str | None) -> int | None:
    """Count the lines of a text, as an editor does."""
    return None if text is None else text.count("\n") + (not text.endswith("\n") and text != "")
