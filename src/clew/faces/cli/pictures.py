"""Pictures on terminals that can draw them, by the protocols of kitty and iTerm2.

Only where the environment names such a terminal, and only bytes that begin as a picture of a known sort does.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Final, Literal

from clew.faces.cli.terminal import PictureSequence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.faces.cli.terminal import Screen
    from clew.view.parts import Image

_LARGEST: Final = 8 << 20
_MOST_PIXELS: Final = 64_000_000
_HEADS: Final[Mapping[str, tuple[bytes, ...]]] = {
    "png": (b"\x89PNG\r\n\x1a\n",),
    "jpeg": (b"\xff\xd8\xff",),
    "gif": (b"GIF87a", b"GIF89a"),
}


def protocol(env: Mapping[str, str]) -> Literal["kitty", "iterm2"] | None:
    """Return how the terminal draws pictures; None when it says nothing of it."""
    if env.get("TERM", "").startswith(("screen", "tmux")) or env.get("TMUX"):
        return None  # what stands between would not hand it on
    if env.get("TERM") == "xterm-kitty" or env.get("TERM_PROGRAM") == "ghostty":
        return "kitty"
    return "iterm2" if env.get("TERM_PROGRAM") in {"iTerm.app", "WezTerm"} else None


def sequence_of(image: Image, screen: Screen) -> PictureSequence | None:
    """Return a picture as the screen's terminal draws it; None where it cannot, or there is no picture."""
    kind = protocol(screen.env) if screen.is_terminal else None
    if kind is None or not image.data or len(image.data) > 2 * _LARGEST:
        return None
    try:
        data = binascii.a2b_base64(image.data, strict_mode=True)
    except ValueError:  # binascii.Error, and characters outside ASCII
        return None
    sort = next((name for name, heads in _HEADS.items() if data.startswith(heads)), None)
    if sort is None or len(data) > _LARGEST or (kind == "kitty" and sort != "png"):
        return None
    if (image.width or 1) * (image.height or 1) > _MOST_PIXELS:
        return None
    return PictureSequence(kind, data)
