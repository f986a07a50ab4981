"""The list of sessions, and one session in a few facts: Home, and the head of the Reader."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, cast

from clew.actions.activity import activity_of
from clew.actions.indexed_listing import list_best
from clew.actions.session_filters import Wanted, choose
from clew.actions.usage import zone_of
from clew.errors import UsageError
from clew.faces.web.answers import Raw, Rows, document, utf8
from clew.format.json_pieces import whole
from clew.session.periods import moment
from clew.session.pricing import Tokens
from clew.store.signs import signs_of_life
from clew.view.encoding import encode

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from clew.actions.listing import SessionList, SessionRow
    from clew.actions.session_filters import Sort
    from clew.faces.web.answers import Document
    from clew.faces.web.asking import Asked
    from clew.faces.web.books import Book
    from clew.faces.web.shelves import Shelf
    from clew.faces.web.site import Site

_SMALL = 200_000_000
"""Bytes of a store up to which every file is read for its counts, where there is no index."""

_FACETS = 200


def sessions(site: Site, asked: Asked) -> Document:
    """List sessions, those that are live first."""
    now = time.time()
    wanted = Wanted(
        project=asked.text("project"),
        since=_moment_of(asked, "since", now=now),
        until=_moment_of(asked, "until", now=now),
        title=asked.text("title"),
        git_branch=asked.text("branch"),
        model=asked.text("model"),
        has_errors=asked.flag("failed"),
        tool=asked.text("tool"),
    )
    shelf, found = site.listed(wanted.tool, partial(_listed, site, wanted.tool))
    sort = cast("Sort", asked.text("sort"))
    if not found.is_full and (wanted.counted or sort in {"cost", "tokens", "turns"} or asked.flag("damaged")):
        site.need_index()
    rows = choose(
        found,
        found.rows if asked.flag("all") else found.conversations,
        wanted,
        sort=sort,
        is_reversed=asked.flag("reverse"),
    )
    if asked.flag("live"):
        rows = [row for row in rows if row.live]
    if asked.flag("damaged"):
        rows = [row for row in rows if row.damaged]
    if sort == "changed" and not asked.flag("reverse"):
        rows.sort(key=lambda row: not row.live)  # what is alike stays as it was
    first, limit = asked.count("from"), asked.count("limit")
    page = rows[first : first + limit]
    busy = activity_of(shelf.store, page if site.index.is_usable else ())
    answer: dict[str, object] = {
        "sessions": Rows([_row(shelf, row, busy.get(row.path)) for row in page]),
        "from": first,
        "next": first + limit if first + limit < len(rows) else None,
        "total": _total(rows),
        "store": _store(found),
        "partial": not found.is_full,
        "prices": found.price_date,
        "looked_in": list(found.looked_in),
        "notes": list(found.notes),
    }
    if asked.flag("facets"):
        answer["facets"] = _facets(rows)
    return document(answer)


def _listed(site: Site, tool: str | None, shelf: Shelf) -> SessionList:
    """List all sessions."""
    return list_best(
        shelf.store,
        now=time.time(),
        listing=shelf.listing,
        use_index=site.index.is_usable,
        full=False if site.index.is_building else _SMALL,
        tool=tool,
        jobs=site.jobs,
    )


def session(site: Site, asked: Asked) -> Document:
    """Return a session, or a sub-agent of it, and its turns, in a few facts each."""
    key = asked.path["id"]
    book = site.book(key, branch=asked.text("branch"))
    agent = asked.text("agent")
    first, limit = asked.count("from"), asked.count("limit")
    live = signs_of_life(site.store, now=time.time())(book.file)
    name = ("session", agent, first, limit, live)
    with book.lock:
        return book.answers.get(name) or book.answers.keep(name, _head(book, key, name))


def _head(book: Book, key: str, name: tuple[str, str | None, int, int, bool]) -> Document:
    _, agent, first, limit, live = name
    head, turns = book.heads(agent)
    page = turns[first : first + limit]
    return document(
        {
            "key": key,
            "id": book.file.id,
            "path": book.file.path,
            "agent": agent,
            "is_agent": book.file.is_agent,
            "live": live,
            "damaged": book.opened.is_damaged,
            "writing": book.opened.is_being_written,
            "head": Raw(encode(head)),
            "turns": Rows([encode(turn) for turn in page]),
            "from": first,
            "next": first + limit if first + limit < len(turns) else None,
        }
    )


def _moment_of(asked: Asked, name: str, *, now: float) -> float | None:
    """Return the moment that is asked for, in seconds since 1970."""
    text = asked.text(name)
    if text is None:
        return None
    # The days of usage are those of the browser, and so are those of the sessions that they lead to.
    zone = zone_of(asked.text("tz"))
    found = moment(text, now=int(now * 1000), zone=zone, is_end=name == "until")
    if found is None:
        raise UsageError(f"{name} is no time", hint="2026-02-03, or 2d for two days ago")
    return found / 1000


def _row(shelf: Shelf, row: SessionRow, busy: Sequence[int] | None) -> bytes:
    # What `clew ls` calls calls and failures: the same counts by the names of its columns.
    ours = {"calls": row.tool_calls, "failures": row.failed_calls, "activity": busy}
    return utf8(whole({"key": shelf.key_of(row.path), **row.as_dict(), **ours}))


def _total(rows: Sequence[SessionRow]) -> dict[str, object]:
    """Add up the rows that were asked for, those on other pages too."""
    tokens = Tokens()
    for row in rows:
        tokens += row.tokens or Tokens()
    costs = [row.cost_usd for row in rows if row.cost_usd is not None]
    return {
        "sessions": len(rows),
        "live": sum(row.live for row in rows),
        "damaged": sum(bool(row.damaged) for row in rows),
        "bytes": sum(row.bytes for row in rows),
        "turns": _sum(row.turns for row in rows),
        "messages": _sum(row.messages for row in rows),
        "tool_calls": _sum(row.tool_calls for row in rows),
        "failed_calls": _sum(row.failed_calls for row in rows),
        "tokens": tokens.total,
        "cost_usd": sum(costs) if costs else None,
        "unpriced_messages": _sum(row.unpriced_messages for row in rows),
    }


def _sum(values: Iterable[int | None]) -> int:
    return sum(value or 0 for value in values)


def _store(found: SessionList) -> dict[str, object]:
    """Count all files there are: every one is in exactly one of the counts, and `files` is their sum."""
    tally = found.tally
    other = sum(tally.kinds.values()) - tally.conversations
    return {
        "files": tally.conversations + other + found.agents,
        "sessions": tally.conversations,
        "other": other,
        "agents": found.agents,
        "skipped": len(found.skipped),
    }


def _facets(rows: Sequence[SessionRow]) -> dict[str, list[dict[str, object]]]:
    projects: dict[str, int] = {}
    branches: dict[str, int] = {}
    models: dict[str, int] = {}
    for row in rows:
        projects[row.project] = projects.get(row.project, 0) + 1
        if row.git_branch:
            branches[row.git_branch] = branches.get(row.git_branch, 0) + 1
        for model in row.models:
            models[model] = models.get(model, 0) + 1
    return {"project": _most(projects), "branch": _most(branches), "model": _most(models)}


def _most(counts: dict[str, int]) -> list[dict[str, object]]:
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [{"value": value, "sessions": count} for value, count in ordered[:_FACETS]]
