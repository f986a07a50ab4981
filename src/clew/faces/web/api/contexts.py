"""What the model is sent when a session is resumed: the Context view."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.actions.contexts import context_document, read_context
from clew.actions.window import window_document
from clew.faces.web.answers import Document, Stream, document, utf8
from clew.format.json_pieces import pieces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.faces.web.answers import Answer
    from clew.faces.web.asking import Asked
    from clew.faces.web.books import Book
    from clew.faces.web.site import Site


def context(site: Site, asked: Asked) -> Answer:
    """Return what would be sent, and what is left out and why."""
    book = site.book(asked.path["id"])
    at, client, model = asked.text("at"), asked.text("client"), asked.text("model")
    name = ("context", at, client, model)
    with book.lock:
        if not asked.flag("messages") and (known := book.views.get(name)) is not None:
            return known
        answer = context_document(read_context(book.opened, at=at, client=client, model=model))
    if asked.flag("messages"):
        return Stream(_given(book, answer))
    made = Document(b"".join(_given(book, {**answer, "messages": None})))
    with book.lock:
        return book.views.keep(name, made)


def _given(book: Book, answer: dict[str, object]) -> Iterator[bytes]:
    """Give a document whose lists are read as they are sent; others may read the session in between."""
    found = pieces(answer)
    while True:
        with book.lock:
            piece = next(found, None)
        if piece is None:
            return
        yield utf8(piece)


def window(site: Site, asked: Asked) -> Document:
    """Return how the window filled, turn by turn, and of what kind it was."""
    book = site.book(asked.path["id"])
    with book.lock:
        found = book.window()
    return document({"session": asked.path["id"], **window_document(found, most=asked.count("limit"))})
