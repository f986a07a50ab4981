"""A session and its turns in a few facts each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from clew.format.records import Record, scan
from clew.session import pricing
from clew.session.graph import BOUNDARY
from clew.session.titles import title
from clew.view.parts import TurnHead
from clew.view.prompts import title_of
from clew.view.texts import one_line
from clew.view.work import models

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.session.session import Session
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
class _Names:
    """What stands in the lines beside their content."""

    versions: dict[str, None] = field(default_factory=dict[str, None])
    session_ids: dict[str, None] = field(default_factory=dict[str, None])
    project: str | None = None
    branch: str | None = None
    slug: str | None = None

    def see(self, session: Session) -> None:
        """Go through the lines once."""
        for item in scan(session.source):
            if not isinstance(item, Record):
                continue
            facts = item.facts
            _note(self.versions, facts.version)
            _note(self.session_ids, facts.session_id)
            self.project = self.project or facts.cwd
            self.branch = facts.git_branch or self.branch
            self.slug = facts.slug or self.slug


def _note(names: dict[str, None], name: str | None) -> None:
    if name and name not in names and len(names) < _MOST_NAMES:
        names[one_line(name, longest=100)] = None


def session_head(
    session: Session, turns: Sequence[Turn], sums: Head, *, damaged: int = 0, branches: int = 1
) -> Head:
    """Return a session in a few facts; `sums` tells what was done. It is read for those in its lines."""
    table = session.table
    names = _Names()
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
