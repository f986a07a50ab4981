"""The `user` entry: a prompt, a tool's result, something the client put in, or a compaction's summary."""

from __future__ import annotations

from clew.format import fields
from clew.format.blocks import ToolResult
from clew.format.kinds.message import Message


class User(Message):
    """A line that goes to the model."""

    __slots__ = ()

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """The results among its blocks. Several calls usually have a line each."""
        return tuple(block for block in self.blocks if isinstance(block, ToolResult))

    @property
    def tool_use_result(self) -> object:
        """The structured result, for `clew.format.results`; None when there is none."""
        return self.data.get("toolUseResult")

    @property
    def is_compact_summary(self) -> bool:
        """Whether it holds what a compaction kept in words."""
        return fields.flag(self.data, "isCompactSummary") or False

    @property
    def is_visible_in_transcript_only(self) -> bool:
        """Whether the client hides it from its main view. It is sent all the same."""
        return fields.flag(self.data, "isVisibleInTranscriptOnly") or False

    @property
    def permission_mode(self) -> str | None:
        """How freely the model might act. On every human prompt from 2.1.29, on no other line."""
        return fields.string(self.data, "permissionMode")

    @property
    def prompt_id(self) -> str | None:
        """What all lines of one turn share (2.1.80 and later)."""
        return fields.string(self.data, "promptId")

    @property
    def origin(self) -> str | None:
        """Where a prompt came from: `human`, `task-notification` (2.1.220 and later)."""
        origin = fields.mapping(self.data, "origin")
        return None if origin is None else fields.string(origin, "kind")

    @property
    def source_tool_use_id(self) -> str | None:
        """The call that made the client put this line in, such as a skill's text."""
        return fields.string(self.data, "sourceToolUseID")

    @property
    def source_tool_assistant_uuid(self) -> str | None:
        """The line of the call this answers (2.1.29 and later)."""
        return fields.string(self.data, "sourceToolAssistantUUID")

    @property
    def plan_content(self) -> str | None:
        """The plan that this prompt sets out to follow."""
        return fields.string(self.data, "planContent")
