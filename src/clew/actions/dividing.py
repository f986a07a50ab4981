"""One session in two, and two sessions in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.actions.editing import (
    Asked,
    Work,
    Worked,
    alive,
    begin,
    carry_out,
    carry_out_all,
    leave_unfinished,
    work_out,
)
from clew.actions.footprints import Destination
from clew.edit.plan import FilePlan, Plan
from clew.errors import UsageError
from clew.session.context import context

if TYPE_CHECKING:
    from clew.actions.editing import Wish
    from clew.actions.outcomes import Outcome
    from clew.edit.changes import Changes
    from clew.session.session import Session
    from clew.store.files import Store


def split_session(store: Store, name: str, wish: Wish, *, turn: int, second_id: str) -> list[Outcome]:
    """Make two new sessions of one: up to before a turn, and from it on."""
    from clew.edit.split import split

    footprint = begin(store, name, wish)
    live = alive(footprint, wish)
    asked = Asked(drops_turns=True, drops_boundaries=True, drops_prompt=True)
    works: list[Work] = []
    for part, new_id in enumerate((wish.new_id, second_id)):
        destination = Destination.beside(footprint, new_id)

        def make(session: Session, part: int = part) -> Changes:
            changes = split(session, turn=turn)[part]
            leave_unfinished(changes, live)
            return changes

        worked = work_out(footprint, make, wish, destination, asked=asked)
        works.append(Work(footprint, worked, destination))
    return carry_out_all(works, wish)


def merge_sessions(store: Store, first: str, second: str, wish: Wish) -> Outcome:
    """Make one new session of two, which ends where the second ends."""
    from clew.edit.merge import merge

    one, other = begin(store, first, wish), begin(store, second, wish)
    if one.file.path == other.file.path:
        raise UsageError("a session cannot be merged with itself", hint="name two sessions")
    destination = Destination.beside(one, wish.new_id)
    joined = merge(one.session, other.session, target=destination.path, keep_thinking=wish.keep_thinking)
    found = {agent.id: (agent, session) for agent, session in (*one.agents, *other.agents)}
    agents = [FilePlan(session, destination.agent(agent)) for agent, session in found.values()]
    plan = Plan((*agents, joined), thinking_dropped=joined.thinking_dropped)
    worked = Worked(plan, context(other.session), context(joined.read()), ())
    sides = {side.path: side for side in (*one.sides, *other.sides)}
    both = one._replace(sides=tuple(sides.values()))
    return carry_out(Work(both, worked, destination), wish)
