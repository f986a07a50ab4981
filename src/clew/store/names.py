"""Turn what a person types into a session file.

A session is named by its id, the start of its id, its path, its title, its readable slug, an id on its lines,
or its place among the newest (`@1`).
"""

from __future__ import annotations

import difflib
import os
import re
from typing import TYPE_CHECKING, Final

from clew.errors import AmbiguousSessionError, ClewError, NotARegularFileError, UnknownSessionError
from clew.format.records import Record, read
from clew.store.files import Skipped, at_path
from clew.store.heads import head
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clew.store.files import Listing, SessionFile, Store

SHORTEST: Final = 4
"""The least of an id that names a session."""

_ID: Final = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PLACE: Final = re.compile(r"@([0-9]{1,9})")


def resolve(
    store: Store,
    name: str,
    *,
    title_of: Callable[[SessionFile], str | None] | None = None,
    listing: Listing | None = None,
) -> SessionFile:
    """Return the session file that `name` names; raise an error that lists the nearest or the candidates."""
    found = store.listing() if listing is None else listing
    place = _PLACE.fullmatch(name)
    if place:
        return _placed(store, found, name, int(place[1]))
    for candidates in _ways(found, name, title_of):
        if len(candidates) > 1:
            raise AmbiguousSessionError(name, _told_apart(candidates))
        if candidates:
            return candidates[0]
    raise UnknownSessionError(name, nearest=_nearest(found, name, title_of), looked_in=store.roots.looked_in)


def conversations(listing: Listing) -> Iterator[SessionFile]:
    """Give the files that hold a conversation, the one written last first: what `@1`, `@2`… count."""
    for file in listing.newest():
        found = head(file, tail=False)
        if not isinstance(found, Skipped) and found.kind in {"conversation", "mixed"}:
            yield file


def _placed(store: Store, listing: Listing, name: str, place: int) -> SessionFile:
    count = 0
    for file in conversations(listing):
        count += 1
        if count == place:
            return file
    nearest = [f"@{count}"] if count else []
    raise UnknownSessionError(name, nearest=nearest, looked_in=store.roots.looked_in)


def _ways(
    listing: Listing, name: str, title_of: Callable[[SessionFile], str | None] | None
) -> Iterator[Sequence[SessionFile]]:
    """Give what each way of naming finds, the quick ways first."""
    everything = (*listing.sessions, *listing.agents)
    if name.endswith(".jsonl") or os.sep in name or "/" in name:
        yield _at(name)
    yield [file for file in listing.sessions if file.id == name]
    yield [file for file in listing.agents if name in {file.id, file.id.removeprefix("agent-")}]
    if len(name) >= SHORTEST:
        start = name.lower()
        yield [file for file in listing.sessions if file.id.lower().startswith(start)]
        yield [file for file in listing.agents if file.id.lower().removeprefix("agent-").startswith(start)]
    wanted = _plain(name)
    if title_of is not None and wanted:
        yield [file for file in listing.sessions if _plain(title_of(file) or "") == wanted]
    heads = [(file, found) for file in listing.sessions if not isinstance(found := head(file), Skipped)]
    yield [file for file, found in heads if found.slug is not None and _plain(found.slug) == wanted]
    yield [file for file, found in heads if name in found.session_ids]
    if _ID.fullmatch(name):
        yield [file for file in everything if _holds(file, name)]


def _at(path: str) -> Sequence[SessionFile]:
    found = at_path(path)
    if not isinstance(found, Skipped):
        return [found]
    if os.path.lexists(found.path):
        raise NotARegularFileError(found.path, found.reason)
    return []


def _holds(file: SessionFile, session: str) -> bool:
    """Say whether a line of `file`, however far in, carries the session id."""
    wanted = session.encode()
    try:
        with FileSource(file.path) as source:
            if not _occurs(source, wanted):
                return False
            items = read(source.readline())
            return any(isinstance(item, Record) and item.facts.session_id == session for item in items)
    except ClewError:
        return False


def _occurs(source: FileSource, wanted: bytes, *, step: int = 1 << 20) -> bool:
    at = 0
    while at < source.size:
        if wanted in source.read(at, step + len(wanted) - 1):
            return True
        at += step
    return False


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _told_apart(candidates: Sequence[SessionFile]) -> list[str]:
    ids = [file.id for file in candidates]
    return ids if len(set(ids)) == len(ids) else [file.path for file in candidates]


def _nearest(listing: Listing, name: str, title_of: Callable[[SessionFile], str | None] | None) -> list[str]:
    ids = [file.id for file in listing.sessions]
    titles = [title_of(file) for file in listing.sessions] if title_of is not None else []
    close = difflib.get_close_matches(name, [*ids, *(title for title in titles if title)], n=3)
    # A short start of an id is never close to the whole of it: compare starts.
    start = name[:8].lower()
    starts = difflib.get_close_matches(start, {other[: len(start)] for other in ids}, n=3)
    return list(dict.fromkeys([*close, *(other for other in ids if other[: len(start)] in starts)]))[:3]
