"""Bash: run a command in the project, or start one in the background."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING, Final

from clew.agent.shell_output import MOST_INLINE, Captured, file_name, persisted
from clew.agent.shell_run import NoShellError
from clew.agent.tool import Outcome, Reach
from clew.agent.tools.inputs import Given
from clew.agent.tools.outcomes import failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.agent.shell_run import Ended
    from clew.agent.shells import Shells
    from clew.agent.tool import Work

DEFAULT_TIMEOUT: Final = 120_000
MOST_TIMEOUT: Final = 600_000
"""Milliseconds."""

_SEPARATORS: Final = frozenset({"|", "||", "&&", ";", "&", "|&", "\n"})
_SILENT: Final = frozenset(
    {
        "mv",
        "cp",
        "rm",
        "mkdir",
        "rmdir",
        "chmod",
        "chown",
        "chgrp",
        "touch",
        "ln",
        "cd",
        "export",
        "unset",
        "wait",
    }
)
"""Commands that print nothing when all is well."""

_MEANINGS: Final = {
    "grep": "No matches found",
    "rg": "No matches found",
    "diff": "Files differ",
    "find": "Some directories were inaccessible",
    "test": "Condition is false",
    "[": "Condition is false",
}
"""What the exit code 1 says, where it is no failure."""

_DESCRIPTION: Final = """\
Runs a command line in bash and returns what it printed, standard output and standard error in one.

- Each call is a new shell. The working folder is kept from call to call while it stays inside the project; \
variables, aliases and functions are not kept.
- There is no terminal and nothing to read from standard input: commands that ask are of no use here.
- `timeout` is in milliseconds: 120000 unless said, 600000 at most. When the time is up the command is \
stopped, with everything it started.
- What a command leaves running when it ends is stopped. To keep something running, set `run_in_background`: \
it gets an id for BashOutput and KillShell, and runs until the session ends at the latest.
- Output over 30000 characters is saved to a file, whose path and beginning are returned.
- To find, read or change files, the tools for that are better than find, grep, cat, sed or echo."""


class Bash:
    """Runs commands in the shells of a session."""

    name = "Bash"

    def __init__(self, shells: Shells) -> None:
        self._shells = shells

    @property
    def description(self) -> str:
        """What the model is told of it."""
        if self._shells.sandbox.state.is_on:
            return (
                f"{_DESCRIPTION}\n- Commands run in a sandbox: no network, and only the project and /tmp can "
                "be written to. A command that fails for that reason will fail in another form too."
            )
        return _DESCRIPTION

    @property
    def schema(self) -> Mapping[str, object]:
        """What its input looks like."""
        return {
            "type": "object",
            "properties": {
                "command": {"type": "string", "description": "The command line to run"},
                "timeout": {"type": "number", "description": f"Milliseconds, at most {MOST_TIMEOUT}"},
                "description": {
                    "type": "string",
                    "description": "What the command does, in five to ten words",
                },
                "run_in_background": {
                    "type": "boolean",
                    "description": "Start it and do not wait for its end",
                },
            },
            "required": ["command"],
            "additionalProperties": False,
        }

    def is_parallel(self, given: Mapping[str, object]) -> bool:  # noqa: ARG002  # no command is known to change nothing
        """Say that a command runs alone: it may move the working folder."""
        return False

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:  # noqa: ARG002
        """Say which command it would run."""
        command = given.get("command")
        return Reach(command=command if isinstance(command, str) else "")

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        """Run it."""
        asked = Given(self.name, given, self.schema)
        command = asked.text("command")
        timeout = min(asked.number("timeout") or DEFAULT_TIMEOUT, MOST_TIMEOUT)
        description = asked.text("description", required=False)
        in_background = asked.flag("run_in_background")
        if asked.refusal is not None:
            return asked.refusal
        if not os.path.isdir(work.cwd):  # noqa: PTH112  # an earlier command may have removed it
            work.cwd = work.project
        extra = {"sandboxed": self._shells.sandbox.state.is_on}
        try:
            if in_background:
                return self._start(command, description, work, extra)
            output = Captured(work.results_folder, file_name(work.call_id), report=work.report)
            ended = self._shells.run(
                command, output, cwd=work.cwd, cancel=work.cancel, timeout=timeout / 1000
            )
        except NoShellError as error:
            return failed(str(error))
        return _outcome(command, ended, output, work, timeout, extra)

    def _start(self, command: str, description: str, work: Work, extra: Mapping[str, object]) -> Outcome:
        shell = self._shells.start(
            command, cwd=work.cwd, folder=work.results_folder, call_id=work.call_id, description=description
        )
        where = f" Output is being written to: {shell.path}." if shell.path else ""
        structured = {**_structured("", ""), "noOutputExpected": False, "backgroundTaskId": shell.id}
        return Outcome(
            f"Command running in background with ID: {shell.id}.{where} "
            "To see what it printed since, use BashOutput with that ID; to stop it, KillShell.",
            structured,
            extra=extra,
        )


def _outcome(
    command: str, ended: Ended, output: Captured, work: Work, timeout: float, extra: Mapping[str, object]
) -> Outcome:
    text = _trimmed(output.text)
    shown = persisted(text, output.path, output.size) if output.is_long and output.path else text
    notes = _notes(ended, output, work)
    if ended.why == "cancelled":
        return _error(137, [shown, *notes, "[Request interrupted by user for tool use]"], extra)
    if ended.why == "late":
        return _error(143, [f"Command timed out after {_duration(timeout)}", shown, *notes], extra)
    meaning = _MEANINGS.get(_last_command(command)) if ended.code == 1 else None
    if ended.code != 0 and meaning is None:
        return _error(ended.code, [shown, *notes], extra)
    structured = _structured(text[:MOST_INLINE], "".join(f"\n{note}" for note in notes))
    if meaning is not None:
        structured["returnCodeInterpretation"] = meaning
    structured["noOutputExpected"] = _is_silent(command)
    if output.is_long and output.path:
        structured |= {"persistedOutputPath": output.path, "persistedOutputSize": output.size}
    said = "\n".join(part for part in (shown, *notes) if part)
    return Outcome(said or "(Bash completed with no output)", structured, extra=extra)


def _structured(stdout: str, stderr: str) -> dict[str, object]:
    return {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False}


def _error(code: int, parts: list[str], extra: Mapping[str, object]) -> Outcome:
    words = "\n".join(part for part in (f"Exit code {code}", *parts) if part)
    return Outcome(words, f"Error: {words}", is_error=True, extra=extra)


def _notes(ended: Ended, output: Captured, work: Work) -> list[str]:
    notes: list[str] = []
    if ended.cwd is not None and not _move(work, ended.cwd):
        notes.append(f"Shell cwd was reset to {work.project}")
    if ended.left_running:
        notes.append("What the command left running was stopped; use run_in_background to keep it running")
    if output.trouble is not None:
        notes.append(f"[{output.trouble}]")
    return notes


def _move(work: Work, folder: str) -> bool:
    """Go on in the folder the shell ended in, if it is in the project; say whether it is."""
    project = os.path.realpath(work.project)
    found = os.path.realpath(folder)
    is_inside = found == project or found.startswith(project.rstrip(os.sep) + os.sep)
    work.cwd = found if is_inside else work.project
    return is_inside


def _trimmed(text: str) -> str:
    """Leave out blank lines at the beginning, and all blanks at the end, as the client does."""
    lines = text.rstrip().split("\n")
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    return "\n".join(lines[first:])


def _duration(milliseconds: float) -> str:
    seconds = milliseconds / 1000
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}m {rest}s" if minutes else f"{seconds:.1f}".removesuffix(".0") + "s"


def _commands(line: str) -> list[list[str]]:
    """Cut a line into its commands, roughly: what comes of it is told, never decided by."""
    reader = shlex.shlex(line.replace("\n", " ; "), posix=True, punctuation_chars="|&;")
    reader.whitespace_split = True
    reader.commenters = ""
    found: list[list[str]] = [[]]
    try:
        for word in reader:
            if word in _SEPARATORS:
                found.append([])
            else:
                found[-1].append(word)
    except ValueError:  # a quote that is not closed
        return []
    return [words for words in found if words]


def _last_command(line: str) -> str:
    commands = _commands(line)
    return os.path.basename(commands[-1][0]) if commands else ""  # noqa: PTH119


def _is_silent(line: str) -> bool:
    commands = _commands(line)
    return bool(commands) and all(words[0] in _SILENT for words in commands)
