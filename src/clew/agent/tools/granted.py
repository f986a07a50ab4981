"""Remember which file a permission was given for, from the question to the use.

Between the two a link can be put where there was none. The call then goes on with the file that was asked
about, and no other.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from clew.agent import paths
from clew.agent.tool import Reach

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.agent.tool import Work

_MOST: Final = 4096
"""Calls that were asked about and never made are forgotten behind so many others."""


class Granted:
    """The resolved paths of calls that were asked about, until they are made."""

    def __init__(self) -> None:
        self._paths: dict[str, tuple[str, str]] = {}
        self._lock = threading.Lock()

    def ask(self, path: str, work: Work) -> str:
        """Resolve the path of a call, and keep what came of it."""
        resolved = paths.resolve(path, work.cwd)
        with self._lock:
            self._paths.pop(work.call_id, None)
            self._paths[work.call_id] = (path, resolved)
            while len(self._paths) > _MOST:
                del self._paths[next(iter(self._paths))]
        return resolved

    def take(self, path: str, work: Work) -> str:
        """Return what the path of a call was resolved to when it was asked about."""
        with self._lock:
            asked, resolved = self._paths.pop(work.call_id, (None, ""))
        return resolved if asked == path else paths.resolve(path, work.cwd)


class ChangingTool:
    """What the tools that change one file have in common: they run one by one, and what they touch."""

    def __init__(self) -> None:
        self._granted = Granted()

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Files are changed one after the other."""
        return False

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:
        """Say which file would be written; none if the input names none."""
        path = given.get("file_path")
        if not isinstance(path, str):
            return Reach()
        try:
            return Reach(writes=(self._granted.ask(path, work),))
        except paths.BadPathError:
            return Reach()
