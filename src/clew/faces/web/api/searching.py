"""Full text: the Search view."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from clew.actions.hit_groups import by_session, facets
from clew.actions.item_keys import Item, Sought, agent_of, find_item
from clew.actions.searching import FIELDS, Request
from clew.errors import ClewError, UsageError
from clew.faces.web.answers import NotFoundError, document

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.search_values import Hit, Mode, Role
    from clew.faces.web.answers import Document
    from clew.faces.web.asking import Asked
    from clew.faces.web.books import Book
    from clew.faces.web.shelves import Shelf
    from clew.faces.web.site import Site
    from clew.tables.texts import Field

_READ_FIRST: Final = 60
"""Hits that are read, at least, to count them by project, tool, field and model."""

_ENOUGH: Final = 40
"""Lines that are gone through for an answer that is wanted before the next key is pressed: two screens of
them, or as many as it takes to have the sessions that were asked for."""

_READ: Final = 64 << 20
"""Bytes of sessions that are read at most to say in which item each hit is."""


def find(site: Site, asked: Asked) -> Document:
    """Search all sessions, as `clew search` does. A pattern that takes too long is an error, not a wait.

    A quick answer is of the files and the index as they were when somebody last looked at them.
    """
    asked.go_on()
    is_quick = asked.flag("quick") and asked.text("mode") == "words" and site.index.is_usable
    named = asked.text("session")
    limit = asked.count("limit")
    is_grouped, is_counted = asked.text("group") is not None, asked.flag("facets")
    request = Request(
        text=asked.text("q") or "",
        mode=cast("Mode", asked.text("mode")),
        roots=site.roots,
        fields=_fields(asked.text("in")),
        role=cast("Role | None", asked.text("role")),
        tool=asked.text("tool"),
        project=asked.text("project"),
        # By its path, which is one file for certain; it was found in the list.
        session=None if named is None else site.find(named)[1].path,
        since=asked.text("since"),
        until=asked.text("until"),
        model=asked.text("model"),
        git_branch=asked.text("branch"),
        errors=asked.flag("errors"),
        by_rank=asked.flag("rank"),
        context=asked.count("context"),
        limit=_read_first(limit, is_grouped=is_grouped, is_counted=is_counted, is_quick=is_quick),
        per_session=max(1, asked.count("shown")) if is_grouped else None,
        sessions=limit if is_grouped else None,
        enough=_ENOUGH if is_quick else None,
        suggests=not is_quick,
        ignore_case=asked.flag("ignore_case"),
        no_index=not site.use_index,
        jobs=site.jobs,
    )
    shelf = site.last_shelf() if is_quick else site.recent_shelf()
    result = site.index.searched(request, shelf.listing, is_quick=is_quick, pulse=asked.go_on)
    if any(shelf.key_of(hit.owner) is None for hit in result.hits):  # it came meanwhile
        shelf = site.shelf()
    told = _Told(site, shelf, with_items=asked.flag("items"))
    answer = result.as_dict()
    answer["hits"] = [] if is_grouped else told.all(result.hits[:limit])
    answer["sessions"] = len({hit.owner for hit in result.hits})
    answer["partial"] = site.index.is_building or result.is_least
    if is_grouped:
        answer["groups"] = [
            {
                "key": shelf.key_of(group.owner),
                "session": group.session,
                "title": group.title,
                "project": group.project,
                "hits": told.all(group.hits),
                "count": group.count,
                "more": group.more,
            }
            for group in by_session(result.hits, shown=asked.count("shown"), more=result.more)[:limit]
        ]
        gone_through = len(result.hits) + sum(result.more.values())
        answer["grouped_all"] = not result.is_least and gone_through >= result.total
    if is_grouped or is_counted:
        answer["counted"] = len(result.hits)
        answer["counted_all"] = len(result.hits) >= result.total and not result.is_least
    if is_counted:
        answer["facets"] = {
            name: [{"value": value, "hits": many} for value, many in values]
            for name, values in facets(result.hits).items()
        }
    return document(answer)


def _read_first(limit: int, *, is_grouped: bool, is_counted: bool, is_quick: bool) -> int:
    """Return how many lines are read, whatever stands in them."""
    if is_quick:
        return limit
    return _READ_FIRST if is_grouped else max(limit, _READ_FIRST) if is_counted else limit


def place(site: Site, asked: Asked) -> Document:
    """Say in which item of the reader a line, or a call, is shown."""
    sought = Sought(asked.number("line"), asked.text("uuid"), asked.text("call"), asked.text("field"))
    if sought.line is None and sought.uuid is None and sought.call is None:
        raise UsageError("what is looked for?", hint="line, uuid or call")
    book = site.book(asked.path["id"])
    found = _item(book, sought, asked.text("agent"))
    if found is None:
        raise NotFoundError("nothing in the reader shows that")
    return document({"at": found.key, "turn": found.turn, "item": found.item, "agent": found.agent})


def _item(book: Book, sought: Sought, agent: str | None) -> Item | None:
    with book.lock:
        # Up to 1.0.128 sub-agents stand in the session's own file, and their lines do not say whose they are.
        whose = agent or agent_of(book.timeline(), sought)
        return find_item(book.timeline(whose), book.turns(whose), sought, agent=whose)


class _Told:
    """Tells hits, each with the address that the reader opens it by."""

    def __init__(self, site: Site, shelf: Shelf, *, with_items: bool) -> None:
        self._site = site
        self._shelf = shelf
        self._with_items = with_items
        self._room = _READ
        self._books: dict[str, Book | None] = {}

    def all(self, hits: Sequence[Hit]) -> list[dict[str, object]]:
        return [self._one(hit) for hit in hits]

    def _one(self, hit: Hit) -> dict[str, object]:
        return {
            **hit.as_dict(),
            "key": self._shelf.key_of(hit.owner),
            "model": hit.model,
            "call": hit.call,
            "at": self._item(hit) if self._with_items else _near(hit),
        }

    def _item(self, hit: Hit) -> str | None:
        """Return the item of a hit, as long as not too much has to be read for it; then the turn."""
        # What a program printed into a file of its own is shown with its call.
        line = None if hit.where == "spilled" else hit.line
        agent = hit.agent_id if hit.where == "sub-agent" else None
        try:
            book = self._book(hit.owner)
            sought = Sought(line, hit.uuid, hit.call, hit.field)
            found = None if book is None else _item(book, sought, agent)
        except ClewError:  # a sub-agent that is not told of, a file that changed, is gone or cannot be read
            return _near(hit)
        return _near(hit) if found is None else found.key

    def _book(self, owner: str) -> Book | None:
        if owner not in self._books:
            key = self._shelf.key_of(owner)
            self._books[owner] = None  # that it cannot be read is found out once
            if key is not None:
                self._room -= self._shelf.file(key).size
                self._books[owner] = self._site.book(key) if self._room >= 0 else None
        return self._books[owner]


def _near(hit: Hit) -> str | None:
    """Return the address of a hit as far as the index knows it: its turn."""
    if hit.agent_id is not None and hit.where == "sub-agent":
        return f"a-{hit.agent_id}.t{hit.turn or 1}"
    return None if hit.turn is None else f"t{hit.turn}"


def _fields(within: str | None) -> frozenset[Field] | None:
    if within is None:
        return None
    named = [one.strip() for one in within.split(",") if one.strip()]
    for one in named:
        if one not in FIELDS:
            raise UsageError(f"in has no {one[:60]!r}", hint=f"one of: {', '.join(FIELDS)}")
    return frozenset(cast("list[Field]", named)) or None
