"""Move sessions to where their project is now: the project's folder was moved or renamed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from clew.actions.editing import alive, begin, refuse_if_alive, stamp_of
from clew.actions.footprints import open_footprint
from clew.edit.changes import Changes
from clew.edit.move import move, moved_path
from clew.edit.plan import Keep
from clew.errors import RefusedError, UsageError
from clew.format.patch import replace
from clew.session.session import Session
from clew.store.commit import Job, Moved, Replaced, commit
from clew.store.journal import recover
from clew.store.locks import hold
from clew.store.slugs import folder_name
from clew.store.source import FileSource
from clew.store.writer import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.actions.editing import Wish
    from clew.actions.footprints import Footprint
    from clew.store.commit import Done
    from clew.store.files import Store

_HISTORY = "history.jsonl"


class Relocated(NamedTuple):
    """What moving sessions did, or would do."""

    old: str
    new: str
    sessions: tuple[str, ...]
    moves: tuple[Moved, ...]
    rewritten: tuple[str, ...]
    """The files in which lines tell of the new folder."""

    done: Done | None

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of `clew mv --json`."""
        return {
            "old": self.old,
            "new": self.new,
            "sessions": [*self.sessions],
            "moved": [{"from": one.source, "to": one.target} for one in self.moves],
            "rewritten": [*self.rewritten],
            "journal": None if self.done is None else self.done.id,
            "durable": None if self.done is None else self.done.is_lasting,
        }


def move_sessions(store: Store, what: str, to: str, wish: Wish, *, is_project: bool = False) -> Relocated:
    """Move a session, or all sessions of a project that was at a folder, to the project at another folder."""
    new = os.path.realpath(os.path.expanduser(to))  # noqa: PTH111
    if not wish.is_dry:
        recover(wish.state)
    if is_project:
        old = os.path.abspath(os.path.expanduser(what))  # noqa: PTH100, PTH111
        footprints = [
            open_footprint(store, file.path) for file in store.listing().sessions if _is_of(file.path, old)
        ]
        if not footprints:
            raise UsageError(
                f"no session was written in {old}", hint="clew ls --columns project lists the folders"
            )
    else:
        footprints = [begin(store, what, wish)]
        found = next(_places(footprints[0].session), None)
        if found is None:
            raise UsageError("the session does not say in which folder it was written")
        old = found
    if old == new:
        raise UsageError(f"it is in {new} already")
    for footprint in footprints:
        refuse_if_alive(footprint, alive(footprint, wish), force=wish.force)
    replaced = [one for footprint in footprints for one in _rewritten(footprint, old, new)]
    roots = {footprint.file.root for footprint in footprints if footprint.file.root is not None}
    ids = {footprint.file.id for footprint in footprints}
    for root in sorted(roots):
        replaced += _history(os.path.join(root, _HISTORY), ids, old, new)  # noqa: PTH118
    moves = [one for footprint in footprints for one in _moves(footprint, folder_name(new))]
    for one in moves:
        if os.path.lexists(one.target):
            raise RefusedError(f"{one.target} is there already", hint=None)
    result = Relocated(
        old,
        new,
        tuple(sorted(ids)),
        tuple(moves),
        tuple(one.path for one in replaced),
        None,
    )
    if wish.is_dry:
        return result
    with hold(footprints[0].file.path, state=wish.state):
        job = Job(wish.command, footprints[0].file.path, replaced=tuple(replaced), moved=tuple(moves))
        done = commit(job, state=wish.state, now_ms=wish.now_ms)
    return result._replace(done=done)


def _is_of(path: str, old: str) -> bool:
    from clew.store.reader import open_session

    return any(moved_path(place, old, "/") is not None for place in _places(open_session(path)))


def _places(session: Session) -> Iterator[str]:
    """Give the folders that the lines of a session tell of."""
    for row in range(len(session)):
        place = session.entry(row).text("cwd")
        if place is not None:
            yield place


def _rewritten(footprint: Footprint, old: str, new: str) -> Iterator[Replaced]:
    for path, session in (
        (footprint.file.path, footprint.session),
        *((agent.path, inner) for agent, inner in footprint.agents),
    ):
        plan = move(session, old=old, new=new).plan(path)
        if any(not isinstance(step, Keep) for _, step in plan.steps()):
            yield Replaced(path, plan.pieces, stamp_of(session))


def _history(path: str, ids: set[str], old: str, new: str) -> Iterator[Replaced]:
    """Let the prompts of the sessions in the client's own list be of the new folder."""
    if not os.path.isfile(path) or os.path.islink(path):  # noqa: PTH113, PTH114
        return
    source = FileSource(path)
    session = Session.read(source)
    changes = Changes(session)
    for row in range(len(session)):
        entry = session.entry(row)
        place = entry.text("project")
        moved = None if place is None else moved_path(place, old, new)
        if moved is not None and (entry.session_id is None or entry.session_id in ids):
            changes.change(row, lambda raw, moved=moved: replace(raw, ("project",), moved), "the new folder")
    if changes:
        yield Replaced(path, changes.plan(path).pieces, Stamp.of(source))


def _moves(footprint: Footprint, folder: str) -> Iterator[Moved]:
    """Give what is moved: the session's file, its own folder, and sub-agents' files beside it."""
    projects = os.path.dirname(footprint.folder)  # noqa: PTH120
    target = os.path.join(projects, folder)  # noqa: PTH118
    if target == footprint.folder:
        return  # two folders that the client calls by one name
    paths: list[str] = [footprint.file.path]
    own = footprint.file.path.removesuffix(".jsonl")
    if os.path.isdir(own):  # noqa: PTH112
        paths.append(own)
    paths += _beside(footprint, own)
    for path in paths:
        yield Moved(path, os.path.join(target, os.path.basename(path)))  # noqa: PTH118, PTH119


def _beside(footprint: Footprint, own: str) -> Sequence[str]:
    found = [agent.path for agent, _ in footprint.agents] + [side.path for side in footprint.sides]
    return [
        path
        for path in found
        if os.path.dirname(path) == footprint.folder and not path.startswith(own)  # noqa: PTH120
    ]
