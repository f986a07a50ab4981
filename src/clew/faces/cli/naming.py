"""Short names for projects and models, where a column has no room for the whole."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_PARTS: Final = re.compile(r"[/\\]+")
_MODEL: Final = re.compile(r"(?:.*[/.])?claude-(.*?)(?:[-@]\d{8})?(?:-v\d+(?::\d+)?)?")


def projects(folders: Iterable[str]) -> dict[str, str]:
    """Name each project by the last part of its path; two that share it get the part above as well."""
    parts = {folder: [part for part in _PARTS.split(folder) if part] for folder in set(folders)}
    taken = Counter(names[-1] if names else folder for folder, names in parts.items())
    return {
        folder: folder if not names else names[-1] if taken[names[-1]] == 1 else "/".join(names[-2:])
        for folder, names in parts.items()
    }


def models(names: Sequence[str]) -> str:
    """Name the model that was used most, and how many others there were: `sonnet-4-5 +1`."""
    if not names:
        return ""
    first = short_model(names[0])
    return first if len(names) == 1 else f"{first} +{len(names) - 1}"


def short_model(name: str) -> str:
    """Leave out of a model's name what all have in common, and its date."""
    match = _MODEL.fullmatch(name)
    return match[1] if match and match[1] else name
