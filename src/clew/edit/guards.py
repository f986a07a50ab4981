"""What an edit must not do unless it was asked to: the losses that have cost people their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.edit.ways import copies
from clew.session.graph import BOUNDARY, is_same_content
from clew.session.session import HUMAN, SIDECHAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.edit.changes import Changes
    from clew.edit.woven import Result
    from clew.session.context import Context
    from clew.session.session import Session

MOST_TURNS: Final = 0.95
"""The part of the turns that may go without being asked for."""

_DOUBTFUL: Final = frozenset({"empty-thinking"})
"""What newer models write so themselves."""


def ambiguities(session: Session) -> Iterator[str]:
    """Say what makes a session one that should be repaired before it is edited."""
    table = session.table
    ids = table.ids()
    done: set[int] = set()
    for row in range(len(table) - 1, -1, -1):
        if ids.earlier[row] < 0 or table.uuid[row] in done:
            continue
        done.add(table.uuid[row])
        rows = [row]
        while (before := ids.earlier[rows[-1]]) >= 0:
            rows.append(before)
        if not is_same_content(session, rows):
            yield f"the lines {table.number[rows[-1]]} and {table.number[row]} have one uuid and differ"
            return


def losses(
    changes: Changes,
    before: Context,
    result: Result,
    after: Context,
    *,
    may_drop_turns: bool = False,
    may_drop_boundaries: bool = False,
    may_drop_prompt: bool = False,
) -> Iterator[str]:
    """Say what would be lost that was not asked for."""
    if before.refused is None and after.refused is not None:
        yield f"the client would not resume it: {after.refused}"
        return
    before_codes = [problem.code for problem in before.api_problems]
    for problem in after.api_problems:
        if problem.code in _DOUBTFUL:
            continue
        if problem.code in before_codes:
            before_codes.remove(problem.code)
        else:
            yield f"the API would refuse it: {problem.detail} (message {problem.message + 1})"
            break
    session = changes.session
    last = last_of(session, "permission-mode")
    if last is not None and last in changes.dropped:
        yield "the last permission mode would be lost"
    prompt = _last_prompt(session, before)
    if prompt is not None and not may_drop_prompt and not _is_sent(session, prompt, result, after):
        yield f"the last prompt (line {session.table.number[prompt]}) would not be sent any more"
    if not may_drop_boundaries:
        for row in sorted(changes.dropped):
            if session.table.kind_of(row) == BOUNDARY and _is_gone(changes, row):
                yield f"a compaction (line {session.table.number[row]}) would be lost"
                break
    if not may_drop_turns:
        # By their uuids: of one that is written twice, one is enough.
        uuid, flags = session.table.uuid, session.table.flags
        prompts = {uuid[row] or ~row: row for row in range(len(flags)) if flags[row] & HUMAN}
        gone = sum(_is_gone(changes, row) for row in prompts.values())
        if prompts and gone > MOST_TURNS * len(prompts):
            yield f"{gone} of {len(prompts)} turns would be lost"


def _is_gone(changes: Changes, row: int) -> bool:
    """Say whether a line goes with every copy of it."""
    return row in changes.dropped and changes.dropped.keys() >= set(copies(changes.session, row))


def last_of(session: Session, kind: str) -> int | None:
    """Return the last line of a kind."""
    table = session.table
    if kind not in table.kinds:
        return None
    code = table.kinds.index(kind)
    return next((row for row in range(len(table) - 1, -1, -1) if table.kind[row] == code), None)


def _last_prompt(session: Session, before: Context) -> int | None:
    flags = session.table.flags
    sent = (row for rows in reversed(before.rows) for row in reversed(rows))
    return next((row for row in sent if flags[row] & HUMAN and not flags[row] & SIDECHAIN), None)


def _is_sent(session: Session, prompt: int, result: Result, after: Context) -> bool:
    """Say whether a prompt is still sent, from its line or from one that says the very same."""
    sent = {result.source_row(row) for rows in after.rows for row in rows}
    return any(
        row in sent and (row == prompt or is_same_content(session, (row, prompt)))
        for row in copies(session, prompt)
    )
