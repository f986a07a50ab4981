"""The `file-history-snapshot` and `file-history-delta` entries: which copies of files can be restored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clew.format import fields
from clew.format.kinds.base import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of a file before it was changed."""

    file_name: str | None
    """Its name in the session's `file-history` folder; None when there was no file yet."""

    version: int | None
    time: str | None

    content: str | None
    """The old content itself, as early clients wrote it instead of naming a copy."""


def backup(value: object) -> Backup | None:
    """View a tracked backup: an object that names a copy, or a string that is one."""
    if isinstance(value, str):
        return Backup(None, None, None, value)
    data = fields.as_mapping(value)
    if data is None:
        return None
    return Backup(
        fields.string(data, "backupFileName"),
        fields.integer(data, "version"),
        fields.string(data, "backupTime"),
        None,
    )


class FileHistorySnapshot(Kind):
    """The copies there were at a prompt. A snapshot's ids live apart from the uuids of the conversation."""

    __slots__ = ()

    @property
    def message_id(self) -> str | None:
        """The prompt, or the line that led to an update."""
        return fields.string(self.data, "messageId")

    @property
    def is_update(self) -> bool | None:
        """Whether it replaces what an earlier snapshot said."""
        return fields.flag(self.data, "isSnapshotUpdate")

    @property
    def snapshot_message_id(self) -> str | None:
        """The prompt the copies belong to."""
        return fields.string(self._snapshot, "messageId")

    @property
    def timestamp(self) -> str | None:
        """When the copies were made."""
        return fields.string(self._snapshot, "timestamp")

    @property
    def backups(self) -> Mapping[str, Backup]:
        """The copies by path; what is neither object nor string is left out."""
        tracked = fields.mapping(self._snapshot, "trackedFileBackups") or {}
        return {path: seen for path, value in tracked.items() if (seen := backup(value)) is not None}

    @property
    def _snapshot(self) -> Mapping[str, object]:
        return fields.mapping(self.data, "snapshot") or {}


class FileHistoryDelta(Kind):
    """One more copy, added to a snapshot (2.1.220 and later)."""

    __slots__ = ()

    @property
    def message_id(self) -> str | None:
        """The line that changed the file."""
        return fields.string(self.data, "messageId")

    @property
    def snapshot_message_id(self) -> str | None:
        """The prompt of the snapshot it adds to."""
        return fields.string(self.data, "snapshotMessageId")

    @property
    def path(self) -> str | None:
        """The file."""
        return fields.string(self.data, "trackingPath")

    @property
    def backup(self) -> Backup | None:
        """The copy."""
        return backup(self.data.get("backup"))
