"""Redact a session: no secret is left in it, in its sub-agents or in what lies beside it."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.editing import (
    NO_CHANGE,
    Work,
    alive,
    begin,
    carry_out,
    leave_unfinished,
    refuse_if_alive,
    stamp_of,
    steps_of,
    work_out,
)
from clew.actions.footprints import Destination
from clew.actions.own_patterns import compiled, watched
from clew.edit.redact import gather, redact
from clew.edit.redact_history import gather_history, redact_history
from clew.edit.side_texts import gather_text, redact_text
from clew.session.session import Session
from clew.store.commit import Job, Replaced, commit
from clew.store.disk import DISK
from clew.store.journal import entries, forget
from clew.store.source import FileSource
from clew.store.state import make_private

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from clew.actions.editing import Outcome, Pieces, Wish
    from clew.actions.footprints import Footprint
    from clew.edit.changes import Changes
    from clew.edit.known_secrets import Secrets
    from clew.edit.redact import Redaction
    from clew.edit.secret_forms import Spans
    from clew.store.disk import Disk
    from clew.store.files import Store

__all__ = ["compiled", "placeholder_key", "redact_session"]

_PIECE: Final = 1 << 20


def redact_session(
    store: Store, name: str, wish: Wish, *, key: bytes, patterns: Sequence[re.Pattern[str]] = ()
) -> Outcome:
    """Take every secret out of a session and all that belongs to it; `key` makes the placeholders."""
    footprint = begin(store, name, wish)
    with watched(patterns) as own:
        outcome = _redacted(footprint, wish, key, own)
    if outcome.done is None or not wish.in_place:
        return outcome
    _forget_index()
    told = ["The index held words of it and was removed; it is built anew when it is needed."]
    if outcome.done.backups:
        told.append("The backup still holds the secrets: clew undo --forget removes it.")
    told += _kept_elsewhere(footprint.file.path, wish.state, outcome.done.id)
    return outcome._replace(notes=(*outcome.notes, *told))


def _redacted(footprint: Footprint, wish: Wish, key: bytes, own: Spans | None) -> Outcome:
    live = alive(footprint, wish)
    if wish.in_place:
        refuse_if_alive(footprint, live, force=wish.force)
    destination = None if wish.in_place else Destination.beside(footprint, wish.new_id)
    secrets = _gathered(footprint, own)
    history = _history(footprint) if wish.in_place else None
    if history is not None:
        secrets |= gather_history(history, footprint.file.id, own=own)
    made: list[Redaction] = []

    def make(session: Session) -> Changes:
        found = redact(session, key=key, own=own, known=secrets)
        made.append(found)
        if not wish.in_place and session is footprint.session:
            leave_unfinished(found, live)
        return found

    worked = work_out(footprint, make, wish, destination, make_agent=make)
    report = _Report(Counter(), Counter())
    for one in made:
        report.take(one)
    sides: dict[str, Pieces] = {}
    for side in footprint.sides if secrets.seen else ():
        clean = partial(redact_text, secrets=secrets, key=key, own=own)
        tally: Counter[str] = Counter()
        for _ in clean(_pieces(side.path), tally=tally):
            pass
        if tally:
            report.add(_SIDES.get(side.kind, "file beside it"), tally)
            sides[side.path] = partial(_cleaned, side.path, clean)
    listed: Changes | None = None
    if history is not None:
        tally = Counter()
        listed = redact_history(history, footprint.file.id, secrets, key, own=own, tally=tally)
        if tally:
            report.add("list of prompts", tally)
    is_same = not any(True for file in worked.plan.files for _ in steps_of(file))
    if is_same and not sides and not listed:
        return Work(footprint, worked, destination, notes=("There is no secret in it.", NO_CHANGE)).outcome
    work = Work(footprint, worked, destination, sides=sides, notes=(*report.notes(), *_left(made)))
    if wish.in_place and not wish.is_dry and (wish.force or not worked.losses):
        # Now too: whatever happens from here on, no word of what goes is left in it.
        _forget_index()
        if listed:
            _clean_history(listed, footprint, wish)
    return carry_out(work, wish)


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


def _gathered(footprint: Footprint, own: Spans | None) -> Secrets:
    """Return the secrets of all files: what is found once is looked for everywhere."""
    secrets = gather(footprint.session, own=own)
    for _, agent in footprint.agents:
        secrets |= gather(agent, own=own)
    for side in footprint.sides:
        secrets |= gather_text(_pieces(side.path), own=own)
    return secrets


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


def placeholder_key(state: Path, *, draw: Callable[[int], bytes], disk: Disk = DISK) -> bytes:
    """Return the key by which the same secret gets the same placeholder each time; it is made when needed."""
    path = state / "redaction-key"
    for _ in range(3):
        with contextlib.suppress(FileNotFoundError):
            data = path.read_bytes()
            if len(data) >= 16:
                return data
        make_private(state, disk)
        with contextlib.suppress(FileExistsError):
            descriptor = disk.create(str(path))
            try:
                disk.write(descriptor, draw(32))
                disk.sync(descriptor)
            finally:
                disk.close(descriptor)
    return draw(32)
