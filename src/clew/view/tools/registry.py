"""Finds the display of a tool by its name, and imports it then.

Other packages add displays by entry points of the group `clew.tool_displays`: the name is the tool's (or
`mcp__server__*` for all tools of one MCP server), the object a function from `Asked` to `Shown`. They are
looked for when a tool is met that clew does not know itself. One that fails is passed over: a tool can always
be shown plainly. One of clew's own that fails is passed over too, with a `DisplayWarning`: no session should
be unreadable for it, but it is a mistake in clew, and tests, where warnings are errors, stop there.
"""

from __future__ import annotations

import warnings
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Final, cast

from clew.errors import ClewError
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


class DisplayWarning(RuntimeWarning):
    """A display of clew's own failed; the call is shown plainly."""


def shown(asked: Asked) -> Shown:
    """Show a call by the display of its tool, plainly where there is none or it fails."""
    module = TOOLS.get(asked.name)
    if module is not None:
        return _by_own(module, asked)
    name, found = asked.name, _others().get(asked.name)
    if found is None and name.startswith(_MCP):
        found = _others().get(f"{_MCP}{name.split('__')[1]}__*")
        if found is None:
            return _by_own("mcp", asked)
    return plainly(asked) if found is None else _by_another(_loaded(found), asked)


def _by_own(module: str, asked: Asked) -> Shown:
    try:
        return _own(module)(asked)
    except ClewError:
        pass  # what it looked for in the session can no longer be read
    except Exception as error:
        # Not what the error says: that may be words of the session.
        said = f"clew's display of {module} failed ({type(error).__name__}), please report it"
        warnings.warn(said, DisplayWarning, stacklevel=2)
    return plainly(asked)


def _by_another(display: Display, asked: Asked) -> Shown:
    with suppress(Exception):
        made = display(asked)
        if isinstance(made, Shown):  # pyright: ignore[reportUnnecessaryIsInstance]  # another's may be anything
            return made
    return plainly(asked)


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
