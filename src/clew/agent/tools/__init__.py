"""The tools the model can call: here those that read, find and change files, and the list of things to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.agent.tool import Tool


def standard_tools(*, is_hidden: Callable[[str], bool] | None = None) -> list[Tool]:
    """Make the file tools for one session: they keep what lasts that long, the list of things to do for one.

    `is_hidden` is asked for each file a search would tell of, by its resolved path; those are left out. A
    rule that forbids to read a file is of no use if a search in its folder prints it.
    """
    from clew.agent.tools.edit import Edit
    from clew.agent.tools.glob import Glob
    from clew.agent.tools.grep import Grep
    from clew.agent.tools.multi_edit import MultiEdit
    from clew.agent.tools.read import Read
    from clew.agent.tools.todo_write import TodoWrite
    from clew.agent.tools.write import Write

    return [
        Read(),
        Edit(),
        MultiEdit(),
        Write(),
        Glob(is_hidden=is_hidden),
        Grep(is_hidden=is_hidden),
        TodoWrite(),
    ]
