"""WebSearch, and the API's own web_search: links, and what was said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format import fields, results
from clew.format.fields import as_mapping
from clew.view import words
from clew.view.parts import Code, Markdown, Table
from clew.view.texts import one_line, pretty
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.view.parts import Part


def show(asked: Asked) -> Shown:
    """Show what was searched for and the links that were found."""
    query = fields.string(asked.given, "query")
    if query is None:
        return plainly.show(asked)
    given = plainly.given(asked, but={"query"})
    if not asked.is_done:
        return Shown(one_line(query), plainly.outcome(asked), given, plainly.told(asked))
    found = asked.structured
    if isinstance(found, results.WebSearch):
        text = (Markdown(found.text),) if found.text.strip() else ()
        result = (*_links(found.links), *text, *plainly.rest(asked, found.text))
        return Shown(one_line(query), words.count(len(found.links), "link"), given, result)
    served = _served(asked)
    if served is None:
        return Shown(one_line(query), plainly.outcome(asked), given, plainly.told(asked))
    return Shown(one_line(query), served[0], given, served[1])


def _links(links: Sequence[tuple[str, str]]) -> tuple[Part, ...]:
    return (Table(tuple(links), head=("title", "address")),) if links else ()


def _served(asked: Asked) -> tuple[str, tuple[Part, ...]] | None:
    """Return what the API's server found: a list of hits, or an error in its place."""
    if asked.result is None:
        return None
    data = asked.result.data
    error = as_mapping(data.get("content"))
    if error is not None:
        code = fields.string(error, "error_code")
        return one_line(code or "failed", longest=60), (Code(pretty(error), language="json"),)
    hits = fields.mappings(data, "content")
    if not hits or any(fields.string(hit, "type") != "web_search_result" for hit in hits):
        return None
    links = [(fields.string(hit, "title") or "", fields.string(hit, "url") or "") for hit in hits]
    return words.count(len(links), "link"), _links(links)
