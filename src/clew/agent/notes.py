"""The records beside a conversation: they have no place in its chain, and of most the last one counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from clew.format.compose import record
from clew.format.times import iso

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.format.compose import Block

Operation = Literal["enqueue", "dequeue", "remove"]

_LONGEST_PROMPT: Final = 200
"""What is kept of a prompt in a list of sessions."""


def last_prompt(session_id: str, prompt: str | None, leaf: str, *, is_explicit: bool = False) -> bytes:
    """Write which line the conversation ends in; `is_explicit` means exactly that one, as after a rewind."""
    entry: Block = {"type": "last-prompt"}
    if prompt:
        entry["lastPrompt"] = one_line(prompt)
    entry["leafUuid"] = leaf
    if is_explicit:
        entry["explicit"] = True
    return record(entry | {"sessionId": session_id})


def queue_operation(
    session_id: str,
    operation: Operation,
    *,
    at: int,
    content: str | None = None,
    command_id: str | None = None,
    delivery_id: str | None = None,
) -> bytes:
    """Write that a prompt was put in the line of those that wait, taken from it, or heard in mid-turn."""
    entry: Block = {
        "type": "queue-operation",
        "operation": operation,
        "timestamp": iso(at),
        "sessionId": session_id,
    }
    if content is not None:
        entry["content"] = content
    if operation == "remove":
        entry |= {"reason": "absorbed_mid_turn", "commandUuid": command_id, "deliveryId": delivery_id}
    return record(entry)


def title(session_id: str, text: str) -> bytes:
    """Write the name a person gave the session."""
    return record({"type": "custom-title", "customTitle": text, "sessionId": session_id})


def permission_mode(session_id: str, mode: str) -> bytes:
    """Write what the model may do without asking, from here on."""
    return record({"type": "permission-mode", "permissionMode": mode, "sessionId": session_id})


def snapshot(
    prompt_uuid: str, backups: Mapping[str, Mapping[str, object]], *, at: int, line_uuid: str | None = None
) -> bytes:
    """Write which copies of files there are at a prompt; with `line_uuid`, that the line there added some."""
    return record(
        {
            "type": "file-history-snapshot",
            "messageId": line_uuid or prompt_uuid,
            "snapshot": {
                "messageId": prompt_uuid,
                "trackedFileBackups": {path: dict(one) for path, one in backups.items()},
                "timestamp": iso(at),
            },
            "isSnapshotUpdate": line_uuid is not None,
        }
    )


def one_line(text: str) -> str:
    """Return words as the client keeps them of a prompt: on one line, and not too many."""
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_PROMPT else flat[:_LONGEST_PROMPT].rstrip() + "…"
