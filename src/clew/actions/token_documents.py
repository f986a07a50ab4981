"""Token counts in the shape every command gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.session.pricing import Tokens


def tokens_document(tokens: Tokens) -> dict[str, int]:
    """Return token counts in their JSON shape."""
    return {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write_5m": tokens.cache_write_5m,
        "cache_write_1h": tokens.cache_write_1h,
    }
