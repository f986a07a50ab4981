"""Redact a session: no secret is left in it, in its sub-agents or in what lies beside it."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.editing import Extra, begin, edit_footprint, refuse_ambiguous, stamp_of, work_out
from clew.actions.outcomes import steps_of
from clew.actions.own_patterns import compiled, watched
from clew.edit.plan import Plan
from clew.edit.redact import gather, redact
from clew.edit.redact_history import gather_history, redact_history
from clew.edit.side_texts import gather_text, redact_text
from clew.edit.thinking import may_think
from clew.errors import RefusedError
from clew.session.session import Session
from clew.store.commit import Job, Replaced, commit
from clew.store.journal import entries, forget
from clew.store.redaction_key import placeholder_key
from clew.store.source import FileSource

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from clew.actions.editing import Pieces, Wish, Worked
    from clew.actions.footprints import Footprint
    from clew.actions.outcomes import Outcome
    from clew.edit.changes import Changes
    from clew.edit.known_secrets import Secrets
    from clew.edit.redact import Redaction
    from clew.edit.secret_forms import Spans
    from clew.store.files import Store

__all__ = ["Redacted", "compiled", "placeholder_key", "redact_session", "redacted"]

_PIECE: Final = 1 << 20


def redact_session(
    store: Store,
    name: str,
    wish: Wish,
    *,
    key: bytes,
    patterns: Sequence[re.Pattern[str]] = (),
    progress: Callable[[int], Callable[[int], None]] | None = None,
) -> Outcome:
    """Take every secret out of a session and all that belongs to it; `key` makes the placeholders.

    `progress` is told how many bytes there are to go through, and gives what is told of those that are done.
    """
    footprint = begin(store, name, wish)
    with watched(patterns) as own:
        advance = None if progress is None else progress(_work(footprint))
        redacting = _Redacting(footprint, wish, key, own, advance)
        outcome = edit_footprint(
            footprint, wish, redacting.make, make_agent=redacting.make, also=redacting.also
        )
    if outcome.done is None or not wish.in_place:
        return outcome
    _forget_index()
    told = ["The index held words of it and was removed; it is built anew when it is needed."]
    if outcome.done.backups:
        told.append("The backup still holds the secrets: clew undo --forget removes it.")
    told += _kept_elsewhere(footprint.file.path, wish.state, outcome.done.id)
    return outcome._replace(notes=(*outcome.notes, *told))


class Redacted(NamedTuple):
    """A session without its secrets, as it would be written."""

    plan: Plan
    """Of its lines: sub-agents in the order of the footprint, then the session's own."""

    sides: Mapping[str, Pieces]
    """The side files that change, by their paths."""

    notes: tuple[str, ...]


@contextmanager
def redacted(
    footprint: Footprint,
    wish: Wish,
    *,
    key: bytes,
    patterns: Sequence[re.Pattern[str]] = (),
    progress: Callable[[int], Callable[[int], None]] | None = None,
) -> Generator[Redacted]:
    """Give what `redact_session` would write of a session, to be read while this lasts; write nothing."""
    with watched(patterns) as own:
        advance = None if progress is None else progress(_work(footprint))
        redacting = _Redacting(footprint, wish._replace(in_place=False), key, own, advance)
        plan = _planned(footprint, wish, redacting.make)
        extra = redacting.extra(is_same=not any(True for file in plan.files for _ in steps_of(file)))
        yield Redacted(plan, extra.sides, extra.notes)


def _planned(footprint: Footprint, wish: Wish, make: Callable[[Session], Changes]) -> Plan:
    """Work out what becomes of the lines.

    What is sent is looked at only where it decides something: where lines go, or thinking may be void. It may
    be as large as the session, and is needed twice.
    """
    session = footprint.session
    if not wish.force:
        refuse_ambiguous(session)
    changes = make(session)
    if not changes or (changes.keeps_shape and not may_think(session)):
        agents = tuple(make(inner).plan(agent.path) for agent, inner in footprint.agents)
        return Plan((*agents, changes.plan(footprint.file.path)))
    worked = work_out(footprint, lambda _: changes, wish, None, make_agent=make, is_brief=True)
    if worked.losses and not wish.force:
        raise RefusedError(worked.losses[0])
    return worked.plan


def _work(footprint: Footprint) -> int:
    """Return how many bytes are gone through: to find the secrets, and to take them out."""
    return 2 * sum(one.source.size for one in (footprint.session, *(one for _, one in footprint.agents)))


class _Redacting:
    """Takes the secrets out of all files of one session."""

    def __init__(
        self,
        footprint: Footprint,
        wish: Wish,
        key: bytes,
        own: Spans | None,
        advance: Callable[[int], None] | None,
    ) -> None:
        self._footprint = footprint
        self._wish = wish
        self._key = key
        self._own = own
        self._advance = advance
        self._made: list[Redaction] = []
        self._history = _history(footprint) if wish.in_place else None

    @cached_property
    def _secrets(self) -> Secrets:
        """The secrets of all files: what is found once is looked for everywhere."""
        footprint, own = self._footprint, self._own
        secrets = gather(footprint.session, own=own, advance=self._advance)
        for _, agent in footprint.agents:
            secrets |= gather(agent, own=own, advance=self._advance)
        for side in footprint.sides:
            secrets |= gather_text(_pieces(side.path), own=own)
        if self._history is not None:
            secrets |= gather_history(self._history, footprint.file.id, own=own)
        return secrets

    def make(self, session: Session) -> Changes:
        """Plan to take them out of the session or of a sub-agent."""
        found = redact(session, key=self._key, own=self._own, known=self._secrets, advance=self._advance)
        self._made.append(found)
        return found

    def also(self, worked: Worked) -> Extra:
        """Clean the files beside it, and in place the client's list of prompts."""
        return self.extra(is_same=worked.is_same)

    def extra(self, *, is_same: bool) -> Extra:
        """Do so, knowing whether its lines stay as they are."""
        report = _Report(Counter(), Counter())
        for one in self._made:
            report.take(one)
        sides = self._sides(report)
        listed = self._listed(report)
        if is_same and not sides and not listed:
            return Extra(notes=("There is no secret in it.",))
        notes = (*report.notes(), *_left(self._made))
        first = partial(self._begin, listed) if self._wish.in_place else None
        return Extra(sides, notes=notes, is_change=True, first=first)

    def _sides(self, report: _Report) -> dict[str, Pieces]:
        found: dict[str, Pieces] = {}
        clean = partial(redact_text, secrets=self._secrets, key=self._key, own=self._own)
        for side in self._footprint.sides if self._secrets.seen else ():
            tally: Counter[str] = Counter()
            for _ in clean(_pieces(side.path), tally=tally):
                pass
            if tally:
                report.add(_SIDES.get(side.kind, "file beside it"), tally)
                found[side.path] = partial(_cleaned, side.path, clean)
        return found

    def _listed(self, report: _Report) -> Changes | None:
        if self._history is None:
            return None
        tally: Counter[str] = Counter()
        id_ = self._footprint.file.id
        listed = redact_history(self._history, id_, self._secrets, self._key, own=self._own, tally=tally)
        if tally:
            report.add("list of prompts", tally)
        return listed

    def _begin(self, listed: Changes | None) -> None:
        # Now too: whatever happens from here on, no word of what goes is left in it.
        _forget_index()
        if listed:
            _clean_history(listed, self._footprint, self._wish)


def _history_path(footprint: Footprint) -> str:
    return os.path.join(footprint.file.root or "", "history.jsonl")  # noqa: PTH118


def _history(footprint: Footprint) -> Session | None:
    """Open the client's list of prompts, which has those of the session too."""
    path = _history_path(footprint)
    if footprint.file.root is None or not os.path.isfile(path) or os.path.islink(path):  # noqa: PTH113, PTH114
        return None
    return Session.read(FileSource(path))


def _clean_history(listed: Changes, footprint: Footprint, wish: Wish) -> None:
    """Clean the list of prompts, of which no backup is kept: new ones come, so it could not be put back."""
    path = _history_path(footprint)
    file = Replaced(path, listed.plan(path).pieces, stamp_of(listed.session), may_grow=True)
    job = Job(f"{wish.command} (prompts)", footprint.file.path, replaced=(file,))
    # A moment before the edit itself, which is the one to be undone.
    done = commit(job, state=wish.state, now_ms=wish.now_ms - 1)
    forget(wish.state, done.id)


def _pieces(path: str) -> Iterator[bytes]:
    with FileSource(path) as source:
        for at in range(0, source.size, _PIECE):
            yield source.read(at, _PIECE)


def _cleaned(path: str, clean: Callable[[Iterable[bytes]], Iterator[bytes]]) -> Iterator[bytes]:
    return clean(_pieces(path))


def _forget_index() -> None:
    from clew.catalog.place import remove_all

    remove_all()


def _kept_elsewhere(path: str, state: Path, id_: str) -> Iterator[str]:
    """Name what older edits keep of the session, and the archive, where a secret is still in."""
    for entry in entries(state):
        kept = [*entry.backups, *entry.trash]
        if entry.id != id_ and kept and path in {entry.session, *entry.files}:
            yield f"An older edit keeps what was there before: clew undo {entry.id} --forget removes it."
    yield "Copies that you made yourself, and the archive, are as they were."


# What is told ------------------------------------------------------------------------------------

_SIDES: Final = {
    "meta": "sub-agent's description",
    "tool-result": "tool result file",
    "title": "title",
    "file-history": "file history",
    "todo": "todo list",
    "task": "task",
}


class _Report(NamedTuple):
    """How many were found, by rule and by place."""

    rules: Counter[str]
    places: Counter[str]

    def take(self, made: Redaction) -> None:
        """Add what was found in a session or a sub-agent."""
        for place in made.places:
            self.add(place.place, Counter({place.rule: place.times}))

    def add(self, place: str, rules: Counter[str]) -> None:
        """Add what was found in a place."""
        self.rules.update(rules)
        self.places[place] += rules.total()

    def notes(self) -> tuple[str, ...]:
        """Say it in two sentences."""
        return tuple(
            f"{head}: {', '.join(f'{name} ×{times}' for name, times in tally.most_common())}."
            for head, tally in (("Found", self.rules), ("In", self.places))
            if tally
        )


def _left(made: Sequence[Redaction]) -> Iterator[str]:
    if left := sum(one.left for one in made):
        yield f"{left} stay, as they are names or ids that hold the session together."
