"""What a search in files asks for, and how each of the two programs that can do it is told.

Ripgrep does it where there is one. Else a Python of our own does, in a process of its own: a pattern can
keep it busy for ever, and only a process can be stopped at that. Both print the same: for lines `path NUL
number`, `:` or `-` for a line beside a match, and the line; for counts `path NUL number`; for files `path
NUL`.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from clew.agent.tools.search_types import TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

Mode = Literal["content", "files_with_matches", "count"]

VERSIONING: Final = (".git", ".svn", ".hg", ".bzr", ".jj", ".sl")
"""Folders in which versions are kept, never what one looks for."""

_CHILD: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); from clew.agent.tools.search_child import main; main()"
)


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to look for, where, and how it is to be told."""

    pattern: str
    root: str
    """The file or folder, resolved."""

    is_file: bool
    mode: Mode
    globs: tuple[str, ...] = ()
    type: str = ""
    before: int = 0
    after: int = 0
    ignores_case: bool = False
    is_multiline: bool = False
    only_matching: bool = False

    @property
    def exclusions(self) -> tuple[str, ...]:
        """The patterns for files, with those that are never wanted last."""
        system = ("!/proc", "!/sys", "!/dev") if self.root == "/" else ()
        return (*self.globs, *(f"!{name}" for name in VERSIONING), *system)


def ripgrep(program: str, request: SearchRequest) -> list[str]:
    """Return the command by which ripgrep does it."""
    return [program, *_options(request), "-e", request.pattern, "--", request.root]


def _options(request: SearchRequest) -> Iterator[str]:
    # No settings of the person's: the same search finds the same everywhere.
    yield from ("--no-config", "--no-ignore-global", "--no-messages", "--hidden", "--color=never")
    yield from ("--no-heading", "--with-filename", "--null", "--line-number", "--sort=path")
    # Which files are binary is seen to afterwards, in the same way for both programs.
    yield "--text"
    for glob in request.exclusions:
        yield f"--glob={glob}"
    if request.type:
        if request.type in TYPES:
            yield f"--type-clear={request.type}"
            yield from (f"--type-add={request.type}:{glob}" for glob in TYPES[request.type])
        yield f"--type={request.type}"
    if request.ignores_case:
        yield "--ignore-case"
    if request.is_multiline:
        yield from ("--multiline", "--multiline-dotall")
    match request.mode:
        case "files_with_matches":
            yield "--files-with-matches"
        case "count" if not request.is_multiline:
            yield "--count"
        case _ if request.only_matching:
            yield "--only-matching"
        case _:
            yield from (f"--before-context={request.before}", f"--after-context={request.after}")


def own(request: SearchRequest) -> tuple[list[str], bytes]:
    """Return the command by which our own search does it, and what it is to be given."""
    place = Path(__file__).resolve().parents[3]  # where the package is
    # Isolated: nothing in the folder that is searched, nor in the environment, can be taken for a module.
    return [sys.executable, "-I", "-c", _CHILD, str(place)], json.dumps(asdict(request)).encode("ascii")


def read(data: bytes) -> SearchRequest:
    """Read a request as `own` writes it."""
    found: dict[str, Any] = json.loads(data)
    found["globs"] = tuple(found["globs"])
    return SearchRequest(**found)
