"""Take the pictures out of a session, or make those smaller that the API does not take.

How a picture is made smaller is not known here: a function that does it is handed in.
"""

from __future__ import annotations

import binascii
from base64 import b64encode
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias, cast

from clew.edit.changes import without
from clew.format.blocks import Image
from clew.format.entry import as_mapping
from clew.format.patch import replace
from clew.session.session import ABRIDGED, SALVAGED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from clew.edit.changes import Changes
    from clew.format.patch import Path
    from clew.session.session import Session

Shrink: TypeAlias = "Callable[[bytes, str], tuple[bytes, str] | None]"
"""Makes a picture of some media type smaller; None for one that cannot be."""

MOST_PIXELS: Final = 2000
"""On a side. One picture alone may have 8000, but not one of more than twenty."""

MOST_BASE64: Final = 5 << 20

DROPPED: Final = "a picture is taken out"
SHRUNK: Final = "a picture is made smaller"
NOT_SHRUNK: Final = "a picture that cannot be made smaller is taken out"
_COPY: Final = "with the client's own copy of it"

_PLACES: Final = (("message", "content"), ("content",), ("attachment",))
"""Where the pictures are that are sent."""

_DEEPEST: Final = 12


class Found(NamedTuple):
    """A picture, and where in its line it is."""

    path: Path
    image: Image


def images(data: Mapping[str, Any]) -> Iterator[Found]:
    """Give the pictures of an entry: among its blocks, inside results, in what is attached."""
    for place in _PLACES:
        value: object = data
        for key in place:
            value = as_mapping(value).get(key)
        yield from _inside(value, place)


def change_images(
    changes: Changes,
    mode: Literal["drop", "shrink"],
    shrink: Shrink | None = None,
) -> None:
    """Take the pictures of a session out, or make those smaller that are too large."""
    session = changes.session
    for row in range(len(session)):
        if session.table.flags[row] & SALVAGED or row in changes.dropped or not _may_have(session, row):
            continue
        for path, image in images(_whole(session, row)):
            new, reason = _instead(image, shrink) if mode == "shrink" else (note(image), DROPPED)
            if new is not None:
                changes.change(row, partial(replace, path=path, value=new), reason)
        if mode == "drop" and _has_copy(_whole(session, row).get("toolUseResult")):
            changes.change(row, partial(without, path=("toolUseResult",)), f"{DROPPED}, {_COPY}")


def is_taken(image: Image) -> bool:
    """Say whether the API takes a picture as it is, however many there are; what is not known it does not."""
    size, data = image.size, image.base64
    if data is None:
        return True  # it is somewhere else, and so is its size
    return size is not None and max(size) <= MOST_PIXELS and len(data) <= MOST_BASE64


def note(image: Image) -> dict[str, object]:
    """Return a text that says what was there: `[image removed: 1200×800 PNG, 340 KB]`."""
    size, count = image.size, image.byte_size
    kind = (image.media_type or "").rpartition("/")[2].upper()
    words = [f"{size[0]}×{size[1]}"] if size else []
    words += [kind] if kind.isalnum() and len(kind) < 10 else []
    told = " ".join(words)
    weight = "" if count is None else f"{max(1, round(count / 1000)):,} KB"
    said = ", ".join(part for part in (told, weight) if part)
    return {"type": "text", "text": f"[image removed: {said}]" if said else "[image removed]"}


def _instead(image: Image, shrink: Shrink | None) -> tuple[dict[str, object] | None, str]:
    """Return what takes the place of a picture, if anything must."""
    if is_taken(image):
        return None, ""
    made = None
    data, media_type = _bytes(image.base64 or ""), image.media_type or "image/png"
    if shrink is not None and data is not None:
        made = shrink(data, media_type)
    if made is None:
        return note(image), NOT_SHRUNK
    source = {"type": "base64", "media_type": made[1], "data": b64encode(made[0]).decode()}
    smaller = {**image.data, "source": source}
    if not is_taken(Image(smaller)):
        return note(image), NOT_SHRUNK
    return smaller, SHRUNK


def _bytes(text: str) -> bytes | None:
    try:
        return binascii.a2b_base64(text.partition(",")[2] if text.startswith("data:") else text)
    except ValueError:  # binascii.Error, and characters outside ASCII
        return None


def _may_have(session: Session, row: int) -> bool:
    """Say whether a line may hold a picture, without decoding it."""
    table = session.table
    raw = session.source.read(table.offset[row], table.length[row])
    return b"image" in raw or b"\\u00" in raw


def _whole(session: Session, row: int) -> Mapping[str, Any]:
    return (session.whole(row) if session.table.flags[row] & ABRIDGED else session.entry(row)).data


def _inside(value: object, path: Path, depth: int = 0) -> Iterator[Found]:
    if depth > _DEEPEST:
        return
    if isinstance(value, list):
        for index, item in enumerate(cast("list[object]", value)):
            yield from _inside(item, (*path, index), depth + 1)
    elif isinstance(value, dict):
        block = cast("dict[str, object]", value)
        if block.get("type") == "image" and isinstance(block.get("source"), dict):
            yield Found(path, Image(block))
        elif block.get("type") != "tool_use":
            # What a tool was given is not looked at: a picture there is data of its own.
            for name, item in block.items():
                yield from _inside(item, (*path, name), depth + 1)


def _has_copy(value: object, depth: int = 0) -> bool:
    """Say whether the client's own record of a result holds a picture."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, list):
        return any(_has_copy(item, depth + 1) for item in cast("list[object]", value))
    block = as_mapping(value)
    if block.get("type") == "image":
        return True
    inner: list[object] = [*block.values()]
    return any(_has_copy(item, depth + 1) for item in inner)
