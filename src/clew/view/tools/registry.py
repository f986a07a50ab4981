"""Finds the display of a tool by its name, and imports it then.

Other packages add displays by entry points of the group `clew.tool_displays`: the name is the tool's (or
`mcp__server__*` for all tools of one MCP server), the object a function from `Asked` to `Shown`. They are
looked for when a tool is met that clew does not know itself. One that fails is passed over: a tool can always
be shown plainly.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from clew.view.tools.display import Asked, Display, Shown
from clew.view.tools.plainly import show as plainly

if TYPE_CHECKING:
    from collections.abc import Mapping

GROUP: Final = "clew.tool_displays"

TOOLS: Final[Mapping[str, str]] = {
    "Agent": "agent",
    "AskUserQuestion": "ask_user_question",
    "Bash": "bash",
    "BashOutput": "bash_output",
    "Edit": "edit",
    "ExitPlanMode": "exit_plan_mode",
    "Glob": "glob",
    "Grep": "grep",
    "KillShell": "kill_shell",
    "MultiEdit": "multi_edit",
    "NotebookEdit": "notebook_edit",
    "Read": "read",
    "Skill": "skill",
    "Task": "agent",
    "TaskCreate": "tasks",
    "TaskGet": "tasks",
    "TaskList": "tasks",
    "TaskOutput": "bash_output",
    "TaskStop": "kill_shell",
    "TaskUpdate": "tasks",
    "TodoRead": "todo_write",
    "TodoWrite": "todo_write",
    "WebFetch": "web_fetch",
    "WebSearch": "web_search",
    "Write": "write",
    "web_fetch": "web_fetch",
    "web_search": "web_search",
}
"""The module of each tool that clew knows, in this package; each has a function `show`."""

_MCP: Final = "mcp__"


def shown(asked: Asked) -> Shown:
    """Show a call by the display of its tool, plainly where there is none or it fails."""
    display = display_of(asked.name)
    if display is not plainly:
        # A display, perhaps another's, may meet a shape it did not expect.
        with suppress(Exception):
            made = display(asked)
            if isinstance(made, Shown):  # pyright: ignore[reportUnnecessaryIsInstance]  # another's may be anything
                return made
    return plainly(asked)


def display_of(name: str) -> Display:
    """Return the display of a tool."""
    # Not cached by name: a hostile file may name a new tool in each call.
    module = TOOLS.get(name)
    if module is not None:
        return _own(module)
    found = _others().get(name)
    if not name.startswith(_MCP):
        return plainly if found is None else _loaded(found)
    if found is None:
        found = _others().get(f"{_MCP}{name.split('__')[1]}__*")
    return _own("mcp") if found is None else _loaded(found)


@cache
def _own(module: str) -> Display:
    return cast("Display", import_module(f"clew.view.tools.{module}").show)


@cache
def _others() -> Mapping[str, object]:
    """Return the entry points of other packages by the tool they are for; none is imported yet."""
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=GROUP)}


@cache
def _loaded(point: object) -> Display:
    from importlib.metadata import EntryPoint

    if isinstance(point, EntryPoint):
        try:
            found = point.load()
        except Exception:  # whatever another package does when it is imported
            return plainly
        if callable(found):
            return cast("Display", found)
    return plainly
