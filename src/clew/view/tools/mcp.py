"""Tools of MCP servers: named values in, text and pictures out, whatever the server made of its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format import results
from clew.view.parts import Code, Section
from clew.view.texts import pretty
from clew.view.tools import plainly
from clew.view.tools.display import Asked, Shown

if TYPE_CHECKING:
    from clew.view.parts import Part


def show(asked: Asked) -> Shown:
    """Show a call by the names its server gave."""
    return Shown(plainly.first(asked), plainly.outcome(asked), plainly.given(asked), _result(asked))


def _result(asked: Asked) -> tuple[Part, ...]:
    told = plainly.told(asked)
    found = asked.structured
    if isinstance(found, results.Blocks) and not told:
        return tuple(plainly.content(found.blocks))
    if isinstance(found, results.Unknown) and found.data:
        inner = found.data.get("structuredContent")
        if inner is not None:
            return (*told, Section("structured", (Code(pretty(inner), language="json"),)))
    return told
