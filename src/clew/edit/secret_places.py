"""Which strings of a record hold a session together, and in what sort of place any other one stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from clew.format.patch import Path

# fmt: off
_NAMES: Final = frozenset({
    "uuid", "parentUuid", "logicalParentUuid", "leafUuid", "sessionId", "session_id", "requestId",
    "messageId", "snapshotMessageId", "agentId", "id", "type", "subtype", "role", "model", "stop_reason",
    "timestamp", "version", "userType", "entrypoint", "permissionMode", "promptId", "toolUseID",
    "parentToolUseID", "sourceToolUseID", "sourceToolAssistantUUID", "tool_use_id", "signature",
    "media_type", "operation", "headUuid", "anchorUuid", "tailUuid", "uuids", "allUuids", "backupFileName",
})
# fmt: on
"""Keys whose values hold a session together."""

_FREE: Final = frozenset({"input", "toolUseResult"})
"""Below these a tool has its say, whatever its keys are called."""


def is_structure(path: Path) -> bool:
    """Say whether the string at a path holds the session together and must not be changed."""
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    if name not in _NAMES and not (name == "name" and path[-3:-2] == ("content",)):
        return False
    return not any(part in _FREE for part in path[:-1])


_TITLES: Final = frozenset({"summary", "aiTitle", "customTitle", "agentName", "tag"})
_INNER: Final = ("originalFile", "structuredPatch")


def place_of(kind: str, path: Path) -> str:
    """Return what sort of place a path is in."""
    first = str(path[0]) if path else ""
    if kind in {"progress", "attachment", "queue-operation"}:
        return kind
    if first == "toolUseResult":
        return next((name for name in _INNER if name in path), first)
    if first == "message":
        return "tool input" if "input" in path else "message.content"
    return "title" if first in _TITLES else first
