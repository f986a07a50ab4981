"""The name the client gives a project's folder.

Many paths share one name (`/a/my_p`, `/a/my.p`, `/a/my/p`), and the rule for long paths has changed between
versions, so a name is a hint about a path and never a way to find files: the `cwd` inside them is the truth.
"""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 200
"""Longer names are cut here and get a hash of the whole path (seen from 2.1.88)."""

_OTHER: Final = re.compile(r"[^A-Za-z0-9]")
_DRIVE: Final = re.compile(r"[A-Za-z]:(?:[\\/]|$)")
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"


def folder_name(path: str) -> str:
    """Return the name of the project folder for `path`, a POSIX or a Windows path, as 2.1.88 writes it."""
    name = _dashed(path)
    if len(name) <= LONGEST:
        return name
    return f"{name[:LONGEST]}-{_base36(abs(_hash(path)))}"


def could_be(folder: str, path: str) -> bool:
    """Say whether a project folder of that name may belong to `path`; a `cwd` has to confirm it."""
    name = _dashed(path)
    if _DRIVE.match(path):  # Windows does not tell E: from e:
        name, folder = name.lower(), folder.lower()
    if len(name) <= LONGEST:
        return folder == name
    # Not the hash: it has changed between versions. Before there was one the name was not cut.
    return folder == name or (
        folder[:LONGEST] == name[:LONGEST] and folder[LONGEST : LONGEST + 1] in {"", "-"}
    )


def _dashed(path: str) -> str:
    # The client counts UTF-16 units: a character beyond U+FFFF becomes two dashes.
    return _OTHER.sub(lambda found: "--" if found[0] > "\uffff" else "-", path)


def _hash(path: str) -> int:
    value = 0
    units = path.encode("utf-16-le", "surrogatepass")
    for at in range(0, len(units), 2):
        value = (31 * value + units[at] + (units[at + 1] << 8)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def _base36(value: int) -> str:
    digits = ""
    while value:
        value, rest = divmod(value, 36)
        digits = _DIGITS[rest] + digits
    return digits or "0"
