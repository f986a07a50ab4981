"""The corpus as timelines, for the tests of this room."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from clew.session.session import Session
from clew.session.turns import turns
from clew.view.timeline import Timeline

CORPUS = Path(__file__).parent.parent / "data" / "corpus"


@lru_cache(maxsize=1)
def files() -> tuple[Path, ...]:
    """Every session file of the corpus, sub-agents' own files too."""
    return tuple(sorted(CORPUS.rglob("*.jsonl")))


def timeline(data: bytes, name: str = "session") -> Timeline:
    """Return the timeline of a file's bytes."""
    session = Session.read(data, name=name)
    return Timeline(session, turns(session))
