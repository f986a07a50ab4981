"""Several lines with one uuid, of which the client reads the last.

Where they are the same, the last one stays, or the first one where old clients get further with that. Where
either would change what the newest client sends all of them stay: they do no harm.

Where they differ, which of them counts must not be left open. The last one keeps the uuid. An earlier one
that says nothing the last does not say goes; any other stays under a new uuid, beside the last, as what was
said before a message was written anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.edit.ids import derive
from clew.edit.repair_blocks import content_path, with_blocks
from clew.format.blocks import Text, blocks
from clew.format.patch import NoSuchPathError, replace
from clew.format.times import iso
from clew.session.context import context
from clew.session.eras import MEASURED
from clew.session.graph import is_same_content
from clew.session.reach import SAID
from clew.session.session import NO_TIME

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.edit.repair_state import Repaired, View
    from clew.session.session import Session

SAME: Final = "the same line is there once more"
OLDER: Final = "another line has its uuid and says all of this"
RENAMED: Final = "another line has its uuid"


def mend_copies(view: View, state: Repaired, *, seed: bytes) -> Repaired:
    """Let each uuid be that of one line; return the changes with that done."""
    groups = _groups(view.session)
    if not groups:
        return state
    same = [rows for rows in groups if is_same_content(view.session, rows)]
    if same:
        state = _without_same(view, state, same)
    for rows in groups:
        if rows not in same:
            _settle(view, state, rows, seed)
    return state


def _groups(session: Session) -> list[list[int]]:
    """Return the rows of each uuid that several have, in file order."""
    ids = session.table.ids()
    later = bytearray(len(session))
    for before in ids.earlier:
        if before >= 0:
            later[before] = 1
    groups: list[list[int]] = []
    for row, before in enumerate(ids.earlier):
        if before < 0 or later[row]:
            continue
        rows = [row]
        while (before := ids.earlier[rows[-1]]) >= 0:
            rows.append(before)
        groups.append(rows[::-1])
    return groups


def _without_same(view: View, state: Repaired, groups: Sequence[Sequence[int]]) -> Repaired:
    """Leave the last line of each group, or the first, if the newest client sends the same and none less."""
    sent = _sent(view.session)
    best, most = state, -1
    for kept in (-1, 0):
        trial = state.copy()
        for rows in groups:
            for row in rows:
                if row != rows[kept]:
                    trial.remove(view.origins[row], SAME)
        found = _sent(trial.now().session)
        is_fine = found[-1] == sent[-1] and all(map(_is_no_less, found, sent))
        total = sum(one.lines for one in found)
        if is_fine and total > most:
            best, most = trial, total
    return best


class _Sent(NamedTuple):
    messages: Sequence[object]
    lines: int
    refused: str | None


def _sent(session: Session) -> list[_Sent]:
    """Return what each client sends, the newest last."""
    found = (context(session, client=era.version) for era in MEASURED)
    return [_Sent(one.messages, one.reachable_lines, one.refused) for one in found]


def _is_no_less(now: _Sent, before: _Sent) -> bool:
    if before.refused is not None:
        return True
    return now.refused is None and now.lines >= before.lines


def _settle(view: View, state: Repaired, rows: Sequence[int], seed: bytes) -> None:
    session = view.session
    last = session.entry(rows[-1])
    words = _words(last.content)
    for number, row in enumerate(rows[:-1]):
        entry, origin = session.entry(row), view.origins[row]
        is_said = session.table.kind_of(row) in SAID
        if is_same_content(session, [row, rows[-1]]) or (is_said and _words(entry.content) <= words):
            state.remove(origin, OLDER)
            continue
        name = f"copy {number} of {entry.uuid}"
        state.set(origin, "uuid", derive(seed, name), RENAMED)
        times = session.table.time[row], session.table.time[rows[-1]]
        if NO_TIME not in times and times[0] >= times[1]:
            # Of lines with the same time old clients take the first for the end.
            state.set(origin, "timestamp", iso(times[1] - 1), RENAMED)
        if not is_said:
            continue
        # The parts of one answer are put together by its id, and results by their calls', wherever they are.
        if entry.message_id is not None:
            answer = f"msg_{derive(seed, name).replace('-', '')[:24]}"
            state.patch(origin, lambda raw, answer=answer: _with_answer(raw, answer), RENAMED)
        path = content_path(entry.data)
        state.patch(origin, lambda raw, path=path: with_blocks(raw, path, _without_result), RENAMED)


def _with_answer(raw: bytes, answer: str) -> bytes:
    try:
        return replace(raw, ("message", "id"), answer)
    except NoSuchPathError:
        return raw


def _without_result(block: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return None if block.get("type") == "tool_result" else block


def _words(content: object) -> set[str]:
    """Return the texts of content."""
    return {block.text for block in blocks(content) if isinstance(block, Text) and block.text.strip()}
