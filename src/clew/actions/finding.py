"""Find where an id is: any uuid, message, request, tool-use, agent or session id, in any file of a store.

The bytes are searched as they are, and only a line that holds the id is decoded, to tell which field it is
in. What merely refers to the id, such as a child's `parentUuid`, is no place of it. A session's id and a
sub-agent's stand on nearly every line of their file, so of those the first line of each file is given.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from clew.actions.passes import sweep
from clew.errors import ClewError, UsageError
from clew.format.entry import as_mapping
from clew.format.records import Record, scan
from clew.store.files import Skipped
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clew.store.files import Listing, SessionFile, Store

IdKind = Literal["uuid", "message", "request", "tool_use", "agent", "session"]

SHORTEST: Final = 4
_STEP: Final = 4 << 20
_PAYS: Final = 1_000_000_000
"""Bytes from which a second process pays: the search runs at several gigabytes a second."""


@dataclass(frozen=True, slots=True)
class Place:
    """One place of an id."""

    id_kind: IdKind
    path: str
    line: int | None
    """From 1; None where only the file is named by the id."""

    offset: int | None
    session: str | None
    type: str | None

    def as_dict(self) -> dict[str, object]:
        """Return the place in the shape of `clew find --json`."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Finding:
    """Where an id was found."""

    id: str
    """The whole id, where the start of a session's was given."""

    places: tuple[Place, ...]
    files: int
    """How many files were searched."""

    skipped: tuple[Skipped, ...]
    looked_in: tuple[str, ...]


def find(
    store: Store,
    wanted: str,
    *,
    jobs: int | None = None,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> Finding:
    """Search every file of a store for an id; `start` as for `list_sessions`."""
    wanted = wanted.strip()
    if len(wanted) < SHORTEST:
        raise UsageError(f"{wanted!r} is too short for an id", hint="give the whole id")
    listing = store.listing()
    whole = _whole(listing, wanted)
    # Newest first: of several places the newest is most likely the one that is meant.
    files = sorted(
        (*listing.sessions, *listing.agents), key=lambda file: (file.is_agent, -file.mtime_ns, file.path)
    )
    advance = None if start is None else start(len(files))
    results = sweep(partial(places_in, wanted=whole), files, jobs=jobs, pays=_PAYS, advance=advance)
    places = [place for result in results if not isinstance(result, Skipped) for place in result]
    skipped = [*listing.skipped, *(result for result in results if isinstance(result, Skipped))]
    return Finding(whole, tuple(places), len(files), tuple(skipped), store.roots.looked_in)


def _whole(listing: Listing, wanted: str) -> str:
    """Return the whole id where the start of a session's or sub-agent's was given, as lists show it."""
    for files in (listing.sessions, listing.agents):
        ids = {file.id.removeprefix("agent-") for file in files}
        if wanted.removeprefix("agent-") in ids:
            return wanted.removeprefix("agent-") if files is listing.agents else wanted
        fitting = [name for name in ids if name.startswith(wanted.removeprefix("agent-"))]
        if len(fitting) == 1:
            return fitting[0]
    return wanted


def places_in(file: SessionFile, *, wanted: str) -> Sequence[Place] | Skipped:
    """Return the places of an id in one file, in file order."""
    try:
        with FileSource(file.path) as source:
            places = list(_places(file, source, wanted))
    except ClewError as error:
        return Skipped(file.path, error.message)
    if not places and file.id.removeprefix("agent-") == wanted:
        # The lines carry another id, or there are none: the name of the file is what `--resume` takes.
        places.append(Place("agent" if file.is_agent else "session", file.path, None, None, file.id, None))
    return places


def _places(file: SessionFile, source: FileSource, wanted: str) -> Iterator[Place]:
    needle = wanted.encode("utf-8", "surrogatepass")
    number, counted = 1, 0
    at = _search(source, needle, 0)
    while at >= 0:
        begin = _line_start(source, at)
        number += _newlines(source, counted, begin)
        counted = end = begin
        once = False
        for item in scan(source, start=begin, number=number):
            if item.number != number:
                break
            end = item.offset + item.length
            if isinstance(item, Record) and (kind := kind_in(item, wanted)) is not None:
                facts = item.facts
                session = file.session if file.is_agent else file.id
                yield Place(kind, file.path, number, item.offset, session or facts.session_id, facts.role)
                once = once or kind in {"session", "agent"}
        if once:
            return
        at = _search(source, needle, max(end, at + 1))


def kind_in(record: Record, wanted: str) -> IdKind | None:
    """Tell which of a record's own ids is the one wanted, if any is."""
    facts = record.facts
    if facts.uuid == wanted:
        return "uuid"
    message = facts.message
    if message is not None and message.id == wanted:
        return "message"
    if facts.request_id == wanted:
        return "request"
    body = facts.body
    if isinstance(body, list) and any(wanted in (block.id, block.tool_use_id) for block in body):
        return "tool_use"
    if facts.agent_id == wanted:
        return "agent"
    if facts.session_id == wanted:
        return "session"
    # The result of the call that started a sub-agent names it.
    if as_mapping(record.decoded().data.get("toolUseResult")).get("agentId") == wanted:
        return "agent"
    return None


def _search(source: FileSource, needle: bytes, start: int) -> int:
    at = start
    while at < source.size:
        found = source.read(at, _STEP + len(needle) - 1).find(needle)
        if found >= 0:
            return at + found
        at += _STEP
    return -1


def _line_start(source: FileSource, at: int) -> int:
    while at > 0:
        # Lines are mostly short, but one may be of many megabytes.
        begin = max(0, at - _STEP // 64)
        found = source.read(begin, at - begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        at = begin
    return 0


def _newlines(source: FileSource, start: int, end: int) -> int:
    count, at = 0, start
    while at < end:
        piece = source.read(at, min(_STEP, end - at))
        count += piece.count(b"\n")
        at += len(piece)
    return count
