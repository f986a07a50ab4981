"""Make a picture small enough for the API. Pillow does the work, if it is installed (`clew[images]`)."""

from __future__ import annotations

import io
import warnings
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from clew.edit.images import MOST_BASE64, MOST_PIXELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from PIL.Image import Image

_FORMATS: Final = {"image/jpeg": "JPEG", "image/png": "PNG", "image/gif": "GIF", "image/webp": "WEBP"}
"""What the API takes. A picture of another kind becomes a PNG."""

_MOST_BYTES: Final = MOST_BASE64 // 4 * 3
_LEAST_PIXELS: Final = 32
_QUALITY: Final = 85


def shrinker() -> Callable[[bytes, str], tuple[bytes, str] | None] | None:
    """Return a function that makes pictures smaller; None where Pillow is missing."""
    return shrink if find_spec("PIL") is not None else None


def shrink(data: bytes, media_type: str) -> tuple[bytes, str] | None:
    """Return a picture small enough for the API and its media type; None for one that cannot be read."""
    from PIL import Image, ImageOps

    kind = media_type if media_type in _FORMATS else "image/png"
    try:
        with warnings.catch_warnings():
            # Pillow warns of pictures that would fill the memory: those are not opened.
            warnings.simplefilter("error")
            with Image.open(io.BytesIO(data)) as opened:
                kind = _kind(opened, kind)
                picture = ImageOps.exif_transpose(opened)
                return _fitting(picture, kind)
    except (OSError, ValueError, Warning, Image.DecompressionBombError, SyntaxError, EOFError):
        return None


def _kind(opened: Image, kind: str) -> str:
    """Return the media type of what a picture really is, if the API takes that."""
    return next((name for name, form in _FORMATS.items() if form == opened.format), kind)


def _fitting(picture: Image, kind: str) -> tuple[bytes, str] | None:
    side = min(MOST_PIXELS, max(picture.size))
    while side >= _LEAST_PIXELS:
        smaller = _scaled(picture, side, kind)
        data = io.BytesIO()
        smaller.save(data, _FORMATS[kind], quality=_QUALITY, optimize=kind in ("image/jpeg", "image/png"))
        if data.tell() <= _MOST_BYTES:
            return data.getvalue(), kind
        side = side * 3 // 4
    return None


def _scaled(picture: Image, side: int, kind: str) -> Image:
    from PIL import Image

    if kind == "image/jpeg" and picture.mode not in ("L", "RGB", "CMYK"):
        picture = picture.convert("RGB")
    elif picture.mode == "P" and kind != "image/gif":
        picture = picture.convert("RGBA")
    factor = side / max(picture.size)
    if factor >= 1:
        return picture
    width, height = (max(1, round(length * factor)) for length in picture.size)
    return picture.resize((width, height), Image.Resampling.LANCZOS)  # pyright: ignore[reportUnknownMemberType]  # numpy's types are in it
