"""What an export is called: the words of its title and the start of its id, fit for every file system."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from clew.view.parts import Head

_LONGEST: Final = 60
"""Bytes of the title; with the id, an ending and a writer's own it stays below any limit."""

_ID: Final = 8
_GAPS: Final = re.compile(r"[^\w]+|_+")


def file_name(head: Head, suffix: str) -> str:
    """Return the name of a session's export: `stop-the-vents-from-flapping-f02602cd.md`."""
    short = _slug(head.session)[:_ID].strip("-") or "session"
    title = _slug(head.title)
    while len(title.encode("utf-8")) > _LONGEST:
        # Whole words go first, then letters of one that is too long by itself.
        title = title.rpartition("-")[0] or title[:-1]
    return f"{title}-{short}{suffix}" if title else f"{short}{suffix}"


def _slug(text: str) -> str:
    # Composed, as some file systems compose names themselves; case is dropped, as some do not tell it apart.
    plain = unicodedata.normalize("NFC", text[:400].encode("utf-8", "replace").decode()).casefold()
    return _GAPS.sub("-", plain).strip("-")
