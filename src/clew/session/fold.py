"""The facts of a session, kept up to date line by line.

Law: fed in any number of steps, a fold says the same, and the same as what is computed from a whole
`Session`. Memory stays small however long the file is. A `Summary` can also be put away between two steps,
as bytes, and be taken up again by another process.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final, Literal, Protocol

import msgspec
from msgspec import Struct

from clew.format.kinds import PrLink
from clew.format.records import Record, scan
from clew.format.times import milliseconds
from clew.session.ages import Oldest
from clew.session.messages import SYNTHETIC_MODEL
from clew.session.openings import Opening, OpeningState
from clew.session.prompts import is_human, read
from clew.session.states import Form, StateError, lasting_hash, packed_or_none, unpacked_or_none
from clew.session.tallies import (
    LONGEST_NAME,
    MOST_NAMES,
    CallState,
    CallTally,
    DamageState,
    DamageTally,
    MessageState,
    MessageTally,
    Names,
    TurnState,
    TurnTally,
    hashes,
)
from clew.session.titles import KINDS, LONGEST, Titles, TitleSource, TitleState, Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.format.lines import Source
    from clew.format.records import Fragment
    from clew.format.skim import Skim

SessionKind = Literal["conversation", "mixed", "summary", "agent", "empty"]

_CHUNK: Final = 1 << 20


class Fold(Protocol):
    """Something that is fed records and fragments one at a time, in file order."""

    def add(self, item: Record | Fragment) -> None:
        """Take the next one."""
        ...


class Extent(Struct, frozen=True):
    """How much was gone through."""

    bytes: int
    lines: int
    """As `wc -l` counts them, and one more for an unfinished last line."""


def fold(source: Source, *folds: Fold) -> Extent:
    """Go through a file once and feed every fold."""
    end = number = 0
    for item in scan(source):
        end, number = item.offset + item.length, item.number
        for each in folds:
            each.add(item)
    return Extent(source.size, number + _blank_lines(source, end))


def _blank_lines(source: Source, start: int) -> int:
    """Count the lines after the last record or fragment, which ends at `start`; all of them are blank."""
    # The line that ends there may have its own ending still to come, which is no line more.
    is_open = start > 0 and source.read(start - 1, 1) != b"\n"
    lines, last = 0, b"\n"
    at = start
    while piece := source.read(at, _CHUNK):
        lines += piece.count(b"\n")
        last = piece[-1:]
        at += len(piece)
    lines += last != b"\n"
    return max(0, lines - 1) if is_open and at > start else lines


class Pr(Struct, frozen=True):
    """A pull request that came out of a session."""

    number: int | None
    url: str | None
    repository: str | None


class Facts(Struct, frozen=True):
    """What a list of sessions shows of one."""

    title: str | None
    title_source: TitleSource | None
    first_prompt: str | None
    started: int | None
    ended: int | None
    turns: int
    messages: int
    tool_calls: int
    failed_calls: int
    models: tuple[str, ...]
    """The most used first, without the client's own."""

    git_branch: str | None
    versions: tuple[str, ...]
    session_ids: tuple[str, ...]
    """The ids inside, the one on most lines first."""

    first_session_id: str | None
    """The id on the first line that has one; a continuation begins with that of the session before."""

    agent_id: str | None
    slug: str | None
    cwd: str | None
    kind: SessionKind
    damaged: int
    is_unfinished: bool
    """Whether the last line has no end, as while it is being written; it counts as damaged too."""

    bytes: int
    lines: int
    prs: tuple[Pr, ...]
    summaries: Mapping[str, str]
    """Summaries in this file by the uuid they describe, which may be in another file."""

    oldest: int | None
    """The time of the oldest line of any kind: `ages.oldest`, which tells whose a copied message is."""


class _State(msgspec.Struct, array_like=True):
    """A `Summary` put away."""

    messages: MessageState
    calls: CallState
    main: TurnState
    all: TurnState
    damage: DamageState
    titles: TitleState
    names: list[list[tuple[bytes, int]]]
    uuids: bytes
    prs: list[tuple[int | None, bytes | None, bytes | None]]
    texts: list[bytes | None]
    times: list[int | None]
    marks: list[bool]
    opening: OpeningState | None


_FORM: Final = Form("summary", 2, _State)


class Summary:
    """Gathers what a list of sessions shows of one."""

    def __init__(self) -> None:
        self._messages = MessageTally()
        self._calls = CallTally()
        self._main = TurnTally()
        self._all = TurnTally()
        self._damage = DamageTally()
        self._titles = Titles()
        self._models = Names()
        self._versions = Names()
        self._sessions = Names()
        self._uuids = array("q")
        self._prs: dict[Pr, None] = {}
        self._prompts: list[str | None] = [None, None]
        self._oldest = Oldest()
        self._started: int | None = None
        self._ended: int | None = None
        self._first_session_id: str | None = None
        self._agent_id: str | None = None
        self._git_branch: str | None = None
        self._slug: str | None = None
        self._cwd: str | None = None
        self._has_main = False
        self._has_side = False
        self._begins_with_summary = False
        self._opening: Opening | None = Opening()
        """How it begins, as long as it may be a sub-agent's own file."""

    def add(self, item: Record | Fragment) -> None:
        """Take the next record or fragment."""
        self._damage.add(item)
        if not isinstance(item, Record):
            return
        facts = item.facts
        self._oldest.add(facts.time)
        if facts.uuid is not None:
            if self._opening is not None:
                self._opening.line(facts, self._uuids)
            self._uuids.append(lasting_hash(facts.uuid))
        if facts.version is not None:
            self._versions.add(facts.version)
        if facts.session_id is not None:
            self._sessions.add(facts.session_id)
            self._first_session_id = self._first_session_id or facts.session_id[:LONGEST_NAME]
        self._slug = facts.slug or self._slug
        self._cwd = self._cwd or facts.cwd
        self._git_branch = facts.git_branch or self._git_branch
        match facts.role:
            case "user":
                self._talk(facts)
                self._user(item, facts)
            case "assistant":
                self._talk(facts)
                self._assistant(facts)
            case kind:
                self._other(item, kind)

    def _talk(self, facts: Skim) -> None:
        if facts.is_sidechain:
            self._has_side = True
            self._agent_id = self._agent_id or facts.agent_id
        else:
            self._has_main = True
            self._opening = None
        time = milliseconds(facts.time)
        if time is not None:
            self._started = time if self._started is None else min(self._started, time)
            self._ended = time if self._ended is None else max(self._ended, time)

    def _user(self, item: Record, facts: Skim) -> None:
        self._messages.user(facts)
        body = facts.body
        if isinstance(body, list):
            for block in body:
                if block.type == "tool_result":
                    self._calls.result(block.tool_use_id, block.is_error is True)
        if is_human(facts):
            self._prompt(self._all, 1, item)
            if not facts.is_sidechain:
                self._prompt(self._main, 0, item)

    def _prompt(self, turns: TurnTally, place: int, item: Record) -> None:
        is_first = turns.prompt(item.facts) and turns.prompts == 1
        opening = self._opening
        words: str | None = None
        if is_first or (opening is not None and opening.is_asked()):
            words = read(item.decoded()).words[: LONGEST * 8]
        if is_first:
            self._prompts[place] = words
        if opening is not None:
            opening.prompt(words)

    def _assistant(self, facts: Skim) -> None:
        self._messages.assistant(facts)
        if self._all.answer(facts) and self._opening is not None:
            self._opening.answer()
        if not facts.is_sidechain:
            self._main.answer(facts)
        if facts.message is not None and facts.message.model not in {None, SYNTHETIC_MODEL}:
            self._models.add(facts.message.model or "")
        body = facts.body
        if isinstance(body, list):
            for block in body:
                if block.type == "tool_use":
                    self._calls.call(block.id)

    def _other(self, item: Record, kind: str | None) -> None:
        if kind in KINDS:
            self._titles.add(item.decoded())
            if kind == "summary" and not self._has_main and not self._has_side:
                self._begins_with_summary = True
        elif kind == "pr-link" and len(self._prs) < MOST_NAMES:
            link = PrLink(item.decoded().data)
            self._prs[Pr(link.number, link.url, link.repository)] = None

    def _kind(self) -> SessionKind:
        if self._has_main:
            return "mixed" if self._begins_with_summary else "conversation"
        if self._has_side:
            return "agent"
        return "summary" if self._begins_with_summary else "empty"

    def is_told(self, summaries: Told) -> bool:
        """Say whether one of the summaries is about a line of this file."""
        hashed = summaries.hashed(lasting_hash)
        return any(uuid in hashed for uuid in self._uuids) if hashed else False

    def result(
        self, extent: Extent | None = None, *, summaries: Told | Mapping[str, str] | None = None
    ) -> Facts:
        """Return the facts so far; `summaries` are those of other files, by the uuid they describe."""
        calls, _, _, _, failed = self._calls.sums()
        turns = self._main if self._has_main else self._all
        first_prompt = self._prompts[0 if self._has_main else 1]
        has_opening = turns.has_opening
        told = None if self._opening is None else self._opening.told(self._uuids)
        if told is not None:
            has_opening, first_prompt = told
        title = self._titles.best(self._uuids, first_prompt, summaries, hash_of=lasting_hash)
        return Facts(
            title.text if title else None,
            title.source if title else None,
            first_prompt,
            self._started,
            self._ended,
            turns.prompts + has_opening,
            self._messages.count(),
            calls,
            failed,
            self._models.ranked(),
            self._git_branch,
            tuple(self._versions.counts),
            self._sessions.ranked(),
            self._first_session_id,
            self._agent_id,
            self._slug,
            self._cwd,
            self._kind(),
            self._damage.lines,
            self._damage.is_unfinished,
            extent.bytes if extent else self._damage.end,
            extent.lines if extent else self._damage.number,
            tuple(self._prs),
            dict(self._titles.summaries),
            self._oldest.ms,
        )

    def state(self) -> bytes:
        """Put what was gathered away, in some 20 bytes a line.

        Law: taken up again and fed the rest of the items, it is what it would have been without the pause.
        """
        found = (self._first_session_id, self._agent_id, self._git_branch, self._slug, self._cwd)
        first, first_of_all = self._prompts
        # The first of all serves only as long as there is none of the main conversation.
        prompts = (first, first_of_all if first is None else None)
        return _FORM.pack(
            _State(
                self._messages.state(),
                self._calls.state(),
                self._main.state(),
                self._all.state(),
                self._damage.state(),
                self._titles.state(),
                [self._models.state(), self._versions.state(), self._sessions.state()],
                self._uuids.tobytes(),
                [(pr.number, packed_or_none(pr.url), packed_or_none(pr.repository)) for pr in self._prs],
                [*map(packed_or_none, (*prompts, *found))],
                [self._oldest.ms, self._started, self._ended],
                [self._has_main, self._has_side, self._begins_with_summary],
                None if self._opening is None else self._opening.state(),
            )
        )

    @classmethod
    def restore(cls, state: bytes) -> Summary:
        """Take a summary up again; a `StateError` says that the file must be read from its beginning."""
        kept, summary = _FORM.unpack(state), cls()
        try:
            summary._take_up(kept)
        except ValueError as error:  # half a hash, too few of something
            raise StateError("the state is damaged") from error
        return summary

    def _take_up(self, kept: _State) -> None:
        self._messages = MessageTally.restore(kept.messages)
        self._calls = CallTally.restore(kept.calls)
        self._main, self._all = TurnTally.restore(kept.main), TurnTally.restore(kept.all)
        self._damage = DamageTally.restore(kept.damage)
        self._titles = Titles.restore(kept.titles)
        self._models, self._versions, self._sessions = map(Names.restore, kept.names)
        self._uuids = hashes(kept.uuids)
        self._prs = {
            Pr(number, unpacked_or_none(url), unpacked_or_none(repository)): None
            for number, url, repository in kept.prs
        }
        first, first_of_all, *found = map(unpacked_or_none, kept.texts)
        self._prompts = [first, first_of_all]
        self._first_session_id, self._agent_id, self._git_branch, self._slug, self._cwd = found
        oldest, self._started, self._ended = kept.times
        self._oldest = Oldest(oldest)
        self._has_main, self._has_side, self._begins_with_summary = kept.marks
        self._opening = None if kept.opening is None else Opening.restore(kept.opening)
