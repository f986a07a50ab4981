"""A session in two: what came before a turn, and that turn with all that came after it.

The first line of the second part becomes a root. Where it hung is noted on it as `logicalParentUuid`, which
no client reads there, so that `merge` can put the two together again. Lines that nobody sends go to the part
in whose stretch of the file they stand; what a session is called and how it is set goes to both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.edit.apart import Apart
from clew.edit.changes import Changes
from clew.edit.guards import last_of
from clew.edit.plan import KEEP, Drop
from clew.edit.ways import beginning, copies, ending, follows, has_talk, is_boundary, is_clean, last_message
from clew.edit.woven import Result
from clew.errors import RefusedError, UsageError
from clew.session.chain import chain
from clew.session.context import context
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.ids import id_hash
from clew.session.parallel import with_parallel
from clew.session.session import SALVAGED
from clew.session.turns import turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clew.edit.plan import Step
    from clew.format.records import Fragment
    from clew.session.chain import Chain
    from clew.session.session import Session

_SETTINGS: Final = frozenset(
    {
        "custom-title",
        "ai-title",
        "agent-name",
        "agent-setting",
        "permission-mode",
        "mode",
        "tag",
        "worktree-state",
    }
)
"""What holds for all that follows: of each kind the last one counts."""


def split(session: Session, *, turn: int) -> tuple[Changes, Changes]:
    """Return what makes two sessions of one: up to before a turn, and from it on.

    Turns are numbered as over the whole file. One on a branch that the session did not go on is none to split
    at, and neither is one before which nothing was said.
    """
    cut = _cut(session, turn)
    first = _Sides(session, cut)
    return _first(session, cut, first), _second(session, cut, first)


class _Cut(NamedTuple):
    """Where a session is cut."""

    way: Sequence[int]
    """All rows from the very beginning to where the session ends, over its compactions."""

    at: int
    """The place on the way where the second part begins."""

    path: Chain
    lines: Sequence[int]
    """What is sent now, the parallel lines too."""

    is_sent: bool
    """Whether the second part begins in what is sent now, not before a compaction."""


def _cut(session: Session, number: int) -> _Cut:
    found = next((turn for turn in turns(session) if turn.n == number), None)
    if found is None or found.prompt_row is None:
        raise UsageError(f"there is no turn {number}", hint="clew show lists the turns")
    path = chain(session, rules())
    if path.refused is not None or not path.rows:
        raise RefusedError(f"the client would not resume it: {path.refused}", hint="clew repair first")
    # What the client does not find its way to any more is no part of the conversation.
    is_compacted = is_boundary(session, path.rows[0])
    way = [*(Graph(session).history(path.rows[0])[:-1] if is_compacted else ()), *path.rows]
    prompt = next((at for at, row in enumerate(way) if row in copies(session, found.prompt_row)), None)
    if prompt is None:
        raise UsageError(
            f"turn {number} is on a branch that the session did not go on",
            hint="clew tree shows the branches",
        )
    at = beginning(session, way, prompt)
    # What a compaction kept of the turns before it stays with them: it names those lines.
    while at < prompt and way[at] in path.preserved:
        at += 1
    at = _with_summary(session, way, at)
    if not has_talk(session, way[:at]):
        raise UsageError(f"nothing comes before turn {number}")
    lines = with_parallel(session, path, rules())
    if not is_clean(session, _beside(session, way[:at]), _beside(session, way[at:])):
        raise RefusedError(
            f"a call from before turn {number} got its result only in it", hint="split at another"
        )
    return _Cut(way, at, path, lines, at >= len(way) - len(path.rows))


def _with_summary(session: Session, way: Sequence[int], at: int) -> int:
    """Return where a part begins that hangs on nothing but a summary: at the compaction."""
    for place in range(at - 1, -1, -1):
        if is_boundary(session, way[place]):
            return place
        if has_talk(session, way[place : place + 1]):
            break
    return at


def _beside(session: Session, rows: Sequence[int]) -> set[int]:
    """Return some rows with all other lines of the answers on them."""
    table = session.table
    answers = {table.message[row] for row in rows if table.message[row]}
    return {*rows, *(row for row in range(len(table)) if table.message[row] in answers)}


class _Sides:
    """Says to which part a row belongs."""

    def __init__(self, session: Session, cut: _Cut) -> None:
        self._session = session
        table = session.table
        # A line that is written again later still stands where it stood first.
        self.start = copies(session, cut.way[cut.at])[0]
        kept = set(cut.way[cut.at :])
        # Results hang beside the way; they go where their answers go.
        place = next((n for n, row in enumerate(cut.lines) if row in kept), len(cut.lines))
        second = {*kept, *cut.lines[place:]} if cut.is_sent else {*kept, *cut.lines}
        first = {*cut.way[: cut.at], *(cut.lines[:place] if cut.is_sent else ())}
        self._second = {table.uuid[row] for row in second if table.uuid[row]}
        self._first = {table.uuid[row] for row in first if table.uuid[row]}

    def is_first(self, row: int) -> bool:
        """Say whether a row belongs to the first part."""
        return self._is_in(row, self._first, self._second, is_behind=False)

    def is_second(self, row: int) -> bool:
        """Say whether a row belongs to the second part; what a compaction preserved may belong to both."""
        return self._is_in(row, self._second, self._first, is_behind=True)

    def _is_in(self, row: int, own: set[int], others: set[int], *, is_behind: bool) -> bool:
        table = self._session.table
        key = table.uuid[row]
        if not key and table.kind_of(row).partition("/")[0] == "last-prompt":
            key = id_hash(self._session.entry(row).text("leafUuid"))
        is_named = bool(key) and not table.flags[row] & SALVAGED
        if is_named and (key in own or key in others):
            return key in own
        place = copies(self._session, row)[0] if is_named else row
        return (place >= self.start) == is_behind

    def damage(self, *, is_second: bool) -> Callable[[Fragment], Step]:
        """Return what becomes of damaged bytes in a part: they go with the lines around them."""
        offset = self._session.table.offset[self.start]

        def decided(fragment: Fragment) -> Step:
            return KEEP if (fragment.offset >= offset) == is_second else Drop("in the other part")

        return decided


def _first(session: Session, cut: _Cut, sides: _Sides) -> Changes:
    changes = Changes(session)
    mode = last_of(session, "permission-mode")
    for row in range(len(session)):
        # What the person allowed last holds for both.
        if not sides.is_first(row) and row != mode:
            changes.drop(row, "in the second part")
    if session.fragments:
        changes.mend(sides.damage(is_second=False))
    end = session.entry(cut.way[cut.at - 1]).uuid
    for tried in _named(changes, end):
        result = Result(tried.plan("")).session
        found = context(result)
        if found.refused is None and found.messages == context(result, at=end).messages:
            if not found.messages:
                raise UsageError("nothing that is sent comes before that turn")
            return tried
    raise RefusedError("what came before cannot be resumed by itself", hint="clew repair first")


def _second(session: Session, cut: _Cut, sides: _Sides) -> Changes:
    changes = Apart(session)
    for row in range(len(session)):
        if not sides.is_second(row):
            changes.leave(row, "in the first part")
    for row in _settings(session, sides):
        del changes.left[row]
    if session.fragments:
        changes.mend(sides.damage(is_second=True))
    _cut_off(changes, cut)
    leaf = None if cut.path.leaf is None else session.entry(cut.path.leaf).uuid
    for tried in _named(changes, leaf):
        if _is_rest(session, cut, Result(tried.plan(""))):
            return tried
    raise RefusedError("what came after cannot be resumed by itself", hint="clew repair first")


def _cut_off(changes: Apart, cut: _Cut) -> None:
    """Let what hung on lines of the first part hang on nothing, or on the line before it on the way."""
    session = changes.session
    table, way = session.table, cut.way
    above: dict[int, str | None] = dict.fromkeys(copies(session, way[cut.at]))
    last = last_message(session, way)
    for at in range(max(cut.at, len(way) - len(cut.path.rows)) + 1, last + 1):
        row, over = way[at], way[at - 1]
        if not (is_boundary(session, row) or row in cut.path.inferred or follows(session, row, over)):
            above |= dict.fromkeys(copies(session, row), session.entry(over).uuid)
    for row in range(len(session)):
        if row in changes.left or not table.uuid[row] or is_boundary(session, row):
            continue
        if row not in above and table.last_of(table.parent[row]) not in changes.left:
            continue
        hung_on = session.entry(row).parent_uuid
        if above.get(row) is None and (hung_on is None or session.row(hung_on) is None):
            hung_on = session.entry(way[cut.at - 1]).uuid
        changes.hang(row, above.get(row))
        if hung_on is not None:
            changes.note(row, hung_on)


def _named(changes: Changes, leaf: str | None) -> Iterator[Changes]:
    """Give changes, and the same with a line that says where the conversation ends."""
    yield changes
    if leaf is not None:
        named = changes.copy()
        named.add(ending(changes.session, leaf), "the line it ends in")
        yield named


def _settings(session: Session, sides: _Sides) -> Iterator[int]:
    """Give the lines from before that still hold in the second part."""
    table = session.table
    seen: set[str] = set()
    for row in range(len(table) - 1, -1, -1):
        kind = table.kind_of(row).partition("/")[0]
        if kind in _SETTINGS and kind not in seen:
            seen.add(kind)
            if not sides.is_second(row):
                yield row


def _is_rest(session: Session, cut: _Cut, result: Result) -> bool:
    """Say whether the second part sends what was sent from there on."""
    before, after = context(session), context(result.session)
    if after.refused is not None:
        return False
    if not cut.is_sent or is_boundary(session, cut.way[cut.at]):
        return after.messages == before.messages
    if not after.messages:
        return False
    own = set(cut.way[cut.at :])
    at = next((n for n, rows in enumerate(before.rows) if not own.isdisjoint(rows)), None)
    if at is None:
        return False
    first: list[Mapping[str, Any]] = after.messages[0]["content"]
    old: list[Mapping[str, Any]] = before.messages[at]["content"]
    return after.messages[1:] == before.messages[at + 1 :] and first == old[len(old) - len(first) :]
