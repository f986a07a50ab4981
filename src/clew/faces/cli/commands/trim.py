"""`clew trim S`: a smaller context without losing what was said."""

from __future__ import annotations

from typing import Final

import click

from clew.errors import UsageError
from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.options import Shared, shared

_EXAMPLES: Final = """\b
Examples:
  clew trim @1 --results-only --larger-than 200 --dry-run
  clew trim @1 --tools Read,Grep --older-than 5
  clew trim @1 --keep-turns 10
"""


@click.command("trim", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option("--tools", metavar="all|NAME,…", help="The calls of these tools; * stands for anything.")
@click.option("--results-only", is_flag=True, help="Only the results; a short note takes their place.")
@click.option("--older-than", type=click.IntRange(0), metavar="N", help="Only before the last N turns.")
@click.option("--larger-than", type=click.IntRange(0), metavar="TOKENS", help="Only what is larger.")
@click.option("--keep-turns", type=click.IntRange(1), metavar="N", help="Whole turns before the last N.")
@click.option("--count-tokens", is_flag=True, help="Have the API count the tokens, exactly; needs a key.")
@click.option("--base-url", metavar="URL", help="Where the API is. Without: ANTHROPIC_BASE_URL.")
@shared
@edit_options()
def command(
    common: Shared,
    options: EditOptions,
    session: str,
    tools: str | None,
    results_only: bool,
    older_than: int | None,
    larger_than: int | None,
    keep_turns: int | None,
    count_tokens: bool,
    base_url: str | None,
) -> int:
    """Take tool calls with their results, or whole turns, out of what is sent, into a new session.

    Every prompt and every answer in words stays, but for turns before the last ones with --keep-turns.
    """
    from clew.actions.edits import trim_session
    from clew.actions.stores import open_store

    if not (tools or results_only or older_than is not None or larger_than is not None or keep_turns):
        raise UsageError("what is to be trimmed?", hint="clew trim S --results-only --larger-than 200")
    names = {name.strip() for name in (tools or "all").split(",") if name.strip()}
    outcome = trim_session(
        open_store(common.roots),
        session,
        make_wish("trim", options),
        # Without --tools, --keep-turns leaves the calls of the turns that stay alone.
        tools=None if tools is None else frozenset({"*"}) if "all" in names else frozenset(names),
        results_only=results_only,
        older_than=older_than,
        larger_than=larger_than,
        keep_turns=keep_turns,
    )
    if count_tokens:
        from contextlib import closing

        from clew import __version__
        from clew.actions.asking_model import Model

        with closing(Model(version=__version__, base_url=base_url)) as model:
            outcome = outcome._replace(counted=(model.count(outcome.before), model.count(outcome.after)))
    return tell(common, outcome)
