"""Send what is new of sessions to the endpoints that a person configured, as the hook does.

Which endpoints there are is `trace.settings`, what was sent before `trace.ledger`, how it gets there
`trace.deliver`; what a person sends, of one session or of all of them, is `tracing_backfill`.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from clew import __version__
from clew.actions.tracing_owners import find_owners
from clew.actions.tracing_runs import Failure, Run, Sending, send
from clew.actions.tracing_sources import Source, Wish
from clew.errors import ClewError, UsageError
from clew.store.files import Skipped, Store, at_path
from clew.store.heads import group_agents
from clew.trace.reach import Terms
from clew.trace.settings import Settings, from_flags, read_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from clew.store.files import Listing, SessionFile
    from clew.trace.endpoints import Backend

__all__ = ["Failure", "Request", "Sending", "configured", "send_transcripts"]

NO_ENDPOINT: Final = "--endpoint URL, or OTEL_EXPORTER_OTLP_ENDPOINT, LANGFUSE_… or PHOENIX_… variables"


@dataclass(frozen=True, slots=True)
class Request:
    """What a person asked for."""

    roots: Sequence[Path] = ()
    urls: Sequence[str] = ()
    headers: Sequence[str] = ()
    service: str | None = None
    backend: Backend | None = None
    content: bool = True
    redact: bool = True
    resend_unknown: bool = False
    rate: float | None = None
    environ: Mapping[str, str] = field(default_factory=dict[str, str])


def configured(request: Request) -> Settings:
    """Return the endpoints that flags name, else those of the environment and the configuration file."""
    environ = request.environ
    found = read_settings(environ)
    if request.urls:
        flags = from_flags(
            request.urls,
            headers=request.headers,
            service=request.service,
            backend=request.backend,
            environ=environ,
        )
        found = Settings(flags, found.content, found.redact)
    elif request.headers or request.backend:
        raise UsageError("--header and --backend go with --endpoint", hint=NO_ENDPOINT)
    named = found.endpoints
    if request.service and not request.urls:
        named = tuple(replace(one, service=request.service) for one in named)
    content, redact = found.content and request.content, found.redact and request.redact
    return Settings(named, content, redact, found.notes)


def send_transcripts(
    paths: Sequence[tuple[str, str | None]],
    *,
    environ: Mapping[str, str],
    state: Path,
    now_ms: int,
    deadline: float,
    settle: Callable[[str], object] | None = None,
) -> Sending:
    """Send what is new and complete in some transcript files to all endpoints that are configured.

    `paths` are transcript files, each with the id of its session if the caller was told it. A sub-agent's
    file stands for its session. What earlier runs could not send to an endpoint is tried again after them,
    if there is time. `environ` tells the endpoints and where their configuration lies, `state` is the folder
    of the ledger, `deadline` a moment of `time.monotonic()` at which this has returned. `settle` is called
    with a path before that file is read, and may wait for its last line.

    It never raises for a bad file, a dead endpoint or a ledger that cannot be opened: the report says so.
    """
    try:
        settings = read_settings(environ)
    except ClewError as error:
        return Sending(failed=(Failure("configuration", error.message),))
    if not settings.endpoints:
        return Sending(notes=settings.notes)
    finder = _Finder()
    sources: list[Source] = []
    failures: list[Failure] = []
    for path, _ in paths:
        try:
            if settle is not None:
                settle(path)
            source = finder.find(path)
        except (ClewError, OSError) as error:
            failures.append(Failure(path, str(error)))
            continue
        if source is not None and source not in sources:
            sources.append(source)
    run = Run(
        settings.endpoints,
        Wish(settings.content, settings.redact, state),
        state,
        Terms(deadline, patience=max(0.0, deadline - time.monotonic()), version=__version__),
        now_ms,
        environ,
        finder.owner_of,
        waiting=finder.still_there,
    )
    try:
        sent = send(run, sources)
    except Exception as error:  # whoever calls this must not fail for what a session holds
        return Sending(failed=(*failures, Failure("clew", f"{type(error).__name__}: {error}")))
    sent = _with_notes(sent, settings.notes)
    return _with_failures(sent, failures)


class _Finder:
    """Finds sessions by the paths of their files, and looks at a folder once."""

    def __init__(self) -> None:
        self._listings: dict[str, tuple[Store, Listing]] = {}
        self._owners: dict[str, Callable[[str], Callable[[str], str | None]] | None] = {}
        self._guard = threading.RLock()

    def find(self, path: str) -> Source | None:
        """Return the session of a transcript; None for a sub-agent whose session is not there."""
        found = at_path(path)
        if isinstance(found, Skipped):
            raise UsageError(found.reason)
        with self._guard:
            if found.is_agent:
                found = self._session_of(found)
            return None if found is None else Source(found, self._agents(found))

    def still_there(self, path: str) -> Source | None:
        """Return a session that waits, if its file is still there."""
        try:
            return self.find(path)
        except (ClewError, OSError):
            return None

    def owner_of(self, session: str) -> Callable[[str], str | None]:
        """Return what tells whose the messages of a session are, as far as the catalog knows."""
        with self._guard:
            for root, (store, listing) in self._listings.items():
                if root not in self._owners:
                    self._owners[root] = _owners(store, listing)
                of = self._owners[root]
                if of is not None and any(file.id == session for file in listing.sessions):
                    return of(session)
        return lambda _: None

    def _listing(self, file: SessionFile) -> tuple[Store, Listing] | None:
        if file.root is None:
            return None
        if file.root not in self._listings:
            store = Store.at([file.root])
            self._listings[file.root] = (store, store.listing())
        return self._listings[file.root]

    def _agents(self, file: SessionFile) -> tuple[SessionFile, ...]:
        listed = self._listing(file)
        return () if listed is None else group_agents(listed[1]).of(file)

    def _session_of(self, agent: SessionFile) -> SessionFile | None:
        listed = self._listing(agent)
        if listed is None:
            return None
        agents = group_agents(listed[1])
        for file in listed[1].sessions:
            if file.folder == agent.folder and any(one.path == agent.path for one in agents.of(file)):
                return file
        return None


def _owners(store: Store, listing: Listing) -> Callable[[str], Callable[[str], str | None]] | None:
    try:
        owners = find_owners(store, listing, may_read=False)
    except (ClewError, OSError):
        return None
    return None if owners is None else owners.of


def _with_notes(sent: Sending, notes: Sequence[str]) -> Sending:
    return replace(sent, notes=(*notes, *sent.notes))


def _with_failures(sent: Sending, failures: Sequence[Failure]) -> Sending:
    return replace(sent, failed=(*failures, *sent.failed))
