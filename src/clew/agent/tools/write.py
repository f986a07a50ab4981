"""Write: make a file, or write one anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.agent import paths
from clew.agent.paths import BadPathError
from clew.agent.tool import Outcome
from clew.agent.tools.changing import CURRENT, CallRefusedError, commit, current
from clew.agent.tools.granted import ChangingTool
from clew.agent.tools.hunks import hunks
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import refused, troubled
from clew.agent.tools.texts import Text
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.agent.tool import Work

_SCHEMA: Final[Mapping[str, object]] = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string", "description": "The file to write, from the root on"},
        "content": {"type": "string", "description": "All that the file is to hold"},
    },
    "required": ["file_path", "content"],
    "additionalProperties": False,
}


class Write(ChangingTool):
    """Writes a whole file."""

    name = "Write"
    description = (
        "Writes a whole text file; folders that are missing are made. A file that is there already must "
        "have been read first, and not have changed since. To change a part of a file use Edit."
    )
    schema = _SCHEMA

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Write the file."""
        asked = Given(self.name, given, self.schema)
        path, content = asked.text("file_path"), asked.text("content")
        if asked.refusal is not None:
            return asked.refusal
        try:
            return _written(path, self._granted.take(path, work), content, work)
        except CallRefusedError as refusal:
            return refusal.outcome
        except BadPathError as error:
            return refused(error.message)


def _written(path: str, resolved: str, content: str, work: Work) -> Outcome:
    try:
        facts = paths.look(resolved)
    except (OSError, ClewError) as error:
        return refused(troubled(error, path, doing="write"))
    if facts is not None and paths.kind(facts) == "a directory":
        return refused(
            f"{path} is a directory, not a file. To create a file inside it, include the file name in "
            f"file_path."
        )
    before = current(path, resolved, work)
    text = Text(content) if before is None else before.text.with_whole(_ended(content, before.text))
    commit(path, resolved, before, text, work)
    result = {
        "type": "create" if before is None else "update",
        "filePath": path,
        "content": content if before is None else text.recorded,
        "structuredPatch": [] if before is None else hunks(before.text.recorded, text.recorded),
        "originalFile": None if before is None else before.text.recorded,
        "userModified": False,
    }
    if before is None:
        return Outcome(f"File created successfully at: {path}{CURRENT}", result)
    return Outcome(f"The file {path} has been updated successfully.{CURRENT}", result)


def _ended(content: str, before: Text) -> str:
    """Write line ends as the file has them, if it has one sort only: the model never saw which.

    The client does not; what it wrote in the place of a file with carriage returns has plain ends.
    """
    content = content.removeprefix("\ufeff") if before.is_marked else content
    returned = before.whole.count("\r\n")
    if not returned or returned != before.whole.count("\n") or "\r\n" in content:
        return content
    return content.replace("\n", "\r\n")
