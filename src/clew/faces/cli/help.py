"""The text of `clew --help`. It is asked for most often, so it needs nothing but the list of commands."""

from __future__ import annotations

from clew.faces.cli.registry import COMMANDS


def top_help() -> str:
    """Return the help of clew itself."""
    lines = [
        "Usage: clew [COMMAND] [OPTIONS]",
        "",
        "  clew follows the thread of your Claude Code sessions: it reads, searches, understands, edits",
        "  and keeps them, whatever client version wrote them and whatever happened to the files since.",
        "",
        "  Without a command it lists the newest sessions.",
    ]
    group = ""
    for command in COMMANDS:
        if command.group != group:
            group = command.group
            lines += ["", f"{group}:"]
        lines.append(f"  {command.name:<10} {command.help}")
    lines += [
        "",
        "A session is named by its id, the start of its id (4 or more characters), a path, its title,",
        "its readable name, or @1 for the newest, @2 for the one before it.",
        "",
        "Every command that prints data takes --json, --jsonl, --root DIR and -h.",
        "",
        "Examples:",
        "  clew ls                       the newest sessions",
        "  clew show @1                  read the newest one",
        "  clew usage --by model         what each model cost",
        "  clew demo /tmp/demo           something to try all this on",
        "",
    ]
    return "\n".join(lines)
