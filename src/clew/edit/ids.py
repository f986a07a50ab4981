"""New ids for old ones: the same for the same seed, so that a plan may be gone through twice."""

from __future__ import annotations

from hashlib import blake2b
from uuid import UUID


def derive(seed: bytes, old: str) -> str:
    """Return a UUID that nobody can tell from a random one, made of a seed and an id."""
    digest = blake2b(old.encode("utf-8", "surrogatepass"), key=seed[:64], digest_size=16).digest()
    return str(UUID(bytes=digest, version=4))


def sorted_after(new: str, old: str) -> str:
    """Return a new id, changed where it has to be to come after an old one.

    A message that stands in two sessions equally old is counted for the one whose id comes first: that must
    be the original.
    """
    if new > old:
        return new
    try:
        start, drawn = int(old[:8], 16), int(new[:8], 16)
    except ValueError:
        return new
    room = 0xFFFFFFFF - start
    return f"{start + 1 + drawn % room:08x}{new[8:]}" if room > 0 else new
