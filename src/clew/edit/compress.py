"""Older turns become a summary, in the form in which the client itself compacts a conversation.

Nothing goes: a compaction and its summary come before the first turn that stays, and that one hangs on the
summary. What came before is still in the file, and `uncompact` brings it back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product, takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from clew.edit.changes import Changes
from clew.edit.extract import extract
from clew.edit.ids import derive
from clew.edit.ways import beginning, copies, ending, follows, is_clean, last_message, prompts
from clew.edit.woven import Result
from clew.errors import RefusedError, UsageError
from clew.format.times import iso
from clew.session.chain import chain
from clew.session.context import context, estimate_tokens
from clew.session.eras import MEASURED, rules, version_key
from clew.session.graph import BOUNDARY
from clew.session.parallel import with_parallel
from clew.session.session import COMPACT_SUMMARY, SALVAGED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.format.entry import Entry
    from clew.session.chain import Chain
    from clew.session.context import Context
    from clew.session.session import Session

Summarize: TypeAlias = Callable[[Sequence[Mapping[str, Any]], str], str]
"""Writes a summary of messages that were sent to a model."""

REASON: Final = "older turns become a summary"
_ENVELOPE: Final = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "slug")
_SHARED: Final = frozenset({*_ENVELOPE, "promptId"})
_NEAR: Final = 100
"""How many lines are looked at for what all have in common."""

_COUNTS_AFTER: Final = "2.1.150"
"""The version from which on a compaction tells how many tokens are left."""


def compress(
    session: Session,
    *,
    keep_turns: int,
    summary: str | Summarize | None,
    keep_calls: bool,
    seed: bytes,
    now_ms: int,
) -> Changes:
    """Put a summary in the place of all turns but the last ones; without one it is made of the turns.

    It may be a function, which is given what the model was sent of them, and the model, and writes it. At
    least `keep_turns` stay: more, where a call of an older turn got its result only in a later one. With
    fewer there is nothing to do.
    """
    if keep_turns < 0:
        raise UsageError("the number of turns to keep is 0 or more")
    if isinstance(summary, str) and not summary.strip():
        raise UsageError("the summary is empty")
    path = chain(session, rules())
    if path.refused is not None or not path.rows:
        return Changes(session)
    before = context(session)
    is_possible = True
    for at in _cuts(session, path, keep_turns):
        cut = _Cut(session, path, before, at, seed, now_ms)
        if not prompts(session, cut.gone):
            break
        if summary is None or callable(summary):
            words = extract(session, cut.gone, keep_calls=keep_calls)
        else:
            words = _whole(summary)
        found = cut.best(words)
        if found is not None and callable(summary):
            # Asked for once, when it is known that the turns can be parted here.
            found = cut.best(_whole(summary(cut.sent, before.model)))
        if found is not None:
            return found
        is_possible = False
    if is_possible:
        return Changes(session)
    raise RefusedError(
        "the older turns cannot be parted from the newer ones: the lines do not hang together as they should",
        hint="clew repair first",
    )


def _whole(words: str) -> str:
    """Return a text without half characters, which the API refuses."""
    return words.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _cuts(session: Session, path: Chain, keep_turns: int) -> Iterator[int]:
    """Give the places on a path where what is to stay may begin, the latest first."""
    if not keep_turns:
        yield len(path.rows)
        return
    starts = prompts(session, path.rows)
    if len(starts) < keep_turns:
        return
    for prompt in reversed(starts[: len(starts) - keep_turns + 1]):
        at = beginning(session, path.rows, prompt)
        if at and is_clean(session, path.rows[:at], path.rows[at:]):
            yield at


class _New(NamedTuple):
    """The two new lines."""

    boundary: dict[str, Any]
    summary: dict[str, Any]


class _Cut:
    """A place on the path: what is before it becomes a summary."""

    def __init__(
        self, session: Session, path: Chain, before: Context, at: int, seed: bytes, now_ms: int
    ) -> None:
        self._session = session
        self._path = path
        self._before = before
        self._seed = seed
        self._now_ms = now_ms
        self._way = path.rows
        self._at = at
        self.kept: Sequence[int] = path.rows[at:]
        kept = set(self.kept)
        lines = with_parallel(session, path, rules())
        place = next((n for n, row in enumerate(lines) if row in kept), len(lines))
        self.gone = lines[:place]
        """The rows that become a summary, the parallel ones too."""

    @property
    def sent(self) -> Sequence[Mapping[str, Any]]:
        """What the model was sent of the rows that become a summary."""
        gone = set(self.gone)
        whole = zip(self._before.messages, self._before.rows, strict=True)
        return [message for message, _ in takewhile(lambda one: gone.issuperset(one[1]), whole)]

    def best(self, words: str) -> Changes | None:
        """Return the changes after which the most clients see what they should; the newest must."""
        best: Changes | None = None
        most = -1
        for changes in self._tries(words):
            result = Result(changes.plan(""))
            if not self._is_right(context(result.session), result, words):
                continue
            seen = sum(self._is_seen(version, result) for version in _OLDER)
            if seen == len(_OLDER):
                return changes
            if seen > most:
                best, most = changes, seen
        return best

    def _tries(self, words: str) -> Iterator[Changes]:
        if not self.kept:
            yield self._at_end(words)
            return
        behind = self._behind_boundaries()
        places = dict.fromkeys((max(behind, self.kept[0]), behind, self.kept[0]))
        guesses = (False, True) if self._path.inferred else (False,)
        for preserves, place, names, joins in product((False, True), places, (False, True), guesses):
            yield self._before_row(place, words, preserves=preserves, names=names, joins=joins)

    def _behind_boundaries(self) -> int:
        """Return the row behind the last compaction of the file, and its summary.

        The last one is the one whose word counts on what was preserved: that must be the new one.
        """
        table = self._session.table
        rows = [
            row
            for row in range(len(table))
            if table.kind_of(row) == BOUNDARY and not table.flags[row] & SALVAGED
        ]
        if not rows:
            return 0
        place = rows[-1] + 1
        while place < len(table) and table.flags[place] & COMPACT_SUMMARY:
            place += 1
        return place

    def _at_end(self, words: str) -> Changes:
        session = self._session
        changes = Changes(session)
        # Clients up to 2.1.88 end a conversation in the newest line.
        newest = max(session.table.time, default=0)
        new = self._new(words, max(self._now_ms, newest + 1))
        changes.add(new.boundary, REASON)
        changes.add(new.summary, REASON)
        return changes

    def _before_row(self, place: int, words: str, *, preserves: bool, names: bool, joins: bool) -> Changes:
        """Put the new lines before a row.

        `preserves` tells the client which lines from before stay, `names` in which one the conversation ends,
        and `joins` hangs lines whose parent is missing on those that the client takes for it.
        """
        session = self._session
        table = session.table
        changes = Changes(session)
        times = [time for row in self.kept if (time := table.time_of(row)) is not None]
        first = table.time_of(self.kept[0])
        last = times[-1] if times else None
        if first is None or (last is not None and first > last):
            first = min(times, default=self._now_ms)
        new = self._new(words, first - 2)
        if preserves:
            new.boundary["compactMetadata"] |= self._preserved(place, new)
        for record in new:
            if place < len(table):
                changes.add_before(place, record, REASON)
            else:
                changes.add(record, REASON)
        self._join(changes, new.summary["uuid"], joins=joins)
        leaf = session.entry(self.kept[last_message(session, self.kept)]).uuid
        if names and leaf is not None:
            changes.add(ending(session, leaf), "the line it ends in")
        return changes

    def _preserved(self, place: int, new: _New) -> dict[str, Any]:
        """Name the lines that stay though they stand before the compaction, as the client does."""
        early = [row for row in self.kept if row < place]
        names = [name for row in early if (name := self._session.entry(row).uuid)]
        listed = {"anchorUuid": new.summary["uuid"], "uuids": names, "allUuids": names}
        return {"preservedMessages": listed} if names else {}

    def _join(self, changes: Changes, above: str, *, joins: bool) -> None:
        """Let the lines that stay hang one on the other, where so far only a compaction says they do."""
        session = self._session
        kept = set(self.kept)
        last = last_message(session, self.kept)
        for at, row in enumerate(self.kept):
            if at:
                over = self.kept[at - 1]
                if follows(session, row, over) or (row in self._path.inferred and not joins):
                    continue
                # What hangs behind the last message may hang on any line there.
                if at > last and any(follows(session, row, one) for one in kept):
                    continue
                above = session.entry(over).uuid or above
            for copy in copies(session, row):
                changes.hang(copy, above)

    # The new lines ------------------------------------------------------------------------------

    def _new(self, words: str, time: int) -> _New:
        session = self._session
        likeness = self._likeness()
        followed = session.entry(self._way[self._at - 1])
        parts = ("boundary", "summary", "prompt")
        names = [derive(self._seed, f"compress {followed.uuid} {part}") for part in parts]
        boundary: dict[str, Any] = {
            "type": "system",
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "isMeta": False,
            "timestamp": iso(time) or iso(self._now_ms),
            "uuid": names[0],
            "level": "info",
            "compactMetadata": self._metadata(likeness, words),
        }
        said: dict[str, Any] = {
            "type": "user",
            "message": {"role": "user", "content": words},
            "isVisibleInTranscriptOnly": True,
            "isCompactSummary": True,
            "uuid": names[1],
            "timestamp": iso(time + 1) or iso(self._now_ms + 1),
        }
        head: dict[str, Any] = {"parentUuid": None, "logicalParentUuid": self._followed(followed)}
        marks: dict[str, Any] = {"isSidechain": likeness.get("isSidechain") is True}
        prompt = {"promptId": names[2]} if "promptId" in likeness else {}
        return _New(
            _enveloped(head | marks, boundary, likeness),
            _enveloped({"parentUuid": names[0], **marks}, prompt | said, likeness),
        )

    def _followed(self, above: Entry) -> str | None:
        """Return the line that what stays followed so far; a line of progress it may be too."""
        if self.kept and follows(self._session, self.kept[0], self._way[self._at - 1]):
            return self._session.entry(self.kept[0]).parent_uuid
        return above.uuid

    def _likeness(self) -> dict[str, Any]:
        """Return a user's line after which new ones are made; what it lacks, the next one may have."""
        found: dict[str, Any] = {}
        near = (*self.kept[:_NEAR], *self.gone[: -_NEAR - 1 : -1])
        for row in near:
            if self._session.table.kind_of(row) == "user":
                found = found | {
                    name: value
                    for name, value in self._session.entry(row).data.items()
                    if name not in found and (not found or name in _SHARED)
                }
        return found

    def _metadata(self, likeness: Mapping[str, Any], words: str) -> dict[str, Any]:
        found: dict[str, Any] = {"trigger": "manual", "preTokens": self._before.tokens_estimate}
        if version_key(str(likeness.get("version") or "")) >= version_key(_COUNTS_AFTER):
            kept = set(self.kept)
            left = [
                estimate_tokens(message["content"])
                for message, rows in zip(self._before.messages, self._before.rows, strict=True)
                if not kept.isdisjoint(rows)
            ]
            found["postTokens"] = estimate_tokens(words) + sum(left)
        return found

    # Whether it came out right ------------------------------------------------------------------

    def _is_right(self, after: Context, result: Result, words: str) -> bool:
        """Say whether what stays is sent whole, behind the summary and nothing else."""
        if after.refused is not None or not after.messages:
            return False
        first, *rest = after.messages
        blocks: list[Mapping[str, Any]] = first["content"]
        if first["role"] != "user" or str(blocks[0].get("text")).rstrip("\n") != words.rstrip("\n"):
            return False
        if not self.kept:
            return len(blocks) == 1 and [result.source_row(row) for row in after.rows[0]] == [None]
        gone = set(self.gone)
        first_kept = (n for n, rows in enumerate(self._before.rows) if not gone.issuperset(rows))
        at = next(first_kept, None)
        if at is None:
            return False
        old: list[Mapping[str, Any]] = self._before.messages[at]["content"]
        own = [row for row in self._before.rows[at] if row not in gone]
        if self._before.messages[at]["role"] != "user":
            return False
        count = len(blocks) - 1
        return (
            bool(own)
            and [result.source_row(row) for row in after.rows[0]] == [None, *own]
            and blocks[1:] == old[len(old) - count :]
            and list(self._before.messages[at + 1 :]) == rest
        )

    def _is_seen(self, version: str, result: Result) -> bool:
        """Say whether an older client sees what it saw from there on, behind the summary."""
        era = rules(version)
        old, new = chain(self._session, era), chain(result.session, era)
        if old.refused is not None:
            return True
        came = [result.source_row(row) for row in new.rows]
        if not self.kept:
            return came == [None, None]
        if self.kept[0] not in old.rows:
            return True  # it goes another way there, and still does
        rows = list(old.rows)
        return came == [None, None, *rows[rows.index(self.kept[0]) :]]


_OLDER: Final = tuple(one.version for one in MEASURED[2:-1])


def _enveloped(
    head: Mapping[str, Any], body: Mapping[str, Any], likeness: Mapping[str, Any]
) -> dict[str, Any]:
    """Return a line with what all lines of a session have, before or after the rest as in another line."""
    shared = {name: likeness[name] for name in _ENVELOPE if name in likeness}
    keys = list(likeness)
    # Up to 2.1.45 they come first.
    is_first = "sessionId" in keys and "type" in keys and keys.index("sessionId") < keys.index("type")
    return {**head, **shared, **body} if is_first else {**head, **body, **shared}
