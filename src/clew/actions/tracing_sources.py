"""Sessions as traces to be sent: which files, whose messages they are, and without their secrets."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from clew.actions.reading import Opened, sub_agents
from clew.store.reader import open_session
from clew.store.redaction_key import placeholder_key
from clew.store.source import FileSource
from clew.trace.spans import Options, SessionTraces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from clew.edit.known_secrets import Secrets
    from clew.edit.secret_cleaner import Cleaner
    from clew.session.session import Session
    from clew.session.subagents import Agent
    from clew.store.files import SessionFile
    from clew.trace.spans import TurnTrace

ABANDONED_MS: Final = 24 * 3_600_000
"""A session that nobody wrote for so long will not go on with its last turn."""

_RACY_NS: Final = 2_000_000_000
"""What was written so lately may be written again without its times telling."""

_KEPT: Final = 2_000_000
"""So many characters of clean text are remembered."""


@dataclass(frozen=True, slots=True)
class Source:
    """One session's files."""

    file: SessionFile
    agents: tuple[SessionFile, ...] = ()

    @property
    def newest_ns(self) -> int:
        """When one of them was last written."""
        return max(one.mtime_ns for one in (self.file, *self.agents))

    def is_abandoned(self, now_ms: int) -> bool:
        """Say whether nobody has written it for a long while."""
        return now_ms - self.newest_ns // 1_000_000 > ABANDONED_MS

    def stamp(self, now_ms: int) -> str:
        """Return what the files look like; empty if they may change without looking otherwise."""
        listed = sorted((self.file, *self.agents), key=lambda one: one.path)
        if now_ms * 1_000_000 - self.newest_ns < _RACY_NS:
            return ""
        told = [(one.path, one.device, one.inode, one.size, one.mtime_ns) for one in listed]
        text = repr((told, self.is_abandoned(now_ms)))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Wish:
    """What of a session is to be sent."""

    content: bool = True
    redact: bool = True
    state: Path | None = None
    """Where the key for placeholders is kept; without it they change from run to run."""


class Open:
    """A session that is open, as traces."""

    def __init__(
        self, source: Source, wish: Wish, *, owner_of: Callable[[str], str | None] | None = None
    ) -> None:
        session = open_session(source.file.path)
        self._session = session
        self.source = source
        opened = Opened(source.file, session, source.agents)
        agents = sub_agents(opened)
        options = _options(session, agents, wish)
        self.traces = SessionTraces(
            session, agents, session_id=source.file.id, owner_of=owner_of, options=options
        )

    def close(self) -> None:
        """Let go of the file."""
        if isinstance(self._session.source, FileSource):
            self._session.source.close()

    def is_ready(self, turn: TurnTrace, now_ms: int) -> bool:
        """Say whether a turn can be sent: nothing will be added to it."""
        return turn.is_settled or self.source.is_abandoned(now_ms)


def _options(session: Session, agents: Sequence[Agent], wish: Wish) -> Options:
    if not wish.content or not wish.redact:
        return Options(content=wish.content)
    redactor = _Redactor(session, agents, _key(wish.state))
    return Options(redact=redactor.text, redact_named=redactor.named)


@lru_cache(maxsize=4)
def _key(state: Path | None) -> bytes:
    return secrets.token_bytes(32) if state is None else placeholder_key(state, draw=secrets.token_bytes)


class _Redactor:
    """Takes secrets out of what one session says.

    What is found once is looked for everywhere, so all lines are gone through first, when something is about
    to be sent.
    """

    def __init__(self, session: Session, agents: Sequence[Agent], key: bytes) -> None:
        self._sessions = [session, *_sessions(agents)]
        self._key = key
        self._cleaner: Cleaner | None = None
        self._is_needed = True
        # What a tool gave back is told by its own span, and again by the answer to it.
        self._cleaned: dict[tuple[str | None, str], str] = {}
        self._left = _KEPT

    def text(self, text: str) -> str:
        return self._clean(None, text)

    def named(self, name: str, text: str) -> str:
        return self._clean(name, text)

    def _clean(self, name: str | None, text: str) -> str:
        cleaner = self._cleaner or self._ready()
        if not self._is_needed:
            return text
        known = self._cleaned.get((name, text))
        if known is not None:
            return known
        path = () if name is None else (name,)
        found = cleaner.find(path, text)
        clean = cleaner.clean(path, text, found) if found else text
        self._left -= len(text)
        if self._left < 0:
            self._cleaned.clear()
            self._left = _KEPT - len(text)
        self._cleaned[name, text] = clean
        return clean

    def _ready(self) -> Cleaner:
        # Not before something is to be sent: the rules alone take a while to read.
        from clew.edit.secret_cleaner import Cleaner

        gathered = self._gathered()
        self._is_needed = gathered.seen > 0  # most sessions have none
        self._cleaner = Cleaner(gathered, self._key, None)
        return self._cleaner

    def _gathered(self) -> Secrets:
        from clew.edit.redact import gather

        first, *others = self._sessions
        found = gather(first)
        for one in others:
            found |= gather(one)
        return found


def _sessions(agents: Sequence[Agent]) -> list[Session]:
    waiting = list(agents)
    found: list[Session] = []
    while waiting:
        agent = waiting.pop()
        waiting += agent.children
        if agent.source is not None:
            found.append(agent.source.session)
    return found
