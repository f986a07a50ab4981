"""BashOutput: what a command in the background printed since it was last asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from clew.agent.tool import Outcome, Reach
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import failed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clew.agent.shells import Shells
    from clew.agent.tool import Work


class BashOutput:
    """Shows the new output of a command in the background; its result has the form of 2.0.42."""

    name = "BashOutput"
    description = (
        "Returns what a command in the background (started with Bash and run_in_background) printed since "
        "this was last called for it, whether it still runs, and its exit code once it has ended."
    )

    def __init__(self, shells: Shells, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._shells = shells
        self._now = now

    @property
    def schema(self) -> Mapping[str, object]:
        """What its input looks like."""
        return {
            "type": "object",
            "properties": {"bash_id": {"type": "string", "description": "The ID the command was given"}},
            "required": ["bash_id"],
            "additionalProperties": False,
        }

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002
        """Say that it changes nothing."""
        return True

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:  # noqa: ARG002
        """Say that it touches nothing but what the session itself made."""
        return Reach()

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:  # noqa: ARG002
        """Look."""
        asked = Given(self.name, given, self.schema)
        id_ = asked.text("bash_id")
        if asked.refusal is not None:
            return asked.refusal
        shell = self._shells.get(id_)
        if shell is None:
            return failed(f"No shell found with ID: {id_}")
        status, code = shell.status, shell.code
        text = shell.news().rstrip()
        stamp = self._now().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        parts = [f"<status>{status}</status>"]
        if code is not None:
            parts.append(f"<exit_code>{code}</exit_code>")
        if text:
            parts.append(f"<stdout>\n{text}\n</stdout>")
        if shell.trouble is not None or shell.output.trouble is not None:
            parts.append(f"[{shell.trouble or shell.output.trouble}]")
        structured = {
            "shellId": shell.id,
            "command": shell.command,
            "status": status,
            "exitCode": code,
            "stdout": text,
            "stderr": "",
            "stdoutLines": text.count("\n") + 1,
            "stderrLines": 1,
            "timestamp": stamp,
        }
        return Outcome("\n\n".join((*parts, f"<timestamp>{stamp}</timestamp>")), structured)
