"""Which files a project says are not worth looking at: `.gitignore`, `.ignore` and `.rgignore`.

The rules are ripgrep's, without the file each person may have for all projects: what counts is that of the
nearest folder, `.rgignore` before `.ignore` before git's files, and git's only inside a repository.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Final

from clew.agent import globs, paths
from clew.errors import ClewError

_MOST: Final = 4 << 20
_NAMES: Final = (".rgignore", ".ignore", ".gitignore")
_OURS: Final = 2
"""How many of the kinds are not git's."""

_NONE: Final = globs.Rules(())


@dataclass(frozen=True, slots=True)
class Ignores:
    """What the files of a folder, and of those above it, say."""

    folder: str
    above: Ignores | None
    kinds: tuple[globs.Rules, ...]
    """The rules by kind, the strongest first: those of `_NAMES`, then git's own file for a clone."""

    is_repository: bool
    """Whether the folder is the top of a repository."""

    in_repository: bool
    """Whether it is somewhere in one."""

    def below(self, name: str) -> Ignores:
        """Return what counts in a folder that is in this one."""
        return _level(os.path.join(self.folder, name), self)  # noqa: PTH118

    def judge(self, path: str, *, is_folder: bool) -> bool:
        """Say whether a path in this folder is to be left out."""
        found: list[bool | None] = [None] * (len(_NAMES) + 1)
        level: Ignores | None = self
        is_inside = self.in_repository
        while level is not None:
            start = len(level.folder.rstrip(os.sep)) + 1
            relative = path[start:].replace(os.sep, "/")
            for at, rules in enumerate(level.kinds):
                if found[at] is None and rules.rules and (at < _OURS or is_inside):
                    found[at] = rules.judge(relative, is_folder=is_folder)
            # Above the top of a repository git's files are those of another.
            is_inside = is_inside and not level.is_repository
            level = level.above
        return next((one for one in found if one is not None), False)


def ignores(folder: str) -> Ignores:
    """Return what counts in a folder, by the files in it and in all above it."""
    level = _level(os.sep, None)
    for name in filter(None, folder.split(os.sep)):  # noqa: PTH206
        level = level.below(name)
    return level


def _level(folder: str, above: Ignores | None) -> Ignores:
    git = os.path.join(folder, ".git")  # noqa: PTH118
    is_repository = os.path.lexists(git)
    kinds = [_rules(os.path.join(folder, name)) for name in _NAMES]  # noqa: PTH118
    kinds.append(_rules(os.path.join(git, "info", "exclude")) if is_repository else _NONE)  # noqa: PTH118
    in_repository = is_repository or (above is not None and above.in_repository)
    return Ignores(folder, above, tuple(kinds), is_repository, in_repository)


def _rules(path: str) -> globs.Rules:
    if not os.path.lexists(path):
        return _NONE
    try:
        data = paths.read(path, most=_MOST).data
    except (OSError, ClewError):
        return _NONE
    return globs.ignored(data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split("\n"))
