"""Where a conversation begins and ends: first comes what the user said, and the end leads through most of it.

The client goes on from the last line of the file, or from the one the last `last-prompt` names (2.1.150+).
A hint that was left behind, or a line that hangs on nothing, can leave most of a session out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from clew.edit.ids import derive
from clew.edit.repair_links import hang
from clew.edit.repair_records import following, user_line
from clew.session.graph import BOUNDARY, NODE
from clew.session.prompts import read as read_prompt
from clew.session.reach import SAID, has_conversation, is_said, reach_of
from clew.session.session import HUMAN, SALVAGED, SIDECHAIN

if TYPE_CHECKING:
    from clew.edit.repair_state import Repaired, View
    from clew.session.graph import Graph
    from clew.session.session import Session

WORDS: Final = "[the beginning of this conversation was lost; added by clew repair]"
NO_BEGINNING: Final = "a conversation that begins with an answer"
NAMED: Final = "the conversation ended in a line that leaves most of it out"
JOINED: Final = "it hung on nothing, which left most of the conversation out"
NOWHERE: Final = "it named a line that is not in the file"
_START: Final = "00000000-0000-0000-0000-000000000000"
"""What 2.1.325 names when a person goes back to before the first prompt."""
_LONGEST_PROMPT: Final = 200


def mend_beginning(view: View, state: Repaired, *, seed: bytes) -> None:
    """Put a line of the user before a conversation that begins with an answer."""
    session = view.session
    found = view.context
    if not found.messages or found.messages[0].get("role") != "assistant":
        return
    path = view.path.rows
    if not path or session.table.kind_of(path[0]) == BOUNDARY:
        return
    first = next((row for row in path if row in found.rows[0]), None)
    # What a compaction preserved hangs where that says, whatever the line says: nothing can come before it.
    if first is None or first in view.path.preserved:
        return
    entry = session.entry(first)
    uuid = derive(seed, f"beginning before {entry.uuid}")
    if session.row(uuid) is not None:
        return  # it is there, and that does not help
    line = user_line(
        view,
        first,
        WORDS,
        parent=entry.parent_uuid,
        uuid=uuid,
        time=session.table.time_of(first),
        isMeta=True,
    )
    before = view.origins[first]
    state.put(line, NO_BEGINNING, before=before if before >= 0 else following(view, first))
    state.set(before, "parentUuid", uuid, NO_BEGINNING)


def mend_end(view: View, state: Repaired) -> None:
    """See to it that the end of the conversation leads through most of it."""
    session = view.session
    if not has_conversation(session):
        return
    path = view.path
    graph = view.graph
    last = max((row for row in graph.nodes() if is_said(session, row)), default=None)
    if last is None:
        return
    _mend_hint(view, state)
    if path.leaf is None or path.refused:
        _name(view, state, last)
        return
    here, there = _history(session, graph, path.leaf), _history(session, graph, last)
    reached, total = reach_of(session, path, graph)
    is_short = reached * 2 < total
    if last not in here and not _leads(graph, path.leaf, last):
        is_stale = not _is_explicit(session, path.leaf)
        if (is_short or is_stale) and len(here) * 2 < len(there):
            _name(view, state, last)
            return
    if is_short:
        _join(view, state, graph, path.leaf)


def _history(session: Session, graph: Graph, row: int) -> set[int]:
    return {one for one in graph.upwards(row) if is_said(session, one)}


def _leads(graph: Graph, leaf: int, last: int) -> bool:
    """Say whether the leaf is below the last message: a note of the client behind it."""
    return any(row == last for row in graph.upwards(leaf))


def _is_explicit(session: Session, leaf: int) -> bool:
    """Say whether a person chose the line the conversation ends in."""
    hint = _last_hint(session)
    return (
        hint is not None
        and session.entry(hint).flag("explicit")
        and (session.entry(hint).text("leafUuid") == session.entry(leaf).uuid)
    )


def _last_hint(session: Session) -> int | None:
    table = session.table
    kinds = {code for code, kind in enumerate(table.kinds) if kind.partition("/")[0] == "last-prompt"}
    for row in range(len(table) - 1, -1, -1):
        if (
            table.kind[row] in kinds
            and not table.flags[row] & SALVAGED
            and session.entry(row).text("leafUuid")
        ):
            return row
    return None


def _mend_hint(view: View, state: Repaired) -> None:
    """Let a last hint that names nothing name the end."""
    session = view.session
    hint = _last_hint(session)
    if hint is None:
        return
    name = session.entry(hint).text("leafUuid")
    if name is None or name == _START or session.row(name) is not None:
        return
    path = view.path
    said = [row for row in path.rows if session.table.kind_of(row) in SAID]
    if not path.refused and said:
        state.set(view.origins[hint], "leafUuid", session.entry(said[-1]).uuid, NOWHERE)
        if session.entry(hint).flag("explicit"):
            state.set(view.origins[hint], "explicit", False, NOWHERE)


def _name(view: View, state: Repaired, row: int) -> None:
    """Name a line as the end, as the client does it."""
    session = view.session
    hint = _last_hint(session)
    uuid = session.entry(row).uuid
    if hint is not None and session.entry(hint).text("leafUuid") == uuid:
        return  # it is named, and that does not help
    line: dict[str, Any] = {"type": "last-prompt"}
    flags = session.table.flags
    prompts = (one for one in range(row, -1, -1) if flags[one] & HUMAN and not flags[one] & SIDECHAIN)
    prompt = next(prompts, None)
    words = None if prompt is None else read_prompt(session.entry(prompt)).words
    if words:
        line["lastPrompt"] = words[:_LONGEST_PROMPT]
    line |= {"leafUuid": uuid}
    name = session.entry(row).session_id
    state.put(line if name is None else line | {"sessionId": name}, NAMED, before=None)


def _join(view: View, state: Repaired, graph: Graph, leaf: int) -> None:
    """Hang the root of the path to the end on the line before it."""
    session = view.session
    root = leaf
    for row in graph.upwards(leaf):
        root = row
    hint = _last_hint(session)
    if hint is not None and session.entry(hint).text("leafUuid") == _START and hint < root:
        return  # a person went back to the very beginning
    marks = view.links.marks
    for row in range(root - 1, -1, -1):
        if not marks[row] & NODE or session.table.flags[row] & SIDECHAIN:
            continue
        if root not in set(graph.upwards(row)):
            hang(view, state, root, row, JOINED)
            return
