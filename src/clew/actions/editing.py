"""Edit a session: work out what becomes of its lines, look at the result before it is there, and write it.

Every edit goes this way. It makes a new session and leaves the old one alone, unless it is asked to work in
place. What would lose something that nobody asked to lose is refused.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from clew.actions.footprints import Destination, Footprint, open_footprint
from clew.actions.outcomes import Outcome, steps_of
from clew.edit.guards import ambiguities, losses
from clew.edit.plan import Drop, FilePlan, Keep, Plan
from clew.edit.thinking import drop_void
from clew.edit.woven import Result
from clew.errors import RefusedError
from clew.session.context import context
from clew.store.commit import Job, NewFile, Replaced, commit, copied
from clew.store.journal import entries, recover
from clew.store.live import Live, liveness
from clew.store.locks import hold
from clew.store.source import FileSource
from clew.store.writer import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from clew.edit.changes import Changes
    from clew.edit.plan import Step
    from clew.format.records import Fragment
    from clew.session.context import Context
    from clew.session.session import Session
    from clew.store.files import Store

UNFINISHED: Final = "still being written"
NO_CHANGE: Final = "There is nothing to change."


class Wish(NamedTuple):
    """How an edit is to be done, whatever it is."""

    command: str
    new_id: str
    """What the new session is to be called."""

    now_ms: int
    state: Path
    """Where the journal is."""

    is_dry: bool = False
    in_place: bool = False
    force: bool = False
    keep_thinking: bool = False


class Asked(NamedTuple):
    """What a command asks for by itself, so that it is no loss."""

    drops_turns: bool = False
    drops_boundaries: bool = False
    drops_prompt: bool = False
    """Even the last one."""

    changes_nothing_sent: bool = False
    """As of a clone: then no thinking is void, and nothing needs to be compared."""

    mends: bool = False
    """As of a repair: what is contradictory in the old session, or cut off at its end, is what it is for."""

    adds_only: bool = False
    """Lines at the end, which does no harm to whoever is writing it."""


NOTHING: Final = Asked()


Pieces = Callable[[], Iterable[bytes]]


class Extra(NamedTuple):
    """What an edit does besides changing lines."""

    sides: Mapping[str, Pieces] = {}
    """The side files that change, by their paths."""

    asides: tuple[NewFile, ...] = ()
    """New files away from the session, such as what is kept of what was taken out."""

    notes: tuple[str, ...] = ()
    is_change: bool = False
    """Whether there is something to do even if every line stays as it is."""

    first: Callable[[], None] | None = None
    """What is done right before anything is written, if it is."""


def edit_session(
    store: Store,
    name: str,
    wish: Wish,
    make: Callable[[Session], Changes],
    *,
    asked: Asked = NOTHING,
    make_agent: Callable[[Session], Changes] | None = None,
    also: Callable[[Worked], Extra] | None = None,
) -> Outcome:
    """Edit the session that a name stands for: `make` says what changes in it, `make_agent` in sub-agents.

    `also` is asked, when it is known what becomes of the lines, what else there is to do.
    """
    footprint = begin(store, name, wish)
    return edit_footprint(footprint, wish, make, asked=asked, make_agent=make_agent, also=also)


def edit_footprint(
    footprint: Footprint,
    wish: Wish,
    make: Callable[[Session], Changes],
    *,
    asked: Asked = NOTHING,
    make_agent: Callable[[Session], Changes] | None = None,
    also: Callable[[Worked], Extra] | None = None,
) -> Outcome:
    """Edit a session that is open: the steps that every edit of one session takes."""
    live = alive(footprint, wish)
    if wish.in_place and not asked.adds_only:
        refuse_if_alive(footprint, live, force=wish.force)
    destination = None if wish.in_place else Destination.beside(footprint, wish.new_id)

    def made(session: Session) -> Changes:
        changes = make(session)
        if destination is not None and not asked.mends:
            leave_unfinished(changes, live)
        return changes

    worked = work_out(footprint, made, wish, destination, asked=asked, make_agent=make_agent)
    extra = Extra() if also is None else also(worked)
    if worked.is_same and not extra.is_change:
        return Work(footprint, worked, destination, notes=(*extra.notes, NO_CHANGE)).outcome
    work = Work(footprint, worked, destination, extra.sides, extra.asides, extra.notes)
    if extra.first is not None and not wish.is_dry and (wish.force or not worked.losses):
        extra.first()
    return carry_out(work, wish)


def begin(store: Store, name: str, wish: Wish) -> Footprint:
    """Open a session to edit it; an edit that was interrupted is put right first."""
    if not wish.is_dry:
        recover(wish.state)
    return open_footprint(store, name, whole_lines=wish.in_place and wish.force)


class Worked(NamedTuple):
    """A plan worked out: what it makes, and what is sent before and after."""

    plan: Plan
    before: Context
    after: Context
    losses: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether every line stays as it is."""
        return not any(True for file in self.plan.files for _ in steps_of(file))


def work_out(
    footprint: Footprint,
    make: Callable[[Session], Changes],
    wish: Wish,
    destination: Destination | None,
    *,
    asked: Asked = NOTHING,
    make_agent: Callable[[Session], Changes] | None = None,
    is_brief: bool = False,
) -> Worked:
    """Make the plan of an edit that changes lines of a session; `make_agent` is for its sub-agents' files.

    `is_brief` is for who needs to know nothing of what is sent: see `context`.
    """
    session = footprint.session
    if not asked.mends and not wish.force:
        refuse_ambiguous(session)
    changes = make(session)
    target = footprint.file.path if destination is None else destination.path
    before = context(session, is_brief=is_brief)
    result = Result(changes.plan(target))
    after = context(result.session, is_brief=is_brief)
    voided = 0
    if not asked.changes_nothing_sent and not wish.keep_thinking:
        voided = drop_void(changes, before, result, after)
        if voided:
            result = Result(changes.plan(target))
            after = context(result.session, is_brief=is_brief)
    found = tuple(
        losses(
            changes,
            before,
            result,
            after,
            may_drop_turns=asked.drops_turns,
            may_drop_boundaries=asked.drops_boundaries,
            may_drop_prompt=asked.drops_prompt,
        )
    )
    files: list[FilePlan] = []
    for agent, inner in footprint.agents:
        place = agent.path if destination is None else destination.agent(agent)
        files.append(FilePlan(inner, place) if make_agent is None else make_agent(inner).plan(place))
    files.append(changes.plan(target))
    return Worked(Plan(tuple(files), thinking_dropped=voided), before, after, found)


def refuse_ambiguous(session: Session) -> None:
    """Refuse to edit a session of which it is not clear what it says."""
    for found in ambiguities(session):
        raise RefusedError(
            f"{found}; which of them counts is for `clew repair` to settle", hint="clew repair first"
        )


class Work(NamedTuple):
    """What is to be written of one session."""

    footprint: Footprint
    worked: Worked
    destination: Destination | None
    """None for the session itself."""

    sides: Mapping[str, Pieces] = {}
    """The side files that change, by their paths."""

    asides: tuple[NewFile, ...] = ()
    """What is written away from it."""

    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """What it would be."""
        worked = self.worked
        return Outcome(
            self.footprint,
            worked.plan,
            self.destination,
            worked.before,
            worked.after,
            None,
            worked.losses,
            self.notes,
        )

    def new(self) -> Iterator[NewFile]:
        """Give the files that are new; of a new session its own comes last."""
        yield from self.asides
        destination = self.destination
        if destination is None:
            return
        for side in self.footprint.sides:
            target = destination.side(self.footprint, side.path)
            if target is not None:
                yield NewFile(target, self.sides.get(side.path) or copied(side.path))
        for file in self.worked.plan.files:
            yield NewFile(os.path.join(destination.folder, file.target), file.pieces)  # noqa: PTH118

    def replaced(self, *, may_grow: bool) -> Iterator[Replaced]:
        """Give the files that change in place; somebody may be adding lines to them."""
        if self.destination is not None:
            return
        for path, pieces in self.sides.items():
            with FileSource(path) as source:
                yield Replaced(path, pieces, Stamp.of(source), may_grow)
        for made in self.worked.plan.files:
            for file in made.plans:
                if any(not isinstance(step, Keep) for _, step in file.steps()):
                    yield Replaced(file.target, file.pieces, stamp_of(file.session), may_grow)


def carry_out(work: Work, wish: Wish) -> Outcome:
    """Write what a plan makes, or only say what it would be."""
    (outcome,) = carry_out_all([work], wish)
    return outcome


def carry_out_all(works: Sequence[Work], wish: Wish) -> list[Outcome]:
    """Do so for several sessions at once: all of it is done, or nothing."""
    found = [loss for work in works for loss in work.worked.losses]
    if found and not wish.force and not wish.is_dry:
        raise RefusedError(found[0])
    outcomes = [work.outcome for work in works]
    if wish.is_dry:
        return outcomes
    paths = dict.fromkeys(work.footprint.file.path for work in works)
    with ExitStack() as held:
        for path in sorted(paths):
            held.enter_context(hold(path, state=wish.state))
        job = Job(
            wish.command,
            next(iter(paths)),
            works[-1].destination.path if works[-1].destination is not None else None,
            new=tuple(one for work in works for one in work.new()),
            replaced=tuple(one for work in works for one in work.replaced(may_grow=wish.force)),
        )
        done = commit(job, state=wish.state, now_ms=wish.now_ms)
    return [outcome._replace(done=done) for outcome in outcomes]


def stamp_of(session: Session) -> Stamp:
    """Return how the file of a session was when it was read."""
    source: Any = session.source
    return Stamp.of(source)


def alive(footprint: Footprint, wish: Wish) -> Live:
    """Say whether somebody may be writing the session now; that we wrote it ourselves is no sign of it."""
    live = liveness(footprint.file, now=wish.now_ms / 1000)
    path = footprint.file.path
    if live.why == "recent" and any(entry.wrote(path) for entry in entries(wish.state)):
        return Live(False, "quiet")
    return live


def leave_unfinished(changes: Changes, live: Live) -> None:
    """Leave out an end that somebody is still writing: a copy ends in a whole line."""
    session = changes.session
    last = session.fragments[-1] if session.fragments else None
    if not live.is_live or last is None or last.offset + last.length < session.source.size:
        return

    others = changes.damage

    def mended(fragment: Fragment) -> Step:
        return Drop(UNFINISHED) if fragment.offset == last.offset else others(fragment)

    changes.mend(mended)


def refuse_if_alive(footprint: Footprint, live: Live, *, force: bool) -> None:
    """Refuse to work in place on a session that somebody may be writing."""
    if not live.is_live or force:
        return
    why = {
        "process": f"process {live.pid} says it is at it",
        "open": f"process {live.pid} has it open",
        "recent": "it was written within the last ten minutes",
    }.get(live.why, live.why)
    raise RefusedError(
        f"somebody may be writing {footprint.file.path}: {why}",
        hint="without --in-place a new session is made of what is there now",
    )
