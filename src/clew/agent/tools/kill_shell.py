"""KillShell: end a command in the background, with all it started."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from clew.agent.tool import Outcome, Reach
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.agent.shells import Shells
    from clew.agent.tool import Work


class KillShell:
    """Ends a command in the background; its result has the form of 2.0.42 and 2.0.76."""

    name = "KillShell"
    description = (
        "Ends a command that runs in the background (started with Bash and run_in_background), by its ID."
    )

    def __init__(self, shells: Shells) -> None:
        self._shells = shells

    @property
    def schema(self) -> Mapping[str, object]:
        """What its input looks like."""
        return {
            "type": "object",
            "properties": {"shell_id": {"type": "string", "description": "The ID the command was given"}},
            "required": ["shell_id"],
            "additionalProperties": False,
        }

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Say that it changes something."""
        return False

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:  # noqa: ARG002
        """Say that it touches nothing but what the session itself started."""
        return Reach()

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:  # noqa: ARG002
        """End it."""
        asked = Given(self.name, given, self.schema)
        id_ = asked.text("shell_id")
        if asked.refusal is not None:
            return asked.refusal
        shell = self._shells.get(id_)
        if shell is None:
            return failed(f"No shell found with ID: {id_}")
        if not shell.is_running:
            return failed(f"Shell {id_} is not running, so cannot be killed (status: {shell.status})")
        self._shells.kill(shell)
        if shell.is_running:
            return failed(f"Shell {id_} did not end though it was killed")
        structured = {"message": f"Successfully killed shell: {id_} ({shell.command})", "shell_id": id_}
        return Outcome(json.dumps(structured, ensure_ascii=False, separators=(",", ":")), structured)
