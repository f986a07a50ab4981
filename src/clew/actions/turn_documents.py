"""Turns as documents for programs, of a file that may be cut while it is read.

A turn's own shape is in `export.turn_documents`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from clew.actions.reading import until_cut
from clew.export import turn_documents

if TYPE_CHECKING:
    from clew.actions.reading import Reading
    from clew.session.turns import Turn


def show_document(reading: Reading, places: Iterator[int] | None = None) -> dict[str, object]:
    """Return the reading in the shape of `clew show --json`; its turns are an iterator, for one use."""
    wanted = iter(reading.wanted) if places is None else places
    return {
        "session": reading.opened.file.id,
        "path": reading.opened.file.path,
        "turns": until_cut(reading.opened, (turn_document(reading, reading.turns[at]) for at in wanted)),
    }


def turn_document(reading: Reading, turn: Turn) -> dict[str, object]:
    """Return a turn as `clew show --json` gives it; messages and calls are iterators."""
    found = turn_documents.turn_document(reading.session, turn)
    return {
        name: until_cut(reading.opened, cast("Iterator[object]", value))
        if isinstance(value, Iterator)
        else value
        for name, value in found.items()
    }
