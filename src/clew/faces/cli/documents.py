"""Write a JSON document to the screen piece by piece, so that a long one is never held."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from clew.format.json_pieces import pieces, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from clew.faces.cli.options import Shared

__all__ = ["pieces", "whole", "write"]


def write(shared: Shared, document: Mapping[str, object], rows: str) -> None:
    """Write a document as JSON, or what its iterator `rows` gives as one JSON document a line."""
    if not shared.is_jsonl:
        for piece in pieces(document):
            shared.screen.json(piece)
        return
    for row in cast("Iterator[object]", document[rows]):
        shared.screen.json("".join(pieces(row)))
