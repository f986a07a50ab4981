"""Where a line names other lines: what it follows, where a session ends, what a compaction kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from clew.format.entry import as_mapping
from clew.session.graph import BOUNDARY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.format.patch import Path

RELINKED: Final = "the line it followed is gone"

NAMES: Final[tuple[Path, ...]] = (
    ("parentUuid",),
    ("logicalParentUuid",),
    ("leafUuid",),
    ("sourceToolAssistantUUID",),
    ("compactMetadata", "preservedMessages", "anchorUuid"),
    ("compactMetadata", "preservedSegment", "anchorUuid"),
)
"""Where a line names another one."""

LISTS: Final[tuple[Path, ...]] = (
    ("compactMetadata", "preservedMessages", "uuids"),
    ("compactMetadata", "preservedMessages", "allUuids"),
)
"""Where it names several."""

SEGMENT: Final[Path] = ("compactMetadata", "preservedSegment")
"""What a compaction kept in one piece."""

ENDS: Final[tuple[Path, ...]] = ((*SEGMENT, "headUuid"), (*SEGMENT, "tailUuid"))
"""The first line of that piece, and the last."""


def is_naming(kind: str) -> bool:
    """Say whether lines of a kind name others besides the one they follow."""
    return kind in {BOUNDARY, "summary"} or kind.partition("/")[0] == "last-prompt"


def named_at(data: Mapping[str, Any], path: Path) -> object:
    """Return what a record says in such a place."""
    value: object = data
    for key in path:
        value = as_mapping(value).get(str(key))
    return value
