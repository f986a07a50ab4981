"""Small sessions for the tests of `clew show`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.builder import Builder, call, thinking
from tests.faces.stage import write

if TYPE_CHECKING:
    from pathlib import Path

ID = "0a0a0a0a-0000-4000-8000-000000000001"


def one(root: Path, data: bytes, name: str = ID) -> Path:
    return write(root, "-home-ada-lighthouse", {name: data})[0]


def small() -> Builder:
    """Two turns with a call that works and one that fails."""
    return (
        Builder(ID)
        .user("Light the lamp")
        .answer(
            "Looking first.",
            call("t1", "Read", {"file_path": "/home/ada/lighthouse/lamp.py"}),
            stop="tool_use",
        )
        .result(
            "t1", "1\tlamp = off", toolUseResult={"type": "text", "file": {"numLines": 1, "totalLines": 1}}
        )
        .answer(call("t2", "Bash", {"command": "make light"}), stop="tool_use")
        .result("t2", "Exit code 2\n" + "\n".join(f"line {n}" for n in range(30)), is_error=True)
        .answer(thinking("Maybe oil."), "It needs oil.")
        .user("Then oil it")
        .answer("Done.")
    )


def branched() -> bytes:
    """Three turns; the third goes back to the first."""
    builder = Builder(ID).user("First").answer("One.")
    fork = builder.leaf
    return builder.user("Second").answer("Two.").rewind(fork).user("Third").answer("Three.").data()
