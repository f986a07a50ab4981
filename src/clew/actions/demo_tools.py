"""The project of a demo story, and what the tools gave back when the story used them on it.

Reading, writing and editing work on the files of the story, so that every patch in a told session is the true
difference between what was there and what came after.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.actions import demo_shapes as shapes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.actions.demo_shapes import Era, Json, Value

Outcome = tuple["Value", "Value"]
"""What a tool gave back: for the model, and as the client keeps it beside."""


class Workbench:
    """The files and the to-do list of one story."""

    def __init__(self, era: Era, cwd: str, files: Mapping[str, str]) -> None:
        self.era = era
        self.cwd = cwd
        self.files = dict(files)
        self.todos: Value = []
        self.added = 0
        self.removed = 0

    def use(self, tool: str, given: Json, *, stdout: str) -> Outcome:
        """Use a tool; `stdout` is what a command would have printed."""
        path = str(given.get("file_path", ""))
        name = path.removeprefix(self.cwd + "/")
        match tool:
            case "Read":
                return shapes.read_outcome(self.era, path, self.files[name])
            case "Write":
                return self._write(path, name, str(given["content"]))
            case "Edit":
                return self._edit(path, name, str(given["old_string"]), str(given["new_string"]))
            case "TodoWrite":
                before, self.todos = self.todos, given["todos"]
                return "The to-do list has been changed.", {"oldTodos": before, "newTodos": self.todos}
            case "Bash":
                kept: Json = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
                if self.era >= (2, 1, 45):
                    kept["noOutputExpected"] = False
                return stdout, kept
            case _:
                raise ValueError(f"nobody knows what {tool} gives back")

    def _write(self, path: str, name: str, after: str) -> Outcome:
        before = self.files.get(name)
        self.files[name] = after
        kept: Json = {
            "type": "create" if before is None else "update",
            "filePath": path,
            "content": after,
            "structuredPatch": [] if before is None else self._change(before, after),
        }
        if self.era >= (2, 0, 50):
            kept["originalFile"] = before
        return f"File {'created' if before is None else 'updated'} successfully at: {path}", kept

    def _edit(self, path: str, name: str, old: str, new: str) -> Outcome:
        before = self.files[name]
        if before.count(old) != 1:
            raise ValueError(f"{old!r} is not there exactly once in {name}")
        after = self.files[name] = before.replace(old, new)
        return f"The file {path} has been updated.", {
            "filePath": path,
            "oldString": old,
            "newString": new,
            "originalFile": before,
            "structuredPatch": self._change(before, after),
            "userModified": False,
            "replaceAll": False,
        }

    def _change(self, before: str, after: str) -> list[Value]:
        hunks = shapes.patch(before, after)
        for hunk in hunks:
            lines = hunk["lines"]
            marks = [str(line)[0] for line in lines] if isinstance(lines, list) else []
            self.added += marks.count("+")
            self.removed += marks.count("-")
        return [*hunks]
