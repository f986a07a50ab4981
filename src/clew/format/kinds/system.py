"""The `system` entries: notes of the client about the conversation, told apart by `subtype`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.kinds.base import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY: Final[Mapping[str, object]] = {}


class System(Kind):
    """A note of the client, of whatever subtype."""

    __slots__ = ()

    @property
    def subtype(self) -> str | None:
        """What it tells."""
        return fields.string(self.data, "subtype")

    @property
    def content(self) -> str | None:
        """The words, where there are some."""
        return fields.string(self.data, "content")

    @property
    def level(self) -> str | None:
        """How much it matters: `info`, `warning`, `error` and others."""
        return fields.string(self.data, "level")


class CompactBoundary(System):
    """Where the conversation was compacted: a new root, with no parent."""

    __slots__ = ()

    @property
    def logical_parent_uuid(self) -> str | None:
        """The line it follows, were the conversation not cut here."""
        return fields.string(self.data, "logicalParentUuid")

    @property
    def metadata(self) -> Mapping[str, object]:
        """The figures."""
        return fields.mapping(self.data, "compactMetadata") or _EMPTY

    @property
    def trigger(self) -> str | None:
        """`auto` or `manual`."""
        return fields.string(self.metadata, "trigger")

    @property
    def pre_tokens(self) -> int | None:
        """The size of the conversation before."""
        return fields.integer(self.metadata, "preTokens")

    @property
    def post_tokens(self) -> int | None:
        """The size after (2.1.150 and later)."""
        return fields.integer(self.metadata, "postTokens")

    @property
    def anchor_uuid(self) -> str | None:
        """The line after which the preserved ones are put back (2.1.325)."""
        return fields.string(self._preserved, "anchorUuid") or fields.string(self._segment, "anchorUuid")

    @property
    def preserved_uuids(self) -> tuple[str, ...]:
        """The lines from before that are still sent."""
        return fields.strings(self._preserved, "uuids")

    @property
    def preserved_ends(self) -> tuple[str | None, str | None] | None:
        """The first and the last of those lines, where they are given as a stretch."""
        if not self._segment:
            return None
        return fields.string(self._segment, "headUuid"), fields.string(self._segment, "tailUuid")

    @property
    def _preserved(self) -> Mapping[str, object]:
        return fields.mapping(self.metadata, "preservedMessages") or _EMPTY

    @property
    def _segment(self) -> Mapping[str, object]:
        return fields.mapping(self.metadata, "preservedSegment") or _EMPTY


class LocalCommand(System):
    """A slash command and what it printed, in tags (2.1.80 and later; before, `user` lines). It is sent."""

    __slots__ = ()


class TurnDuration(System):
    """How long a turn took."""

    __slots__ = ()

    @property
    def duration_ms(self) -> float | None:
        """From the prompt to the end of the answer."""
        return fields.number(self.data, "durationMs")

    @property
    def message_count(self) -> int | None:
        """How many messages the conversation had by then."""
        return fields.integer(self.data, "messageCount")


class ApiError(System):
    """A request that failed and is tried again."""

    __slots__ = ()

    @property
    def error(self) -> Mapping[str, object]:
        """What the API said, with `message` and `status`."""
        return fields.mapping(self.data, "error") or _EMPTY

    @property
    def retry_attempt(self) -> int | None:
        """How often it had been tried."""
        return fields.integer(self.data, "retryAttempt")


class StopHookSummary(System):
    """The hooks that ran at the end of a turn."""

    __slots__ = ()

    @property
    def hook_count(self) -> int | None:
        """How many there were."""
        return fields.integer(self.data, "hookCount")

    @property
    def errors(self) -> tuple[object, ...]:
        """What went wrong."""
        return fields.items(self.data, "hookErrors") or ()

    @property
    def prevented_continuation(self) -> bool | None:
        """Whether one of them stopped the turn."""
        return fields.flag(self.data, "preventedContinuation")


SUBTYPES: Final[Mapping[str, type[System]]] = {
    "api_error": ApiError,
    "compact_boundary": CompactBoundary,
    "local_command": LocalCommand,
    "stop_hook_summary": StopHookSummary,
    "turn_duration": TurnDuration,
}
"""The view of each subtype that has more to tell than words."""
