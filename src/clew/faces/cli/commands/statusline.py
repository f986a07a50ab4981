"""`clew statusline`: what the client shows at the bottom. By itself it is answered before this."""

from __future__ import annotations

from typing import Final

import click

from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew hook install --statusline        have the client show it
  echo '{"model": {"display_name": "Sonnet"}, "cost": {"total_cost_usd": 0.35}}' | clew statusline
"""


@click.command("statusline", epilog=_EXAMPLES)
@shared
def command(common: Shared) -> int:
    """Answer the client with one line: model, context used, what the session and the day cost.

    It reads the client's JSON on standard input. What that does not tell is left out. What the day cost is
    read from clew's index, if that was brought up to date that day, plus what this session cost since; with
    ≥ in front when the index is older than ten minutes, as other sessions may have gone on.

    JSON: {"model", "context_tokens", "context_size", "context_percent", "session_cost_usd",
    "day_cost_usd", "day_cost_is_least"}.
    """
    import os

    from clew.faces.hook.run import read_limited
    from clew.faces.hook.statusline import LIMIT, MOST, facts_of, status_line

    data = read_limited(0, limit=LIMIT, most=MOST)
    if common.is_data:
        common.emit(facts_of(data, os.environ))
    else:
        common.screen.print(status_line(data, {**os.environ, "NO_COLOR": "1"}))
    return 0
