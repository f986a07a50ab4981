"""Full text: the Search view."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clew.actions.searching import FIELDS, Request, search
from clew.errors import UsageError
from clew.faces.web.answers import document

if TYPE_CHECKING:
    from clew.actions.search_values import Mode, Role
    from clew.faces.web.answers import Document
    from clew.faces.web.asking import Asked
    from clew.faces.web.site import Site
    from clew.tables.texts import Field


def find(site: Site, asked: Asked) -> Document:
    """Search all sessions, as `clew search` does. A pattern that takes too long is an error, not a wait."""
    named = asked.text("session")
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
        limit=asked.count("limit"),
        ignore_case=asked.flag("ignore_case"),
        no_index=not site.use_index,
        jobs=site.jobs,
    )
    result = search(request)
    shelf = site.shelf()
    answer = result.as_dict()
    answer["hits"] = [{**hit.as_dict(), "key": shelf.key_of(hit.owner)} for hit in result.hits]
    answer["sessions"] = len({hit.owner for hit in result.hits})
    answer["partial"] = site.index.is_building or result.is_least
    return document(answer)


def _fields(within: str | None) -> frozenset[Field] | None:
    if within is None:
        return None
    named = [one.strip() for one in within.split(",") if one.strip()]
    for one in named:
        if one not in FIELDS:
            raise UsageError(f"in has no {one[:60]!r}", hint=f"one of: {', '.join(FIELDS)}")
    return frozenset(cast("list[Field]", named)) or None
