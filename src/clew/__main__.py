"""Where the `clew` command starts. What is asked for most often is answered before anything is imported."""

from __future__ import annotations

import atexit
import gc
import os
import sys


def main() -> int:
    """Run the command line and return its exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["hook"], ["statusline"]):
        from clew.faces.hook import answer

        answer(arguments)  # does not return where the client waits
    if arguments in (["--help"], ["-h"], ["help"]):
        from clew.faces.cli.help import top_help

        sys.stdout.write(top_help())
        return 0
    if arguments in (["--version"], ["-V"]):
        from clew import __version__

        sys.stdout.write(f"clew {__version__}\n")
        return 0
    from clew.faces.cli.main import run

    return run(arguments)


def start() -> None:
    """Be the program `clew`: quick to begin and quick to end."""
    # What is imported stays; looking through it for garbage takes a tenth of a short command.
    gc.set_threshold(50_000, 20, 20)
    code = main()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:  # no one reads any more
        code = code or 1
    # All that is left would be to take everything apart, piece by piece.
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]  # noqa: SLF001  # there is no other name for it
    os._exit(code)


if __name__ == "__main__":
    start()
