"""A sub-agent's file whose beginning stands behind its end has the spans of the one in order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clew.session import subagents
from clew.session.session import Session
from clew.trace.spans import SessionTraces
from tests.session.moved import moved, told_files
from tests.session.recorded import agent_sources
from tests.trace.recorded import cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.trace.span import Span


def _spans(session: Session, sources: Sequence[subagents.Source]) -> list[Span]:
    traces = SessionTraces(session, subagents.agents(session, sources))
    return [span for turn in traces.turns() for span in turn.spans()]


def test_moved_recorded_files_have_the_spans_of_the_ordered_ones() -> None:
    told = {path.name: path for path in told_files()}
    tried = 0
    for case in cases():
        sources = agent_sources(case.files[0].parent, case.session)
        if not {source.key for source in sources} & told.keys():
            continue
        whole = _spans(case.session, sources)
        for at, source in enumerate(sources):
            for data in moved(told[source.key].read_bytes(), step=4) if source.key in told else ():
                other = replace(source, session=Session.read(data, name=source.session.name))
                assert _spans(case.session, [*sources[:at], other, *sources[at + 1 :]]) == whole, source.key
                tried += 1
    assert tried > 70
