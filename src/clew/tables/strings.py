"""The strings inside a decoded value, whatever its shape: what the texts of unknown things are made of.

With a stack of our own, as a hostile value may nest deeper than Python calls may.
"""

from __future__ import annotations

from typing import Final, cast

_NO_WORDS: Final = frozenset(
    {
        *("type", "id", "uuid", "tool_use_id", "toolUseID", "source_uuid", "delivery_id", "runId", "file_id"),
        *("base64", "media_type", "signature", "digests", "timestamp", "cache_control"),
        *("encrypted_content", "encrypted_index", "encrypted_stdout"),
    }
)
"""Keys whose strings are no words: names of kinds, ids, seals, pictures."""


def strings(value: object) -> list[str]:
    """Return every string in `value`, in order, the empty ones left out. Keys are not looked at."""
    found: list[str] = []
    todo: list[object] = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            if one:
                found.append(one)
        elif isinstance(one, dict):
            todo.extend(reversed(cast("dict[str, object]", one).values()))
        elif isinstance(one, list):
            todo.extend(reversed(cast("list[object]", one)))
    return found


def words(value: object) -> list[str]:
    """Return the strings in `value` that may be words: no ids, no names of kinds, no encoded bytes."""
    found: list[str] = []
    todo: list[object] = [value]
    while todo:
        one = todo.pop()
        if isinstance(one, str):
            if one:
                found.append(one)
        elif isinstance(one, dict):
            data = cast("dict[str, object]", one)
            # The source of a document is a text in a few cases, and bytes in all others.
            has_bytes = data.get("type") != "text"
            todo.extend(
                inner
                for key, inner in reversed(data.items())
                if key not in _NO_WORDS and not (key == "data" and has_bytes)
            )
        elif isinstance(one, list):
            todo.extend(reversed(cast("list[object]", one)))
    return found


def whole_characters(text: str) -> str:
    """Return `text` with U+FFFD in the place of half a character, which no database takes."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
