"""Sessions that carry a text wherever one has room for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.builder import Builder, call, image, text, thinking

if TYPE_CHECKING:
    from collections.abc import Iterator


def hostile(payload: str) -> bytes:
    """A session with the payload in every field a screen shows."""
    builder = Builder(payload[:50], version=payload)
    given: dict[str, Any] = {"file_path": payload, payload: payload, "command": payload}
    builder.line({"type": "custom-title", "customTitle": payload, "sessionId": payload})
    builder.line({"type": "summary", "summary": payload, "leafUuid": payload})
    builder.line({"type": payload, "content": payload})
    builder.line({"type": "pr-link", "prUrl": payload, "prNumber": payload})
    builder.user(payload, cwd=payload, gitBranch=payload)
    builder.user([text(payload), {**image(), "source": {"media_type": payload, "data": payload}}])
    builder.user(f"<ide_selection>{payload}</ide_selection>{payload}")
    builder.user(f"<command-name>/{payload}</command-name>")
    builder.user(f"<local-command-stdout>{payload}</local-command-stdout>")
    builder.user(f"<task-notification><summary>{payload}</summary></task-notification>")
    for name in ("Bash", "Grep", "Task", "TodoWrite", "Skill", "AskUserQuestion", "Edit", payload):
        builder.answer(thinking(payload), text(payload), call(payload + name, name, given), model=payload)
        builder.result(payload + name, payload, is_error=name == "Bash", toolUseResult=payload)
    builder.answer({"type": payload, "x": payload}, {"type": "document", "title": payload})
    builder.answer(payload, isApiErrorMessage=True)
    builder.system("api_error", content=payload).system("local_command", content=payload).system(payload)
    builder.system("compact_boundary", compactMetadata={"trigger": payload, "preTokens": 5})
    builder.user(payload, isCompactSummary=True)
    return builder.raw(payload.encode("utf-8", "surrogatepass") + b"\n").data()


def every_tool(payload: str) -> bytes:
    """A session with the payload in all that is shown of calls and of what stands beside them."""
    builder = Builder(payload[:50], version=payload).user(payload, cwd=payload)
    for name, value, kept in calls_of(payload):
        builder.answer(call(payload + name, name, value), model=payload, version=payload)
        builder.result(payload + name, payload, toolUseResult=kept)
    builder.answer(
        {"type": "server_tool_use", "id": payload, "name": "web_search", "input": {"query": payload}},
        {
            "type": "web_search_tool_result",
            "tool_use_id": payload,
            "content": [{"type": "web_search_result", "title": payload, "url": payload}],
        },
    )
    builder.line({"type": "queue-operation", "operation": "enqueue", "content": payload})
    builder.line({"type": "queue-operation", "operation": "remove"})
    for kind in ("queued_command", "file", "hook_success", payload):
        part = {"type": kind, "prompt": payload, "filename": payload, "content": payload, "hookName": payload}
        builder.entry("attachment", attachment=part)
    builder.entry("progress", data={"type": "hook_progress", "hookName": payload, "command": payload})
    builder.system("stop_hook_summary", hookErrors=[payload], hookInfos=[{"command": payload}])
    builder.result(payload + "nowhere", payload)
    return builder.data()


def calls_of(payload: str) -> Iterator[tuple[str, dict[str, Any], Any]]:
    """Calls of the tools that clew knows, the payload in all that is shown of them."""
    patch = [{"oldStart": 1, "newStart": 1, "lines": [f"-{payload}", f"+{payload}x", f" {payload}", payload]}]
    changed = {"filePath": payload, "structuredPatch": patch, "content": payload, "userModified": True}
    path = {"file_path": payload, "content": payload, "old_string": payload, "new_string": f"{payload}\ny"}
    todo = {"content": payload, "status": payload, "subject": payload, "id": payload}
    yield "Edit", path, changed
    yield "Write", path, {**changed, "type": "update"}
    yield "MultiEdit", {"file_path": payload, "edits": [path]}, None
    yield "NotebookEdit", {"notebook_path": payload, "cell_id": payload, "new_source": payload}, None
    yield "Read", path, {"type": "text", "file": {"filePath": payload, "content": payload}}
    output = {"stdout": payload, "stderr": payload, "persistedOutputPath": payload}
    yield "Bash", {"command": f"{payload}\n{payload}", "description": payload}, output
    yield "BashOutput", {"bash_id": payload}, {**output, "status": payload, "command": payload}
    yield "Grep", {"pattern": payload, "path": payload, payload: payload}, {"mode": payload, "filenames": []}
    yield "TodoWrite", {"todos": [todo]}, {"oldTodos": [{"content": payload + "0"}], "newTodos": [todo]}
    yield "TaskCreate", todo, {"task": todo}
    yield (
        "TaskUpdate",
        {"taskId": payload, "status": payload},
        {"statusChange": {"from": payload, "to": payload}},
    )
    yield "Agent", {"subagent_type": payload, "prompt": payload}, {"agentId": payload, "content": payload}
    yield "WebFetch", {"url": payload, "prompt": payload}, {"url": payload, "result": payload}
    links = [{"content": [{"title": payload, "url": payload}]}, payload]
    yield "WebSearch", {"query": payload}, {"query": payload, "results": links}
    question = {
        "question": payload,
        "header": payload,
        "options": [{"label": payload, "description": payload}],
    }
    yield "AskUserQuestion", {"questions": [question]}, {"answers": {payload: payload}}
    yield "ExitPlanMode", {"plan": payload}, {"plan": payload, "filePath": payload}
    yield "Skill", {"skill": payload, "args": payload}, {"commandName": payload}
    yield f"mcp__{payload}__x", {payload: {payload: payload}}, {"structuredContent": {payload: payload}}
