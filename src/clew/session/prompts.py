"""What a person put in: whether a user entry is a prompt, of which kind, and which words are the person's own.

The client writes much under the user's role: tool results, expanded skills, output of local commands, reminders,
marks of interruption. Only blocks and tags tell them apart; whether the content is a string or a list does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clew.format.skim import Skim


def is_tool_result(facts: Skim) -> bool:
    """Say whether a user entry brings results of tool calls."""
    body = facts.body
    return isinstance(body, list) and any(block.type == "tool_result" for block in body)


def is_human(facts: Skim) -> bool:
    """Say whether a user entry is a prompt, which starts a turn."""
    return facts.role == "user" and not facts.is_meta and not is_tool_result(facts)
