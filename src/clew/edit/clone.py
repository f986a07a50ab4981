"""A session again under another id: every line stays, and every id that names one of them is a new one.

What is sent to the model does not change: nothing inside a message is touched, nor what a tool gave back. The
ids of messages, requests and calls stay too; by them a program that adds up costs knows a copy for a copy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from clew.edit.ids import derive
from clew.edit.plan import KEEP, FilePlan, Patch, Plan
from clew.format.patch import map_strings
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
    session: Session, *, new_id: str, seed: bytes, agents: Sequence[Agent] = (), cwd: str | None = None
) -> Plan:
    """Plan a copy of a session called `new_id`; with `cwd` it is one of another project.

    `seed` makes the new ids of the lines.
    """
    mapping = _Mapping((session, *(agent.session for agent in agents)), session.name, new_id, seed, cwd)
    files = [
        FilePlan(
            agent.session,
            f"{new_id}/subagents/{agent.name}.jsonl",
            decide=_Deciding(agent.session, mapping),
        )
        for agent in agents
    ]
    main = FilePlan(session, f"{new_id}.jsonl", decide=_Deciding(session, mapping))
    return Plan((*files, main))


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

    def _is_line(self, text: str) -> bool:
        key = id_hash(text)
        return any(one.table.last_of(key) >= 0 for one in self._sessions)


_LONGEST: Final = 200
"""No id is longer; a text may be."""


class _Deciding:
    def __init__(self, session: Session, mapping: _Mapping) -> None:
        self._session = session
        self._mapping = mapping

    def __call__(self, row: int) -> Step:
        table = self._session.table
        raw = self._session.source.read(table.offset[row], table.length[row])
        new = map_strings(raw, self._mapping.change, skip=_SENT)
        return KEEP if new is raw else Patch(new, REASON)
