"""List the sessions of a store from the catalog where that is as new as the files, else from the files.

To say the same as a full read, in a few hundredths of a second. So nothing is imported here that reads
session files, unless one of them has to be read.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Final, cast

from clew.actions.listing import (
    CONVERSATIONS,
    PullRequest,
    SessionList,
    SessionRow,
    Tally,
    Totals,
    list_sessions,
)
from clew.catalog.current import NEW, Current, NotCurrentError
from clew.catalog.listed import callers, damaged_agents, read_listed, read_outlines, read_some
from clew.format.times import iso
from clew.session.pricing import Tokens
from clew.store.signs import signs_of_life

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from clew.catalog.listed import Listed, Outline
    from clew.session.fold import SessionKind
    from clew.session.titles import TitleSource
    from clew.store.files import Listing, SessionFile, Store


_MANY: Final = 1_000
"""Rows from which on it is no gain to ask for some instead of all."""


def list_best(
    store: Store,
    *,
    now: float,
    listing: Listing | None = None,
    use_index: bool = True,
    full: bool | int = False,
    tool: str | None = None,
    first: int | None = None,
    jobs: int | None = None,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> SessionList:
    """List the sessions of a store, from the catalog if it can tell, else as `list_sessions` does.

    With a tool, `callers` of the list says which sessions called it; only the catalog knows. With `first` it
    may be that only so many sessions are in the rows, and `known` tells of the others.
    """
    listing = store.listing() if listing is None else listing
    notes: tuple[str, ...] = ()
    if use_index:
        try:
            if first is not None:
                found = list_first(store, listing, first, now=now)
                if found is not None:
                    return found
            return list_indexed(store, listing, now=now, tool=tool)
        except NotCurrentError as error:
            notes = (error.note,) if error.note else ()
    found = list_sessions(store, now=now, full=full, jobs=jobs, start=start, listing=listing)
    return found._replace(notes=notes) if notes else found


def list_indexed(
    store: Store,
    listing: Listing,
    *,
    now: float,
    tool: str | None = None,
    most: int = NEW,
    cache: Path | None = None,
) -> SessionList:
    """List the sessions of a store as its catalog knows them; `NotCurrentError` where it cannot tell."""
    with Current.opened(store, listing, most=most, cache=cache) as current:
        known = read_listed(current.database)
        damaged = list(damaged_agents(current.database))
        called = None if tool is None else frozenset(callers(current.database, tool))
        notes, unread = current.notes, current.skipped
    is_live = signs_of_life(store, now=now)
    newest = listing.newest()
    missing = [file for file in newest if file.path not in known]
    glanced = _glanced(missing, {one.path for one in unread}, is_live)
    lists = _Lists()
    rows: list[SessionRow] = []
    for file in newest:
        found = known.get(file.path)
        if found is not None:
            rows.append(_row(file, found, lists, is_live=is_live(file)))
        elif file.path in glanced:
            rows.append(glanced[file.path])
    agents = {file.path: file for file in listing.agents} if damaged else {}
    return SessionList(
        tuple(rows),
        len(listing.agents),
        (*listing.skipped, *unread),
        store.roots.looked_in,
        is_full=True,
        agents_damaged=_damaged(damaged, agents, is_live),
        notes=notes,
        callers=called,
    )


def list_first(
    store: Store, listing: Listing, first: int, *, now: float, cache: Path | None = None
) -> SessionList | None:
    """List the newest sessions of a store, and tell of the others what there are.

    None where a file has to be looked at for it; `NotCurrentError` where the catalog cannot tell.
    """
    with Current.opened(store, listing, cache=cache) as current:
        outlines = read_outlines(current.database)
        newest = [file for file in listing.newest() if file.path in outlines]
        if len(newest) < len(listing.sessions):
            return None
        sessions = (file for file in newest if outlines[file.path].kind in CONVERSATIONS)
        shown = list(islice(sessions, min(first, _MANY)))
        if len(shown) == _MANY:
            return None
        known = read_some(current.database, [file.path for file in shown])
        damaged = list(damaged_agents(current.database))
    is_live = signs_of_life(store, now=now)
    lists = _Lists()
    agents = {file.path: file for file in listing.agents} if damaged else {}
    return SessionList(
        tuple(_row(file, known[file.path], lists, is_live=is_live(file)) for file in shown),
        len(listing.agents),
        (*listing.skipped, *current.skipped),
        store.roots.looked_in,
        is_full=True,
        agents_damaged=_damaged(damaged, agents, is_live),
        notes=current.notes,
        known=_totals(newest, outlines, lists, is_live),
    )


def _totals(
    files: Sequence[SessionFile],
    outlines: Mapping[str, Outline],
    lists: _Lists,
    is_live: Callable[[SessionFile], bool],
) -> Totals:
    kinds: dict[str, int] = {}
    projects: set[str] = set()
    strangers: set[str] = set()
    damaged, is_damaged, has_cost = 0, False, False
    for file in files:
        _, kind, cwd, lines, is_unfinished, cost, unpriced = outlines[file.path]
        kinds[kind] = kinds.get(kind, 0) + 1
        projects.add(cwd or file.folder)
        is_said = kind in CONVERSATIONS
        if lines and lines > (is_unfinished and is_live(file)):
            damaged += 1
            is_damaged |= is_said
        if is_said:
            has_cost |= bool(cost)
            strangers.update(lists.names(unpriced))
    tally = Tally(tuple(file.id for file in files), frozenset(projects), kinds, damaged)
    return Totals(tally, tally.conversations, tuple(sorted(strangers)), has_cost, is_damaged)


def _damaged(
    found: Sequence[tuple[str, bool, int]],
    agents: Mapping[str, SessionFile],
    is_live: Callable[[SessionFile], bool],
) -> int:
    """Count the damaged files of sub-agents."""
    return sum(
        lines > (is_unfinished and path in agents and is_live(agents[path]))
        for path, is_unfinished, lines in found
    )


class _Lists:
    """Reads lists; most are the same as one before."""

    def __init__(self) -> None:
        self._names: dict[str, tuple[str, ...]] = {"[]": ()}

    def names(self, text: str) -> tuple[str, ...]:
        found = self._names.get(text)
        if found is None:
            found = self._names[text] = tuple(cast("list[str]", json.loads(text)))
        return found


def _row(file: SessionFile, known: Listed, lists: _Lists, *, is_live: bool) -> SessionRow:
    prs: list[dict[str, object]] = [] if known.prs == "[]" else json.loads(known.prs)
    return SessionRow(
        file.id,
        file.path,
        known.cwd or file.folder,
        file.folder,
        known.slug,
        known.title,
        cast("TitleSource | None", known.title_source),
        lists.names(known.session_ids),
        known.lines,
        known.first_prompt,
        iso(known.started_ms),
        iso(known.ended_ms),
        known.turns,
        known.messages,
        known.tool_calls,
        known.failed_calls,
        Tokens(
            known.input_tokens,
            known.output_tokens,
            known.cache_read_tokens,
            known.cache_write_5m_tokens,
            known.cache_write_1h_tokens,
        ),
        known.cost_usd,
        lists.names(known.models),
        known.git_branch,
        lists.names(known.client_versions),
        known.agents,
        cast("SessionKind", known.kind),
        is_live,
        # The unfinished end of a live session is being written, not damaged.
        known.damaged - (is_live and bool(known.is_unfinished)),
        tuple(_pull_request(pr) for pr in prs),
        file.size,
        file.mtime_ns / 1e9,
        known.unpriced_messages,
        lists.names(known.unpriced_models),
    )


def _pull_request(told: Mapping[str, object]) -> PullRequest:
    return PullRequest(
        cast("int | str | None", told.get("number")),
        cast("str | None", told.get("url")),
        cast("str | None", told.get("repository")),
    )


def _glanced(
    files: Sequence[SessionFile], unread: set[str], is_live: Callable[[SessionFile], bool]
) -> Mapping[str, SessionRow]:
    """Glance at sessions that the catalog does not know yet, as while another process is at it."""
    if not files:
        return {}
    from clew.actions.glances import Glance, glance
    from clew.actions.listing import quick_row

    looks = [glance(file) for file in files if file.path not in unread]
    return {
        look.file.path: quick_row(look.file, look.alone)._replace(live=is_live(look.file))
        for look in looks
        if isinstance(look, Glance)
    }
