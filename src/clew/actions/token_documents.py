"""Token counts in the shape every command gives them."""

from __future__ import annotations

from clew.export.turn_documents import tokens_document

__all__ = ["tokens_document"]
