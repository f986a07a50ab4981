"""`clew tree S`: how a session hangs together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from clew.faces.cli import cells, table, words
from clew.faces.cli.options import DAMAGED, Shared, shared
from clew.faces.cli.terminal import Part, Span, one_line, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.trees import Tree
    from clew.faces.cli.terminal import Screen
    from clew.session.branches import Leaf
    from clew.session.subagents import Agent

_COLUMNS: Final = (
    table.Column("", align="right", style=("green",)),
    table.Column("END", style=("cyan",)),
    table.Column("LINE", align="right", needs=80, words="line {}"),
    table.Column("TURNS", align="right", words="{} turns"),
    table.Column("LOADS", align="right", needs=60, words="loads {} messages"),
    table.Column("≈TOKENS", align="right", words="≈{} tokens"),
    table.Column("WHAT", flexible=True),
)
_MOST: Final = 200
"""Ends and sub-agents that are listed on a screen; JSON has all of them."""


_EXAMPLES: Final = """\b
Examples:
  clew tree @1
  clew show @1 --branch 1
"""


@click.command("tree", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@shared
def command(common: Shared, session: str) -> int:
    """Show the branches, compactions and sub-agents of a session, and what each end would load.

    Where a session was rewound, retried or forked it has several ends. The client goes on from one of
    them; clew show --branch reads any other.
    """
    from clew.actions.reading import open_reading
    from clew.actions.trees import read_tree, tree_document

    opened = open_reading(common.roots, session)
    tree = read_tree(opened)
    if common.is_data:
        from clew.faces.cli.documents import whole

        common.screen.json(whole(tree_document(tree)))
    else:
        _show(common.screen, tree)
    return DAMAGED if opened.is_damaged or (tree.refused is not None and tree.leaves) else 0


def _show(screen: Screen, tree: Tree) -> None:
    session = tree.opened.session
    ids = cells.short_ids((leaf.uuid for leaf in tree.leaves if leaf.uuid), least=8)
    active = next((leaf for leaf in tree.leaves if leaf.is_active), None)
    if active is None and not tree.leaves:
        screen.note("Nothing was said in this session.")
        return
    _ends(screen, tree, ids)
    if tree.compactions:
        screen.print()
        screen.print(span(words.count(len(tree.compactions), "compaction"), "bold"))
        for one in tree.compactions[:_MOST]:
            facts = [
                f"line {one.number:,}",
                f"by {one_line(one.trigger)}" if one.trigger else "",
                f"{words.tokens(one.pre_tokens)} tokens before" if one.pre_tokens is not None else "",
                "" if one.summary_uuid else "no summary",
            ]
            screen.print("  ", " · ".join(fact for fact in facts if fact))
    if tree.agents:
        screen.print()
        screen.print(span(words.count(_count(tree.agents), "sub-agent"), "bold"))
        _agents(screen, session, tree.agents)


def _ends(screen: Screen, tree: Tree, ids: dict[str, str]) -> None:
    """List where someone may go on: the active end, trees of their own, and the branches by number."""
    rows = [
        _end(tree, leaf, ids, "→" if leaf.is_active else "", _what(tree, leaf))
        for leaf in tree.leaves
        if leaf.why in {"active", "apart"}
    ]
    number = tree.opened.session.table.number
    for at, branch in enumerate(tree.branches, 1):
        left: Part = f"a branch, leaves at line {number[branch.row]:,}"
        rows.append(_end(tree, branch.leaf, ids, str(at), left))
    lines = table.lines(_COLUMNS, rows[:_MOST], width=screen.width, ascii_only=screen.is_ascii)
    screen.lines(lines)
    if len(rows) > _MOST:
        screen.print(span(f"{len(rows) - _MOST:,} more: --json", "dim"))
    inline = sum(leaf.why == "sidechain" for leaf in tree.leaves)
    beside = sum(leaf.why == "parallel" for leaf in tree.leaves)
    told = [words.count(beside, "line") + " beside the conversation"] if beside else []
    told += [words.count(inline, "end") + " of sub-agents"] if inline else []
    if told:
        screen.print(span(f"and {', '.join(told)}", "dim"))


def _end(tree: Tree, leaf: Leaf, ids: dict[str, str], mark: str, what: Part) -> list[Part]:
    load = tree.loads.get(leaf.row)
    return [
        mark,
        ids.get(leaf.uuid or "", "–"),
        words.number(leaf.number),
        words.number(leaf.turns),
        words.number(load.messages if load else None),
        words.tokens(load.tokens_estimate if load else None),
        what,
    ]


def _what(tree: Tree, leaf: Leaf) -> Part:
    if not leaf.is_active:
        return span("a tree of its own", "dim")
    if tree.refused is not None:
        return span(f"the client would refuse: {tree.refused}", "red")
    return span("the client goes on from here", "green")


def _count(agents: Sequence[Agent]) -> int:
    todo, found = list(agents), 0
    while todo:
        agent = todo.pop()
        found += 1
        todo += agent.children
    return found


def _agents(screen: Screen, session: object, tops: Sequence[Agent]) -> None:
    from clew.faces.cli.agent_lines import agent_line
    from clew.session.session import Session
    from clew.view.agents import Agents

    assert isinstance(session, Session)
    known = Agents(session, tops)
    stack = [(agent, 0) for agent in reversed(tops)]
    shown = 0
    while stack:
        agent, depth = stack.pop()
        shown += 1
        if shown > _MOST:
            screen.print(span(f"  {len(stack) + 1:,} or more others: --json", "dim"))
            return
        indent = "  " * min(depth, 8)
        room = None if screen.width is None else screen.width - len(indent)
        parts = agent_line(known.part(agent), room=room)
        screen.print(indent, *parts, *_nobody(agent))
        stack += [(child, depth + 1) for child in reversed(agent.children)]


def _nobody(agent: Agent) -> list[Part]:
    return [] if agent.started_by is not None else [Span(" · no call here started it", ("yellow",))]
