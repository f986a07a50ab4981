"""A session and its turns in a few facts each."""

from __future__ import annotations

from dataclasses import dataclass, field
from dataclasses import replace as replace_fields
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from clew.format.lines import readline_from
from clew.format.records import Record, read_plainly
from clew.session import pricing
from clew.session.graph import BOUNDARY
from clew.session.session import SALVAGED
from clew.session.titles import title
from clew.view.parts import TurnHead
from clew.view.prompts import title_of
from clew.view.texts import one_line
from clew.view.work import models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.session import Names as TableNames
    from clew.session.session import Session, Table
    from clew.session.subagents import Agent
    from clew.session.turns import Turn
    from clew.view.parts import Head, Work

_MOST_NAMES: Final = 100
"""Versions and ids of sessions that are listed; a hostile file may have a new one on each line."""


def turn_head(
    session: Session, turn: Turn, work: Work, *, marks: Sequence[str] = (), is_off: bool = False
) -> TurnHead:
    """Return a turn in a few facts."""
    row = turn.prompt_row
    return TurnHead(
        turn.n,
        title_of(session, row),
        turn.status,
        work,
        uuid=None if row is None else session.entry(row).uuid,
        started=turn.started,
        ended=turn.ended,
        marks=tuple(marks),
        is_off=is_off,
    )


@dataclass(slots=True)
class Names:
    """What stands in the lines beside their content."""

    versions: dict[str, None] = field(default_factory=dict[str, None])
    session_ids: dict[str, None] = field(default_factory=dict[str, None])
    project: str | None = None
    branch: str | None = None
    slug: str | None = None
    seen: int = 0
    """Where the last line begins that was gone through; it may have been unfinished."""

    def copy(self) -> Names:
        """Return the same, for a session that goes on."""
        return replace_fields(self, versions=dict(self.versions), session_ids=dict(self.session_ids))

    def see(self, session: Session) -> None:
        """Go through the lines that were not seen yet, and the last of the others again."""
        table = session.table
        if not self.seen and table.names is not None:
            self._take(table, table.names)
            return
        version = session_id = None
        for item in read_plainly(readline_from(session.source, start=self.seen), start=self.seen):
            if isinstance(item, tuple):
                _, self.seen, _, facts = item
            elif isinstance(item, Record):
                facts = item.facts
                if item.is_whole:
                    self.seen = item.offset
            else:
                continue
            # They are seldom others than on the line before.
            if facts.version != version:
                version = facts.version
                _note(self.versions, version)
            if facts.session_id != session_id:
                session_id = facts.session_id
                _note(self.session_ids, session_id)
            self.project = self.project or facts.cwd
            self.branch = facts.git_branch or self.branch
            self.slug = facts.slug or self.slug

    def _take(self, table: Table, names: TableNames) -> None:
        """Take what was noted when all lines were read."""
        for found, told in ((self.versions, names.versions), (self.session_ids, names.session_ids)):
            for name in told:
                _note(found, name)
        self.project, self.branch, self.slug = names.cwd, names.branch, names.slug
        whole = (row for row in range(len(table) - 1, -1, -1) if not table.flags[row] & SALVAGED)
        last = next(whole, None)
        self.seen = 0 if last is None else table.offset[last]


def _note(names: dict[str, None], name: str | None) -> None:
    if name and name not in names and len(names) < _MOST_NAMES:
        names[one_line(name, longest=100)] = None


def session_head(
    session: Session,
    turns: Sequence[Turn],
    sums: Head,
    *,
    damaged: int = 0,
    branches: int = 1,
    names: Names | None = None,
) -> Head:
    """Return a session in a few facts; `sums` tells what was done. It is read for those in its lines.

    `names` are what was read of those before; they are brought up to date.
    """
    table = session.table
    names = names or Names()
    names.see(session)
    named = title(session)
    boundaries = {code for code, kind in enumerate(table.kinds) if kind == BOUNDARY}
    started = [turn.started for turn in turns if turn.started is not None]
    ended = [turn.ended for turn in turns if turn.ended is not None]
    return replace(
        sums,
        title=named.text if named else "",
        project=names.project,
        branch=names.branch,
        slug=names.slug,
        started=min(started) if started else None,
        ended=max(ended) if ended else None,
        models=models(turns),
        versions=tuple(names.versions),
        session_ids=tuple(names.session_ids),
        damaged=damaged,
        compactions=sum(code in boundaries for code in table.kind) if boundaries else 0,
        branches=branches,
        prices=pricing.DATE,
        lines=max(table.number, default=0),
        bytes=session.source.size,
    )


def count_agents(agents: Sequence[Agent]) -> int:
    """Return how many sub-agents there are, those of sub-agents too."""
    total = 0
    waiting = list(agents)
    while waiting:
        one = waiting.pop()
        total += 1
        waiting += one.children
    return total
