"""Know the files that are never written without asking, whatever a rule allows.

Who can write them can make other programs run something, change what is allowed, or rewrite what was said.
"""

# ruff: noqa: PTH118

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOLDERS: Final = {
    ".git": "the repository's own files",
    ".claude": "settings of the client",
    ".vscode": "settings of an editor",
    ".idea": "settings of an editor",
    ".husky": "scripts that git starts",
    ".ssh": "keys",
    ".gnupg": "keys",
    ".aws": "keys",
}
_START_UP: Final = (
    *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".inputrc"),
    *(".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login"),
    *("config.fish", ".envrc"),
)
_SETTINGS: Final = (
    ".gitconfig",
    ".gitmodules",
    ".ripgreprc",
    ".mcp.json",
    ".claude.json",
    ".npmrc",
    ".netrc",
)
_FILES: Final = {
    **dict.fromkeys(_START_UP, "a shell's start-up file"),
    **dict.fromkeys(_SETTINGS, "settings of a program"),
}


def protection(path: str, further: Sequence[str] = ()) -> str | None:
    """Say what a path belongs to that is not written without asking, or None.

    `further` are folders that are so too: the config folder with the sessions, and clew's own.
    """
    # On many systems .GIT is .git.
    parts = [part.casefold() for part in path.replace("\\", "/").split("/") if part]
    for part in parts:
        # Windows takes `.git.` and `.git ` for it as well.
        found = _FOLDERS.get(part.rstrip(". ") or part)
        if found:
            return found
    if parts and parts[-1] in _FILES:
        return _FILES[parts[-1]]
    for folder in further:
        if is_inside(path, real(folder)):
            return "the store of sessions"
    return None


def real(path: str) -> str:
    """Return a path with links followed as far as they are there; what can be no path stays as it is."""
    try:
        return os.path.realpath(path)
    except ValueError:  # a NUL, or half a surrogate pair
        return path


def is_inside(path: str, folder: str) -> bool:
    """Say whether a path is a folder or lies in it. Both must be absolute, with links followed."""
    if "\0" in path:
        return False
    return path == folder or path.startswith(os.path.join(folder, ""))
