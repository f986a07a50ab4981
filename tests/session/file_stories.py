"""A client that changes files, simulated: it keeps the bytes of a folder and writes the session of it.

It shares no code with what rebuilds the files from the session: the truth is what it holds.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Literal, Self

from tests.builder import Builder, call

if TYPE_CHECKING:
    from collections.abc import Callable

Shape = Literal["whole", "large", "bare"]
"""How results are told: with the file before, without it, or as words alone."""

HOME = "/home/ada/lighthouse"


class Story:
    """A session in which files are changed."""

    def __init__(self, *, version: str = "2.1.325", shape: Shape = "whole") -> None:
        self.builder = Builder(version=version)
        self.shape = shape
        self.files: dict[str, bytes] = {}
        self.turn = 0
        self.calls = 0

    def prompt(self, words: str = "") -> Self:
        self.turn += 1
        self.builder.prompt(words or f"Prompt {self.turn}")
        return self

    def write(self, name: str, content: str) -> Self:
        before = self.files.get(name)
        self.files[name] = content.encode()
        result = {
            "type": "create" if before is None else "update",
            "filePath": path(name),
            "content": content,
            "structuredPatch": [] if before is None else hunks(plain(before), content),
            "originalFile": None if before is None or self.shape == "large" else plain(before),
            "userModified": False,
        }
        said = (
            f"File created successfully at: {path(name)}"
            if before is None
            else f"The file {path(name)} has been updated successfully."
        )
        return self._call("Write", {"file_path": path(name), "content": content}, said, result)

    def edit(self, name: str, old: str, new: str, *, every: bool = False) -> Self:
        data = self.files[name]
        text = plain(data)
        assert old
        assert old in text
        wanted = old + "\n" if not new and not old.endswith("\n") and old + "\n" in text else old
        after = text.replace(wanted, new) if every else text.replace(wanted, new, 1)
        self.files[name] = after.replace("\n", ending(data)).encode()
        result = {
            "filePath": path(name),
            "oldString": old,
            "newString": new,
            "originalFile": None if self.shape == "large" else text,
            "structuredPatch": hunks(text, after),
            "userModified": False,
            "replaceAll": every,
        }
        given = {"file_path": path(name), "old_string": old, "new_string": new, "replace_all": every}
        return self._call("Edit", given, f"The file {path(name)} has been updated.", result)

    def read(self, name: str) -> Self:
        text = plain(self.files[name]).removeprefix("\ufeff")
        rows = text.split("\n")
        result = {
            "type": "text",
            "file": {
                "filePath": path(name),
                "content": text,
                "numLines": len(rows),
                "startLine": 1,
                "totalLines": len(rows),
            },
        }
        said = "\n".join(f"{n}\t{row}" for n, row in enumerate(rows, 1))
        return self._call("Read", {"file_path": path(name)}, said, result)

    def fail(self, name: str) -> Self:
        self.calls += 1
        given = {"file_path": path(name), "old_string": "not there", "new_string": "x"}
        self.builder.answer(call(f"c{self.calls}", "Edit", given), stop="tool_use")
        said = "Error: String to replace not found in file."
        self.builder.result(f"c{self.calls}", said, is_error=True, toolUseResult=said)
        return self

    def bash(self, name: str, change: Callable[[bytes], bytes]) -> Self:
        self.files[name] = change(self.files.get(name, b""))
        self.calls += 1
        self.builder.answer(call(f"c{self.calls}", "Bash", {"command": f"change {name}"}), stop="tool_use")
        self.builder.result(f"c{self.calls}", "", toolUseResult={"stdout": "", "stderr": ""})
        return self

    def copy(self, name: str, backup: str | None, version: int = 1) -> Self:
        """Note a copy of a file, as the client does before it changes one."""
        self.builder.line(
            {
                "type": "file-history-delta",
                "messageId": "m",
                "snapshotMessageId": "s",
                "trackingPath": name,
                "backup": {"backupFileName": backup, "version": version, "backupTime": None},
            }
        )
        return self

    def _call(self, tool: str, given: dict[str, Any], said: str, result: dict[str, Any]) -> Self:
        self.calls += 1
        self.builder.answer(call(f"c{self.calls}", tool, given), stop="tool_use")
        told: dict[str, Any] = {} if self.shape == "bare" else {"toolUseResult": result}
        self.builder.result(f"c{self.calls}", said, **told)
        return self


def path(name: str) -> str:
    return f"{HOME}/{name}"


def plain(data: bytes) -> str:
    return data.decode("utf-8", "replace").replace("\r\n", "\n")


def ending(data: bytes) -> str:
    returned = data.count(b"\r\n")
    return "\r\n" if returned > data.count(b"\n") - returned else "\n"


def hunks(before: str, after: str) -> list[dict[str, Any]]:
    """Hunks as the client notes them, by way of the standard library's own diff."""
    found: list[dict[str, Any]] = []
    old, new = _cut(before), _cut(after)
    for row in list(difflib.unified_diff(old, new, n=3, lineterm=""))[2:]:
        if row.startswith("@@ "):
            _, left, right, _ = row.split(" ", 3)
            a, b = _numbers(left), _numbers(right)
            found.append(
                {"oldStart": a[0], "oldLines": a[1], "newStart": b[0], "newLines": b[1], "lines": list[str]()}
            )
        else:
            body = row[:1] + _untabbed(row[1:].removesuffix("\n"))
            found[-1]["lines"].append(body)
            if not row.endswith("\n"):
                found[-1]["lines"].append("\\ No newline at end of file")
    return found


def _cut(text: str) -> list[str]:
    rows = text.split("\n")
    last = rows.pop()
    return [row + "\n" for row in rows] + ([last] if last else [])


def _numbers(part: str) -> tuple[int, int]:
    start, _, count = part[1:].partition(",")
    many = int(count or 1)
    # The client counts from 1 where nothing was, too.
    return int(start) + (many == 0), many


def _untabbed(row: str) -> str:
    tabs = len(row) - len(row.lstrip("\t"))
    return "  " * tabs + row[tabs:]
