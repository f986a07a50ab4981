"""List the sessions of a store from the catalog where that is as new as the files, else from the files.

To say the same as a full read, in a few hundredths of a second. So nothing is imported here that reads
session files, unless one of them has to be read.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from clew.actions.listing import PullRequest, SessionList, SessionRow, list_sessions
from clew.actions.signs import signs_of_life
from clew.catalog.current import NEW, Current, NotCurrentError
from clew.catalog.listed import callers, damaged_agents, read_listed
from clew.format.times import iso
from clew.session.pricing import Tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from clew.catalog.listed import Listed
    from clew.session.fold import SessionKind
    from clew.session.titles import TitleSource
    from clew.store.files import Listing, SessionFile, Store


def list_best(
    store: Store,
    *,
    now: float,
    listing: Listing | None = None,
    use_index: bool = True,
    full: bool | int = False,
    tool: str | None = None,
    jobs: int | None = None,
    start: Callable[[int], Callable[[], None]] | None = None,
) -> SessionList:
    """List the sessions of a store, from the catalog if it can tell, else as `list_sessions` does.

    With a tool, `callers` of the list says which sessions called it; only the catalog knows.
    """
    listing = store.listing() if listing is None else listing
    notes: tuple[str, ...] = ()
    if use_index:
        try:
            return list_indexed(store, listing, now=now, tool=tool)
        except NotCurrentError as error:
            notes = (error.note,) if error.note else ()
    found = list_sessions(store, now=now, full=full, jobs=jobs, start=start, listing=listing)
    if notes:
        from dataclasses import replace

        return replace(found, notes=notes)
    return found


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
        agents_damaged=sum(
            lines > (is_unfinished and path in agents and is_live(agents[path]))
            for path, is_unfinished, lines in damaged
        ),
        notes=notes,
        callers=called,
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
    from dataclasses import replace

    from clew.actions.glances import Glance, glance
    from clew.actions.listing import quick_row

    looks = [glance(file) for file in files if file.path not in unread]
    return {
        look.file.path: replace(quick_row(look.file, look.facts({})), live=is_live(look.file))
        for look in looks
        if isinstance(look, Glance)
    }
