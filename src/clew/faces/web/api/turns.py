"""One turn, a page of what was said and done in it at a time: the Reader."""

from __future__ import annotations

from collections import deque
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from clew.errors import ChangedOnDiskError, ClewError
from clew.faces.web.answers import NotFoundError, Raw, Rows, document
from clew.faces.web.asking import read_number
from clew.faces.web.books import Stretch
from clew.view.encoding import encode
from clew.view.parts import Notice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.faces.web.answers import Document
    from clew.faces.web.asking import Asked
    from clew.faces.web.books import Book
    from clew.faces.web.site import Site
    from clew.view.parts import Flow
    from clew.view.timeline import TurnView

_PAGE: Final = 4 << 20
"""Bytes after which a page ends, however few parts are in it."""

_FLOWS: Final = 8
"""Turns of a session that are read on from where a page ended."""

_FAR: Final = 1_000
"""Parts that are passed over for a page, from which on those just before it are kept too: whoever has gone to
the end of a long turn goes back from there, and to pass over all the others again takes as long each time."""

_BACK: Final = 600
"""So many of them are kept, if they are not large."""

_BACK_SIZE: Final = 4 << 20
LARGEST: Final = 16 << 20
"""Bytes of one part that a browser is given; a greater one is named only."""


def turn(site: Site, asked: Asked) -> Document:
    """Return some of the parts of a turn, by their place in it."""
    number = read_number(asked.path, "n")
    first, limit, agent = asked.count("from"), asked.count("limit"), asked.text("agent")
    book = site.book(asked.path["id"], branch=asked.text("branch"))
    name = ("turn", agent, number, first, limit)
    with book.lock:
        return book.answers.get(name) or _page(book, asked, name)


def _page(book: Book, asked: Asked, name: tuple[str, str | None, int, int, int]) -> Document:
    _, agent, number, first, limit = name
    view = _view(book, agent, number)
    known = book.stretches.get((agent, number))
    made = () if known is None else known.page(first, limit)
    # Whoever reads on is given what comes next, without going through all before it again.
    flow = (
        iter(made)
        if made
        else book.flows.pop((agent, number, first), None) or _gone_to(book, view, (agent, number), first)
    )
    parts: list[bytes] = []
    size = 0
    is_sure = True
    for one in islice(flow, limit):
        is_sure &= not (isinstance(one, Notice) and one.level == "error")
        parts.append(_encoded(one))
        size += len(parts[-1])
        if size >= _PAGE:
            break
    more = next(flow, None) if parts else None
    if more is not None and not made:
        if len(book.flows) >= _FLOWS:
            book.flows.clear()
        book.flows[agent, number, first + len(parts)] = chain((more,), flow)
    answer = document(
        {
            "session": asked.path["id"],
            "agent": agent,
            "turn": Raw(encode(view.head)),
            "from": first,
            "next": None if more is None else first + len(parts),
            "parts": Rows(parts),
        }
    )
    # What could not be read may be read the next time.
    return book.answers.keep(name, answer) if is_sure else answer


def _gone_to(book: Book, view: TurnView, name: tuple[str | None, int], first: int) -> Iterator[Flow]:
    """Give the parts from one on; of those before it the last ones are kept where there are very many."""
    if first < _FAR:
        return _readable(view, first)
    flow = _readable(view, first - _BACK)
    before: deque[tuple[Flow, int]] = deque()
    at, size, is_sure = first - _BACK, 0, True
    # The part after them too: whoever goes back is told that there is more.
    for one in islice(flow, _BACK + 1):
        before.append((one, len(encode(one))))
        at, size = at + 1, size + before[-1][1]
        is_sure &= not (isinstance(one, Notice) and one.level == "error")
        while size > _BACK_SIZE and len(before) > 1:
            size -= before.popleft()[1]
    if at <= first:  # the turn ended before
        return iter(())
    if is_sure:
        if len(book.stretches) >= _FLOWS:
            book.stretches.clear()
        book.stretches[name] = Stretch(at - len(before), tuple(part for part, _ in before))
    return chain((before[-1][0],), flow)


def _view(book: Book, agent: str | None, number: int) -> TurnView:
    timeline = book.timeline(agent)
    places = book.places(agent)
    # Without turns there may still be something in the file; that is turn 0.
    wanted = None if not places else [places[number]] if number in places else []
    found = next(timeline.turns(wanted), None)
    if found is None or found.head.n != number:
        raise NotFoundError(f"there is no turn {number}")
    return found


def _readable(view: TurnView, first: int) -> Iterator[Flow]:
    """Give the parts from one on as far as the file can be read, and say so where it cannot."""
    try:
        yield from view.behind(first)
    except ChangedOnDiskError:
        yield Notice("the file changed while it was read", "error")
    except ClewError as error:
        yield Notice(f"the rest could not be read: {error}", "error")


def _encoded(part: Flow) -> bytes:
    data = encode(part)
    if len(data) <= LARGEST:
        return data
    kind = type(part).__name__.lower()
    return encode(
        Notice(
            f"this {kind} is too large for a page: {len(data) / 1e6:,.0f} MB",
            "warning",
            detail="An export has all of it.",
        )
    )
