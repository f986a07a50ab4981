"""The list of sessions as JSON, from the catalog: each row as `SessionRow.as_dict` has it, without the row.

To make two thousand rows and take them apart again took longer than all the rest of `clew ls --json`.
"""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import TYPE_CHECKING, NamedTuple

from clew.catalog.current import Current
from clew.catalog.listed import read_listed
from clew.format.times import iso
from clew.store.signs import signs_of_life

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.catalog.listed import Listed
    from clew.store.files import Listing, SessionFile, Skipped, Store

_quote: Callable[[str], str] = encode_basestring


class Documents(NamedTuple):
    """The rows, the session written last first, each as JSON."""

    rows: list[str]
    is_damaged: bool
    notes: tuple[str, ...]
    skipped: tuple[Skipped, ...]


def session_documents(
    store: Store, listing: Listing, *, now: float, limit: int | None = None
) -> Documents | None:
    """Return the sessions of a store, at most so many; None where a session has to be looked at for it.

    `NotCurrentError` says that the catalog cannot tell.
    """
    with Current.opened(store, listing) as current:
        known = read_listed(current.database)
    is_live = signs_of_life(store, now=now)
    unread = {one.path for one in current.skipped}
    rows: list[str] = []
    is_damaged = False
    for file in listing.newest():
        if limit is not None and len(rows) >= limit:
            break
        found = known.get(file.path)
        if found is None:
            if file.path not in unread:
                return None
            continue
        live = is_live(file)
        # The unfinished end of a live session is being written, not damaged.
        damaged = found.damaged - (live and bool(found.is_unfinished))
        is_damaged |= damaged > 0
        rows.append(_document(file, found, live=live, damaged=damaged))
    return Documents(rows, is_damaged, current.notes, (*listing.skipped, *current.skipped))


def _text(value: str | None) -> str:
    return "null" if value is None else _quote(value)


def _document(file: SessionFile, known: Listed, *, live: bool, damaged: int) -> str:
    (
        _, slug, title, title_source, session_ids, lines, first_prompt, started, ended, turns, messages,
        tool_calls, failed_calls, given, output, cache_read, cache_5m, cache_1h, cost, models, branch,
        versions, agents, kind, _, _, prs, unpriced, unpriced_models, cwd,
    ) = known  # fmt: skip
    return (
        f'{{"id": {_quote(file.id)}, "path": {_quote(file.path)}, "project": {_quote(cwd or file.folder)}, '
        f'"folder": {_quote(file.folder)}, "slug": {_text(slug)}, "title": {_text(title)}, '
        f'"title_source": {_text(title_source)}, "session_ids": {session_ids}, "lines": {lines}, '
        f'"first_prompt": {_text(first_prompt)}, "started": {_text(iso(started))}, '
        f'"ended": {_text(iso(ended))}, "turns": {turns}, "messages": {messages}, '
        f'"tool_calls": {tool_calls}, "failed_calls": {failed_calls}, '
        f'"tokens": {{"input": {given}, "output": {output}, "cache_read": {cache_read}, '
        f'"cache_write_5m": {cache_5m}, "cache_write_1h": {cache_1h}}}, '
        f'"cost_usd": {"null" if cost is None else repr(cost)}, "models": {models}, '
        f'"git_branch": {_text(branch)}, "client_versions": {versions}, "agents": {agents}, '
        f'"kind": {_quote(kind)}, "live": {"true" if live else "false"}, "damaged": {damaged}, "prs": {prs}, '
        f'"bytes": {file.size}, "changed": {_text(iso(int(file.mtime_ns / 1e9 * 1000)))}, '
        f'"unpriced_messages": {unpriced}, "unpriced_models": {unpriced_models}}}'
    )
