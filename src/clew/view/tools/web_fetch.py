"""WebFetch, and the API's own web_fetch: a page, and what was made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format import fields, results
from clew.format.blocks import Document, block
from clew.format.fields import as_mapping
from clew.view import words
from clew.view.parts import Markdown
from clew.view.pictures import picture
from clew.view.texts import lines_word, one_line, pretty
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from clew.view.parts import Part


def show(asked: Asked) -> Shown:
    """Show the address and what came of it."""
    url = fields.string(asked.given, "url")
    if url is None:
        return plainly.show(asked)
    given = plainly.given(asked, but={"url"})
    served = _served(asked)
    if served is not None:
        return Shown(one_line(url), served[0], given, served[1])
    found = asked.structured
    if not asked.is_done or not isinstance(found, results.WebFetch):
        return Shown(one_line(url), plainly.outcome(asked), given, plainly.told(asked))
    facts = [str(found.code)] if found.code is not None else []
    if found.bytes is not None:
        facts.append(words.size(found.bytes))
    result = (Markdown(found.text),) if found.text.strip() else ()
    return Shown(one_line(url), " · ".join(facts), given, (*result, *plainly.rest(asked, found.text)))


def _served(asked: Asked) -> tuple[str, tuple[Part, ...]] | None:
    """Return what the API's server fetched."""
    if asked.result is None:
        return None
    inner = as_mapping(asked.result.data.get("content"))
    kind = fields.string(inner, "type") if inner is not None else None
    if inner is None or kind is None or not kind.startswith("web_fetch"):
        return None
    document = block(inner.get("content"))
    if not isinstance(document, Document):
        code = fields.string(inner, "error_code")
        return code or "failed", plainly.named({"answer": pretty(inner)})
    part = picture(document)
    text = fields.string(document.source, "data") or ""
    return lines_word(text), (part,)
