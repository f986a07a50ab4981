"""Where clew keeps what it cannot make again: the journal of edits, and the locks.

What can be made again, the catalog, lies in the cache folder.
"""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.store.disk import Disk


def state_folder(environ: Mapping[str, str] | None = None, *, platform: str = sys.platform) -> Path:
    """Return the folder for the user's state; it need not be there yet."""
    variables = os.environ if environ is None else environ
    named = variables.get("XDG_STATE_HOME", "")
    if named and Path(named).is_absolute():  # a relative one is to be ignored, says the specification
        return Path(named) / "clew"
    home = Path(variables.get("HOME") or Path("~").expanduser())
    if platform == "win32":
        local = variables.get("LOCALAPPDATA")
        return (Path(local) if local else home / "AppData" / "Local") / "clew" / "state"
    if platform == "darwin":
        return home / "Library" / "Application Support" / "clew"
    return home / ".local" / "state" / "clew"


def missing_folders(folder: str) -> list[str]:
    """Return those of a folder and the ones above it that are not there, the outermost first."""
    missing: list[str] = []
    while folder and not os.path.isdir(folder):  # noqa: PTH112
        missing.append(folder)
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            break
        folder = above
    return missing[::-1]


def make_private(folder: Path, disk: Disk) -> None:
    """Make a folder, and those above it, that only its owner may look into; when this returns, they last."""
    for each in missing_folders(str(folder)):
        with contextlib.suppress(FileExistsError):  # another clew was quicker
            disk.make_folder(each)
        disk.sync_folder(os.path.dirname(each))  # noqa: PTH120
