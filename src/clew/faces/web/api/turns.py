"""One turn, a page of what was said and done in it at a time: the Reader."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

from clew.errors import ChangedOnDiskError, ClewError
from clew.faces.web.answers import NotFoundError, Raw, Rows, document
from clew.faces.web.asking import read_number
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

LARGEST: Final = 16 << 20
"""Bytes of one part that a browser is given; a greater one is named only."""


def turn(site: Site, asked: Asked) -> Document:
    """Return some of the parts of a turn, by their place in it."""
    number = read_number(asked.path, "n")
    first, limit = asked.count("from"), asked.count("limit")
    book = site.book(asked.path["id"], branch=asked.text("branch"))
    with book.lock:
        view = _view(book, asked.text("agent"), number)
        parts: list[bytes] = []
        size = 0
        flow = _readable(view)
        for one in islice(flow, first, first + limit):
            parts.append(_encoded(one))
            size += len(parts[-1])
            if size >= _PAGE:
                break
        is_more = len(parts) > 0 and next(flow, None) is not None
    return document(
        {
            "session": asked.path["id"],
            "agent": asked.text("agent"),
            "turn": Raw(encode(view.head)),
            "from": first,
            "next": first + len(parts) if is_more else None,
            "parts": Rows(parts),
        }
    )


def _view(book: Book, agent: str | None, number: int) -> TurnView:
    timeline = book.timeline(agent)
    places = book.places(agent)
    # Without turns there may still be something in the file; that is turn 0.
    wanted = None if not places else [places[number]] if number in places else []
    found = next(timeline.turns(wanted), None)
    if found is None or found.head.n != number:
        raise NotFoundError(f"there is no turn {number}")
    return found


def _readable(view: TurnView) -> Iterator[Flow]:
    """Give the parts as far as the file can be read, and say so where it cannot."""
    try:
        yield from view.flow()
    except ChangedOnDiskError:
        yield Notice("the file got shorter while it was read", "error")
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
