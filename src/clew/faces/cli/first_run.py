"""What `make run` starts: the user's own sessions, or the demo's when there are none.

The demo goes into a temporary folder that stays the same, so that what is tried next finds it there.
"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.faces.cli.commands.demo import demo_folder, quoted, to_try
from clew.faces.cli.main import run
from clew.faces.cli.options import DAMAGED
from clew.faces.cli.terminal import Screen, span

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] = ()) -> int:
    """List the user's sessions; without any write the demo, say so, and list that."""
    from clew.actions.stores import open_store
    from clew.store.names import conversations

    store = open_store()
    if next(conversations(store.listing()), None) is not None:
        return _done(run(["ls", *arguments]))
    from clew.actions.demo import write_demo

    screen = Screen()
    directory = demo_folder()
    try:
        result = write_demo(directory, now=datetime.now(UTC))
    except ClewError as error:
        screen.error(error.message, hint=f"clew demo DIR, or remove {quoted(directory)}")
        return error.exit_code
    screen.note(f"There are no sessions in {' or '.join(store.roots.looked_in)}.")
    screen.note(f"So here are some made-up ones, written into {directory}:")
    screen.note()
    code = _done(run(["ls", "--root", str(directory), *arguments]))
    screen.note()
    screen.note("Try:")
    for line, meaning in to_try(result)[1:]:
        screen.note("  ", _program(), line.removeprefix("clew"), "  ", span(meaning, "dim"))
    return code


def _program() -> str:
    """Return how to call clew: it need not be on the path of whoever typed `make run`."""
    program = Path(sys.executable).with_name("clew")
    if not program.exists():
        return "clew"
    here = Path.cwd()
    return quoted(program.relative_to(here) if program.is_relative_to(here) else program)


def _done(code: int) -> int:
    # That one of the sessions is damaged is shown in the list, and is no failure of `make run`.
    return 0 if code == DAMAGED else code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
