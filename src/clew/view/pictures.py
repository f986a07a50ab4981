"""Pictures and documents: as parts, and in words where they cannot be seen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.blocks import Image as ImageBlock
from clew.view import words
from clew.view.parts import Image, Section, Text
from clew.view.texts import one_line

if TYPE_CHECKING:
    from clew.format.blocks import Document

_LONGEST_NAME: Final = 200


def picture(block: Document) -> Image | Section:
    """Return the part for a block that holds a picture or a document; one of plain text is that text."""
    is_image = isinstance(block, ImageBlock)
    size = block.size if isinstance(block, ImageBlock) else None
    kind = block.media_type or ("image/*" if is_image else "application/octet-stream")
    name = block.title and one_line(block.title, longest=_LONGEST_NAME)
    source = block.source
    data = block.base64
    text = fields.string(source, "data")
    if data is None and text is not None:
        return Section(name or "document", (Text(text),))
    return Image(
        one_line(kind, longest=100),
        name=name or None,
        width=size[0] if size else None,
        height=size[1] if size else None,
        size=block.byte_size,
        data=data,
        url=fields.string(source, "url") or fields.string(source, "file_id"),
    )


def in_words(image: Image) -> str:
    """Name a picture or a document: what it is and how large."""
    head, _, kind = image.media_type.partition("/")
    facts = [kind[:40]] if kind and kind != "*" else []
    if image.width is not None and image.height is not None:
        facts.append(f"{image.width} × {image.height}")
    if image.size is not None:
        facts.append(words.size(image.size))
    what = "image" if head == "image" else "document"
    name = f" {image.name}" if image.name else ""
    return f"{what}{name} ({', '.join(facts)})" if facts else f"{what}{name}"
