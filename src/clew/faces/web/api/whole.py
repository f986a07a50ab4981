"""The store as a whole: usage, its health, and the index."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from clew import __version__
from clew.actions.doctoring import examine, worst_first
from clew.actions.usage import Request, usage
from clew.actions.usage_csv import cache_hit_rate, csv_lines
from clew.faces.web.answers import Stream, document
from clew.store.state import state_folder

if TYPE_CHECKING:
    from clew.faces.web.answers import Document
    from clew.faces.web.asking import Asked
    from clew.faces.web.site import Site
    from clew.session.accounts import By


def spent(site: Site, asked: Asked) -> Document:
    """Return tokens and money."""
    result = usage(_request(site, asked))
    rows = result.rows()
    if result.account.by == "session":
        shelf = site.shelf()
        for row in rows:
            row["session_key"] = shelf.session_key(str(row["key"]), "")
    limit = asked.number("limit")
    return document(
        {
            **result.as_json(),
            "rows": rows if limit is None else rows[:limit],
            "rows_total": len(rows),
            "cache_hit_rate": cache_hit_rate(result.account.total.tokens),
            "notes": list(result.notes),
        }
    )


def spent_csv(site: Site, asked: Asked) -> Stream:
    """Return the same as comma-separated values, a line for each row, or for each model of each row."""
    by = asked.text("by") or "day"
    account = usage(_request(site, asked)).account
    return Stream(
        (line.encode("utf-8", "replace") for line in csv_lines(account)),
        "text/csv; charset=utf-8",
        {"content-disposition": f'attachment; filename="usage-by-{by}.csv"'},
    )


def _request(site: Site, asked: Asked) -> Request:
    return Request(
        by=cast("By", asked.text("by")),
        roots=[str(root) for root in site.roots],
        since=asked.text("since"),
        until=asked.text("until"),
        tz=asked.text("tz"),
        jobs=site.jobs,
        use_index=site.index.is_usable,
        with_models=asked.text("and") == "model",
    )


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
