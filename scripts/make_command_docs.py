"""Write the help texts and tables of docs/commands.md from the commands themselves.

    python scripts/make_command_docs.py           write the page
    python scripts/make_command_docs.py --check   only say whether it is up to date

Prose stands outside the markers and is never touched.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from typing import cast

import click

from clew.faces.cli.help import top_help
from clew.faces.cli.registry import COMMANDS, module_of
from clew.session.problems import KINDS

PAGE = Path(__file__).resolve().parent.parent / "docs" / "commands.md"
WIDTH = 96

MARKED = re.compile(r"(<!-- (help|table): ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def render(page: str) -> str:
    """The page with everything between its markers made anew."""

    def fill(found: re.Match[str]) -> str:
        opening, what, name, closing = found.groups()
        body = f"```text\n{help_of(name)}\n```" if what == "help" else problems()
        return f"{opening}\n{body}\n\n{closing}"

    return MARKED.sub(fill, page)


def help_of(name: str) -> str:
    """The help of a command as a terminal shows it."""
    if name == "clew":
        return top_help().rstrip()
    command = cast("click.Command", importlib.import_module(module_of(name)).command)
    settings = {"help_option_names": ["-h", "--help"], "terminal_width": WIDTH, "max_content_width": WIDTH}
    context = click.Context(command, info_name=f"clew {name}", **settings)  # pyright: ignore[reportArgumentType]  # the values are of several types
    text = command.get_help(context).replace("\b", "")
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip()


def problems() -> str:
    """The codes that `clew check` gives, the worst first."""
    rows = ["| code | severity | what it is | how `clew repair` would mend it |", "|---|---|---|---|"]
    for severity in ("error", "warning", "info"):
        rows += [
            f"| `{code}` | {severity} | {kind.meaning} | {kind.repair or '–'} |"
            for code, kind in KINDS.items()
            if kind.severity == severity
        ]
    return "\n".join(rows)


def documented(page: str) -> set[str]:
    """The names of the commands whose help a page shows."""
    return {found[3] for found in MARKED.finditer(page) if found[2] == "help"}


def missing(page: str) -> list[str]:
    """The commands that a page says nothing about."""
    shown = documented(page)
    return [command.name for command in COMMANDS if command.name not in shown]


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    made = render(page)
    for name in missing(page):
        print(f"docs/commands.md says nothing about clew {name}", file=sys.stderr)
    if "--check" in arguments:
        if made != page:
            print("docs/commands.md is out of date: run scripts/make_command_docs.py", file=sys.stderr)
        return int(made != page or bool(missing(page)))
    PAGE.write_text(made, encoding="utf-8")
    return int(bool(missing(page)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
