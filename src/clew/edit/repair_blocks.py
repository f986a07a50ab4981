"""Blocks that the API refuses: thinking without a signature, texts without words, pictures too large."""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Any, Final, cast

from clew.edit.repair_state import Aside, data_of
from clew.format.blocks import Image
from clew.format.blocks import block as view_block
from clew.format.entry import Entry, as_mapping
from clew.format.patch import remove, replace
from clew.session.api_rules import MANY_IMAGES, MOST_IMAGE_BYTES, MOST_IMAGE_PIXELS, MOST_PIXELS_OF_MANY
from clew.session.drafts import NO_CONTENT
from clew.session.reach import SAID
from clew.session.session import ABRIDGED, API_ERROR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from clew.edit.repair_state import Repaired, View
    from clew.format.patch import Path
    from clew.session.session import Session

UNSIGNED: Final = "thinking without a signature"
EMPTY_THINKING: Final = "thinking without words"
EMPTY_TEXT: Final = "a text without words, which the API refuses"
TOO_LARGE: Final = "a picture larger than the API takes"
NO_LIST: Final = "content that is no list of blocks"
NOTHING: Final = "a message without content"

_LONGEST: Final = 64 << 20
"""Pictures are looked for in lines up to this length."""


def content_path(data: Mapping[str, Any]) -> Path:
    """Return where the content of a line is."""
    inner = as_mapping(data.get("message")).get("content")
    return ("content",) if inner is None and data.get("content") is not None else ("message", "content")


def with_blocks(
    raw: bytes, path: Path, rule: Callable[[Mapping[str, Any]], Mapping[str, Any] | None]
) -> bytes:
    """Put in the place of each block what `rule` makes of it; one that it makes nothing of goes."""
    content: object = data_of(raw)
    for key in path:
        content = as_mapping(content).get(str(key))
    if not isinstance(content, list):
        return raw
    items = cast("list[object]", content)
    for index in range(len(items) - 1, -1, -1):
        old = as_mapping(items[index])
        new = rule(old) if old is items[index] else old
        if new is None:
            raw = remove(raw, (*path, index))
        elif new is not old:
            raw = replace(raw, (*path, index), new)
    return raw


def drops_empty_thinking(session: Session) -> bool:
    """Say whether the last API error of a session names thinking."""
    for row in range(len(session) - 1, -1, -1):
        if session.table.flags[row] & API_ERROR:
            return b"thinking" in session.entry(row).raw.lower()
    return False


class Blocks:
    """The rules for blocks, and the step that goes by them."""

    def __init__(self, *, drop_empty_thinking: bool) -> None:
        self._drops_empty = drop_empty_thinking

    def mend(self, view: View, state: Repaired) -> None:
        """Mend the blocks of all messages."""
        session = view.session
        many = _sent_of_many(view)
        for row in range(len(session)):
            if session.table.kind_of(row) in SAID:
                self._line(view, state, row, MOST_PIXELS_OF_MANY if row in many else MOST_IMAGE_PIXELS)

    def _line(self, view: View, state: Repaired, row: int, most: int) -> None:
        entry = whole(view.session, row)
        origin, path = view.origins[row], content_path(entry.data)
        content = entry.content
        if as_mapping(content).get("type") is not None:
            state.patch(origin, lambda raw: replace(raw, path, [_value(raw, path)]), NO_LIST)
            return
        if isinstance(content, str):
            if not content.strip():
                self._blank(state, origin, path, entry)
            return
        if content is None or content in ([], {}):
            state.remove(origin, NOTHING)
            return
        if not isinstance(content, list):
            return
        items = [as_mapping(one) for one in cast("list[object]", content)]
        faults = [fault for one in items if (fault := self._fault(one)) is not None]
        if faults:
            if len(faults) < len(items):
                state.patch(origin, lambda raw: with_blocks(raw, path, self._keep), faults[0])
            elif EMPTY_TEXT in faults:
                self._blank(state, origin, path, entry)
                return
            else:
                state.remove(origin, faults[0])
                return
        pictures = [image for one in items for image in _pictures(one)]
        large = [at for at, image in enumerate(pictures) if is_too_large(image, most)]
        if large:
            for at in large:
                _set_aside(state, origin, at, pictures[at].media_type)
            state.patch(origin, lambda raw: with_blocks(raw, path, _Shrinking(most)), TOO_LARGE)

    def _fault(self, block: Mapping[str, Any]) -> str | None:
        """Return why a block cannot be sent; None for one that can."""
        kind = block.get("type")
        if kind == "thinking":
            if not isinstance(block.get("signature"), str) or not block.get("signature"):
                return UNSIGNED
            return EMPTY_THINKING if self._drops_empty and not block.get("thinking") else None
        return EMPTY_TEXT if kind == "text" and not str(block.get("text") or "").strip() else None

    def _keep(self, block: Mapping[str, Any]) -> Mapping[str, Any] | None:
        return block if self._fault(block) is None else None

    def _blank(self, state: Repaired, origin: int, path: Path, entry: Entry) -> None:
        """Let a line without words go; a prompt stays, as the client would have it."""
        if entry.type == "assistant":
            state.remove(origin, EMPTY_TEXT)
        else:
            state.patch(origin, lambda raw: replace(raw, path, NO_CONTENT), EMPTY_TEXT)


def whole(session: Session, row: int) -> Entry:
    """Return a line with its pictures, unless it is longer than memory should hold."""
    is_cut = session.table.flags[row] & ABRIDGED and session.table.length[row] <= _LONGEST
    return session.whole(row) if is_cut else session.entry(row)


def is_too_large(image: Image, most: int) -> bool:
    """Say whether the API refuses a picture."""
    # The API counts the bytes of the base64 text, not those of the picture.
    return max(image.size or (0, 0)) > most or len(image.base64 or "") > MOST_IMAGE_BYTES


class _Shrinking:
    """Puts a note in the place of each picture that is too large, in results too."""

    def __init__(self, most: int) -> None:
        self._most = most

    def __call__(self, block: Mapping[str, Any]) -> Mapping[str, Any] | None:
        image = view_block(block)
        if isinstance(image, Image):
            return {"type": "text", "text": note(image)} if is_too_large(image, self._most) else block
        inner = block.get("content")
        if block.get("type") != "tool_result" or not isinstance(inner, list):
            return block
        old = [as_mapping(one) for one in cast("list[object]", inner)]
        new = [self(one) for one in old]
        return (
            block if all(one is two for one, two in zip(old, new, strict=True)) else {**block, "content": new}
        )


def note(image: Image) -> str:
    """Say what picture was there."""
    kind = (image.media_type or "image").rpartition("/")[2].upper()
    size = f"{image.size[0]}×{image.size[1]} " if image.size else ""
    return f"[image removed by clew repair: {size}{kind}, {(image.byte_size or 0) / 1000:,.0f} KB]"


def _pictures(block: Mapping[str, Any]) -> Iterator[Image]:
    inner = block.get("content") if block.get("type") == "tool_result" else [block]
    for one in cast("list[object]", inner) if isinstance(inner, list) else ():
        found = view_block(one)
        if isinstance(found, Image):
            yield found


def _sent_of_many(view: View) -> frozenset[int]:
    """Return the rows that are sent, if they hold so many pictures that each must be smaller."""
    found = view.context
    count = sum(
        1
        for message in found.messages
        for block in cast("list[object]", message["content"])
        for _ in _pictures(as_mapping(block))
    )
    return frozenset(row for rows in found.rows for row in rows) if count > MANY_IMAGES else frozenset()


def _set_aside(state: Repaired, origin: int, at: int, media_type: str | None) -> None:
    """Note a picture of a line, which is read again when it is wanted."""
    session = state.session
    table = session.table
    # A line that was saved from a damaged one is not in the table; its bytes are held.
    saved = state.raw(origin) if origin < 0 else None

    def read() -> bytes:
        entry = session.whole(origin) if saved is None else Entry(saved)
        content = entry.content
        items = cast("list[object]", content) if isinstance(content, list) else [content]
        pictures = [image for one in items for image in _pictures(as_mapping(one))]
        return _decoded(pictures[at].base64 or "")

    place = (0, 0, 0) if saved else (table.number[origin], table.offset[origin], table.length[origin])
    state.quarantine.append(Aside(*place, TOO_LARGE, media_type or "image", read))


def _decoded(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text.partition(",")[2] if text.startswith("data:") else text)
    except ValueError:
        return text.encode("utf-8", "backslashreplace")


def _value(raw: bytes, path: Path) -> object:
    value: object = data_of(raw)
    for key in path:
        value = as_mapping(value).get(str(key))
    return value
