"""Lines that a client writes and never reads again when it resumes a session.

Records of requests; progress, which says what a tool was at, long after it is done; all but the last of the
lines that are written again and again, where the last one counts; lines that a compaction wrote once more.

What stays although it is not sent: `toolUseResult`, from which the client and others show what was changed;
snapshots of files, without which nothing can be rewound; the queue, where prompts stand that were taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from zlib import crc32

from clew.edit.paths import sent_rows
from clew.edit.woven import Result
from clew.session.chain import chain
from clew.session.eras import MEASURED
from clew.session.graph import is_same_content
from clew.session.session import SALVAGED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.edit.changes import Changes
    from clew.session.session import Session

REQUEST: Final = "a record of a request, which is not read again"
PROGRESS: Final = "progress of what is long done"
SUPERSEDED: Final = "a later line of this kind counts"
COPY: Final = "written before, byte for byte"

_REQUESTS: Final = frozenset({"api-request", "api-request-shape", "api-request-blob"})
_LAST_COUNTS: Final = frozenset(
    {
        "last-prompt",
        "custom-title",
        "ai-title",
        "agent-name",
        "permission-mode",
        "mode",
        "cost-state",
        "tools-used",
        "atis-latch",
        "attribution-snapshot",
    }
)
_HINT: Final = "last-prompt"

_BITS: Final = 6
"""Lines that cannot go all at once are tried in up to 64 heaps, by a hash of their uuids: the same lines are
in one heap whatever else there is, so doing it again tries nothing new."""


def drop_bulk(changes: Changes) -> None:
    """Let go what no client reads; nothing that any of them sends changes."""
    session = changes.session
    kinds = [kind.partition("/")[0] for kind in session.table.kinds]
    links: dict[int, str] = {}
    for row in range(len(session)):
        kind = kinds[session.table.kind[row]]
        if row in changes.dropped or session.table.flags[row] & SALVAGED:
            continue
        if session.table.uuid[row]:
            if kind == "progress":
                links[row] = PROGRESS
            elif _is_copy(session, row):
                links[row] = COPY
        elif kind in _REQUESTS:
            changes.drop(row, REQUEST)
        elif kind == "progress":
            changes.drop(row, PROGRESS)
    for row in _superseded(changes, kinds):
        changes.drop(row, SUPERSEDED)
    if links:
        _Trials(changes, links).run()


def _is_copy(session: Session, row: int) -> bool:
    """Say whether a line is the same bytes as the one before it with its uuid."""
    before = session.table.ids().earlier[row]
    return (
        before >= 0 and not session.table.flags[before] & SALVAGED and is_same_content(session, (before, row))
    )


def _superseded(changes: Changes, kinds: Sequence[str]) -> Iterator[int]:
    """Give the lines of which a later one counts: of the same kind, for the same session."""
    session, table = changes.session, changes.session.table
    seen: set[tuple[str, object]] = set()
    if changes.closing is not None:
        seen |= {(_HINT, changes.closing.get("sessionId")), (f"{_HINT} to a leaf", None)}
    for row in range(len(table) - 1, -1, -1):
        kind = kinds[table.kind[row]]
        if kind not in _LAST_COUNTS or table.uuid[row] or table.flags[row] & SALVAGED:
            continue
        if row in changes.dropped:
            continue
        entry = session.entry(row)
        names: set[tuple[str, object]] = {(kind, entry.session_id)}
        if kind == _HINT and entry.text("leafUuid"):
            names.add((f"{_HINT} to a leaf", None))
        if names <= seen:
            yield row
        seen |= names


class _Trials:
    """Lets lines go that others hang on, where no client's path through the file becomes another."""

    def __init__(self, changes: Changes, rows: Mapping[int, str]) -> None:
        self._changes = changes
        self._rows = rows
        self._before = _paths(Result(changes.plan("")).session)
        session = changes.session
        self._heap = {
            row: crc32((session.entry(row).uuid or "").encode("utf-8", "surrogatepass")) for row in rows
        }

    def run(self) -> None:
        """Try until nothing more can go: what went may have been in the way of others."""
        rows = [*self._rows]
        while rows and self._try(rows, 0):
            rows = [row for row in rows if row not in self._changes.dropped]

    def _try(self, rows: Sequence[int], bit: int) -> bool:
        if self._can_go(rows):
            for row in rows:
                self._changes.drop(row, self._rows[row])
            return True
        while bit < _BITS:
            halves = self._halves(rows, bit)
            bit += 1
            if all(halves):
                results = [self._try(half, bit) for half in halves]
                return any(results)
        return False

    def _halves(self, rows: Sequence[int], bit: int) -> tuple[list[int], list[int]]:
        ones = [row for row in rows if self._heap[row] >> bit & 1]
        return [row for row in rows if not self._heap[row] >> bit & 1], ones

    def _can_go(self, rows: Sequence[int]) -> bool:
        trial = self._changes.copy()
        for row in rows:
            trial.drop(row, self._rows[row])
        return _paths(Result(trial.plan("")).session) == self._before


def _paths(session: Session) -> list[object]:
    """Return over which lines each client goes; the lines themselves stay as they are."""
    uuid = session.table.uuid
    found: list[object] = []
    for era in MEASURED:
        path = chain(session, era)
        # Where a client refuses, the path is empty.
        sent = sent_rows(session, path, era)
        found.append((path.refused, [uuid[row] for row in path.rows], [uuid[row] for row in sent]))
    return found
