"""A line's texts as the full-text tables take them: one string for each field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.catalog.schema import FIELDS, TALK
from clew.catalog.tokens import prepare
from clew.tables.texts import quick_texts, texts

if TYPE_CHECKING:
    from clew.format.records import Record
    from clew.tables.texts import Text

BORDER: Final = "\uf8ff"
"""Stands between two texts of one field, as a word nobody asks for: no phrase reaches across it."""

_PLACE: Final = {field: place for place, field in enumerate(FIELDS)}
_FIRST_OF_TOOLS: Final = len(TALK)
_SPEAKERS: Final = frozenset({"user", "assistant"})
_TOOL_BLOCKS: Final = frozenset({"tool_use", "tool_result"})
_BETWEEN: Final = f"\n{BORDER}\n"


def texts_of(record: Record) -> list[Text]:
    """Return what can be searched in a record, by the quick road where that can tell."""
    found = quick_texts(record.raw) if record.entry is None else None
    return texts(record.decoded()) if found is None else found


def is_of_tools(record: Record) -> bool:
    """Say whether only tools speak in a record: then its words need not be read to know whose they are."""
    facts = record.facts
    body = facts.body
    if record.entry is not None or not isinstance(body, list) or not body:
        return False
    return facts.type in _SPEAKERS and all(block.type in _TOOL_BLOCKS for block in body)


def columns(found: list[Text], *, with_tools: bool = True) -> list[str | None]:
    """Return the words of each of the `FIELDS`, None where there are none.

    Without tools, something that is not empty stands for their words: they are not looked at.
    """
    cells: list[str | None] = [None] * len(FIELDS)
    for one in found:
        place = _PLACE[one.field]
        if place >= _FIRST_OF_TOOLS and not with_tools:
            cells[place] = "…"
            continue
        text = prepare(one.text)
        before = cells[place]
        cells[place] = text if before is None else before + _BETWEEN + text
    return cells
