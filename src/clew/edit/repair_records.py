"""New lines, as the client would have written them beside a line that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from clew.format.times import iso

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.edit.repair_state import View

_ENVELOPE: Final = ("userType", "entrypoint", "cwd", "sessionId", "version", "gitBranch", "agentId", "slug")


def user_line(
    view: View,
    row: int,
    content: object,
    *,
    parent: str | None,
    uuid: str,
    time: int | None,
    **fields: object,
) -> Mapping[str, Any]:
    """Return a user's line of the same session as a row."""
    entry = view.session.entry(row)
    line: dict[str, Any] = {
        "parentUuid": parent,
        "isSidechain": entry.is_sidechain,
        "type": "user",
        "message": {"role": "user", "content": content},
        "uuid": uuid,
        "timestamp": iso(time) or entry.timestamp,
        **fields,
    }
    return line | {name: entry.data[name] for name in _ENVELOPE if isinstance(entry.data.get(name), str)}


def following(view: View, row: int) -> int | None:
    """Return the row of the old file that comes after a row as it stands; None at the end."""
    for origin in view.origins[row + 1 :]:
        if origin >= 0:
            return origin
    return None
