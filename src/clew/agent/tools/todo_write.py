"""TodoWrite: the model's list of what is to be done, kept for the session."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

from clew.agent.tool import Outcome, Reach
from clew.agent.tools.inputs import Given

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.agent.tool import Work

_STATES: Final = ("pending", "in_progress", "completed")
_ITEM: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "content": {"type": "string", "minLength": 1, "description": "What is to be done"},
        "status": {"type": "string", "enum": list(_STATES)},
        "activeForm": {
            "type": "string",
            "minLength": 1,
            "description": "The same, as it is said while doing it",
        },
    },
    "required": ["content", "status", "activeForm"],
    "additionalProperties": False,
}
_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {"todos": {"type": "array", "items": _ITEM, "description": "The whole list, as it is now"}},
    "required": ["todos"],
    "additionalProperties": False,
}


class TodoWrite:
    """Keeps a list of things to do."""

    name = "TodoWrite"
    description = (
        "Keeps the list of steps of a longer task, so that the person can follow it. Give the whole list "
        "each time. "
        "Let one step at a time be `in_progress`, and mark a step `completed` as soon as it is."
    )
    schema = _SCHEMA

    def __init__(self, todos: Sequence[Mapping[str, Any]] = ()) -> None:
        """Begin with a list, that of a session that is continued for example."""
        self._todos = [dict(one) for one in todos]
        self._lock = threading.Lock()

    @property
    def todos(self) -> tuple[Mapping[str, Any], ...]:
        """The list as it is; empty once everything on it is done."""
        with self._lock:
            return tuple(dict(one) for one in self._todos)

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """The last list wins, so that the order counts."""
        return False

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:  # noqa: ARG002
        """Nothing outside the session is touched."""
        return Reach()

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:  # noqa: ARG002
        """Keep the list."""
        asked = Given(self.name, given, self.schema)
        new: list[dict[str, Any]] = []
        for at, item in enumerate(asked.mappings("todos")):
            one = Given(self.name, {key: item[key] for key in item if key in ("content", "status")}, _ITEM)
            # Left out by many models: what is done is then called what is to be done.
            active = item.get("activeForm")
            content, status = one.text("content"), one.choice("status", _STATES)
            if one.refusal is not None or not content.strip():
                asked.complain(
                    f"The parameter `todos[{at}]` needs a `content` and a `status`: {', '.join(_STATES)}"
                )
                continue
            new.append(
                {
                    "content": content,
                    "status": status,
                    "activeForm": active if isinstance(active, str) and active else content,
                }
            )
        if asked.refusal is not None:
            return asked.refusal
        with self._lock:
            old = self._todos
            # A list that is all done is put away, as the client does.
            self._todos = (
                [] if all(one["status"] == "completed" for one in new) else [dict(one) for one in new]
            )
        return Outcome(
            "Todos have been modified successfully. Ensure that you continue to use the todo list to track "
            "your "
            "progress. Please proceed with the current tasks if applicable",
            {"oldTodos": old, "newTodos": new},
        )
