"""Clone a session: the same conversation under another id, whole or up to a line, here or elsewhere."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clew.actions.editing import Work, Worked, alive, begin, carry_out, leave_unfinished
from clew.actions.footprints import Destination
from clew.actions.reading import find_line
from clew.edit.changes import Changes
from clew.edit.clone import Agent, clone, up_to
from clew.edit.guards import losses
from clew.edit.woven import Result
from clew.errors import UsageError
from clew.session.context import context
from clew.store.slugs import folder_name

if TYPE_CHECKING:
    from clew.actions.editing import Wish
    from clew.actions.footprints import Footprint
    from clew.actions.outcomes import Outcome
    from clew.store.files import Store


def clone_session(
    store: Store,
    name: str,
    wish: Wish,
    *,
    seed: bytes,
    at: str | None = None,
    to: str | None = None,
    title: str | None = None,
) -> Outcome:
    """Clone a session. `at` is the line it is to end in, `to` the folder of another project."""
    footprint = begin(store, name, wish)
    if footprint.file.is_agent:
        raise UsageError("a sub-agent has no session of its own to clone", hint="name its session")
    session = footprint.session
    changes = Changes(session) if at is None else up_to(session, find_line(session, at))
    leave_unfinished(changes, alive(footprint, wish))
    if title is not None:
        named = {"type": "custom-title", "customTitle": title, "sessionId": session.name}
        changes.add(named, "the title asked for")
    destination = place_of(footprint, wish.new_id, to)
    plan = clone(
        session,
        new_id=destination.id,
        seed=seed,
        agents=[Agent(file.id, inner) for file, inner in footprint.agents],
        cwd=None if to is None else _project(to),
        changes=changes,
    )
    before = context(session)
    after, found = before, ()
    if at is not None:
        result = Result(changes.plan(destination.path))
        after = context(result.session)
        # To end earlier is what was asked for.
        if before.refused is None and after.refused is not None:
            found = tuple(losses(changes, before, result, after, may_drop_turns=True))
    return carry_out(Work(footprint, Worked(plan, before, after, found), destination), wish)


def place_of(footprint: Footprint, new_id: str, to: str | None = None) -> Destination:
    """Return where a new session goes: beside the old one, or into the folder of another project."""
    beside = Destination.beside(footprint, new_id)
    if to is None:
        return beside
    projects = os.path.dirname(footprint.folder)  # noqa: PTH120
    return beside._replace(folder=os.path.join(projects, folder_name(_project(to))))  # noqa: PTH118


def _project(to: str) -> str:
    return os.path.realpath(os.path.expanduser(to))  # noqa: PTH111
