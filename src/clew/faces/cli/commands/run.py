"""`clew run PROMPT`: ask once, in a new session or in one that is gone on with, and print the answer."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from clew.errors import ClewError, UsageError
from clew.faces.cli.options import Shared, hiding, shared
from clew.faces.cli.run_options import RunOptions, run_options

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

    from clew.actions.running import Running
    from clew.faces.cli.run_output import Form

_EXAMPLES: Final = """\b
Examples:
  clew run "what does this project do?"
  clew run --resume @1 "go on" --max-cost 0.50
  git diff | clew run "review this" --output json --mode dontAsk
  clew run "fix the failing test" --mode acceptEdits --allow "Bash(pytest:*)"
"""
_INTERRUPTED: Final = 130


@hiding("no_index", "jobs")
@click.command("run", epilog=_EXAMPLES)
@click.argument("prompt", required=False)
@click.option(
    "--output",
    "form",
    type=click.Choice(["text", "json", "stream-json"]),
    default="text",
    show_default=True,
    help="The answer alone, one JSON document, or a JSON document for everything that happens.",
)
@shared
@run_options
def command(common: Shared, options: RunOptions, prompt: str | None, form: str) -> int:
    """Ask the model once and print what it answers. The real client can go on with the session.

    Calls that need a permission are refused when nobody can be asked. What stands on standard input is added
    to the prompt. The key is taken from ANTHROPIC_API_KEY, or from the keyring.
    """
    from clew import __version__
    from clew.actions.running import Running
    from clew.agent.asking import Nobody
    from clew.faces.cli.run_output import RunOutput

    if common.is_json:
        form = "json"
    elif common.is_jsonl:
        form = "stream-json"
    words = _prompt(prompt)
    out = RunOutput(common.screen, cast("Form", form), is_quiet=common.is_quiet, folder=str(Path.cwd()))
    request = options.request(common.roots, is_interactive=False)
    with Running(request, version=__version__, listener=out.hear, asker=Nobody()) as running:
        out.begin(running)
        with _stopping(running):
            try:
                ending = running.say(words)
            except ClewError as error:
                out.failed(error)
                raise
        out.end(ending)
        if form == "text" and not common.is_quiet:
            cost = f"${running.budget.cost_usd:.4f}" if not running.budget.unpriced else "cost not known"
            common.screen.note(f"{cost} · clew run --resume {running.session_id[:8]} goes on")
    if ending is None:
        return 4
    return _INTERRUPTED if ending.is_interrupted else 0


def _prompt(given: str | None) -> str:
    piped = "" if sys.stdin is None or sys.stdin.isatty() else sys.stdin.read()
    parts = [part for part in (given if given != "-" else None, piped) if part and part.strip()]
    if not parts:
        raise UsageError("there is nothing to ask", hint='clew run "what does this project do?"')
    return "\n\n".join(parts)


@contextmanager
def _stopping(running: Running) -> Generator[None]:
    """Let Ctrl-C stop the turn in good order; a second one ends the program."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        # In a thread: what was interrupted here may hold the very lock that stopping needs.
        threading.Thread(target=running.stop, name="clew-stop", daemon=True).start()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, stop)
    ended = signal.signal(signal.SIGTERM, stop) if os.name == "posix" else None
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if ended is not None:
            signal.signal(signal.SIGTERM, ended)
