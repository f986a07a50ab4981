"""Make the rows of the tables from what is known of a session. Pure functions; the columns are in `schema`.

Entry rows are made in passing, from one record at a time, or with the rounds, from a whole session. What is
asked of a whole session only (turns, calls, files) is made in `work_rows`, messages and usage in
`message_rows`; all of it can be had from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format.records import Record, scan
from clew.format.times import milliseconds
from clew.session.chain import chain
from clew.session.check import Checker
from clew.session.eras import rules
from clew.session.pricing import price
from clew.session.rounds import inputs
from clew.session.session import SIDECHAIN
from clew.session.usage import SIDECHAIN as UNNAMED_AGENT
from clew.tables.cells import Home, clean, counts, day_of, json_list
from clew.tables.message_rows import message_row, message_rows, usage_row
from clew.tables.row_types import (
    CallRow,
    EntryRow,
    FileRow,
    MessageRow,
    ProblemRow,
    SessionRow,
    TurnRow,
    UsageRow,
)
from clew.tables.strings import whole_characters
from clew.tables.work_rows import call_rows, file_rows, turn_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.session.accounts import Sum
    from clew.session.fold import Facts
    from clew.session.problems import Problem
    from clew.session.session import Session

__all__ = [
    "CallRow",
    "EntryRow",
    "FileRow",
    "Home",
    "MessageRow",
    "ProblemRow",
    "SessionRow",
    "TurnRow",
    "UsageRow",
    "call_rows",
    "clean",
    "day_of",
    "entry_row",
    "entry_rows",
    "file_rows",
    "json_list",
    "message_row",
    "message_rows",
    "problem_row",
    "problem_rows",
    "session_row",
    "turn_rows",
    "usage_row",
]

_LONGEST_KIND: Final = 200
_NO_COUNTS: Final = (None, None, None, None, None)
_TALK: Final = frozenset({"user", "assistant"})


# --- sessions -----------------------------------------------------------------------------------------------


def session_row(
    facts: Facts,
    *,
    session_id: str,
    path: str,
    folder: str,
    changed_ms: int,
    agents: int = 0,
    live: bool = False,
    used: Sum | None = None,
) -> SessionRow:
    """Make the row of a session file; `used` is what its messages and its sub-agents' used."""
    tokens = None if used is None else used.tokens
    unpriced = () if used is None else (model for model in used.models if price(model) is None)
    return SessionRow(
        whole_characters(session_id),
        whole_characters(path),
        clean(facts.cwd) or whole_characters(folder),
        whole_characters(folder),
        clean(facts.slug),
        clean(facts.title),
        facts.title_source,
        clean(facts.first_prompt),
        facts.kind,
        day_of(facts.started),
        facts.started,
        facts.ended,
        changed_ms,
        facts.bytes,
        facts.lines,
        facts.turns,
        facts.messages,
        facts.tool_calls,
        facts.failed_calls,
        *(_NO_COUNTS if tokens is None else counts(tokens)),
        None if used is None else used.cost_usd,
        None if used is None else used.unpriced,
        json_list(unpriced),
        json_list(facts.models),
        clean(facts.git_branch),
        json_list(facts.versions),
        json_list(facts.session_ids),
        json_list(_pr(pr.number, pr.url, pr.repository) for pr in facts.prs),
        agents,
        live,
        # The unfinished end of a session that somebody writes is no damage.
        facts.damaged - (live and facts.is_unfinished),
    )


def _pr(number: int | None, url: str | None, repository: str | None) -> dict[str, object]:
    fits = number is None or -(2**63) <= number < 2**63
    return {"number": number if fits else str(number), "url": clean(url), "repository": clean(repository)}


# --- entries ------------------------------------------------------------------------------------------------


def entry_row(record: Record, home: Home) -> EntryRow:
    """Make the row of a record in passing. Its round and input kind only a whole session tells."""
    facts, raw = record.facts, record.raw
    length = record.length
    if not record.is_abridged:
        # Nearly every line ends so; to strip it would copy it.
        length -= 1 if raw.endswith(b"}\n") else len(raw) - len(raw.rstrip(b" \t\r\n"))
    kind = role = facts.type
    is_talk = kind == "user" or kind == "assistant"
    if not is_talk:
        kind, role = facts.kind[:_LONGEST_KIND], facts.role
        is_talk = role in _TALK
        role = role and role[:_LONGEST_KIND]
    ms = milliseconds(facts.time)
    row = EntryRow(
        home.session_id,
        facts.agent_id or home.agent_id or (UNNAMED_AGENT if facts.is_sidechain else None),
        record.number,
        record.offset,
        length,
        kind or "",
        role,
        role if is_talk else None,
        facts.uuid,
        facts.parent_uuid,
        day_of(ms),
        ms,
        facts.is_sidechain is True,
        facts.is_meta is True,
        None,
        None,
    )
    # Only a line that had to be decoded tolerantly can hold half a character.
    if record.entry is None:
        return row
    return row._replace(
        agent_id=clean(row.agent_id),
        kind=whole_characters(row.kind),
        type=clean(row.type),
        uuid=clean(row.uuid),
        parent_uuid=clean(row.parent_uuid),
    )


def entry_rows(session: Session, home: Home) -> Iterator[EntryRow]:
    """Make the rows of all records of a session, in file order, the rounds and kinds of user entries too."""
    told = inputs(session)
    upcoming = next(told, None)
    row = 0
    for record in scan(session.source):
        if not isinstance(record, Record):
            continue
        made = entry_row(record, home)
        if upcoming is not None and upcoming.row == row:
            made = made._replace(input_kind=upcoming.kind, round=upcoming.round)
            upcoming = next(told, None)
        yield made
        row += 1


# --- problems -----------------------------------------------------------------------------------------------


def problem_row(problem: Problem, home: Home) -> ProblemRow:
    """Make the row of a problem."""
    return ProblemRow(
        *home,
        problem.code,
        problem.severity,
        problem.line,
        problem.offset,
        problem.length,
        whole_characters(problem.detail),
        problem.repair,
    )


def problem_rows(session: Session, home: Home, *, is_live: bool = False) -> Iterator[ProblemRow]:
    """Check a session and make the rows of its problems; `is_live` says that somebody may be writing it."""
    checker = Checker(name=session.name, is_live=is_live, source=session.source)
    for item in scan(session.source):
        checker.add(item)
    table = session.table
    is_said = any(
        table.kind_of(row) in _TALK and not table.flags[row] & SIDECHAIN for row in range(len(session))
    )
    # Where nothing is said there is nothing to resume, which is no problem.
    refused = chain(session, rules()).refused if is_said else None
    return (problem_row(one, home) for one in checker.finish(refused=refused).problems)
