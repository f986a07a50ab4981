"""Keep a conversation on its path when some of its lines go.

Mostly it is enough that a line follows the nearest one above that stays. But the line a conversation ended in
may be gone, and then the last line of the file may lie on another branch; a line without a parent was joined
to one that is gone; what a compaction kept is gone. So the new path is looked at, by the rules of the newest
client, and where it is not the old one without what went, it is spelled out.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.edit.ways import copies
from clew.edit.woven import Result
from clew.session.chain import Chain, chain
from clew.session.eras import rules
from clew.session.graph import BOUNDARY, is_same_content
from clew.session.parallel import with_parallel
from clew.session.prompts import read
from clew.session.session import HUMAN, SALVAGED
from clew.session.titles import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.edit.changes import Changes
    from clew.session.eras import Rules
    from clew.session.session import Session

_ENDS: Final = "the conversation ends here now"
_MESSAGES: Final = frozenset({"user", "assistant"})


def settle(changes: Changes, before: Result | None = None) -> None:
    """See to it that what is sent leads over the lines it led over, but for those that went.

    `before` is what the changes made before more of them went, if they lead elsewhere than the old file did.
    """
    if not changes.dropped:
        return
    _drop_copies(changes)
    newest = rules()
    way = _Way.of(changes, before, newest)
    if way is None or not way.said or way.is_led(changes, newest):
        return
    _end(changes, way.last, way.said)
    if way.is_led(changes, newest):
        return
    way.spell_out(changes)
    _end(changes, way.said[-1], way.said)
    way.keep_out(changes, newest)


class _Place(NamedTuple):
    """One line on the way of what is sent."""

    uuid: str | None
    row: int | None
    """Its row in the old file; None for a new line."""

    is_beside: bool
    """The client puts it back from beside the path."""


class _Way(NamedTuple):
    """The lines that are to be sent, in their order."""

    places: Sequence[_Place]
    said: Sequence[int]
    last: int
    """The last message on the path itself, not beside it."""

    is_first_gone: bool

    @classmethod
    def of(cls, changes: Changes, before: Result | None, era: Rules) -> _Way | None:
        """Return the way as it was, without what went."""
        session = changes.session
        shown = session if before is None else before.session
        old = chain(shown, era)
        if old.refused is not None:
            return None
        uuid = shown.table.uuid
        on_path = {uuid[row] for row in old.rows}
        places: list[_Place] = []
        said: list[int] = []
        last = None
        rows = sent_rows(shown, old, era)
        for shown_row in rows:
            row = shown_row if before is None else before.source_row(shown_row)
            # What stood on a damaged line may have one of its own now.
            if row is not None and (before is None or row in changes.dropped):
                row = _standing(changes, row)
                if row is None:
                    continue
            is_beside = uuid[shown_row] not in on_path
            places.append(_Place(shown.entry(shown_row).uuid, row, is_beside))
            if row is not None and session.table.kind_of(row) in _MESSAGES:
                said.append(row)
                last = last if is_beside else row
        if not said:
            return None
        is_first_gone = bool(rows) and (not places or places[0].uuid != shown.entry(rows[0]).uuid)
        return cls(places, said, said[-1] if last is None else last, is_first_gone)

    def is_led(self, changes: Changes, era: Rules) -> bool:
        """Say whether the new file leads over just these lines.

        What is put back from beside the path may come elsewhere: where it does depends on what is there.
        """
        session = Result(changes.plan("")).session
        path = chain(session, era)
        if path.refused is not None:
            return False
        if {session.entry(row).uuid for row in sent_rows(session, path, era)} != {
            place.uuid for place in self.places
        }:
            return False
        found = [session.entry(row).uuid for row in path.rows]
        return found == [place.uuid for place in self.places if not place.is_beside]

    def spell_out(self, changes: Changes) -> None:
        """Let each line hang on the one before it."""
        first = self.places[0].row
        if self.is_first_gone and first is not None:
            _hang(changes, first, None)
        for above, place in pairwise(self.places):
            if place.row is not None and changes.session.table.kind_of(place.row) != BOUNDARY:
                _hang(changes, place.row, above.uuid)

    def keep_out(self, changes: Changes, era: Rules) -> None:
        """Let lines of another branch that would be sent now follow what comes before the last line.

        What the client itself wrote behind the line that a conversation ends in is sent with it.
        """
        result = Result(changes.plan(""))
        session = result.session
        path = chain(session, era)
        wanted = {place.uuid for place in self.places}
        above = self.places[-2].uuid if len(self.places) > 1 else None
        for new_row in () if path.refused is not None else sent_rows(session, path, era):
            entry = session.entry(new_row)
            row = result.source_row(new_row)
            if entry.uuid not in wanted and entry.parent_uuid in wanted and row is not None:
                _hang(changes, row, above)


def _hang(changes: Changes, row: int, parent: str | None) -> None:
    """Let a line follow another one, and its copies too: else they would contradict each other."""
    for copy in {row, *copies(changes.session, row)}:
        changes.hang(copy, parent)


def sent_rows(session: Session, path: Chain, era: Rules) -> Sequence[int]:
    """Return the rows of a path as a client goes through them, with what it puts back beside them."""
    return with_parallel(session, path, era) if era.recovers_parallel else path.rows


def _standing(changes: Changes, row: int) -> int | None:
    """Return a row, or the last of its copies that stays."""
    ids, flags = changes.session.table.ids(), changes.session.table.flags
    while row >= 0 and (row in changes.dropped or flags[row] & SALVAGED):
        row = ids.earlier[row]
    return row if row >= 0 else None


def _drop_copies(changes: Changes) -> None:
    """Let copies of a line that differ from it go with it: else one that counted no more would again."""
    session = changes.session
    ids, flags = session.table.ids(), session.table.flags
    for row, reason in [*changes.dropped.items()]:
        key = session.table.uuid[row]
        if not key or ids.last(key) != row:
            continue
        before = ids.earlier[row]
        while before >= 0:
            # On a damaged line it counts for nothing, and taking it out could damage the next one.
            if not flags[before] & SALVAGED and not is_same_content(session, (before, row)):
                changes.drop(before, reason)
            before = ids.earlier[before]


def _end(changes: Changes, row: int, said: Sequence[int]) -> None:
    """Name the line that the conversation ends in, as the client does after a rewind."""
    session = changes.session
    entry = session.entry(row)
    flags = session.table.flags
    prompt = next((one for one in reversed(said) if flags[one] & HUMAN), None)
    # As it is now: something may have been taken out of it that must not come back here.
    now = Result(changes.plan("")).session
    shown = None if prompt is None else now.row(session.entry(prompt).uuid or "")
    words = "" if shown is None else one_line(read(now.entry(shown)).words)
    changes.close(
        {
            "type": "last-prompt",
            "lastPrompt": words,
            "leafUuid": entry.uuid,
            "explicit": True,
            "sessionId": entry.session_id,
        },
        _ENDS,
    )
