"""The config folders that may hold sessions, and which of them are there."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Roots(NamedTuple):
    """The config folders to read, and all that were considered."""

    found: tuple[str, ...]
    """The folders that exist, each once, as absolute paths."""

    looked_in: tuple[str, ...]
    """Every folder that was considered, for a message that says where nothing was found."""


def find_roots(
    explicit: Sequence[str] = (), *, environ: Mapping[str, str] | None = None, home: str | None = None
) -> Roots:
    """Return the config folders: `explicit` ones, else `$CLAUDE_CONFIG_DIR`, else the two under `home`."""
    looked_in = _candidates(explicit, os.environ if environ is None else environ, home)
    found: dict[tuple[int, int], str] = {}
    for path in looked_in:
        folder = _folder(path)
        if folder is not None:
            # ~/.config/claude is often a link to ~/.claude: the same sessions must not be counted twice.
            found.setdefault(folder, path)
    return Roots(tuple(found.values()), looked_in)


def _candidates(explicit: Sequence[str], environ: Mapping[str, str], home: str | None) -> tuple[str, ...]:
    if explicit:
        paths = list(explicit)
    elif named := environ.get("CLAUDE_CONFIG_DIR", "").strip():
        # The client itself takes the value for one path, so a folder with a comma in its name is one.
        paths = [named] if _folder(named) else [part.strip() for part in named.split(",")]
    else:
        base = Path("~").expanduser() if home is None else Path(home)
        paths = [str(base / ".claude"), str(base / ".config" / "claude")]
    return tuple(dict.fromkeys(os.path.normpath(Path(path).absolute()) for path in paths if path))


def _folder(path: str) -> tuple[int, int] | None:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISDIR(status.st_mode) else None
