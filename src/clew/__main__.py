"""Where the `clew` command starts. What is asked for most often is answered before anything is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    arguments = sys.argv[1:]
    if arguments in (["--help"], ["-h"], ["help"]):
        from clew.faces.cli.help import top_help

        sys.stdout.write(top_help())
        return
    if arguments in (["--version"], ["-V"]):
        from clew import __version__

        sys.stdout.write(f"clew {__version__}\n")
        return
    from clew.faces.cli.main import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()
