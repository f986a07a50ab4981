"""What the client itself starts: hooks and the status line. Standard library only, to start at once."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def answer(arguments: Sequence[str]) -> None:
    """Do what the client or a hook asks for, and end the process; return for what a person asks for."""
    words = tuple(arguments[:2])
    if "-h" in arguments or "--help" in arguments:
        return
    if words == ("hook", "run"):
        try:
            from clew.faces.hook.run import run

            run(arguments[2:])
        finally:  # not even a broken installation is the client's business
            os._exit(0)
    if words == ("hook", "work"):
        from clew.faces.hook.work import run as work

        work(arguments[2:])
    if list(arguments) == ["statusline"]:
        from clew.faces.hook.statusline import run as show

        show()
