"""Make the rows of the tables from what is known of a session. Pure functions; the columns are in `schema`.

Entry rows are made in passing (`passing_rows`), from one record at a time, or with the rounds, from a whole
session. What is asked of a whole session only (turns, calls, files) is made in `work_rows`, messages and
usage in `message_rows`; all of it can be had from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format.records import Record, scan
from clew.session.chain import chain
from clew.session.check import Checker
from clew.session.eras import rules
from clew.session.reach import has_conversation, reach_of
from clew.session.rounds import inputs
from clew.tables.cells import Home, clean, day_of, json_list
from clew.tables.message_rows import message_cost, message_row, message_rows, usage_row
from clew.tables.passing_rows import entry_row, session_row
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
from clew.tables.shared import Shared
from clew.tables.strings import whole_characters
from clew.tables.work_rows import call_rows, file_rows, turn_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.session.check import Report
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
    "Shared",
    "TurnRow",
    "UsageRow",
    "call_rows",
    "clean",
    "day_of",
    "entry_row",
    "entry_rows",
    "file_rows",
    "found_problems",
    "json_list",
    "message_cost",
    "message_row",
    "message_rows",
    "problem_row",
    "problem_rows",
    "session_row",
    "turn_rows",
    "usage_row",
]


# --- entries ------------------------------------------------------------------------------------------------


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
    return found_problems(checker, session, home)


def found_problems(
    checker: Checker, session: Session, home: Home, *, shared: Shared | None = None
) -> Iterator[ProblemRow]:
    """Make the rows of what a checker found that has seen all of a session.

    `shared` is what was made of the session already.
    """
    return (problem_row(one, home) for one in _finished(checker, shared or Shared(session)).problems)


def _finished(checker: Checker, shared: Shared) -> Report:
    session = shared.session
    if not has_conversation(session):
        return checker.finish()
    path = chain(session, rules())
    reach = None if path.refused else reach_of(session, path, shared.graph)
    return checker.finish(refused=path.refused, reach=reach, links=shared.links)
