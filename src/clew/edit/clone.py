"""A session again under another id: every line stays, and every id that names one of them is a new one.

What is sent to the model does not change: nothing inside a message is touched, nor what a tool gave back. The
ids of messages, requests and calls stay too; by them a program that adds up costs knows a copy for a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from clew.edit.changes import Changes
from clew.edit.ids import derive
from clew.edit.plan import KEEP, Add, Drop, FilePlan, Patch, Plan
from clew.edit.woven import Result
from clew.format.patch import map_strings
from clew.session.calls import pairs
from clew.session.context import context
from clew.session.ids import id_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.edit.plan import Step
    from clew.format.patch import Path
    from clew.session.session import Session

REASON: Final = "new ids"

_SENT: Final[frozenset[Path]] = frozenset(
    {
        ("message", "content"),
        ("content",),
        ("toolUseResult",),
        ("attachment",),
        ("data", "message", "message", "content"),
        ("data", "normalizedMessages"),
        ("summary",),
        ("lastPrompt",),
        ("prompt",),
    }
)
"""Where what was said stands, in which an id is a word like any other."""


class Agent(NamedTuple):
    """A sub-agent's file of a session."""

    name: str
    """What it is called, without the ending."""

    session: Session


def clone(
    session: Session,
    *,
    new_id: str,
    seed: bytes,
    agents: Sequence[Agent] = (),
    cwd: str | None = None,
    changes: Changes | None = None,
) -> Plan:
    """Plan a copy of a session called `new_id`; with `cwd` it is one of another project.

    `seed` makes the new ids of the lines. With `changes` the copy is of what they make of the session.
    """
    mapping = _Mapping((session, *(agent.session for agent in agents)), session.name, new_id, seed, cwd)
    files = [
        _renamed(FilePlan(agent.session, f"{new_id}/subagents/{agent.name}.jsonl"), mapping)
        for agent in agents
    ]
    target = f"{new_id}.jsonl"
    main = FilePlan(session, target) if changes is None else changes.plan(target)
    return Plan((*files, _renamed(main, mapping)))


def up_to(session: Session, row: int) -> Changes:
    """Return what makes a session end in a row, as it was when that was written.

    What came after goes, but for the rest of its message and the results of the calls in it. Other branches
    from before stay, as long as the client does not take one of them for the end.
    """
    table, above = session.table, row
    needed = _together(session, row)
    leading: set[int] = set()
    while above >= 0 and above not in leading:
        leading.add(above)
        above = table.last_of(table.parent[above])
    needed |= leading
    name = {
        "type": "last-prompt",
        "leafUuid": session.entry(row).uuid,
        "explicit": True,
        "sessionId": session.name,
    }
    first = _ending(session, row, needed)
    wanted = context(Result(first.plan("")).session, at=session.entry(row).uuid).messages
    for start, is_named in ((row, False), (-1, False), (row, True), (-1, True)):
        tried = _ending(session, start, needed)
        if is_named:  # as the client writes it when somebody goes back to a line
            tried.add(name, "the line it ends in")
        if context(Result(tried.plan("")).session).messages == wanted:
            return tried
    return first


def _together(session: Session, row: int) -> set[int]:
    """Return the rows that are sent with a row: of its message, and the results of that one's calls."""
    table = session.table
    found = {row}
    if not table.message[row]:
        return found
    found |= {one for one in range(len(table)) if table.message[one] == table.message[row]}
    calls = pairs(session).calls
    return found | {call.result_row for call in calls if call.row in found and call.result_row is not None}


def _ending(session: Session, row: int, needed: set[int]) -> Changes:
    """Leave out what comes after a row and is not needed."""
    changes = Changes(session)
    table = session.table
    for one in range(len(table)):
        kind = table.kind_of(one)
        if kind.partition("/")[0] == "last-prompt":
            named = session.entry(one).text("leafUuid")
            if named is not None and session.row(named) not in needed:
                changes.drop(one, "names an end that it has no more")
        elif one > row and one not in needed and (table.uuid[one] or kind == "summary"):
            changes.drop(one, "not on the way to the line it ends in")
    return changes


def _renamed(file: FilePlan, mapping: _Mapping) -> FilePlan:
    """Return a plan whose lines have new ids."""
    return FilePlan(
        file.session,
        file.target,
        decide=_Deciding(file, mapping),
        damage=file.damage,
        before={
            row: [Add(mapping.renamed(one.data), one.reason) for one in added]
            for row, added in file.before.items()
        },
        at_end=[Add(mapping.renamed(one.data), one.reason) for one in file.at_end],
    )


class _Mapping:
    """Tells what an id becomes."""

    def __init__(
        self, sessions: Sequence[Session], old_id: str | None, new_id: str, seed: bytes, cwd: str | None
    ) -> None:
        self._sessions = sessions
        self._old_id = old_id
        self._new_id = new_id
        self._seed = seed
        self._cwd = cwd

    def change(self, path: Path, text: str) -> str | None:
        """Return what is put in the place of a string, None if it stays."""
        if text == self._old_id or path == ("sessionId",):
            return self._new_id
        if self._cwd is not None and path == ("cwd",):
            return self._cwd
        if not text or len(text) > _LONGEST or not self._is_line(text):
            return None
        return derive(self._seed, text)

    def renamed(self, raw: bytes) -> bytes:
        """Return a record with new ids."""
        return map_strings(raw, self.change, skip=_SENT)

    def _is_line(self, text: str) -> bool:
        key = id_hash(text)
        return any(one.table.last_of(key) >= 0 for one in self._sessions)


_LONGEST: Final = 200
"""No id is longer; a text may be."""


class _Deciding:
    def __init__(self, file: FilePlan, mapping: _Mapping) -> None:
        self._file = file
        self._mapping = mapping

    def __call__(self, row: int) -> Step:
        session = self._file.session
        step = self._file.decide(row)
        if isinstance(step, Drop):
            return step
        if isinstance(step, Patch):
            return Patch(self._mapping.renamed(step.data), step.reason)
        table = session.table
        raw = session.source.read(table.offset[row], table.length[row])
        new = self._mapping.renamed(raw)
        return KEEP if new is raw else Patch(new, REASON)
