"""A session without its secrets, to be looked at or exported. Nothing is written: the files stay as they are.

As `redacting` does, what is found once, in the session, its sub-agents or a file beside them, is looked for
everywhere. Thinking stays without its secrets: what is made here is read, and never sent.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from clew.actions.reading import agent_sources, has_agents
from clew.edit.known_secrets import Secrets
from clew.edit.overlay import Overlay
from clew.edit.redact import gather, redact
from clew.edit.secret_cleaner import Cleaner
from clew.edit.side_texts import gather_text
from clew.errors import ClewError
from clew.format.decode import DecodeError, decode, encode
from clew.session.session import Session
from clew.session.subagents import Source, agents
from clew.store.sides import side_files
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clew.actions.reading import Opened
    from clew.edit.secret_forms import Spans
    from clew.edit.secret_stretches import Looked
    from clew.session.subagents import Agent

_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Redacted:
    """A session and its sub-agents without their secrets."""

    opened: Opened
    agents: tuple[Agent, ...]
    found: Mapping[str, int]
    """How many secrets were taken out, by their sort."""

    left: int = 0
    """How many stay, as they are keys or ids that hold the session together."""

    text: Callable[[str], str] = str
    """Takes them out of a text that is told of the session, such as its path."""

    is_same: bool = False
    """Whether there was none at all, and all is as it was opened."""


def redacted(
    opened: Opened,
    *,
    key: bytes,
    own: Spans | None = None,
    with_agents: bool = True,
    advance: Callable[[int], None] | None = None,
    sources: Sequence[Source] | None = None,
    looked: Sequence[Looked] | None = None,
) -> Redacted:
    """Take the secrets out of a session that was opened; `key` makes the placeholders.

    `own` finds a person's own secrets; `advance` is told of each line how many bytes it has, twice. `sources`
    are the files of its sub-agents, if they are read, and `looked` what is seen in the session and in those.
    """
    # Without `with_agents` they are not shown, but what they tell of the session's secrets is known.
    sources = agent_sources(opened) if sources is None else sources
    secrets = _gathered(opened, sources, own, advance, looked)
    clean = _Cleaning(secrets, key, own, advance)
    session = clean.session(opened.session)
    found: tuple[Agent, ...] = ()
    if with_agents and has_agents(opened):
        found = agents(session, [clean.source(source) for source in sources])
    return Redacted(
        replace(opened, session=session), found, clean.tally, clean.left, clean.text, not secrets.seen
    )


def _gathered(
    opened: Opened,
    sources: Sequence[Source],
    own: Spans | None,
    advance: Callable[[int], None] | None,
    looked: Sequence[Looked] | None,
) -> Secrets:
    sessions = (opened.session, *(source.session for source in sources))
    secrets = Secrets()
    for at, session in enumerate(sessions):
        secrets |= gather(session, own=own, advance=advance, looked=None if looked is None else looked[at])
    paths = {side.path for file in (opened.file, *opened.agent_files) for side in side_files(file).files}
    for path in sorted(paths):
        try:
            secrets |= gather_text(_pieces(path), own=own)
        except ClewError:
            continue  # it cannot be read, so it is in nothing that is made here either
    return secrets


class _Cleaning:
    """Takes known secrets out of sessions, and counts them."""

    def __init__(
        self, secrets: Secrets, key: bytes, own: Spans | None, advance: Callable[[int], None] | None
    ) -> None:
        self._secrets = secrets
        self._key = key
        self._own = own
        self._advance = advance
        self.tally: Counter[str] = Counter()
        self.left = 0

    def session(self, session: Session) -> Session:
        """Return a session without secrets; itself if it has none."""
        changes = redact(
            session,
            key=self._key,
            own=self._own,
            known=self._secrets,
            advance=self._advance,
            keep_thinking=True,
        )
        self.left += changes.left
        for place in changes.places:
            self.tally[place.rule] += place.times
        if not changes:
            return session
        return Session.read(Overlay(changes.plan("")), name=session.name)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        cleaner = Cleaner(self._secrets, self._key, self._own)
        return cleaner.clean((), text, cleaner.find((), text))

    def source(self, source: Source) -> Source:
        """Return a sub-agent without secrets."""
        return replace(source, session=self.session(source.session), meta=self._meta(source.meta))

    def _meta(self, meta: Mapping[str, object]) -> Mapping[str, object]:
        if not meta or not self._secrets.seen:
            return meta
        try:
            return decode(Cleaner(self._secrets, self._key, self._own).clean_bytes(encode(meta))).data
        except (DecodeError, RecursionError):
            return {}


def _pieces(path: str) -> Iterator[bytes]:
    with FileSource(path) as source:
        for at in range(0, source.size, _PIECE):
            yield source.read(at, _PIECE)
