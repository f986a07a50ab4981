"""Files beside a session, of any size: their secrets gathered, and taken out.

A small one is looked at whole, JSON string by string. A large one is taken for a text and goes by in
stretches, so that no more than a few of them are ever in memory. A stretch ends where no secret is, and what
stood before it and comes after it is looked at with it.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Final

from clew.edit.known_secrets import Secrets
from clew.edit.secret_cleaner import ERRORS, Cleaner, decoded, wide_codec, within
from clew.edit.secret_forms import AHEAD, BEFORE

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterable, Iterator

    from clew.edit.known_secrets import Found
    from clew.edit.secret_forms import Spans

_WHOLE: Final = 1 << 20
"""A file up to so many bytes is looked at whole."""

_STRETCH: Final = 1 << 20


def gather_text(pieces: Iterable[bytes], *, own: Spans | None = None) -> Secrets:
    """Return the secrets of a file beside a session that may be looked for elsewhere."""
    secrets = Secrets()
    cleaner = Cleaner(None, b"", own)
    start, rest = _begun(pieces)
    if rest is None:
        cleaner.note(secrets, (), decoded(start))
        return secrets
    before = ""
    for text in _texts(start, rest, []):
        cleaner.note(secrets, (), before + text)
        before = text[-AHEAD:]
    return secrets


def redact_text(
    pieces: Iterable[bytes],
    secrets: Secrets,
    key: bytes,
    *,
    own: Spans | None = None,
    tally: Counter[str] | None = None,
) -> Iterator[bytes]:
    """Give a file beside a session without its secrets; the very bytes where there are none.

    `tally` is told how many were found, by their rules.
    """
    cleaner = Cleaner(secrets, key, own)
    start, rest = _begun(pieces)
    if rest is None:
        yield cleaner.clean_bytes(start, tally)
        return
    codec = wide_codec(start)
    before = held = ""
    odd: list[bytes] = []
    for text in chain(_texts(start, rest, odd), (None,)):
        held += text or ""
        if text is not None and len(held) < _STRETCH + AHEAD:
            continue
        whole = before + held
        found = cleaner.find((), whole)
        size = len(before)
        cut = len(whole) if text is None else _cut(whole, size, found)
        mine = within(found, size, cut)
        if tally is not None:
            tally.update(one.rule for one in mine)
        clean = cleaner.clean((), whole[size:cut], mine, before=before)
        yield _encoded(clean, codec)
        before, held = whole[max(0, cut - BEFORE) : cut], whole[cut:]
    yield from odd


def _cut(text: str, size: int, found: Iterable[Found]) -> int:
    """Return where to end a stretch that begins at `size`: behind a line if possible, and in no secret."""
    end = len(text) - AHEAD
    cut = text.rfind("\n", size, end) + 1 or end
    for one in found:
        if one.start < cut < one.end:
            return one.start if one.start > size else one.end
    return cut


def _begun(pieces: Iterable[bytes]) -> tuple[bytes, Iterator[bytes] | None]:
    """Return the start of a file and what follows; None if that is all there is."""
    start = b""
    rest = iter(pieces)
    for piece in rest:
        start += piece
        if len(start) > _WHOLE:
            return start, rest
    return start, None


def _texts(start: bytes, rest: Iterable[bytes], odd: list[bytes]) -> Iterator[str]:
    """Give a file as text; half a character at its end, which is none, goes to `odd`."""
    codec = wide_codec(start)
    if codec is None:
        from codecs import getincrementaldecoder

        decoder = getincrementaldecoder("utf-8")(ERRORS)
        yield decoder.decode(start)
        for piece in rest:
            yield decoder.decode(piece)
        yield decoder.decode(b"", final=True)
        return
    held = b""
    for piece in chain((start,), rest):
        data = held + piece
        even = len(data) & ~1
        yield data[:even].decode(codec, "surrogatepass")
        held = data[even:]
    odd.append(held)


def _encoded(text: str, codec: str | None) -> bytes:
    return text.encode("utf-8", ERRORS) if codec is None else text.encode(codec, "surrogatepass")
