"""Fields of every form of entry, by client version, as counted over runs of thirteen versions.

Plain data for `clew.format.known`, which answers questions about it. A row of marks stands for `VERSIONS`,
one mark a version: `x` always there, `o` sometimes, `.` not seen (which is not "never").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSIONS: Final = (
    "1.0.35",
    "1.0.128",
    "2.0.37",
    "2.0.42",
    "2.0.50",
    "2.0.76",
    "2.1.29",
    "2.1.45",
    "2.1.80",
    "2.1.88",
    "2.1.150",
    "2.1.220",
    "2.1.325",
)
"""The client versions that were run, oldest first."""

FIELDS: Final[Mapping[str, Mapping[str, str]]] = {
    "agent-name": {
        "..........x.x": "agentName sessionId type",
    },
    "ai-title": {
        "..........x..": "aiTitle sessionId type",
    },
    "api-request": {
        "............x": (
            "cacheControl id keep params querySource requestDigest sessionId shapeHash tail timestamp "
            "type version"
        ),
        "............o": "agentId base",
    },
    "api-request-blob": {
        "............x": "hash message sessionId type",
        "............o": "agentId",
    },
    "api-request-shape": {
        "............x": "sessionId shape shapeHash timestamp type version",
        "............o": "agentId",
    },
    "assistant": {
        "xxxxxxxxxxxxx": (
            "cwd isSidechain message message.content message.id message.model message.role "
            "message.stop_reason message.stop_sequence message.type message.usage parentUuid "
            "sessionId timestamp type userType uuid version"
        ),
        "ooooooxxxxxxx": "requestId",
        ".xxxxxxxxxxxx": "gitBranch",
        "..ooooooooooo": "agentId",
        "..ooooo......": "message.context_management",
        ".....oooooooo": "slug",
        "........xxxxx": "entrypoint",
        "..........xxo": "message.stop_details",
        "..........ooo": "attributionAgent attributionSkill",
        "............x": (
            "apiBlockIndex madeBy perTurnEffort promptCacheRequested requestRef requestedModel"
        ),
        "............o": (
            "isAbortedMidStream session_id thinkingDisplay thinkingDurationMs toolInputStreamMs"
        ),
    },
    "assistant/api_error": {
        "xxxxxxxxxxxxx": (
            "cwd isApiErrorMessage isSidechain message message.content message.id message.model "
            "message.role message.stop_reason message.stop_sequence message.type message.usage "
            "parentUuid sessionId timestamp type userType uuid version"
        ),
        ".xxxxxxxxxxxx": "gitBranch message.container",
        "..xxxxxxxxxxx": "message.context_management",
        "....oooxxxxxx": "error",
        "......oo.....": "apiError",
        "........xxxxx": "entrypoint",
        "........ooooo": "errorDetails",
        "..........xxx": "message.stop_details requestId",
        "..........oox": "apiErrorStatus",
        "............x": "apiErrorType failedResponseHadNoToolCall madeBy message.diagnostics",
        "............o": "perTurnEffort",
    },
    "assistant/synthetic": {
        ".xxxxxxxxxxxx": (
            "cwd gitBranch isSidechain message message.container message.content message.id "
            "message.model message.role message.stop_reason message.stop_sequence message.type "
            "message.usage parentUuid sessionId timestamp type userType uuid version"
        ),
        "..xxxxxxxxxxx": "isApiErrorMessage message.context_management",
        "......xxxxoo.": "slug",
        "........xxxxx": "entrypoint",
        "..........xxx": "message.stop_details",
        "............x": "madeBy message.diagnostics",
    },
    "atis-latch": {
        "............x": "atis sessionId type",
    },
    "attachment/agent_listing_delta": {
        "...........xx": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
        "...........oo": "slug",
        "............x": "rendered renderedRole",
        "............o": "agentId session_id",
    },
    "attachment/command_permissions": {
        "..........xxx": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
    },
    "attachment/date": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid rendered renderedRole "
            "sessionId timestamp type userType uuid version"
        ),
        "............o": "agentId session_id slug",
    },
    "attachment/deferred_tools_delta": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid rendered renderedRole "
            "sessionId timestamp type userType uuid version"
        ),
        "............o": "agentId session_id slug",
    },
    "attachment/environment": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid rendered renderedRole "
            "sessionId timestamp type userType uuid version"
        ),
        "............o": "agentId session_id slug",
    },
    "attachment/file": {
        "..........xxx": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
        "..........ooo": "slug",
        "............x": "rendered renderedRole",
        "............o": "session_id",
    },
    "attachment/instructions": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid rendered renderedRole "
            "sessionId timestamp type userType uuid version"
        ),
        "............o": "agentId session_id slug",
    },
    "attachment/invoked_skills": {
        "..........x.x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId slug timestamp type "
            "userType uuid version"
        ),
        "............x": "rendered renderedRole session_id",
    },
    "attachment/model": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid rendered renderedRole "
            "sessionId timestamp type userType uuid version"
        ),
        "............o": "agentId session_id slug",
    },
    "attachment/plan_file_reference": {
        "..........x.x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId slug timestamp type "
            "userType uuid version"
        ),
        "............x": "rendered renderedRole session_id",
    },
    "attachment/plan_mode": {
        "..........x.x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId slug timestamp type "
            "userType uuid version"
        ),
        "............x": "rendered renderedRole",
    },
    "attachment/plan_mode_exit": {
        "..........x.x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId slug timestamp type "
            "userType uuid version"
        ),
        "............x": "rendered renderedRole session_id",
    },
    "attachment/prompt_snapshot": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
        "............o": "agentId session_id slug",
    },
    "attachment/queued_command": {
        "..........xxx": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
        "............x": "rendered renderedRole",
        "............o": "renderedInHumanTurn session_id",
    },
    "attachment/remote_session_change": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid rendered "
            "renderedBesideToolResult renderedRole sessionId timestamp type userType uuid version"
        ),
        "............o": "agentId session_id slug",
    },
    "attachment/session_context": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid rendered renderedRole "
            "sessionId timestamp type userType uuid version"
        ),
        "............o": "agentId session_id slug",
    },
    "attachment/skill_listing": {
        "..........xxx": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
        "..........ooo": "agentId slug",
        "............x": "rendered renderedRole",
        "............o": "session_id",
    },
    "attachment/task_reminder": {
        "..........xxx": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
        "..........o.o": "slug",
        "............x": "rendered renderedRole",
        "............o": "session_id",
    },
    "attachment/task_status": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid rendered renderedRole "
            "sessionId session_id slug timestamp type userType uuid version"
        ),
    },
    "attachment/total_tokens_reminder": {
        "............x": (
            "attachment cwd entrypoint gitBranch isSidechain parentUuid rendered renderedRole "
            "sessionId timestamp type userType uuid version"
        ),
        "............o": "agentId session_id slug",
    },
    "cost-state": {
        "............x": (
            "hasUnknownModelCost modelUsage sessionId startTime totalAPIDuration "
            "totalAPIDurationWithoutRetries totalCostUSD totalDuration totalLinesAdded "
            "totalLinesRemoved totalToolDuration type"
        ),
    },
    "custom-title": {
        ".....x.x..x.x": "customTitle sessionId type",
    },
    "file-history-delta": {
        "............x": "backup messageId snapshotMessageId timestamp trackingPath type",
    },
    "file-history-snapshot": {
        "...x.x.x..x.x": "isSnapshotUpdate messageId snapshot type",
    },
    "last-prompt": {
        "........xxxxx": "sessionId type",
        "........xxooo": "lastPrompt",
        "..........xxx": "leafUuid",
        "............o": "explicit",
    },
    "mode": {
        "...........xx": "mode sessionId type",
    },
    "permission-mode": {
        "..........x.x": "permissionMode sessionId type",
    },
    "progress/agent_progress": {
        ".......x.....": (
            "cwd data gitBranch isSidechain parentToolUseID parentUuid sessionId slug timestamp "
            "toolUseID type userType uuid version"
        ),
    },
    "progress/hook_progress": {
        "......xxx....": (
            "cwd data gitBranch isSidechain parentToolUseID parentUuid sessionId timestamp toolUseID "
            "type userType uuid version"
        ),
        "......ooo....": "agentId slug",
        "........x....": "entrypoint",
    },
    "queue-operation/dequeue": {
        "..xxxxxxxxxxx": "operation sessionId timestamp type",
    },
    "queue-operation/enqueue": {
        "..xxxxxxxxxxx": "operation sessionId timestamp type",
        "..xxxxxxooooo": "content",
    },
    "queue-operation/remove": {
        "...x.x.x..xxx": "operation sessionId timestamp type",
        "...x.......xx": "content",
        "............x": "commandUuid deliveryId reason",
    },
    "summary": {
        "xx...........": "leafUuid summary type",
    },
    "system/api_error": {
        "............x": (
            "cwd entrypoint error gitBranch isSidechain level maxRetries parentUuid retryAttempt "
            "retryInMs sessionId source subtype timestamp type userType uuid version"
        ),
    },
    "system/compact_boundary": {
        ".xxxxxxxxxxxx": (
            "compactMetadata content cwd gitBranch isSidechain level logicalParentUuid parentUuid "
            "sessionId subtype timestamp type userType uuid version"
        ),
        ".xxxxxxxxxxxo": "isMeta",
        ".....xxxxxxxx": "slug",
        "........xxxxx": "entrypoint",
    },
    "system/informational": {
        ".x.......x..x": (
            "content cwd gitBranch isMeta isSidechain level parentUuid sessionId subtype timestamp "
            "type userType uuid version"
        ),
        ".x...........": "toolUseID",
        ".........x..x": "entrypoint",
    },
    "system/local_command": {
        "........xxxxx": (
            "content cwd entrypoint gitBranch isMeta isSidechain level parentUuid sessionId subtype "
            "timestamp type userType uuid version"
        ),
        "............o": "commandRun",
    },
    "system/stop_hook_summary": {
        "...........xx": (
            "cwd entrypoint gitBranch hasOutput hookAdditionalContext hookCount hookErrors hookInfos "
            "isSidechain level parentUuid preventedContinuation sessionId stopReason subtype "
            "timestamp toolUseID type userType uuid version"
        ),
    },
    "system/turn_duration": {
        "..........x.x": (
            "cwd durationMs entrypoint gitBranch isMeta isSidechain messageCount parentUuid sessionId "
            "subtype timestamp type userType uuid version"
        ),
        "..........o.o": "slug",
        "............o": "pendingBackgroundAgentCount",
    },
    "tools-used": {
        "............x": "sessionId tools type",
    },
    "user/compact_summary": {
        ".xxxxxxxxxxxx": (
            "cwd gitBranch isCompactSummary isSidechain isVisibleInTranscriptOnly message "
            "message.content message.role parentUuid sessionId timestamp type userType uuid version"
        ),
        ".....xxxxxxxx": "slug",
        "........xxxxx": "entrypoint",
        "........ooxxx": "promptId",
        "............x": "turnPosition",
        "............o": "session_id",
    },
    "user/prompt (blocks)": {
        "xxxxxxxxxxxxx": (
            "cwd isSidechain message message.content message.role parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
        ".xxxxxxxxxxxx": "gitBranch",
        ".....ooo.....": "slug",
        "......xoxxoxo": "permissionMode",
        "........xxxxx": "entrypoint promptId",
        "..........o.o": "interruptedMessageId",
        "...........xo": "promptSource",
        "............o": "imagePasteIds session_id turnOrigin turnPosition",
    },
    "user/prompt (string)": {
        "xxxxxxxxxxxxx": (
            "cwd isSidechain message message.content message.role parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
        ".xxxxxxxxxxxx": "gitBranch",
        "..o..oooooooo": "agentId",
        "...o.o.o.....": "thinkingMetadata",
        "....o........": "sourceToolUseID",
        ".....oooooooo": "slug",
        ".....o.o.....": "todos",
        "......ooooooo": "permissionMode",
        ".......o.....": "planContent",
        "........xxxxx": "entrypoint",
        "........ooxxo": "promptId",
        "...........oo": "origin promptSource",
        "............o": "queueSkipAttachments repeatsCompactSummary session_id turnOrigin turnPosition",
    },
    "user/meta (blocks)": {
        "xxxxxxxxxxxxx": (
            "cwd isMeta isSidechain message message.content message.role parentUuid sessionId "
            "timestamp type userType uuid version"
        ),
        ".xxxxxxxxxxxx": "gitBranch",
        "....ooooooooo": "sourceToolUseID",
        ".....o.o..oo.": "slug",
        "........xxxxx": "entrypoint",
        "........ooxxx": "promptId",
        "............x": "turnCompanion",
    },
    "user/meta (string)": {
        "xxxxxxxxxxxxx": (
            "cwd isMeta isSidechain message message.content message.role parentUuid sessionId "
            "timestamp type userType uuid version"
        ),
        ".xxxxxxxxxxxx": "gitBranch",
        ".....oooooooo": "slug",
        "........xxxxx": "entrypoint",
        "..........xxo": "promptId",
        "............o": "queueSkipAttachments refusedMessageId session_id turnCompanion",
    },
    "user/tool_result": {
        "xxxxxxxxxxxxx": (
            "cwd isSidechain message message.content message.role parentUuid sessionId timestamp type "
            "userType uuid version"
        ),
        "ooxxxxooooooo": "toolUseResult",
        ".xxxxxxxxxxxx": "gitBranch",
        "..ooooooooooo": "agentId",
        ".....oooooo.o": "slug",
        "......oxxxxxx": "sourceToolAssistantUUID",
        "........xxxxx": "entrypoint promptId",
        "............o": "permissionDecision sandboxed session_id toolDenialKind",
    },
}
"""Fields by form of entry, the ones of `message` with a dot.

A form is what `known.kind_of` gives, except that `user` and `assistant` are told apart further.
"""
