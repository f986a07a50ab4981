"""What the model is sent when a session is resumed: the Context view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.actions.contexts import context_document, read_context
from clew.faces.web.answers import Stream, utf8
from clew.format.json_pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.faces.web.asking import Asked
    from clew.faces.web.books import Book
    from clew.faces.web.site import Site


def context(site: Site, asked: Asked) -> Stream:
    """Return what would be sent, and what is left out and why."""
    book = site.book(asked.path["id"])
    with book.lock:
        resumed = read_context(
            book.opened, at=asked.text("at"), client=asked.text("client"), model=asked.text("model")
        )
        document = context_document(resumed)
    if not asked.flag("messages"):
        document["messages"] = None
    return Stream(_given(book, document))


def _given(book: Book, document: dict[str, object]) -> Iterator[bytes]:
    """Give a document whose lists are read as they are sent; others may read the session in between."""
    found = pieces(document)
    while True:
        with book.lock:
            piece = next(found, None)
        if piece is None:
            return
        yield utf8(piece)
