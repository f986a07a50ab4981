"""Walk a folder and all below it, in the order of the names, without ever following a link.

Only regular files are told of. What cannot be looked into is left out: one folder without permission does
not end a search.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.agent.ignores import ignores

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.agent.globs import Choice
    from clew.agent.ignores import Ignores

_FOLDER: Final = (
    os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)


@dataclass(frozen=True, slots=True)
class Found:
    """A file that was come across."""

    path: str
    relative: str
    """From the folder on where the walk began, with slashes."""


def walk(
    root: str,
    *,
    wanted: Choice | None = None,
    has_type: Callable[[str], bool] | None = None,
    respects_ignores: bool = False,
    look_up: Callable[[], None] = lambda: None,
) -> Iterator[Found]:
    """Give the files below a folder that are wanted.

    What `wanted` says of a file or folder goes before what ignore files say, as with ripgrep, and before its
    type. `look_up` is called for each folder, and may raise to end the walk.
    """
    start = ignores(root) if respects_ignores else None
    waiting = [iter(_entries(root, "", start))]
    look_up()
    while waiting:
        entry = next(waiting[-1], None)
        if entry is None:
            waiting.pop()
        elif not _is_wanted(entry, wanted, has_type):
            continue
        elif entry.is_folder:
            look_up()
            below = entry.level.below(entry.name) if entry.level else None
            waiting.append(iter(_entries(entry.path, entry.relative, below)))
        else:
            yield Found(entry.path, entry.relative)


class _Entry(NamedTuple):
    name: str
    path: str
    relative: str
    is_folder: bool
    level: Ignores | None
    """What is to be left out in the folder this is in."""


def _entries(folder: str, prefix: str, level: Ignores | None) -> list[_Entry]:
    """List a folder, by name. A link that was put in its place meanwhile is not followed."""
    try:
        opened = os.open(folder, _FOLDER) if os.scandir in os.supports_fd else None
        try:
            with os.scandir(folder if opened is None else opened) as entries:
                names = [(one.name, one.is_dir(follow_symlinks=False)) for one in entries if _is_told(one)]
        finally:
            if opened is not None:
                os.close(opened)
    except OSError:
        return []
    names.sort(key=lambda one: os.fsencode(one[0]))
    return [
        _Entry(
            name,
            os.path.join(folder, name),  # noqa: PTH118
            f"{prefix}/{name}" if prefix else name,
            is_folder,
            level,
        )
        for name, is_folder in names
    ]


def _is_told(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False)


def _is_wanted(entry: _Entry, wanted: Choice | None, has_type: Callable[[str], bool] | None) -> bool:
    said = None if wanted is None else wanted.judge(entry.relative, is_folder=entry.is_folder)
    if said is not None:
        return said
    if entry.level is not None and entry.level.judge(entry.path, is_folder=entry.is_folder):
        return False
    return entry.is_folder or has_type is None or has_type(entry.name)
