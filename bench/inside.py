"""Figures from inside a process, where starting Python is not what is asked about. Run by itself.

    python inside.py questions ROOT WORDS.json     P8: an index that is open and up to date
    python inside.py searches ROOT WORDS.json      P8: the whole action, which looks for new lines first
    python inside.py line-table SESSION.jsonl      P9
    python inside.py last-page SESSION.jsonl       P9

Each prints one JSON document. The modules are imported before the clock starts, as they are for the peers.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew.actions.searching import Hit

LIMIT = 20
"""Hits of one answer, the newest: what a screen shows."""

PAGE = 50
"""Messages of one page."""


def searches(root: str, words: str) -> dict[str, object]:
    """Ask as `clew search` does: list the files, take in what is new, answer with snippets."""
    from clew.actions.searching import Request, search

    def ask(word: str) -> Sequence[Hit]:
        return search(Request(word, roots=(Path(root),), limit=LIMIT)).hits

    return _answers(words, ask)


def questions(root: str, words: str) -> dict[str, object]:
    """Ask an index that is open already, as a server does between two changes; the answer is the same."""
    from clew.actions.search_index import IndexSearch
    from clew.actions.search_places import placed
    from clew.actions.search_values import Request, Wish
    from clew.actions.stores import open_store
    from clew.catalog.catalog import Catalog

    store = open_store((Path(root),))
    listing = store.listing()
    with Catalog.open(store) as catalog:
        catalog.update(listing)

        def ask(word: str) -> Sequence[Hit]:
            asked = Wish.of(Request(word, roots=(Path(root),), limit=LIMIT), int(time.time() * 1000))
            assert asked.query is not None
            with catalog.reading() as database:
                found = IndexSearch(database, asked, asked.query, store, listing)
                hits = placed(found.hits(), 0)
                found.count()
            return hits

        return _answers(words, ask)


def line_table(session: str) -> dict[str, object]:
    """Read a session to the table of all its lines, as `clew tree` does."""
    from clew.store.reader import open_session

    began = time.perf_counter()
    opened = open_session(session)
    return {"seconds": time.perf_counter() - began, "count": len(opened.table)}


def last_page(session: str) -> dict[str, object]:
    """Read the last messages of a session."""
    from clew.actions import pages

    began = time.perf_counter()
    found = list(pages.last_page(session, count=PAGE).messages())
    return {"seconds": time.perf_counter() - began, "count": len(found)}


def _answers(words: str, ask: Callable[[str], Sequence[Hit]]) -> dict[str, object]:
    answers: list[dict[str, object]] = []
    for word in json.loads(Path(words).read_text(encoding="utf-8")):
        began = time.perf_counter()
        hits = ask(word)
        seconds = time.perf_counter() - began
        found = [{"path": hit.path, "line": hit.line, "snippet": hit.snippet} for hit in hits]
        answers.append({"word": word, "seconds": seconds, "hits": found})
    return {"answers": answers}


if __name__ == "__main__":
    FIGURES: dict[str, Callable[..., dict[str, object]]] = {
        "searches": searches,
        "questions": questions,
        "line-table": line_table,
        "last-page": last_page,
    }
    print(json.dumps(FIGURES[sys.argv[1]](*sys.argv[2:])))
