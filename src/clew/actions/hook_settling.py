"""Wait until the last line of a turn is on the disk: the client runs its hooks before it is.

What the client said the answer was is compared, by digest, with the last answer in the file. Where it said
nothing, a file that nobody has added to for a moment has to do.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.hook_spool import digest
from clew.errors import ClewError
from clew.format.blocks import Text, blocks
from clew.format.fields import as_items
from clew.format.lines import BytesSource
from clew.format.records import Record, scan
from clew.format.times import milliseconds
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clew.format.entry import Entry

LONGEST: Final = 2.0
"""Seconds. It took the client up to 1.5."""

QUIET: Final = 0.3
_STEP: Final = 0.05
_TAIL: Final = 1 << 20
_LINES: Final = 400
_EARLIER_MS: Final = 5000
"""So much older than the hook an answer may be that another has followed since. One that is older still only
reads the same."""


def settle(
    path: str,
    last: str | None,
    *,
    said_ms: int = 0,
    longest: float = LONGEST,
    now: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> bool:
    """Wait until the answer of that digest, told at `said_ms`, is in a transcript; say whether it is."""
    end = now() + longest
    before: tuple[int, int] | None = None
    quiet_since = now()
    while True:
        state = _state(path)
        if state is None:
            return False
        if state != before:
            before, quiet_since = state, now()
            if last is not None and last in answers(
                path, since_ms=said_ms - _EARLIER_MS if said_ms else None
            ):
                return True
        elif last is None and now() - quiet_since >= QUIET:
            return True
        if now() >= end:
            return False
        sleep(_STEP)


def _state(path: str) -> tuple[int, int] | None:
    """Return how long a file is and when it was written; None if it is gone, or not there yet."""
    try:
        with FileSource(path) as source:
            return source.size, source.mtime_ns
    except ClewError:
        return None


def answers(path: str, *, since_ms: int | None = None) -> set[str]:
    """Return the digests of what may be meant by the last answer of a transcript, and by those since then."""
    found: set[str] = set()
    texts: list[str] = []
    message: object = None
    for entry in _last_entries(path):
        part = _part(entry)
        if part is None:
            continue
        if message is not None and part.message != message:
            found |= _digests(texts)
            texts = []
            if since_ms is None or part.ms is None or part.ms < since_ms:
                break
        message = part.message
        texts[:0] = part.texts
    return found | _digests(texts)


def _digests(texts: Sequence[str]) -> set[str]:
    """Return the digests of all that the client may take for the text of a message: it is of several."""
    if not texts:
        return set()
    return {digest(text) for text in (texts[-1], "".join(texts), "\n".join(texts), "\n\n".join(texts))}


def _last_entries(path: str) -> Iterator[Entry]:
    """Give the last records, from the end."""
    try:
        with FileSource(path) as source:
            start = max(0, source.size - _TAIL)
            data = source.read(start, source.size - start)
    except ClewError:
        return
    if start:
        data = data[data.find(b"\n") + 1 :]
    found = [item for item in scan(BytesSource(data)) if isinstance(item, Record)]
    yield from (record.decoded() for record in reversed(found[-_LINES:]))


class _Part(NamedTuple):
    message: object
    """What tells the message of a line from others."""

    ms: int | None
    texts: Sequence[str]


def _part(entry: Entry) -> _Part | None:
    """Return what a line of the assistant holds."""
    if entry.type != "assistant" or as_items(entry.content) is None:
        return None
    texts = [block.text for block in blocks(entry.content) if isinstance(block, Text)]
    return _Part(entry.message_id or entry.uuid or entry.raw, milliseconds(entry.timestamp), texts)
