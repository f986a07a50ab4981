"""What people wrote down for the model: `CLAUDE.md` of the person, of the project and of folders above.

A file may name others by `@path`. Those of a project are read only within it; all of it is bounded. It is
text that the person or the project wrote, so it goes to the model as such, and grants nothing.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST: Final = 40_000
"""So many characters of a file are told."""

_DEEPEST: Final = 5
_MOST: Final = 40
_NAMED: Final = re.compile(r"(?:^|\s)@([~.\w/][^\s`'\"()<>]*)")
_CODE: Final = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Instruction:
    """A file with instructions."""

    path: str
    origin: str
    """Whose it is, for the model to know."""

    text: str


def read_instructions(config_folder: str, cwd: str) -> tuple[Instruction, ...]:
    """Return all instructions that hold in a folder, the most general first."""
    found: dict[str, Instruction] = {}
    user = Path(config_folder, "CLAUDE.md")
    _take(user, "the person's own instructions for all projects", (str(user.parent), _home()), found, 0)
    folders = [Path(cwd), *Path(cwd).parents]
    home = _home()
    for folder in reversed(folders):
        if str(folder) in (os.sep, home):
            continue  # what lies there is none of a project's
        for name in ("CLAUDE.md", ".claude/CLAUDE.md"):
            _take(folder / name, "the project's instructions", (str(folder),), found, 0)
        _take(folder / "CLAUDE.local.md", "the person's own for this project", (str(folder),), found, 0)
    return tuple(found.values())


def _take(
    path: Path, origin: str, within: tuple[str, ...], found: dict[str, Instruction], depth: int
) -> None:
    real = os.path.realpath(path)
    if real in found or len(found) >= _MOST or not any(_is_in(real, folder) for folder in within):
        return
    text = _read(real)
    if text is None:
        return
    found[real] = Instruction(str(path), origin, text)
    if depth < _DEEPEST:
        for named in _named_in(text):
            # Not Path.expanduser(), which raises where there is nobody of that name.
            inner = path.parent / os.path.expanduser(named)  # noqa: PTH111
            _take(inner, origin, within, found, depth + 1)


def _named_in(text: str) -> Iterator[str]:
    for match in _NAMED.finditer(_CODE.sub(" ", text)):
        yield match.group(1).rstrip(".,;:!?")


def _is_in(path: str, folder: str) -> bool:
    real = os.path.realpath(folder)
    return path == real or path.startswith(real.rstrip(os.sep) + os.sep)


def _home() -> str:
    return os.path.expanduser("~")  # noqa: PTH111


def _read(path: str) -> str | None:
    """Return the text of a file; None for what is none, or cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if not S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(4 * LONGEST + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    text = data.decode("utf-8", "replace").strip()
    if not text or "\0" in text:
        return None
    return text if len(text) <= LONGEST else text[:LONGEST] + "\n[cut: the file is longer]"
