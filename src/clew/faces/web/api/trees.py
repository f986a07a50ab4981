"""How a session hangs together, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.actions.checking import check_document, check_file
from clew.actions.trees import read_tree, tree_document
from clew.faces.web.answers import document

if TYPE_CHECKING:
    from clew.faces.web.answers import Document
    from clew.faces.web.asking import Asked
    from clew.faces.web.site import Site


def tree(site: Site, asked: Asked) -> Document:
    """Return the ends of a session, its branches, compactions and sub-agents."""
    book = site.book(asked.path["id"])
    with book.lock:
        return book.views.get("tree") or book.views.keep(
            "tree", document(tree_document(read_tree(book.opened)))
        )


def check(site: Site, asked: Asked) -> Document:
    """Return every problem of a session, and whether the client would resume it."""
    _, file = site.find(asked.path["id"])
    return document(check_document(check_file(file)))
