"""Show a picture to the model, made small enough for the API. Pillow does that, if it is installed."""

from __future__ import annotations

import base64
import io
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from clew.agent.image_size import ImageSize, image_size
from clew.agent.tool import Outcome
from clew.agent.tools.outcomes import failed, size_words

if TYPE_CHECKING:
    from PIL.Image import Image

    from clew.agent.tool import Block

_FORMATS: Final = {"image/jpeg": "JPEG", "image/png": "PNG", "image/gif": "GIF", "image/webp": "WEBP"}

_GOOD_PIXELS: Final = 2000
"""A longer side is shrunk: the model sees no more of it, and with many pictures the API refuses it."""

_MOST_PIXELS: Final = 8000
_MOST_BASE64: Final = 5 << 20
_MOST_BYTES: Final = _MOST_BASE64 // 4 * 3
"""What the API takes at all."""

_LEAST_PIXELS: Final = 32
_QUALITY: Final = 85


def shown(path: str, data: bytes) -> Outcome:
    """Show a picture, or say why it cannot be."""
    size = image_size(data)
    if size is None or not size.width or not size.height:
        start = " ".join(f"{byte:02x}" for byte in data[:8])
        return failed(
            "File has an image extension but its content is not a valid PNG/JPEG/GIF/WebP. "
            f"Detected: unrecognized bytes (hex: {start})."
        )
    picture = _fitting(data, size)
    if picture is None:
        return failed(
            f"The picture {path} ({size.width}x{size.height}, {size_words(len(data))}) is more than the "
            f"API takes, "
            "and could not be made smaller."
            + ("" if find_spec("PIL") else " Pillow, which would do that, is not installed.")
        )
    small = image_size(picture) or size
    encoded = base64.b64encode(picture).decode("ascii")
    blocks: list[Block] = [
        {"type": "image", "source": {"type": "base64", "data": encoded, "media_type": small.media_type}}
    ]
    if (small.width, small.height) != (size.width, size.height):
        blocks.append({"type": "text", "text": _scale(size, small)})
    return Outcome(
        blocks,
        {
            "type": "image",
            "file": {
                "base64": encoded,
                "type": small.media_type,
                "originalSize": len(data),
                "dimensions": {
                    "originalWidth": size.width,
                    "originalHeight": size.height,
                    "displayWidth": small.width,
                    "displayHeight": small.height,
                },
            },
        },
    )


def _scale(size: ImageSize, small: ImageSize) -> str:
    factor = max(size.width, size.height) / max(small.width, small.height)
    return (
        f"[Image: original {size.width}x{size.height}, displayed at {small.width}x{small.height}. "
        f"Multiply coordinates by {factor:.2f} to map to original image.]"
    )


def _fitting(data: bytes, size: ImageSize) -> bytes | None:
    """Return a picture the API takes: this one, or a smaller one; None if there is none."""
    longest = max(size.width, size.height)
    if longest <= _GOOD_PIXELS and len(data) <= _MOST_BYTES:
        return data
    if find_spec("PIL") is not None:
        smaller = _shrunk(data, size.media_type)
        if smaller is not None:
            return smaller
    # Larger than is good, but the API would take it.
    return data if longest <= _MOST_PIXELS and len(data) <= _MOST_BYTES else None


def _shrunk(data: bytes, media_type: str) -> bytes | None:
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            # Pillow warns of pictures that would fill the memory: those are not opened.
            warnings.simplefilter("error")
            with Image.open(io.BytesIO(data)) as opened:
                return _saved(ImageOps.exif_transpose(opened), media_type)
    except (OSError, ValueError, Warning, Image.DecompressionBombError, SyntaxError, EOFError):
        return None


def _saved(picture: Image, media_type: str) -> bytes | None:
    from PIL import Image

    kind = _FORMATS[media_type]
    if kind == "JPEG" and picture.mode not in ("L", "RGB", "CMYK"):
        picture = picture.convert("RGB")
    elif picture.mode == "P" and kind != "GIF":
        picture = picture.convert("RGBA")
    side = min(_GOOD_PIXELS, max(picture.size))
    while side >= _LEAST_PIXELS:
        factor = min(1.0, side / max(picture.size))
        width, height = (max(1, round(length * factor)) for length in picture.size)
        smaller = picture.resize((width, height), Image.Resampling.LANCZOS)  # pyright: ignore[reportUnknownMemberType]  # numpy's types are in it
        out = io.BytesIO()
        smaller.save(out, kind, quality=_QUALITY)
        if out.tell() <= _MOST_BYTES:
            return out.getvalue()
        side = side * 3 // 4
    return None
