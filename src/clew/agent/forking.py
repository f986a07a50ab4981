"""Go on with a copy: a session under a new id, in the project that is worked in, by way of the writer.

The same edit as `clew clone`, with what a session that is continued needs of its side files. The old session
is not touched; the copy can be undone like any edit.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clew.edit.changes import Changes
from clew.edit.clone import Agent, clone, up_to
from clew.edit.ids import sorted_after
from clew.errors import UnreadableError, UsageError
from clew.store.commit import Job, NewFile, commit, copied
from clew.store.files import Skipped, Store, at_path
from clew.store.heads import group_agents
from clew.store.live import liveness
from clew.store.locks import hold
from clew.store.reader import open_session
from clew.store.sides import side_files
from clew.store.slugs import folder_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.agent.writing import Place
    from clew.store.files import SessionFile


def fork(path: str, *, to: str, at: str | None, new_id: str, seed: bytes, place: Place) -> str:
    """Copy a session into the project `to`, whole or up to the line `at`; return the new file."""
    file = at_path(path)
    if isinstance(file, Skipped):
        raise UnreadableError(file.path, file.reason)
    if file.is_agent:
        raise UsageError("a sub-agent has no session of its own to go on with", hint="name its session")
    now = place.clock()
    with hold(file.path, state=place.state, disk=place.disk):
        # The line that somebody is just writing is left out: the copy ends in a whole one.
        is_live = liveness(file, now=now / 1000).is_live
        session = open_session(file.path, whole_lines=is_live)
        agents = _agents(file)
        row = None if at is None else session.row(at)
        if at is not None and row is None:
            raise UsageError(f"no line of the session is called {at!r}", hint="clew tree shows its lines")
        new_id = sorted_after(new_id, file.id)
        folder = os.path.dirname(file.path)  # noqa: PTH120
        if file.root is not None:
            folder = os.path.join(file.root, "projects", folder_name(to))  # noqa: PTH118
        opened = [open_session(agent.path, whole_lines=is_live) for agent in agents]
        plan = clone(
            session,
            new_id=new_id,
            seed=seed,
            agents=[Agent(agent.id, inner) for agent, inner in zip(agents, opened, strict=True)],
            cwd=to,
            changes=Changes(session) if row is None else up_to(session, row),
        )
        target = os.path.join(folder, f"{new_id}.jsonl")  # noqa: PTH118
        job = Job(
            "fork",
            file.path,
            target,
            new=(
                *(_side(one, new) for one, new in _sides(file, agents, folder, new_id)),
                *(NewFile(os.path.join(folder, one.target), one.pieces) for one in plan.files),  # noqa: PTH118
            ),
        )
        commit(job, state=place.state, now_ms=now, disk=place.disk)
    return target


def _side(source: str, target: str) -> NewFile:
    return NewFile(target, copied(source))


def _agents(file: SessionFile) -> Sequence[SessionFile]:
    if file.root is None:
        return ()
    return group_agents(Store.at([file.root]).listing()).of(file)


def _sides(
    file: SessionFile, agents: Sequence[SessionFile], folder: str, new_id: str
) -> Iterator[tuple[str, str]]:
    """Give the side files that go along, and where to."""
    own = file.path.removesuffix(".jsonl") + os.sep
    history = None if file.root is None else os.path.join(file.root, "file-history", "")  # noqa: PTH118
    places: dict[str, str] = {}
    for side in side_files(file).files:
        if side.path.startswith(own):
            places[side.path] = os.path.join(folder, new_id, side.path[len(own) :])  # noqa: PTH118
        elif history is not None and side.path.startswith(history):
            inside = side.path[len(history) + len(file.id) + 1 :]
            places[side.path] = os.path.join(history, new_id, inside)  # noqa: PTH118
    for agent in agents:
        for side in side_files(agent).files:
            name = os.path.basename(side.path)  # noqa: PTH119
            places[side.path] = os.path.join(folder, new_id, "subagents", name)  # noqa: PTH118
    yield from places.items()
