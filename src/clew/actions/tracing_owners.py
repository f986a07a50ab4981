"""Whose a message is that stands in several sessions: it is sent with the one it belongs to.

The same rule as for `clew usage`: it belongs to the session whose oldest line is oldest. Of a message that
one session alone has, that one is the owner, even if its lines name another: that one is gone.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from clew.errors import ClewError
from clew.session.ages import oldest
from clew.store.heads import group_agents
from clew.store.source import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from clew.store.files import Listing, Store

_PIECE: Final = 1 << 18
_NEVER: Final = 1 << 62


class Owners:
    """The messages that several sessions have, each with the session it belongs to."""

    def __init__(self, shared: Mapping[str, str]) -> None:
        self._shared = shared

    def of(self, session: str) -> Callable[[str], str | None]:
        """Return what tells the owner of a message that this session has."""
        shared = self._shared
        return lambda message: shared.get(message, session)


def find_owners(store: Store, listing: Listing, *, may_read: bool = True) -> Owners | None:
    """Return the owners of all messages: as the catalog has them, else by reading every file.

    None if the catalog cannot tell and the files are not to be read.
    """
    from clew.catalog.current import NotCurrentError

    try:
        return _from_catalog(store, listing)
    except NotCurrentError:
        return _from_files(listing) if may_read else None


def _from_catalog(store: Store, listing: Listing) -> Owners:
    from clew.actions.indexed_usage import Places
    from clew.catalog.current import Current
    from clew.catalog.rollups import Rollups

    with Current.opened(store, listing) as current:
        rollups = Rollups(current.database)
        places = Places(rollups)
        copies = {
            key: {places.session(said.source) for said in many} for key, many in rollups.copies().items()
        }
        return _settled(copies, places.oldest)


def _from_files(listing: Listing) -> Owners:
    from clew.session.usage import Folder

    session_of = {file.path: file.id for file in listing.sessions}
    session_of |= {file.path: file.session or file.id for file in listing.agents}
    for (_, _, session), files in group_agents(listing).by_session.items():
        session_of |= {file.path: session for file in files}
    paths: dict[str, list[str]] = {}
    for path, session in session_of.items():
        paths.setdefault(session, []).append(path)
    first: dict[str, str] = {}
    copies: dict[str, set[str]] = {}
    folder = Folder("usage")
    for path, session in session_of.items():
        try:
            rows = folder.file(path, _pieces(path)).rows
        except (ClewError, OSError):
            continue
        for key in rows:
            before = first.setdefault(key, session)
            if before != session:
                copies.setdefault(key, {before}).add(session)

    def age(session: str) -> int | None:
        times = [oldest(_pieces(path)) for path in paths[session] if path in listed] or [
            oldest(_pieces(path)) for path in paths[session]
        ]
        return min((time for time in times if time is not None), default=None)

    listed = {file.path for file in listing.sessions}
    return _settled(copies, age)


def _settled(copies: Mapping[str, set[str]], age: Callable[[str], int | None]) -> Owners:
    ages: dict[str, int] = {}

    def order(session: str) -> tuple[int, str]:
        if session not in ages:
            try:
                found = age(session)
            except (ClewError, OSError):
                found = None
            ages[session] = _NEVER if found is None else found
        return ages[session], session

    return Owners({key: min(sessions, key=order) for key, sessions in copies.items() if len(sessions) > 1})


def _pieces(path: str) -> Iterator[bytes]:
    descriptor, _ = open_regular(path, is_listed=True)
    try:
        while piece := os.read(descriptor, _PIECE):
            yield piece
    finally:
        os.close(descriptor)
