"""Which files of a person may be shown because a session says so: those of the projects it worked in.

What a session says is untrusted: it may name any path as its folder, and any other as a file in it. So a file
has to lie in a folder that is one project's, all links followed, and be a plain file of a moderate size.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_MOST: Final = 8 << 20


def why_not(path: str, projects: Iterable[str]) -> str | None:
    """Say why the file at a path is not to be opened; None if it may be."""
    try:
        if not Path(path).is_absolute() or os.path.normpath(path) != path:
            return "its path is not whole"
        real = Path(path).resolve(strict=True)
        if not any(_is_inside(real, Path(path), Path(folder)) for folder in projects):
            return "it is outside the folders of the projects that changed it"
        status = real.stat()
    except (FileNotFoundError, NotADirectoryError):
        return "it is not there any more"
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL
        return "it cannot be read"
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    return f"it has more than {_MOST >> 20} MB" if status.st_size > _MOST else None


def _is_inside(real: Path, path: Path, folder: Path) -> bool:
    """Say whether a file lies in a project, by its path and by where that leads."""
    if not folder.is_absolute() or not path.is_relative_to(folder):
        return False
    home = folder.resolve()
    # A home, or what is above it, is no project: everything a person has would be in it.
    return real.is_relative_to(home) and not Path.home().resolve().is_relative_to(home)
