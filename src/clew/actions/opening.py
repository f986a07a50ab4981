"""From what a person types to what is read: the store of some config folders, a session file, a session.

Every action that takes a session's name begins here.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from clew.errors import UnreadableError
from clew.store.files import Skipped, Store, at_path
from clew.store.heads import group_agents
from clew.store.names import resolve
from clew.store.reader import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from clew.session.session import Session
    from clew.store.files import Listing, SessionFile
    from clew.store.heads import Agents


def find_file(store: Store, name: str, *, listing: Listing | None = None) -> SessionFile:
    """Return the file a name stands for: id, start of an id, path, title, readable name, `@1`…"""
    # Titles are looked for only where no id fits, so the look into every file is rarely paid for.
    from clew.actions.glances import titles_of

    found = store.listing() if listing is None else listing
    return resolve(store, name, title_of=titles_of(found), listing=found)


def open_named(store: Store, name: str) -> Session:
    """Read the session a name stands for."""
    return open_session(find_file(store, name).path)


def file_at(path: str | Path) -> SessionFile:
    """Return the session file at a path, in a store or not."""
    found = at_path(path)
    if isinstance(found, Skipped):
        raise UnreadableError(found.path, found.reason)
    return found


def agent_files(
    store: Store, file: SessionFile, *, listing: Listing | None = None
) -> tuple[SessionFile, ...]:
    """Return the files of a session's sub-agents, in the order of their paths; none for a sub-agent's own."""
    return AgentFiles(store, listing).of(file)


class AgentFiles:
    """The files of the sub-agents of many sessions: those whose place does not tell are looked into once."""

    def __init__(self, store: Store, listing: Listing | None = None) -> None:
        self._store = store
        self._listing = listing

    @cached_property
    def _listed(self) -> Agents:
        return group_agents(self._store.listing() if self._listing is None else self._listing)

    def of(self, file: SessionFile) -> tuple[SessionFile, ...]:
        """Return those of one session, in the order of their paths; none for a sub-agent's own."""
        if file.is_agent:
            return ()
        if file.root is not None and file.root not in self._store.roots.found:
            # The session was named by a path outside the folders looked at: its sub-agents lie beside it.
            return group_agents(Store.at([file.root]).listing()).of(file)
        return self._listed.of(file)
