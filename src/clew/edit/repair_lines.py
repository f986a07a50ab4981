"""Damaged lines: what is no record is taken out and kept aside, and each record gets a line of its own.

The client skips a line that is not exactly one record. A record that shares its line with a torn one, with a
run of NULs or with another record is there, but not for the client.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from clew.edit.plan import KEEP, Drop
from clew.edit.repair_state import Aside
from clew.format.decode import Decoded
from clew.format.lines import LONG
from clew.format.salvage import BOM, pieces
from clew.session.session import SALVAGED

if TYPE_CHECKING:
    from clew.edit.plan import Step
    from clew.edit.repair_state import Repaired, View
    from clew.format.records import Fragment

LONGEST: Final = 256 << 20
"""A line longer than this is not taken apart: it would take some gigabytes of memory."""

_WORDS: Final = {
    "torn": "a line that ends in the middle of a record",
    "spliced": "a torn record with another one behind it",
    "nul": "a run of NULs",
    "garbage": "bytes that are no record",
    "not-a-record": "JSON, but no object",
    "too-deep": "nested deeper than any reader goes",
    "too-long": "a line too long to be read",
}


def mend_lines(state: Repaired) -> None:
    """Take out what is no record, and let each record have its line."""
    session = state.session
    source, table = session.source, session.table
    going: dict[int, str] = {}
    for fragment in session.fragments:
        if fragment.length > LONG and _is_saved(state, fragment):
            continue
        going[fragment.offset] = _WORDS[fragment.damage]
        _set_aside(state, fragment.number, fragment.offset, fragment.length, _WORDS[fragment.damage])
    if going:
        state.mend(_Taking(going))
        state.actions += 1
    lines = {fragment.number: fragment.offset for fragment in session.fragments}
    for row in range(len(table)):
        if table.flags[row] & SALVAGED:
            is_followed = row + 1 < len(table) and table.number[row + 1] == table.number[row]
            if is_followed or lines.get(table.number[row], -1) > table.offset[row]:
                state.end(row)
    if source.read(0, len(BOM)) == BOM and source.size > len(BOM) and (len(table) or session.fragments):
        state.drops_mark = True
        state.actions += 1
    if len(table):
        last = len(table) - 1
        start = table.offset[last] + table.length[last]
        is_last = all(fragment.offset < start for fragment in session.fragments)
        # A long record is held with its line ending.
        if is_last and b"\n" not in source.read(start - 1, source.size - start + 1):
            state.end(last)


class _Taking:
    """Says that some fragments go."""

    def __init__(self, going: dict[int, str]) -> None:
        self._going = going

    def __call__(self, fragment: Fragment) -> Step:
        reason = self._going.get(fragment.offset)
        return KEEP if reason is None else Drop(reason)


def _set_aside(state: Repaired, number: int, offset: int, length: int, reason: str) -> None:
    source = state.session.source
    state.quarantine.append(Aside(number, offset, length, reason, None, lambda: source.read(offset, length)))


def _is_saved(state: Repaired, fragment: Fragment) -> bool:
    """Look at a line whole that was too long to be taken apart in passing; say whether it may stay."""
    if fragment.length > LONGEST:
        return False
    session = state.session
    raw = session.source.read(fragment.offset, fragment.length)
    found = [piece for piece in pieces(raw) if piece.kind != "blank"]
    records = [piece for piece in found if isinstance(piece.decoded, Decoded)]
    if len(found) == 1 and records:
        return True  # one record, that only its length kept from being read
    table = session.table
    following = (row for row in range(len(table)) if table.offset[row] > fragment.offset)
    before = next(following, None)
    for piece in records:
        state.put(raw[piece.start : piece.end], "saved from a damaged line", before=before)
    return False


# Values that are no JSON, or that the API does not take ------------------------------------------

_NUMBERS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"|(-?Infinity|NaN)', re.DOTALL)
_ESCAPES: Final = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    rb"|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)
_SENT: Final = frozenset({"user", "assistant", "system/local_command"})
"""The kinds of lines of which something is sent."""


def without_nan(raw: bytes) -> bytes:
    """Write null where a number is none that JSON knows."""
    return _NUMBERS.sub(lambda found: b"null" if found[1] else found[0], raw)


def without_halves(raw: bytes) -> bytes:
    """Write U+FFFD for each half of a surrogate pair, in keys too."""
    return _ESCAPES.sub(lambda found: b"\\ufffd" if found[1] else found[0], raw)


def as_utf8(raw: bytes) -> bytes:
    """Write U+FFFD for bytes that are no UTF-8."""
    return raw.decode("utf-8", "replace").encode()


def mend_values(view: View, state: Repaired) -> None:
    """Mend numbers, bytes and half characters that keep the client or the API from taking a line."""
    for row, entry in enumerate(view.session.entries()):
        quirks = entry.decoded.quirks
        if not quirks:
            continue
        if "nan" in quirks:
            state.patch(view.origins[row], without_nan, "NaN or Infinity, which is no JSON")
        if "invalid-utf8" in quirks:
            state.patch(view.origins[row], as_utf8, "bytes that are no UTF-8")
        if "lone-surrogate" in quirks and view.session.table.kind_of(row) in _SENT:
            state.patch(view.origins[row], without_halves, "half a character, which the API refuses")
