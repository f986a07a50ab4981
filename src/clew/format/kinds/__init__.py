"""Typed views of the known kinds of entry, one module each; everything else is `Unknown`.

A view looks at a decoded mapping and copies nothing. To add one: a module here, a line in `_VIEWS`, a sample
in `docs/samples`, and its fields in `clew.format.known_fields`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format.fields import as_mapping
from clew.format.kinds.assistant import Assistant
from clew.format.kinds.attachment import Attachment
from clew.format.kinds.base import Kind
from clew.format.kinds.cost_state import CostState
from clew.format.kinds.file_history import Backup, FileHistoryDelta, FileHistorySnapshot
from clew.format.kinds.last_prompt import LastPrompt
from clew.format.kinds.message import Message
from clew.format.kinds.pr_link import PrLink
from clew.format.kinds.progress import Progress
from clew.format.kinds.queue_operation import QueueOperation
from clew.format.kinds.summary import Summary
from clew.format.kinds.system import (
    SUBTYPES,
    ApiError,
    CompactBoundary,
    LocalCommand,
    StopHookSummary,
    System,
    TurnDuration,
)
from clew.format.kinds.titles import Title
from clew.format.kinds.unknown import Unknown
from clew.format.kinds.user import User

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "ApiError",
    "Assistant",
    "Attachment",
    "Backup",
    "CompactBoundary",
    "CostState",
    "FileHistoryDelta",
    "FileHistorySnapshot",
    "Kind",
    "LastPrompt",
    "LocalCommand",
    "Message",
    "PrLink",
    "Progress",
    "QueueOperation",
    "StopHookSummary",
    "Summary",
    "System",
    "Title",
    "TurnDuration",
    "Unknown",
    "User",
    "view",
]

_VIEWS: Final[Mapping[str, type[Kind]]] = {
    "agent-name": Title,
    "ai-title": Title,
    "assistant": Assistant,
    "attachment": Attachment,
    "cost-state": CostState,
    "custom-title": Title,
    "file-history-delta": FileHistoryDelta,
    "file-history-snapshot": FileHistorySnapshot,
    "last-prompt": LastPrompt,
    "pr-link": PrLink,
    "progress": Progress,
    "queue-operation": QueueOperation,
    "summary": Summary,
    "system": System,
    "tag": Title,
    "user": User,
}

_ROLES: Final[Mapping[str, type[Kind]]] = {"user": User, "assistant": Assistant}


def view(data: Mapping[str, object]) -> Kind:
    """View an entry as its kind: by its type, by the role of its message where it has no type."""
    kind = data.get("type")
    if isinstance(kind, str):
        found = _VIEWS.get(kind, Unknown)
        if found is System:
            subtype = data.get("subtype")
            found = SUBTYPES.get(subtype, System) if isinstance(subtype, str) else System
        return found(data)
    message = as_mapping(data.get("message"))
    role = message.get("role") if message is not None else None
    return _ROLES.get(role, Unknown)(data) if isinstance(role, str) else Unknown(data)
