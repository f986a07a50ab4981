"""The messages of many files, each message once.

The same message in two files belongs to the session whose oldest line is oldest (on a tie the one with the
lower id), whatever the order of reading. Its usage is that of the copy with the greatest output; of copies
that tie, the one with the greater other counts. Groups and money are `session.accounts`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format.times import milliseconds

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew.session.usage import Calls, FileUsage, Row

_NEVER: Final = 1 << 62


class Ledger:
    """Rows by message. Ledgers made apart, in other processes too, can be merged in any order."""

    __slots__ = ("client_costs", "copies", "damaged", "folders", "rows", "unfinished")

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        """The messages, each with the row of the file that was read first."""
        self.copies: dict[str, list[Row]] = {}
        """The messages that several files have, with all their rows."""
        self.client_costs: dict[str, float] = {}
        """By file what the client itself says the session cost."""
        self.folders: dict[str, str] = {}
        """By file the first folder it names, where that was read."""
        self.damaged = 0
        """Finished lines that are more or less than one record, among those that may tell of usage."""
        self.unfinished: set[str] = set()
        """The files whose last line has no end and is no record, as while it is being written."""

    def add(self, file: FileUsage) -> None:
        """Take in one file."""
        self._add_rows(file.rows)
        self.damaged += file.damaged
        if file.is_unfinished:
            self.unfinished.add(file.name)
        if file.client_cost is not None:
            self.client_costs[file.name] = file.client_cost
        if file.cwd:
            self.folders[file.name] = file.cwd

    def merge(self, other: Ledger) -> None:
        """Take in all files of another ledger; they must be other files than those here."""
        self._add_rows(other.rows)
        for key, rows in other.copies.items():
            # The first of them is among the rows, and was taken in with those.
            self.copies.setdefault(key, [rows[0]]).extend(rows[1:])
        self.client_costs |= other.client_costs
        self.folders |= other.folders
        self.damaged += other.damaged
        self.unfinished |= other.unfinished

    def _add_rows(self, rows: dict[str, Row]) -> None:
        known, copies = self.rows, self.copies
        if shared := known.keys() & rows.keys():
            for key in shared:
                copies.setdefault(key, [known[key]]).append(rows[key])
            rows = {key: row for key, row in rows.items() if key not in shared}
        known.update(rows)


class Owners:
    """Finds who a message belongs to; how old a session is, is asked once and only where it matters."""

    def __init__(self, session_of: Callable[[str], str], oldest: Callable[[str], int | None]) -> None:
        """`session_of` tells a file's session, `oldest` the time of a session's oldest line."""
        self._session_of = session_of
        self._oldest = oldest
        self._ages: dict[str, int] = {}

    def settle(self, copies: Sequence[Row]) -> Row:
        """Make one row of a message's copies: its owner says when and where, the best usage how much."""
        owner, best = self._owner(copies), best_usage(copies)
        return (owner[0], *best[1:8], owner[8], best[9])

    def _owner(self, copies: Sequence[Row]) -> Row:
        session_of = self._session_of
        sessions = {session_of(row[8][0]) for row in copies}
        if len(sessions) > 1:
            first = min(sessions, key=lambda session: (self._age(session), session))
            copies = [row for row in copies if session_of(row[8][0]) == first]
        return min(copies, key=_order)

    def _age(self, session: str) -> int:
        if session not in self._ages:
            age = self._oldest(session)
            self._ages[session] = _NEVER if age is None else age
        return self._ages[session]


def best_usage(copies: Sequence[Row]) -> Row:
    """Return the copy whose usage counts, with the calls of the one that has most of them."""
    most = max(row[1] for row in copies)
    ties = [row for row in copies if row[1] == most]
    best = ties[0]
    # Most copies are the same line again.
    if any(row[2:8] != best[2:8] for row in ties):
        best = max(ties, key=lambda row: (row[2:6], row[6] or "", repr(row[7])))
    return (*best[:9], _most_calls(copies))


def _most_calls(copies: Sequence[Row]) -> Calls:
    if not any(row[9] for row in copies):
        return ()
    # A fork made in the middle of a message knows fewer.
    return max((row[9] for row in copies), key=lambda calls: (len(calls), calls))


def _order(row: Row) -> tuple[int, str]:
    """Order the copies within one session: the oldest has the message's time and place."""
    written = milliseconds(row[0])
    return (_NEVER if written is None else written, row[8][0])
