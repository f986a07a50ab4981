"""Glob: find files by their names."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from clew.agent import globs, paths
from clew.agent.tool import Outcome, Reach
from clew.agent.tools.granted import Granted
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import failed, troubled
from clew.agent.walking import walk
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clew.agent.tool import Work

_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "pattern": {
            "type": "string",
            "description": "The pattern, for example `**/*.py` or `src/*.{ts,tsx}`",
        },
        "path": {"type": "string", "description": "The folder to look in; the working folder if left out"},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}
_MOST: Final = 100
_SECONDS: Final = 20.0


class _LateError(Exception):
    """The time for a walk is up."""


class Glob:
    """Finds files by name."""

    name = "Glob"
    description = (
        "Finds files by a pattern for their names, at any depth, and lists them, the one changed longest ago "
        "first. `*` is anything within a name, `**` any folders, `{a,b}` one or the other. At most 100 "
        "are listed."
    )
    schema = _SCHEMA

    def __init__(self, *, is_hidden: Callable[[str], bool] | None = None) -> None:
        """Leave out files that `is_hidden` says yes to."""
        self._granted = Granted()
        self._is_hidden = is_hidden

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Looking changes nothing."""
        return True

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:
        """Say in which folder would be looked."""
        pattern, path = given.get("pattern"), given.get("path")
        if not isinstance(pattern, str) or not isinstance(path, str | None):
            return Reach()
        try:
            return Reach(reads=(self._granted.ask(_parted(pattern, path or "")[0], work),))
        except paths.BadPathError:
            return Reach()

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Find the files."""
        asked = Given(self.name, given, self.schema)
        pattern, path = asked.text("pattern"), asked.text("path", required=False)
        if asked.refusal is not None:
            return asked.refusal
        folder, rest = _parted(pattern, path)
        try:
            root = self._granted.take(folder, work)
            facts = paths.look(root)
            if facts is None:
                where = f"Note: your current working directory is {work.cwd}."
                return failed(f"Directory does not exist: {folder}. {where}")
            if paths.kind(facts) != "a directory":
                return failed(f"Path is not a directory: {folder}")
            return self._found(root, globs.choice([rest]), work)
        except globs.GlobError as error:
            return failed(f"Search failed: {error.message}")
        except (OSError, ClewError) as error:
            return failed(troubled(error, folder))

    def _found(self, root: str, wanted: globs.Choice, work: Work) -> Outcome:
        started = time.monotonic()
        found: list[tuple[int, bytes, str]] = []
        is_complete = True

        def look_up() -> None:
            work.cancel.check()
            if time.monotonic() - started > _SECONDS:
                raise _LateError

        try:
            for file in walk(root, wanted=wanted, look_up=look_up):
                if self._is_hidden is not None and self._is_hidden(file.path):
                    continue
                try:
                    changed = os.lstat(file.path).st_mtime_ns
                except OSError:
                    continue
                found.append((changed, os.fsencode(file.path), file.path))
        except _LateError:
            is_complete = False
        found.sort()
        names = [shown(path, work.cwd) for _, _, path in found[:_MOST]]
        result = {
            "filenames": names,
            "durationMs": int((time.monotonic() - started) * 1000),
            "numFiles": len(names),
            "truncated": len(found) > _MOST or not is_complete,
            "totalMatches": len(found),
            "countIsComplete": is_complete,
        }
        return Outcome("\n".join([*(names or ["No files found"]), *_left(len(found), is_complete)]), result)


def _left(count: int, is_complete: bool) -> list[str]:
    """Say what is not listed."""
    if not is_complete:
        return [f"(The search took too long and was stopped; {count} matching files were found until then.)"]
    if count <= _MOST:
        return []
    left = f"{count - _MOST} more are not listed. Narrow the pattern or path to see the rest."
    return [f"(Showing {_MOST} of {count} matching files; {left})"]


def _parted(pattern: str, path: str) -> tuple[str, str]:
    """Part a pattern into the folder that is named in it plainly, and the rest, which is rooted there."""
    names = pattern.split("/")
    plain = 0
    while plain < len(names) - 1 and not globs.has_magic(names[plain]):
        plain += 1
    if plain == 0 or pattern.startswith("!"):
        return path or ".", pattern
    folder = "/".join(names[:plain]) or "/"
    rest = "/".join(names[plain:])
    return os.path.join(path or ".", folder), f"/{rest}"  # noqa: PTH118


def shown(path: str, cwd: str) -> str:
    """Return a path as it is shown: from the working folder on, if it is in there.

    What is no text in a name is replaced, as half a character would make a request the API refuses.
    """
    if path != cwd and paths.is_inside(path, cwd):
        path = os.path.relpath(path, cwd)
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
