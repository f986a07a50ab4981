"""`clew compress S`: a summary in the place of the older turns."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from clew.errors import UsageError
from clew.faces.cli.editing import EditOptions, edit_options, make_wish, tell
from clew.faces.cli.options import Shared, shared

if TYPE_CHECKING:
    from clew.actions.outcomes import Outcome

_EXAMPLES: Final = """\b
Examples:
  clew compress @1 --keep-turns 5 --dry-run
  clew compress @1 --keep-turns 3 --summary notes.md
  clew compress @1 --keep-turns 3 --summary model --model claude-haiku-4-5
"""


@click.command("compress", epilog=_EXAMPLES)
@click.argument("session", metavar="S")
@click.option(
    "--keep-turns",
    type=click.IntRange(0),
    metavar="N",
    default=5,
    show_default=True,
    help="Turns to keep whole.",
)
@click.option(
    "--summary",
    metavar="extract|model|FILE",
    default="extract",
    show_default=True,
    help="Put together from the conversation itself, written by a model, or what a file says.",
)
@click.option("--model", metavar="M", help="The model that writes it. Without: the session's own.")
@click.option("--base-url", metavar="URL", help="Where its API is. Without: ANTHROPIC_BASE_URL.")
@click.option("--keep-calls", is_flag=True, help="Name every tool call in an extracted summary.")
@shared
@edit_options()
def command(
    common: Shared,
    options: EditOptions,
    session: str,
    keep_turns: int,
    summary: str,
    keep_calls: bool,
    model: str | None,
    base_url: str | None,
) -> int:
    """Put a summary in the place of the older turns, into a new session, as the client's own compaction does.

    The older turns stay in the file; clew uncompact brings them back. No model is asked but with --summary
    model, and then not by --dry-run either, which shows the figures of an extract.
    """
    import secrets
    from contextlib import closing

    from clew import __version__
    from clew.actions.asking_model import Model
    from clew.actions.edits import compress_session
    from clew.actions.stores import open_store

    store = open_store(common.roots)

    def compressed(words: str | Model | None) -> Outcome:
        return compress_session(
            store,
            session,
            make_wish("compress", options),
            keep_turns=keep_turns,
            summary=words.summarize if isinstance(words, Model) else words,
            keep_calls=keep_calls,
            seed=secrets.token_bytes(32),
        )

    if summary != "model":
        return tell(common, compressed(None if summary == "extract" else _read(summary)))
    if options.is_dry:
        common.screen.note("The model is not asked by a dry run: the figures are those of an extract.")
        return tell(common, compressed(None))
    with closing(Model(version=__version__, name=model, base_url=base_url)) as asked:
        code = tell(common, compressed(asked))
        for spent in asked.spent:
            price = "at a price that is not known" if spent.cost_usd is None else f"for ${spent.cost_usd:.4f}"
            common.screen.note(f"The summary was written by {spent.model} {price}.")
        return code


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise UsageError(f"the summary {path} cannot be read: {error}") from None
