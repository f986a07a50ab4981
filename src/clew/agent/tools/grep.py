"""Grep: find files, or lines in them, by what they hold."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, Final, cast

from clew.agent import paths
from clew.agent.tool import Outcome, Reach
from clew.agent.tools import search_request
from clew.agent.tools.granted import Granted
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import failed, troubled
from clew.agent.tools.programs import ProgramError, run
from clew.agent.tools.search_request import Mode, SearchRequest
from clew.agent.tools.search_told import Page, ShownFiles, Told
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clew.agent.tool import Work
    from clew.agent.tools.programs import Done

_MODES: Final = ("files_with_matches", "content", "count")
_NUMBER: Final = {"type": "number"}
_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string", "description": "The regular expression to look for"},
        "path": {"type": "string", "description": "The file or folder to look in; else the working folder"},
        "glob": {
            "type": "string",
            "description": "Look only in files named so: `*.{ts,tsx}`",
        },
        "type": {
            "type": "string",
            "description": "Look only in files of this sort: js, py, rust, go, java …",
        },
        "output_mode": {
            "type": "string",
            "enum": list(_MODES),
            "description": "What to tell: the files (if left out), the lines, or how many in each",
        },
        "-A": {**_NUMBER, "description": "Lines to show after each match (content only)"},
        "-B": {**_NUMBER, "description": "Lines to show before each match (content only)"},
        "-C": {**_NUMBER, "description": "Lines to show on both sides (content only)"},
        "context": {**_NUMBER, "description": "The same as -C"},
        "-n": {"type": "boolean", "description": "Show line numbers, as is done if left out (content only)"},
        "-i": {"type": "boolean", "description": "Take capital and small letters for the same"},
        "-o": {"type": "boolean", "description": "Show only what matches, not the lines (content only)"},
        "head_limit": {**_NUMBER, "description": "Tell at most so many; 250 if left out, 0 for all"},
        "offset": {**_NUMBER, "description": "Leave out so many at the beginning"},
        "multiline": {"type": "boolean", "description": "Let a match go over line ends, and `.` match them"},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}
_LIMIT: Final = 250
_MOST_AROUND: Final = 1000
_MOST_OUTPUT: Final = 64 << 20
_SECONDS: Final = 20.0


class Grep:
    """Finds files by content."""

    name = "Grep"
    description = (
        "Searches files for a regular expression, in the syntax of ripgrep: braces that mean themselves need "
        "a backslash. Files that git ignores are left out. Tells the names of the files that have it, the "
        "latest first; the lines, with `output_mode: content`; or how many, with `count`."
    )
    schema = _SCHEMA

    def __init__(
        self,
        *,
        is_hidden: Callable[[str], bool] | None = None,
        find: Callable[[str], str | None] = shutil.which,
    ) -> None:
        """Leave out files that `is_hidden` says yes to. `find` finds ripgrep, or does not."""
        self._granted = Granted()
        self._is_hidden = is_hidden
        self._find = find

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Looking changes nothing."""
        return True

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:
        """Say which file or folder would be searched."""
        path = given.get("path")
        if not isinstance(path, str | None):
            return Reach()
        try:
            return Reach(reads=(self._granted.ask(path or ".", work),))
        except paths.BadPathError:
            return Reach()

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Search."""
        asked = Given(self.name, given, self.schema)
        pattern, path = asked.text("pattern"), asked.text("path", required=False) or "."
        mode = cast("Mode", asked.choice("output_mode", _MODES))
        both = asked.number("context") or asked.number("-C") or 0
        sides = [asked.number(name) for name in ("-B", "-A")]
        around = [min(_MOST_AROUND, both if side is None else side) for side in sides]
        limit = asked.number("head_limit")
        page = Page(_LIMIT if limit is None else limit, asked.number("offset") or 0)
        is_numbered = asked.flag("-n", default=True)
        globs = _globs(asked.text("glob", required=False))
        kind, case = asked.text("type", required=False), asked.flag("-i")
        over, only = asked.flag("multiline"), asked.flag("-o")
        if asked.refusal is not None:
            return asked.refusal
        try:
            root = self._granted.take(path, work)
            facts = paths.look(root)
            if facts is None:
                where = f"Note: your current working directory is {work.cwd}."
                return failed(f"Path does not exist: {path}. {where}")
            what = paths.kind(facts)
            if paths.is_inside(root, "/proc"):
                what = "about processes"
            if what not in (None, "a directory"):
                return failed(f"{path} is {what}, which cannot be searched.")
            if mode != "content":
                around, only = [0, 0], False
            request = SearchRequest(
                pattern, root, what is None, mode, globs, kind, around[0], around[1], case, over, only
            )
            done = self._search(request, work)
        except ProgramError as error:
            return failed(f"The search could not be started: {error}")
        except (OSError, ClewError) as error:
            return failed(troubled(error, path))
        said = done.errors.decode("utf-8", "replace").strip()
        if done.code == 2 and said and not done.output:  # so both programs refuse a pattern
            what = "the pattern, glob, or file type"
            why = f"ripgrep rejected {what}" if said.startswith("rg:") else f"{what} was rejected"
            return failed(f"Search failed — {why} without searching:\n{said}")
        outcome = self._told(request, done.output, page, work, is_numbered=is_numbered)
        return _cut_short(outcome) if done.is_late or done.is_cut else outcome

    def _search(self, request: SearchRequest, work: Work) -> Done:
        program = self._find("rg")
        if program is None:
            command, given = search_request.own(request)
        else:
            command, given = search_request.ripgrep(program, request), b""
        # Patterns for files are meant from the folder on that is searched.
        cwd = os.path.dirname(request.root) if request.is_file else request.root  # noqa: PTH120
        return run(command, cwd=cwd, seconds=_SECONDS, most=_MOST_OUTPUT, cancel=work.cancel, given=given)

    def _told(
        self, request: SearchRequest, output: bytes, page: Page, work: Work, *, is_numbered: bool
    ) -> Outcome:
        told = Told(request, work.cwd, ShownFiles(self._is_hidden, is_file=request.is_file), page)
        match request.mode:
            case "files_with_matches":
                return told.files(output)
            case "count":
                return told.counts(output)
            case _:
                return told.lines(output, is_numbered=is_numbered)


def _globs(given: str) -> tuple[str, ...]:
    """Take several patterns apart: spaces part them, and commas outside of braces."""
    found: list[str] = []
    for one in given.split():
        found += [one] if "{" in one else [piece for piece in one.split(",") if piece]
    return tuple(found)


def _cut_short(outcome: Outcome) -> Outcome:
    words = "(The search took too long or found too much, and was stopped: there may be more.)"
    return Outcome(f"{outcome.content}\n\n{words}", outcome.structured)
