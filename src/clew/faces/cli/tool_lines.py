"""A call of a tool in a few words, ready for a line of a terminal: what it was asked, what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.faces.cli.terminal import one_line
from clew.format.blocks import Document, Text
from clew.format.entry import as_mapping
from clew.view.calls import state_of
from clew.view.parts import Image
from clew.view.pictures import in_words, picture
from clew.view.tools.display import Asked
from clew.view.tools.registry import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.format.blocks import ToolResult


def argument(name: str | None, given: Mapping[str, object], *, folder: str | None) -> str:
    """Return the one argument that tells most, on one line; paths are relative to the project."""
    return one_line(shown(Asked(name or "?", given, "missing", folder=folder)).argument)


def outcome(
    name: str | None, result: ToolResult | None, kept: object, *, given: Mapping[str, object] | None = None
) -> str:
    """Return what came of a call in a word or two; empty where there is nothing to say."""
    asked = Asked(name or "?", given or {}, state_of(result), result, kept)
    return one_line(shown(asked).outcome)


def result_text(result: ToolResult | None) -> str:
    """Return what a call gave back as text; pictures by name, what is unknown by its type."""
    if result is None:
        return ""
    said: list[str] = []
    for block in result.content:
        if isinstance(block, Text):
            said.append(block.text)
        elif isinstance(block, Document):
            part = picture(block)
            said.append(f"[{in_words(part) if isinstance(part, Image) else part.title}]")
        else:
            said.append(f"[{one_line(str(as_mapping(block.raw).get('type') or 'block'))[:80]}]")
    return "\n".join(said)
