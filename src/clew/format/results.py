"""The structured side of a tool's result, `toolUseResult`, as typed views by tool.

The client keeps it for its own display and never sends it. Its shape depends on the tool and the client
version; a call that failed has a bare string in its place. Here every shape becomes a value, and none raises.
What the model was told stands in the `tool_result` block (`clew.format.blocks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.results_base import Blocks, ErrorText, Result, Unknown
from clew.format.results_files import Change, Edit, Glob, Grep, Hunk, MultiEdit, NotebookEdit, Read, Write
from clew.format.results_work import (
    Agent,
    AskUserQuestion,
    Bash,
    ExitPlanMode,
    Skill,
    Tasks,
    Todos,
    WebFetch,
    WebSearch,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Agent",
    "AskUserQuestion",
    "Bash",
    "Blocks",
    "Change",
    "Edit",
    "ErrorText",
    "ExitPlanMode",
    "Glob",
    "Grep",
    "Hunk",
    "MultiEdit",
    "NotebookEdit",
    "Read",
    "Result",
    "Skill",
    "Tasks",
    "Todos",
    "Unknown",
    "WebFetch",
    "WebSearch",
    "Write",
    "result",
]

_TOOLS: Final[Mapping[str, type[Result]]] = {
    "Agent": Agent,
    "AskUserQuestion": AskUserQuestion,
    "Bash": Bash,
    "Edit": Edit,
    "ExitPlanMode": ExitPlanMode,
    "Glob": Glob,
    "Grep": Grep,
    "MultiEdit": MultiEdit,
    "NotebookEdit": NotebookEdit,
    "Read": Read,
    "Skill": Skill,
    "Task": Agent,
    "TaskCreate": Tasks,
    "TaskList": Tasks,
    "TaskUpdate": Tasks,
    "TodoRead": Todos,
    "TodoWrite": Todos,
    "WebFetch": WebFetch,
    "WebSearch": WebSearch,
    "Write": Write,
}

_SHAPES: Final[tuple[tuple[frozenset[str], type[Result]], ...]] = tuple(
    (frozenset(keys.split()), view)
    for keys, view in (
        ("stdout stderr", Bash),
        ("type file", Read),
        ("filePath oldString newString", Edit),
        ("filePath edits", MultiEdit),
        ("filePath content structuredPatch", Write),
        ("notebook_path", NotebookEdit),
        ("filenames durationMs", Glob),
        ("filenames numFiles", Grep),
        ("newTodos", Todos),
        ("agentId prompt", Agent),
        ("content totalToolUseCount", Agent),
        ("url result", WebFetch),
        ("query results", WebSearch),
        ("questions answers", AskUserQuestion),
        ("plan", ExitPlanMode),
        ("commandName", Skill),
    )
)
"""The keys that tell a shape, for a result whose call is not in the file; the first that fits."""


def result(tool: str | None, value: object) -> Result:
    """View `value`, the `toolUseResult` of a call of `tool`; by its shape when the tool is not known."""
    if isinstance(value, str):
        return ErrorText(value)
    data = fields.as_mapping(value)
    view = _TOOLS.get(tool) if tool is not None else None
    if fields.as_items(value) is not None:
        return Todos(value) if view is Todos else Blocks(value)
    if data is None:
        return Unknown(value)
    if view is None and tool is None:
        view = next((view for keys, view in _SHAPES if keys <= data.keys()), None)
    return Unknown(value) if view is None else view(value)
