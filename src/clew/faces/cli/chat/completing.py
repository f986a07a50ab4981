"""What Tab adds: the rest of a command's name, or of a path behind an @."""

# ruff: noqa: PTH118

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.faces.cli.chat import slash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.faces.cli.chat.draft import Draft

_MOST: Final = 2000
_PATH: Final = re.compile(r"(?:(?<=\s)|^)@(\S*)$")
_NAME: Final = re.compile(r"^/(\S*)$")


class Completion(NamedTuple):
    """What Tab comes to."""

    draft: Draft
    others: tuple[str, ...] = ()
    """What it could be, where that is not certain."""


def complete(draft: Draft, *, commands: Sequence[str], folder: str) -> Completion:
    """Complete what stands before the cursor, as far as it is certain."""
    before = draft.text[: draft.at]
    if (name := _NAME.search(before)) is not None:
        names = sorted({*(one.name for one in slash.COMMANDS), *commands})
        return _taken(draft, name[1], [one for one in names if one.startswith(name[1])], " ")
    if (path := _PATH.search(before)) is not None:
        return _taken(draft, path[1], _paths(path[1], folder), "")
    return Completion(draft)


def _taken(draft: Draft, typed: str, found: Sequence[str], end: str) -> Completion:
    if not found:
        return Completion(draft)
    if len(found) == 1:
        # A folder goes on: its files may be meant.
        return Completion(draft.insert(found[0][len(typed) :] + ("" if found[0].endswith("/") else end)))
    more = _common(found)[len(typed) :]
    return Completion(draft.insert(more) if more else draft, () if more else tuple(found))


def _common(found: Sequence[str]) -> str:
    """Return what all begin with; the first and the last of the order show it."""
    first, last = min(found), max(found)
    at = next((at for at, char in enumerate(first) if at >= len(last) or last[at] != char), len(first))
    return first[:at]


def _paths(typed: str, folder: str) -> list[str]:
    above, name = os.path.split(typed)
    found: list[str] = []
    try:
        with os.scandir(os.path.join(folder, os.path.expanduser(above))) as entries:  # noqa: PTH111
            for number, entry in enumerate(entries):
                if number >= _MOST:
                    break
                is_hidden = entry.name.startswith(".") and not name.startswith(".")
                if entry.name.startswith(name) and not is_hidden and entry.name.isprintable():
                    shown = os.path.join(above, entry.name) if above else entry.name
                    found.append(f"{shown}/" if entry.is_dir() else shown)
    except OSError:
        return []
    return sorted(found)
