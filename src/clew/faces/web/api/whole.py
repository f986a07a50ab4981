"""The store as a whole: usage, its health, and the index."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from clew import __version__
from clew.actions.doctoring import examine, worst_first
from clew.actions.usage import Request, usage
from clew.faces.web.answers import document
from clew.store.state import state_folder

if TYPE_CHECKING:
    from clew.faces.web.answers import Document
    from clew.faces.web.asking import Asked
    from clew.faces.web.site import Site
    from clew.session.accounts import By


def spent(site: Site, asked: Asked) -> Document:
    """Return tokens and money."""
    request = Request(
        by=cast("By", asked.text("by")),
        roots=[str(root) for root in site.roots],
        since=asked.text("since"),
        until=asked.text("until"),
        tz=asked.text("tz"),
        jobs=site.jobs,
        use_index=site.index.is_usable,
    )
    result = usage(request)
    return document({**result.as_json(), "notes": list(result.notes)})


def doctor(site: Site, _asked: Asked) -> Document:
    """Check every session; the answer is kept until a file changes."""

    def look() -> Document:
        found = examine(site.store, now=time.time(), state=state_folder(), jobs=site.jobs)
        keys = site.shelf()
        patients = [
            {**one.as_dict(), "key": keys.key_of(one.checked.file.path)}
            for one in worst_first(found.patients)
        ]
        return document({**found.as_dict(), "patients": patients})

    return site.examined(look)


def index(site: Site, _asked: Asked) -> Document:
    """Return how far the index is."""
    return document({**site.index.state.as_dict(), "read_only": site.read_only, "version": __version__})
