"""Times that are missing, cannot be read, or make an old client end the conversation elsewhere.

Clients up to 2.1.88 go on from the line with the greatest time, the first of several with the same one. The
others ask for a valid time on the last line only. So no time is changed that does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format.times import iso
from clew.session.eras import rules
from clew.session.nodes import Nodes
from clew.session.reach import SAID, is_said
from clew.session.session import API_ERROR, HUMAN, NO_TIME

if TYPE_CHECKING:
    from clew.edit.repair_state import Repaired, View
    from clew.session.session import Table

_DAY: Final = 86_400_000
_JITTER_MS: Final = 10
"""The client itself writes lines of one moment with times that are equal, or a little out of order."""

_BY_TIME: Final = "2.1.88"
"""The newest client measured that goes by times."""


def mend_times(view: View, state: Repaired, *, now_ms: int) -> None:
    """Give lines without a time that can be read one between those of their neighbours."""
    table = view.session.table
    missing = [row for row in range(len(table)) if table.time[row] == NO_TIME and _needs_time(view, row)]
    if not missing:
        return
    known = [row for row in range(len(table)) if table.time[row] != NO_TIME and table.uuid[row]]
    times = {row: table.time[row] for row in known}
    after: dict[int, int | None] = {}
    at = len(known) - 1
    for row in reversed(missing):
        while at > 0 and known[at - 1] > row:
            at -= 1
        after[row] = times[known[at]] if known and known[at] > row else None
    before: int | None = None
    at = 0
    first = next((row for row in known), None)
    for row in missing:
        while at < len(known) and known[at] < row:
            before = times[known[at]]
            at += 1
        following = after[row]
        if before is None:
            ahead = sum(one < (len(table) if first is None else first) for one in missing)
            before = (now_ms if following is None else following) - ahead - 1
        time = before + 1
        if following is not None and before <= following < time:
            time = following
        before = time
        state.set(view.origins[row], "timestamp", iso(time) or iso(now_ms), "a time that cannot be read")


def _needs_time(view: View, row: int) -> bool:
    """Say whether a line without a valid time should have one: it is of the chain, or it has a void one."""
    return bool(view.session.table.uuid[row]) or view.session.entry(row).data.get("timestamp") is not None


def mend_last_time(view: View, state: Repaired, *, now_ms: int) -> None:
    """See to it that a client that goes by times ends where the conversation does."""
    session = view.session
    table = session.table
    path = view.path
    said = [row for row in path.rows if table.kind_of(row) in SAID]
    if path.refused or not said:
        return
    nodes = Nodes(session, rules(_BY_TIME))
    spoken = [row for row in nodes.rows if is_said(session, row)]
    end = said[-1]
    if not spoken or spoken[-1] != end:
        return  # the conversation was taken up again at an earlier line, which old clients never saw
    eligible = [row for row in nodes.eligible() if table.time[row] != NO_TIME]
    if end not in eligible:
        return
    newest = max(eligible, key=lambda row: (table.time[row], -row))
    kept: set[int] = set()
    row: int | None = newest
    while row is not None and row not in kept:
        kept.add(row)
        row = nodes.parent(row)
    if end in kept or (table.time[newest] - table.time[end] <= _JITTER_MS and not _loses(table, said, kept)):
        return
    if table.time[newest] > now_ms + _DAY >= table.time[end]:
        others = [table.time[row] for row in eligible if row < newest and table.time[row] <= now_ms + _DAY]
        time = max(others, default=now_ms)
        state.set(view.origins[newest], "timestamp", iso(time), "a time that is still to come")
        return
    time = iso(table.time[newest] + 1)
    reason = "clients up to 2.1.88 would leave the end out: an earlier line has this time or a later one"
    if time is not None:
        state.set(view.origins[end], "timestamp", time, reason)


def _loses(table: Table, said: list[int], kept: set[int]) -> bool:
    """Say whether a prompt is lost with its answer: less than that goes missing in healthy sessions."""
    lost = [row for row in said if row not in kept and not table.flags[row] & API_ERROR]
    has_prompt = any(table.flags[row] & HUMAN for row in lost)
    return has_prompt and any(table.kind_of(row) == "assistant" for row in lost)
