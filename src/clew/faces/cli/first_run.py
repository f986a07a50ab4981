"""What `make run` starts: the web app on the user's own sessions, or on the demo's when there are none.

The demo goes into a temporary folder that stays the same, so that what is tried next finds it there. Where no
browser can be opened, the address is printed all the same.
"""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.faces.cli.commands.demo import demo_folder, quoted, to_try
from clew.faces.cli.main import run
from clew.faces.cli.terminal import Screen, span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def main(arguments: Sequence[str] = ()) -> int:
    """Serve the user's sessions; without any write the demo, say so, and serve that."""
    from clew.actions.stores import open_store
    from clew.store.names import conversations

    screen = Screen()
    quiet = [] if has_browser(os.environ, is_terminal=sys.stdout.isatty()) else ["--no-open"]
    store = open_store()
    if next(conversations(store.listing()), None) is not None:
        screen.note(f"Your sessions in {' and '.join(map(str, store.roots.found))}:")
        return _served(screen, [*quiet, *arguments])
    from clew.actions.demo import write_demo

    directory = demo_folder()
    try:
        result = write_demo(directory, now=datetime.now(UTC))
    except ClewError as error:
        screen.error(error.message, hint=f"clew demo DIR, or remove {quoted(directory)}")
        return error.exit_code
    screen.note(f"There are no sessions in {' or '.join(store.roots.looked_in)}.")
    screen.note(f"So here are some made-up ones, written into {directory}. In the terminal, try:")
    for line, meaning in to_try(result)[1:]:
        screen.note("  ", _program(), line.removeprefix("clew"), "  ", span(meaning, "dim"))
    screen.note()
    return _served(screen, ["--root", str(directory), *quiet, *arguments])


def has_browser(environ: Mapping[str, str], *, is_terminal: bool, platform: str = sys.platform) -> bool:
    """Say whether somebody sits there before whom a browser can be opened."""
    if not is_terminal or environ.get("CI"):
        return False
    if platform in {"darwin", "win32"}:
        return True
    return bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY") or environ.get("BROWSER"))


def _served(screen: Screen, options: Sequence[str]) -> int:
    if "--no-open" in options:
        screen.note("Open this address in a browser on this machine; Ctrl-C ends it.")
    else:
        screen.note("The browser opens; else open this address. Ctrl-C ends it.")
    screen.flush()
    return run(["web", *options])


def _program() -> str:
    """Return how to call clew: it need not be on the path of whoever typed `make run`."""
    program = Path(sys.executable).with_name("clew")
    if not program.exists():
        return "clew"
    here = Path.cwd()
    return quoted(program.relative_to(here) if program.is_relative_to(here) else program)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
