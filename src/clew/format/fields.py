"""Read one field of a decoded mapping, or nothing when it is missing or of another type.

Every typed view in this room goes through these, so that no shape of data can raise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Mapping


def as_mapping(value: object) -> Mapping[str, object] | None:
    """The value itself when it is a mapping. Decoded JSON has no other keys than strings."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def as_items(value: object) -> tuple[object, ...] | None:
    """The elements of a list."""
    return tuple(cast("list[object]", value)) if isinstance(value, list) else None


def mapping(data: Mapping[str, object], key: str) -> Mapping[str, object] | None:
    """A field that holds an object."""
    return as_mapping(data.get(key))


def items(data: Mapping[str, object], key: str) -> tuple[object, ...] | None:
    """A field that holds a list, with whatever is in it."""
    return as_items(data.get(key))


def mappings(data: Mapping[str, object], key: str) -> tuple[Mapping[str, object], ...]:
    """The objects among the elements of a list; none when there is no list."""
    found = items(data, key) or ()
    return tuple(cast("dict[str, object]", item) for item in found if isinstance(item, dict))


def strings(data: Mapping[str, object], key: str) -> tuple[str, ...]:
    """The strings among the elements of a list; none when there is no list."""
    return tuple(item for item in items(data, key) or () if isinstance(item, str))


def string(data: Mapping[str, object], key: str) -> str | None:
    """A field that holds a string."""
    value = data.get(key)
    return value if isinstance(value, str) else None


def integer(data: Mapping[str, object], key: str) -> int | None:
    """A field that holds a whole number; `true` is none."""
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(data: Mapping[str, object], key: str) -> float | None:
    """A field that holds a number, whole or not."""
    value = data.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def flag(data: Mapping[str, object], key: str) -> bool | None:
    """A field that holds `true` or `false`."""
    value = data.get(key)
    return value if isinstance(value, bool) else None
