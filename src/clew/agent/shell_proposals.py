"""Propose a rule under which a command would not be asked about again: as narrow as is still of use."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from clew.agent.shell_reach import Part

_HAVE_COMMANDS: Final = frozenset(
    {
        "git",
        "npm",
        "pnpm",
        "yarn",
        "bun",
        "cargo",
        "go",
        "docker",
        "kubectl",
        "gh",
        "pip",
        "uv",
        "poetry",
        "make",
    }
    | {
        "dotnet",
        "mvn",
        "gradle",
        "rake",
        "bundle",
        "composer",
        "terraform",
        "helm",
        "brew",
        "apt",
        "systemctl",
    }
)
"""Programs whose first word says what they do."""

_TOO_MUCH: Final = frozenset(
    {"run", "exec", "x", "dlx", "config", "push", "rm", "clean", "reset"}
    | {"diff", "log", "show", "grep", "branch", "tag", "remote", "status", "blame"}
)
"""First words that say too little, or that are only asked about when the rest of the command is odd."""

_WORD: Final = re.compile(r"[a-z][a-z0-9\-]*")
_LONGEST: Final = 500


def proposals_for(part: Part, tool: str) -> tuple[str, ...]:
    """Return the rule to propose for a command, if there is one to be written."""
    text, least = part.texts[0] if part.texts else ("", 0)
    if not text or part.has_tail or "*" in text or "\n" in text or len(text) > _LONGEST:
        return ()
    if not all(word.is_literal for word in part.words):
        return ()
    names = [word.text for word in part.words[:2]]
    is_known = len(names) == 2 and least == 1 and names[0] in _HAVE_COMMANDS
    if is_known and _WORD.fullmatch(names[1]) and names[1] not in _TOO_MUCH:
        return (f"{tool}({names[0]} {names[1]}:*)",)
    return (f"{tool}({text})",)
