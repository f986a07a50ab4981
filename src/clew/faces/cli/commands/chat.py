"""`clew chat`: talk with the model in the terminal, in a new session or in one that is gone on with."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from clew.errors import UsageError
from clew.faces.cli.options import Shared, hiding, shared
from clew.faces.cli.run_options import RunOptions, run_options

if TYPE_CHECKING:
    from clew.faces.cli.chat.talk import Talk

_EXAMPLES: Final = """\b
Examples:
  clew chat
  clew chat --resume @1
  clew chat --mode acceptEdits --allow "Bash(pytest:*)" --max-cost 2
"""


@hiding("no_index", "jobs")
@click.command("chat", epilog=_EXAMPLES)
@shared
@run_options
def command(common: Shared, options: RunOptions) -> int:
    """Talk with the model in the terminal. The real client can go on with the session.

    What is said scrolls by like any output; the last lines are typed in. Calls that need a permission are
    asked about. Esc stops a turn, /help tells the rest. The key is taken from ANTHROPIC_API_KEY, or from the
    keyring.
    """
    from clew.faces.cli.chat.device import check_terminal

    if common.is_data:
        raise UsageError("clew chat is for people", hint='clew run "…" --json gives an answer as data')
    check_terminal(os.environ)
    talk = _talked(common, options)
    if talk.error is not None:
        raise talk.error
    return talk.exit_code


def _talked(common: Shared, options: RunOptions) -> Talk:
    """Hold the chat; when this returns, the terminal is as it was."""
    from clew import __version__
    from clew.faces.cli.chat.device import Device
    from clew.faces.cli.chat.engine import Engine
    from clew.faces.cli.chat.painter import Ink
    from clew.faces.cli.chat.session import Chat
    from clew.faces.cli.chat.talk import Talk
    from clew.store.state import state_folder

    common.screen.flush()
    request, folder = options.request(common.roots, is_interactive=True), str(Path.cwd())
    ink = Ink(color=common.screen.has_color, is_ascii=common.screen.is_ascii)
    with Device(encoding=sys.stdout.encoding or "utf-8") as device:
        engine = Engine(request, version=__version__, wake=device.wake)
        talk = Talk(engine, width=device.size[0], folder=folder, state=state_folder())
        Chat(device, talk, ink, folder=folder).run()
    return talk
