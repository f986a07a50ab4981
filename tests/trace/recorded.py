"""The recorded sessions with their sub-agents, as traces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from clew.session import subagents
from clew.trace.spans import Options, SessionTraces
from tests.session.recorded import SCENARIOS, agent_sources, read

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.trace.span import Span


@dataclass(frozen=True, slots=True)
class Case:
    """One recorded session and the files that belong to it."""

    name: str
    session: Session
    agents: tuple[Agent, ...]
    files: tuple[Path, ...]

    def traces(
        self, options: Options | None = None, *, owner_of: Callable[[str], str | None] | None = None
    ) -> SessionTraces:
        return SessionTraces(self.session, self.agents, options=options, owner_of=owner_of)

    def spans(self, options: Options | None = None) -> list[Span]:
        return [span for turn in self.traces(options).turns() for span in turn.spans()]


@cache
def cases() -> tuple[Case, ...]:
    """Return every recorded session that has lines."""
    found: list[Case] = []
    for scenario in SCENARIOS:
        for path in sorted(scenario.glob("projects/*/*.jsonl")):
            if path.name.startswith("agent-") or not path.stat().st_size:
                continue
            session = read(path)
            sources = agent_sources(path.parent, session)
            places = {one.name: one for one in path.parent.rglob("agent-*.jsonl")}
            files = (path, *(places[source.key] for source in sources))
            name = f"{scenario.parent.name}/{scenario.name}/{path.stem[:8]}"
            found.append(Case(name, session, subagents.agents(session, sources), files))
    return tuple(found)
