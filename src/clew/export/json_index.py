"""A list of exported sessions as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.export.json_bytes import json_pieces
from clew.format.times import iso
from clew.view import whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.export.listed import Listed


def write_index(sessions: Sequence[Listed], /, *, version: str) -> Iterator[bytes]:
    """Give the list."""
    return json_pieces({"clew": version, "sessions": (_session(one) for one in sessions)})


def _session(one: Listed) -> dict[str, object]:
    head = one.head
    return {
        "file": one.name,
        "session": head.session,
        "title": head.title,
        "project": head.project,
        "git_branch": head.branch,
        "started": iso(head.started),
        "ended": iso(head.ended),
        "turns": head.turns,
        "models": list(head.models),
        "tool_calls": whole.calls(head),
        "failed_calls": whole.failed(head),
        "cost_usd": whole.cost(head),
        "agents": head.agents,
        "agents_cost_usd": head.agents_work.cost_usd,
        "redacted": one.redacted if one.is_redacted else None,
        "gone": one.is_gone,
    }
