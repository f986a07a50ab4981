"""The tree of a session: its ends and what each would load, its branches, compactions and sub-agents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.actions.reading import agent_turns, ends, sub_agents
from clew.actions.token_documents import tokens_document
from clew.errors import ClewError
from clew.format.times import iso
from clew.session.branches import compactions
from clew.session.chain import chain
from clew.session.context import context
from clew.session.eras import rules
from clew.session.graph import Graph
from clew.session.spending import Spent, turn_spent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.actions.reading import Opened
    from clew.session.branches import Branch, Compaction, Leaf
    from clew.session.session import Session
    from clew.session.subagents import Agent

TALKS: Final = frozenset({"active", "branch", "apart"})
"""The ends that someone may want to go on from; the others end beside the conversation."""

_MOST_BYTES: Final = 256 << 20
"""How much is read again at most to say what the ends would load."""


@dataclass(frozen=True, slots=True)
class Load:
    """What the client would send if it went on from a line."""

    messages: int
    tokens_estimate: int


@dataclass(frozen=True, slots=True)
class Work:
    """What a sub-agent did."""

    turns: int
    calls: int
    failed: int
    duration_ms: int | None
    spent: Spent


@dataclass(frozen=True, slots=True)
class Tree:
    """How a session hangs together."""

    opened: Opened
    leaves: tuple[Leaf, ...]
    branches: tuple[Branch, ...]
    compactions: tuple[Compaction, ...]
    agents: tuple[Agent, ...]
    loads: Mapping[int, Load]
    """By the row of the leaf; none for those beside the conversation, nor where it would take too long."""

    refused: str | None
    """Why the client would not resume."""


def read_tree(opened: Opened) -> Tree:
    """Work out the tree of a session."""
    session = opened.session
    graph = Graph(session)
    path = chain(session, rules())
    found, others = ends(session, graph, path.leaf)
    return Tree(
        opened,
        found,
        others,
        compactions(session, graph),
        sub_agents(opened),
        _loads(session, found),
        path.refused,
    )


def _loads(session: Session, found: Sequence[Leaf]) -> dict[int, Load]:
    loads: dict[int, Load] = {}
    room = _MOST_BYTES
    for leaf in sorted(found, key=lambda one: not one.is_active):
        if leaf.why not in TALKS or leaf.uuid is None:
            continue
        room -= session.source.size
        if room < 0:
            break
        sent = context(session, at=None if leaf.is_active else leaf.uuid)
        if sent.refused is None:
            loads[leaf.row] = Load(len(sent.messages), sent.tokens_estimate)
    return loads


def work(session: Session, agent: Agent) -> Work:
    """Return what a sub-agent did, without those it started in its turn."""
    home, found = agent_turns(session, agent)
    spent = Spent()
    for turn in found:
        spent += turn_spent(home, turn)
    calls = [call for turn in found for call in turn.calls]
    started = [turn.started for turn in found if turn.started is not None]
    ended = [turn.ended for turn in found if turn.ended is not None]
    duration = max(0, max(ended) - min(started)) if started and ended else None
    return Work(len(found), len(calls), sum(call.is_error for call in calls), duration, spent)


def tree_document(tree: Tree) -> dict[str, object]:
    """Return it in the shape of `clew tree --json`."""
    session = tree.opened.session
    return {
        "session": tree.opened.file.id,
        "path": tree.opened.file.path,
        "leaves": [_leaf(leaf, tree.loads.get(leaf.row)) for leaf in tree.leaves],
        "branches": [{"uuid": branch.uuid, "leaf": branch.leaf.uuid} for branch in tree.branches],
        "compactions": [
            {
                "uuid": one.uuid,
                "line": one.number,
                "trigger": one.trigger,
                "pre_tokens": one.pre_tokens,
                "summary_uuid": one.summary_uuid,
            }
            for one in tree.compactions
        ],
        "agents": _agents(session, tree.opened.file.path, tree.agents),
    }


def _leaf(leaf: Leaf, load: Load | None) -> dict[str, object]:
    return {
        "uuid": leaf.uuid,
        "line": leaf.number,
        "active": leaf.is_active,
        "turns": leaf.turns,
        "ended": iso(leaf.ended),
        "why": leaf.why,
        "messages": None if load is None else load.messages,
        "tokens_estimate": None if load is None else load.tokens_estimate,
    }


def _agents(session: Session, path: str, tops: Sequence[Agent]) -> list[dict[str, object]]:
    found: list[dict[str, object]] = []
    # With a stack of our own: agents may nest deeper than Python calls may.
    stack = [(agent, found) for agent in reversed(tops)]
    while stack:
        agent, into = stack.pop()
        children: list[dict[str, object]] = []
        try:
            done = work(session, agent)
        except ClewError:  # the file went away meanwhile
            done = None
        into.append(
            {
                "agent_id": agent.agent_id,
                "path": agent.source.key if agent.source is not None else path,
                "type": agent.type,
                "description": agent.description,
                "started_by": agent.started_by,
                "turns": None if done is None else done.turns,
                "tokens": None if done is None else tokens_document(done.spent.tokens),
                "cost_usd": None if done is None else done.spent.cost_usd,
                "children": children,
            }
        )
        stack += [(child, children) for child in reversed(agent.children)]
    return found
