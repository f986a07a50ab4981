"""What a session came to with its sub-agents, in the numbers that `clew ls` says.

The cost and the tokens are the sub-agents' too, each answer once. Calls are those of the session's own file;
what sub-agents called in files of their own is named beside them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.view import words

if TYPE_CHECKING:
    from clew.view.parts import Head

_DIGITS = 12
"""Of a dollar: whole picodollars, in which prices are counted. So a sum is the same number everywhere."""


def cost(head: Head) -> float | None:
    """Return what the answers with a known price cost; None when none has one."""
    found = [one for one in (head.work.cost_usd, head.agents_work.cost_usd if head.agents else None) if one]
    if found:
        return round(sum(found), _DIGITS)
    return head.work.cost_usd if head.agents_work.cost_usd is not None else None


def tokens(head: Head) -> int:
    """Return the tokens of all kinds."""
    return head.work.total_tokens + head.agents_work.total_tokens


def calls(head: Head) -> int:
    """Return the calls in the session's own file."""
    return head.work.calls + head.inside_calls


def failed(head: Head) -> int:
    """Return how many of them failed."""
    return head.work.failed + head.inside_failed


def outside_calls(head: Head) -> int:
    """Return the calls of sub-agents in files of their own."""
    return head.agents_work.calls - head.inside_calls


def outside_failed(head: Head) -> int:
    """Return how many of those failed."""
    return head.agents_work.failed - head.inside_failed


def cost_words(head: Head) -> str:
    """Say the cost: `$0.17, $0.01 of it by 1 sub-agent`."""
    whole, share = words.money(cost(head)), head.agents_work.cost_usd
    return f"{whole}, {words.money(share)} of it by {_agents(head)}" if share else whole


def calls_words(head: Head) -> list[str]:
    """Say the calls, if there are any: `6 calls (1 failed)`, `2 more by 1 sub-agent`."""
    said: list[str] = []
    if calls(head):
        said.append(words.count(calls(head), "call") + _failed(failed(head)))
    if head.inside_calls:
        said.append(f"{head.inside_calls:,} of them by {_agents(head)}{_failed(head.inside_failed)}")
    if outside := outside_calls(head):
        said.append(f"{outside:,} more by {_agents(head)}{_failed(outside_failed(head))}")
    return said


def _failed(number: int) -> str:
    return f" ({number:,} failed)" if number else ""


def _agents(head: Head) -> str:
    return words.count(head.agents, "sub-agent")
