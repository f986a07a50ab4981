"""What is known of the parts inside entries: nested fields, blocks, usage, tool results, fixed strings.

Plain data for `clew.format.known`; the marks are those of `known_fields`. What nobody here has measured, but
write-ups and other readers of these files report, has no marks and stands in the `REPORTED_…` tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

INNER: Final[Mapping[str, Mapping[str, str]]] = {
    "attachment/agent_listing_delta": {
        "............x": (
            "addedLines addedTypes builtInPluginTypes builtInTypes isInitial removedTypes "
            "showConcurrencyNote type"
        ),
    },
    "attachment/command_permissions": {
        "..........x.x": "allowedTools type",
    },
    "attachment/date": {
        "............x": "date type",
    },
    "attachment/deferred_tools_delta": {
        "............x": "addedLines addedNames readdedNames removedNames type wireHiddenNames",
        "............o": "failedMcpServers needsAuthMcpServers pendingMcpServers",
    },
    "attachment/environment": {
        "............x": "snapshot type",
    },
    "attachment/file": {
        "..........x.x": "content displayPath filename type",
        "............x": "savedCopyFraming",
    },
    "attachment/instructions": {
        "............x": "files type",
    },
    "attachment/invoked_skills": {
        "..........x..": "skills type",
    },
    "attachment/model": {
        "............x": "identity text type",
    },
    "attachment/plan_file_reference": {
        "..........x..": "planContent planFilePath type",
    },
    "attachment/plan_mode": {
        "..........x..": "isSubAgent planExists planFilePath reminderType type",
    },
    "attachment/plan_mode_exit": {
        "..........x..": "planExists planFilePath type",
    },
    "attachment/prompt_snapshot": {
        "............x": "contextRendering echoWireToolInputs reminderFold systemPrompt type",
        "............o": "cliPrefix tools",
    },
    "attachment/queued_command": {
        "..........x.x": "commandMode prompt type",
        "............x": "delivery_id origin runId source_uuid timestamp",
        "............o": "toolsUsedDelta usage",
    },
    "attachment/remote_session_change": {
        "............x": "commit managedCommit managedPr pr sendUserFileHint type url",
    },
    "attachment/session_context": {
        "............x": "context type",
    },
    "attachment/skill_listing": {
        "..........x.x": "content isInitial names skillCount type",
        "............x": "digests",
    },
    "attachment/task_reminder": {
        "..........x.x": "content itemCount type",
    },
    "attachment/total_tokens_reminder": {
        "............x": "text type",
    },
    "file-history-snapshot": {
        "...x.x.x..x.x": "messageId timestamp trackedFileBackups",
    },
    "progress/agent_progress": {
        ".......x.....": "agentId message normalizedMessages prompt type",
    },
    "progress/hook_progress": {
        "......xx.....": "command hookEvent hookName type",
    },
    "system/compact_boundary": {
        "...x.xxx..x.x": "preTokens trigger",
        "..........x.x": "durationMs postTokens",
        "............x": "cumulativeDroppedTokens preservedMessages preservedSegment",
    },
}
"""Fields inside the part that `known.PART` names, by kind; a kind that is not here was not looked at."""

BLOCKS: Final[Mapping[str, Mapping[str, str]]] = {
    "assistant:redacted_thinking": {
        "xxxxxxxxxxxxx": "data type",
    },
    "assistant:text": {
        "xxxxxxxxxxxxx": "text type",
    },
    "assistant:thinking": {
        "xxxxxxxxxxxxx": "signature thinking type",
    },
    "assistant:tool_use": {
        "xxxxxxxxxxxxx": "id input name type",
    },
    "user:image": {
        ".xxxxxxxxxxxx": "source type",
    },
    "user:text": {
        "xxxxxxxxxxxxx": "text type",
    },
    "user:tool_result": {
        "xxxxxxxxxxxxx": "content tool_use_id type",
        "ooooooooooooo": "is_error",
    },
}
"""Keys of the content blocks of `message.content`, by role and block type."""

USAGE: Final[Mapping[str, str]] = {
    "xxxxxxxxxxxxx": (
        "cache_creation cache_creation_input_tokens cache_read_input_tokens input_tokens "
        "output_tokens server_tool_use service_tier"
    ),
    ".......xxxxxx": "inference_geo iterations speed",
    "............x": "fallback_credit output_tokens_details",
}
"""Keys of `message.usage`."""

RESULTS: Final[Mapping[str, Mapping[str, str]]] = {
    "Agent": {
        "isAsync status agentId description prompt outputFile canReadOutputFile": "........xxx..",
        (
            "status prompt agentId content totalDurationMs totalTokens totalToolUseCount usage"
        ): "........x....",
        (
            "status prompt agentId agentType content totalDurationMs totalTokens totalToolUseCount usage"
        ): ".........x...",
        (
            "status prompt agentId agentType content totalDurationMs totalTokens totalToolUseCount "
            "usage toolStats"
        ): "..........x..",
        (
            "isAsync status agentId description resolvedModel prompt outputFile canReadOutputFile"
        ): "...........x.",
        (
            "isAsync status agentId description resolvedModel prompt outputFile canReadOutputFile "
            "canContinueAgent"
        ): "............x",
    },
    "AskUserQuestion": {
        "questions answers": "...x.x.x..x..",
        "questions answers annotations": "............x",
    },
    "Bash": {
        "(none)": "xx....xxxxxxx",
        "(string)": "xxxxxxxxxxxxx",
        "stdout stderr interrupted isImage": "xxxxxxx......",
        "stdout stderr interrupted isImage backgroundTaskId": ".xxxxxx......",
        "stdout stderr interrupted isImage noOutputExpected backgroundTaskId": ".......xxxxxx",
        (
            "stdout stderr interrupted isImage noOutputExpected persistedOutputPath persistedOutputSize"
        ): ".......xxxxxx",
        "stdout stderr interrupted isImage noOutputExpected": ".......xxxxxx",
    },
    "Edit": {
        "(none)": "xx...........",
        (
            "filePath oldString newString originalFile structuredPatch userModified replaceAll"
        ): "xxxxxxxxxxxxx",
        "(string)": "...........xx",
    },
    "ExitPlanMode": {
        "plan isAgent": "...x.........",
        "plan isAgent filePath": ".....x....x.x",
        "(string)": ".......x.....",
    },
    "Glob": {
        "(none)": "xx...........",
        "filenames durationMs numFiles truncated": "xxxxxxxxx.x..",
        "(string)": ".........xxxx",
    },
    "Grep": {
        "(none)": "xx...........",
        "filenames numFiles": "x............",
        "mode filenames numFiles": ".xxxxxxxx.x..",
        "mode numFiles filenames content numLines": ".xxxxxxxx....",
        "(string)": ".........xxxx",
        "mode numFiles filenames content numLines appliedLimit": "..........x..",
    },
    "NoSuchTool": {
        "(string)": "xxxxxxxxxxxxx",
    },
    "Read": {
        "(none)": "xx....xxxxxxx",
        "(string)": "xxxxxxxxxxxxx",
        "type file": "xxxxxxxxxxxxx",
    },
    "Skill": {
        "(string)": "x............",
        "success commandName": "..xxxxxxxxxxx",
    },
    "SlashCommand": {
        "(string)": ".x...........",
    },
    "Task": {
        "(none)": "x............",
        "content totalDurationMs totalTokens totalToolUseCount usage wasInterrupted": "x............",
        "content totalDurationMs totalTokens totalToolUseCount usage": ".x...........",
        (
            "status prompt agentId content totalDurationMs totalTokens totalToolUseCount usage"
        ): "..xxxxxx.....",
        "isAsync status agentId description prompt outputFile": ".....xxx.....",
    },
    "TaskCreate": {
        "task": ".......x..xx.",
        "(string)": "............x",
    },
    "TaskList": {
        "tasks": "..........xx.",
        "(string)": "............x",
    },
    "TaskUpdate": {
        "success taskId updatedFields statusChange": "..........xx.",
        "(string)": "............x",
    },
    "TodoRead": {
        "(list)": "x............",
    },
    "TodoWrite": {
        "(none)": "xx...........",
        "oldTodos newTodos": "xxxxxxxx.....",
        "oldTodos newTodos verificationNudgeNeeded": "........xx...",
        "(string)": "............x",
    },
    "Write": {
        "(none)": ".x...........",
        "type filePath content structuredPatch": ".xxx.........",
        "type filePath content structuredPatch originalFile": "....xxxxxx...",
        "type filePath content structuredPatch originalFile userModified": "..........xxx",
    },
}
"""Shapes of `toolUseResult` by tool: the keys, or `(string)`, `(list)`, `(none)` for no such field."""

VALUES: Final[Mapping[str, Mapping[str, str]]] = {
    "entrypoint": {
        "sdk-cli": "........xxxxx",
        "cli": "..........x.x",
    },
    "error": {
        "invalid_request": "....xxxxxxxxx",
        "authentication_failed": "......xxxxxxx",
        "unknown": "......xxxxxx.",
        "max_output_tokens": ".......x.....",
    },
    "level": {
        "info": ".xxxxxxxxxxxx",
        "warning": ".........x...",
        "suggestion": "...........xx",
        "notice": "............x",
        "error": "............x",
    },
    "mode": {
        "normal": "...........xx",
    },
    "origin.kind": {
        "task-notification": "...........xx",
        "human": "............x",
    },
    "permissionMode": {
        "acceptEdits": "......xxxxxxx",
        "default": "......xxxxxxx",
        "plan": ".......x..x.x",
    },
    "promptSource": {
        "sdk": "...........xx",
        "system": "............x",
        "typed": "............x",
    },
    "reason": {
        "absorbed_mid_turn": "............x",
    },
    "turnOrigin": {
        "sdk": "............x",
        "task_notification": "............x",
        "human": "............x",
    },
    "userType": {
        "external": "xxxxxxxxxxxxx",
    },
}
"""Fixed strings seen in a field."""

LAYOUT: Final[Mapping[str, str]] = {
    "<slug>/<uuid>.jsonl": "xxxxxxxxxxxxx",
    "<slug>/agent-<8 hex>.jsonl": "..xxx........",
    "<slug>/agent-a<6 hex>.jsonl": ".....x.......",
    "<slug>/<uuid>/subagents/agent-a<6 hex>.jsonl": "......xx.....",
    "<slug>/<uuid>/subagents/agent-a<16 hex>.jsonl": "........xxxxx",
    "<slug>/<uuid>/subagents/agent-a<16 hex>.meta.json": "........xxxxx",
    "<slug>/<uuid>/subagents/agent-acompact-<16 hex>.jsonl": ".........x...",
    "<slug>/<uuid>/tool-results/<tool use id>.txt": "......xxx....",
    "<slug>/<uuid>/tool-results/<id>.txt": ".......xxxxxx",
    "<slug>/<uuid>/custom-title.json": "............x",
    "<slug>/sessions-index.json": "......x......",
}
"""Files under `projects/`."""

REPORTED_FIELDS: Final[Mapping[str, str]] = {
    "agent-color": "agentColor sessionId type",
    "agent-setting": "agentSetting sessionId type",
    "assistant": "content isMeta message.timestamp",
    "attribution-snapshot": "fileStates messageId promptCount surface type",
    "content-replacement": "agentId replacements sessionId timestamp type",
    "pr-link": "prNumber prRepository prUrl sessionId timestamp type",
    "progress/bash_progress": "@ agentId data entrypoint parentToolUseID slug toolUseID",
    "progress/query_update": "@ agentId data entrypoint parentToolUseID slug toolUseID",
    "progress/search_results_received": "@ agentId data entrypoint parentToolUseID slug toolUseID",
    "progress/waiting_for_task": "@ agentId data entrypoint parentToolUseID slug toolUseID",
    "queue-operation/popAll": "content operation sessionId timestamp type",
    "tag": "sessionId tag type",
    "user": "content message.timestamp",
    "worktree-state": "sessionId type worktreeSession",
}
"""Kinds and fields that others report; `@` stands for `ENVELOPE`."""

ENVELOPE: Final = "cwd gitBranch isSidechain parentUuid sessionId timestamp type userType uuid version"
"""What nearly every entry with a `uuid` carries."""

REPORTED_INNER: Final[Mapping[str, str]] = {
    "progress/bash_progress": "elapsedTimeSeconds fullOutput output totalLines type",
    "progress/query_update": "query type",
    "progress/search_results_received": "query resultCount type",
    "progress/waiting_for_task": "taskDescription taskType type",
}
"""Fields inside the part that `known.PART` names, as others report them."""

REPORTED_BLOCKS: Final[Mapping[str, str]] = {
    "code_execution_tool_result": "content tool_use_id type",
    "container_upload": "file_id type",
    "document": "cache_control citations context source title type",
    "image": "cache_control",
    "mcp_tool_result": "content is_error tool_use_id type",
    "mcp_tool_use": "id input name server_name type",
    "search_result": "citations content source title type",
    "server_tool_use": "id input name type",
    "text": "cache_control citations",
    "tool_reference": "tool_name type",
    "tool_result": "cache_control",
    "tool_use": "cache_control caller",
    "web_fetch_tool_result": "content tool_use_id type",
    "web_search_tool_result": "content tool_use_id type",
}
"""Blocks and keys that the Messages API documents, whether or not a session file was seen with them."""

REPORTED_RESULTS: Final[Mapping[str, str]] = {
    "MultiEdit": "filePath edits originalFileContents structuredPatch userModified",
    "NotebookEdit": (
        "new_source cell_type language edit_mode cell_id error notebook_path original_file updated_file"
    ),
    "WebFetch": "bytes code codeText result durationMs url",
    "WebSearch": "query results durationSeconds",
}
"""Shapes of `toolUseResult` that others report."""
