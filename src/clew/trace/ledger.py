"""What was sent where: a record that no crash, second sender or changed session file can confuse.

A span is planned, then sent, then acknowledged; all spans of one request go through it together. Before the
first byte of a request goes out it is on the disk that it is sent, and nothing is acknowledged before the
endpoint said so. What was sent by a process that is no more, without an answer, is unknown: it may have
arrived. Who asks the endpoint about that is `trace.readback`.

Nothing here depends on where in a file something stands. Spans are known by their ids, which are the same in
every copy of a session; that a file was seen in full (`seen`) only saves reading it again.

No content is kept, no header and no address beyond what `Endpoint.label` shows.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from clew.trace.ledger_file import (
    ACKNOWLEDGED,
    PLANNED,
    REFUSED,
    SENT,
    UNKNOWN,
    begin_sender,
    end_sender,
    is_at_work,
    open_file,
    translated,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Sequence
    from pathlib import Path
    from typing import Self

    from clew.trace.endpoints import Endpoint

State = Literal["planned", "sent", "unknown", "acknowledged", "refused"]
_NAMES: Final[tuple[State, ...]] = ("planned", "sent", "unknown", "acknowledged", "refused")

POINTERS: Final = 50 << 20
"""Bytes that what waits may take: paths of sessions, never what is in them. The oldest are kept."""

_MOVE: Final = "UPDATE span SET request = ? WHERE endpoint = ? AND trace = ? AND span = ? AND request = ?"
_OPEN: Final = f"state IN ({SENT}, {UNKNOWN})"


class Ids(NamedTuple):
    """A span, by its trace's id and its own."""

    trace: bytes
    span: bytes


@dataclass(frozen=True, slots=True)
class Open:
    """A request of which it is not known whether it arrived."""

    id: int
    sent_ms: int
    spans: tuple[Ids, ...]


class Seen(NamedTuple):
    """A session file as an endpoint knows it."""

    path: str
    stamp: str
    """What it, and the files of its sub-agents, looked like."""

    turns: int
    unready: int = 0
    """Turns that are not complete."""

    left: int = 0
    """Turns that the endpoint has not got."""


@dataclass(frozen=True, slots=True)
class EndpointState:
    """What the ledger has of one endpoint."""

    label: str
    backend: str
    service: str
    traces: int = 0
    spans: int = 0
    unknown_spans: int = 0
    refused_spans: int = 0
    rejected_spans: int = 0
    waiting_sessions: int = 0
    waiting_turns: int = 0
    answered_ms: int | None = None
    error: str | None = None
    error_ms: int | None = None


class Ledger:
    """The record of all endpoints, in one file. Each thread opens its own."""

    def __init__(self, database: sqlite3.Connection, note: str | None = None) -> None:
        self._database = database
        self.note = note
        """What a person should know: that it was damaged or is gone, and what was sent is sent again."""
        self._owner = begin_sender()

    @classmethod
    def open(cls, state: Path) -> Self:
        """Open the ledger of a state folder, or begin one."""
        return cls(*open_file(state))

    def close(self) -> None:
        """Let go of the file; what was sent without an answer is unknown from here on."""
        end_sender(self._owner)
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- endpoints ------------------------------------------------------------------------------------------

    def endpoint(self, endpoint: Endpoint) -> int:
        """Return the number of an endpoint, which it gets when it is first asked for."""
        with self._writing() as write:
            write(
                "INSERT OR IGNORE INTO endpoint (key, label, backend, service) VALUES (?, ?, ?, ?)",
                (endpoint.key, endpoint.label, endpoint.backend, endpoint.service),
            )
        return self._one("SELECT id FROM endpoint WHERE key = ?", endpoint.key)

    def answered(self, endpoint: int, now_ms: int) -> None:
        """Take note that an endpoint took what it was sent."""
        with self._writing() as write:
            write(
                "UPDATE endpoint SET answered_ms = ?, error = NULL, error_ms = NULL WHERE id = ?",
                (now_ms, endpoint),
            )

    def failed(self, endpoint: int, reason: str, now_ms: int) -> None:
        """Take note of what went wrong last; the reason holds no secrets."""
        with self._writing() as write:
            write(
                "UPDATE endpoint SET error = ?, error_ms = ? WHERE id = ?", (reason[:300], now_ms, endpoint)
            )

    def states(self) -> dict[str, EndpointState]:
        """Return what there is of every endpoint, by its key."""
        found: dict[str, EndpointState] = {}
        columns = "id, key, label, backend, service, answered_ms, error, error_ms, rejected"
        rows = self._rows(f"SELECT {columns} FROM endpoint ORDER BY id")  # noqa: S608
        for number, key, label, backend, service, answered, error, error_ms, rejected in rows:
            joined = "FROM span s JOIN request r ON r.id = s.request WHERE s.endpoint = ?"
            counts = {
                state: (spans, traces)
                for state, spans, traces in self._rows(
                    f"SELECT r.state, count(*), count(DISTINCT s.trace) {joined} GROUP BY 1",
                    number,
                )
            }
            spans, traces = counts.get(ACKNOWLEDGED, (0, 0))
            found[key] = EndpointState(
                label,
                backend,
                service,
                traces,
                spans,
                sum(len(request.spans) for request in self.unknown(number)),
                counts.get(REFUSED, (0, 0))[0],
                rejected,
                self._one("SELECT count(*) FROM waiting WHERE endpoint = ?", number),
                self._one("SELECT coalesce(sum(turns), 0) FROM waiting WHERE endpoint = ?", number),
                answered,
                error,
                error_ms,
            )
        return found

    # --- spans ----------------------------------------------------------------------------------------------

    def known(self, endpoint: int, trace: bytes) -> dict[bytes, State]:
        """Return the spans of a trace that the ledger has, each with how far it is.

        What a sender that is no more had planned is not there; what it had sent is unknown.
        """
        found: dict[bytes, State] = {}
        for span, state, owner in self._rows(
            "SELECT s.span, r.state, r.owner FROM span s JOIN request r ON r.id = s.request "
            "WHERE s.endpoint = ? AND s.trace = ?",
            endpoint,
            trace,
        ):
            if state not in (PLANNED, SENT) or is_at_work(owner):
                found[span] = _NAMES[state]
            elif state == SENT:
                found[span] = "unknown"
        return found

    def plan(self, endpoint: int, spans: Sequence[Ids]) -> tuple[int, set[Ids]]:
        """Plan a request with those spans that nobody else sends, has sent or may have sent; tell which."""
        # A plan that is lost is made again, and when the request goes out it comes to the disk with that.
        with self._writing(is_durable=False):
            taken: set[Ids] = set()
            for trace in {one.trace for one in spans}:
                taken |= {Ids(trace, span) for span in self.known(endpoint, trace)}
            free = [one for one in dict.fromkeys(spans) if one not in taken]
            made = self._request(endpoint, PLANNED)
            self._database.executemany(
                "INSERT OR REPLACE INTO span VALUES (?, ?, ?, ?)", [(endpoint, *one, made) for one in free]
            )
        return made, set(free)

    def divide(self, request: int, endpoint: int, spans: Sequence[Ids]) -> int:
        """Plan some spans of a request as one of their own: together they were too large."""
        with self._writing():
            made = self._request(endpoint, PLANNED)
            self._database.executemany(_MOVE, [(made, endpoint, *one, request) for one in spans])
        return made

    def sent(self, request: int, now_ms: int) -> None:
        """Take note that a request goes out; when this returns, that is on the disk."""
        with self._writing() as write:
            write("UPDATE request SET state = ?, sent_ms = ? WHERE id = ?", (SENT, now_ms, request))

    def unsent(self, request: int) -> None:
        """Take note that a request that went out did not arrive; it is planned still."""
        with self._writing() as write:
            write("UPDATE request SET state = ? WHERE id = ?", (PLANNED, request))

    def acknowledged(self, request: int, *, rejected: int = 0) -> None:
        """Take note that the endpoint said yes; `rejected` is how many of the spans it will not keep."""
        with self._writing() as write:
            write("UPDATE request SET state = ? WHERE id = ?", (ACKNOWLEDGED, request))
            if rejected:
                write(
                    "UPDATE endpoint SET rejected = rejected + ? "
                    "WHERE id = (SELECT endpoint FROM request WHERE id = ?)",
                    (rejected, request),
                )

    def refused(self, request: int) -> None:
        """Take note that the endpoint will never take it, so that it is not sent each time."""
        with self._writing() as write:
            write("UPDATE request SET state = ? WHERE id = ?", (REFUSED, request))

    def lost(self, request: int) -> None:
        """Take note that nobody knows whether it arrived."""
        with self._writing() as write:
            write("UPDATE request SET state = ? WHERE id = ?", (UNKNOWN, request))

    def back(self, request: int) -> None:
        """Take note that it did not arrive: its spans are as if they were never planned."""
        with self._writing() as write:
            write("DELETE FROM span WHERE request = ?", (request,))
            write("DELETE FROM request WHERE id = ?", (request,))

    def unknown(self, endpoint: int) -> list[Open]:
        """Return the requests of which it is not known whether they arrived, the oldest first."""
        found: list[Open] = []
        for request, state, owner, sent_ms in self._rows(
            f"SELECT id, state, owner, sent_ms FROM request WHERE endpoint = ? AND {_OPEN} ORDER BY id",  # noqa: S608
            endpoint,
        ):
            if state == UNKNOWN or not is_at_work(owner):
                spans = self._rows("SELECT trace, span FROM span WHERE request = ?", request)
                found.append(Open(request, sent_ms or 0, tuple(Ids(*row) for row in spans)))
        return found

    def resolve(self, request: int, endpoint: int, arrived: Iterable[Ids], missing: Iterable[Ids]) -> None:
        """Take note of what was found out about an unknown request; of the rest nothing is known still."""
        there = list(arrived)
        with self._writing() as write:
            if not self._rows(f"SELECT 1 FROM request WHERE id = ? AND {_OPEN}", request):  # noqa: S608
                return  # another process found it out meanwhile
            for one in missing:
                write(
                    "DELETE FROM span WHERE endpoint = ? AND trace = ? AND span = ? AND request = ?",
                    (endpoint, *one, request),
                )
            if there:
                made = self._request(endpoint, ACKNOWLEDGED)
                for one in there:
                    write(_MOVE, (made, endpoint, *one, request))
            if self._one("SELECT count(*) FROM span WHERE request = ?", request):
                write("UPDATE request SET state = ? WHERE id = ?", (UNKNOWN, request))
            else:
                write("DELETE FROM request WHERE id = ?", (request,))

    def tidy(self, endpoint: int) -> None:
        """Forget what senders that are no more had planned and not sent."""
        rows = self._rows(
            f"SELECT id, owner FROM request WHERE endpoint = ? AND state = {PLANNED}",  # noqa: S608
            endpoint,
        )
        for request, owner in rows:
            if not is_at_work(owner):
                self.back(request)

    # --- files ----------------------------------------------------------------------------------------------

    def seen(self, endpoint: int, path: str, stamp: str) -> Seen | None:
        """Return what there was in a file, if nothing of it was left to send when it looked as now."""
        rows = self._rows(
            "SELECT turns, unready FROM seen WHERE endpoint = ? AND path = ? AND stamp = ?",
            endpoint,
            os.fsencode(path),
            stamp,
        )
        return Seen(path, stamp, *rows[0]) if rows else None

    def note_files(self, endpoint: int, files: Sequence[Seen], now_ms: int) -> None:
        """Take note of how much of some files an endpoint has: all there is, or that turns wait for it."""
        if not files:
            return
        with self._writing() as write:
            # A row takes its path and about as much as fits a line beside it.
            size = self._one("SELECT coalesce(sum(length(path)) + 64 * count(*), 0) FROM waiting")
            for one in files:
                name = os.fsencode(one.path)
                if not one.left:
                    row = (endpoint, name, one.stamp, one.turns, one.unready)
                    write("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?, ?)", row)
                    write("DELETE FROM waiting WHERE endpoint = ? AND path = ?", (endpoint, name))
                    continue
                write("DELETE FROM seen WHERE endpoint = ? AND path = ?", (endpoint, name))
                write(
                    "UPDATE waiting SET turns = ? WHERE endpoint = ? AND path = ?", (one.left, endpoint, name)
                )
                size += len(name) + 64
                if size <= POINTERS:
                    row = (endpoint, name, now_ms, one.left)
                    write("INSERT OR IGNORE INTO waiting VALUES (?, ?, ?, ?)", row)

    def forget_file(self, endpoint: int, path: str) -> None:
        """Take note that a file is no more: nothing of it waits."""
        with self._writing() as write:
            for table in ("seen", "waiting"):
                values = (endpoint, os.fsencode(path))
                write(f"DELETE FROM {table} WHERE endpoint = ? AND path = ?", values)  # noqa: S608

    def waiting(self, endpoint: int) -> list[str]:
        """Return the files that an endpoint has not got all of, the longest waiting first."""
        rows = self._rows("SELECT path FROM waiting WHERE endpoint = ? ORDER BY since_ms, path", endpoint)
        return [os.fsdecode(path) for (path,) in rows]

    # --- inside ---------------------------------------------------------------------------------------------

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise translated(error, "the ledger of traces cannot be read") from None

    def _one(self, query: str, *values: object) -> int:
        return int(self._rows(query, *values)[0][0])

    def _request(self, endpoint: int, state: int) -> int:
        made = self._database.execute(
            "INSERT INTO request (endpoint, state, owner) VALUES (?, ?, ?)", (endpoint, state, self._owner)
        ).lastrowid
        assert made is not None
        return made

    @contextmanager
    def _writing(self, *, is_durable: bool = True) -> Generator[Callable[[str, tuple[object, ...]], object]]:
        """Do all or nothing; no other process writes meanwhile. When it is over, it is on the disk.

        What need not be durable is there for all processes too, but may be gone if the machine fails.
        """
        database = self._database
        try:
            database.execute(f"PRAGMA synchronous = {'FULL' if is_durable else 'NORMAL'}")
            database.execute("BEGIN IMMEDIATE")
            yield database.execute
            database.execute("COMMIT")
        except sqlite3.Error as error:
            raise translated(error, "the ledger of traces cannot be written") from None
        finally:
            if database.in_transaction:
                with suppress(sqlite3.Error):
                    database.execute("ROLLBACK")
