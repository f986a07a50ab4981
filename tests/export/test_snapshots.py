"""How a short session reads in the formats for people; look at the difference before it is accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.export import registry
from clew.export.options import Options
from tests.builder import Builder, call, image, text, thinking
from tests.export.stories import story_from

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion


def session() -> bytes:
    builder = Builder("hostile").prompt([text("Mend the *lamp*,\n  please: <b>now</b>"), image()])
    builder.answer(
        thinking("Where is it?"),
        text("# Plan\n\nLook at `<lamp>` and [the docs](https://a.example/lamp), not <b>here</b>."),
        call("toolu_1", "Bash", {"command": "ls -l | head", "description": "Look around"}),
        stop="tool_use",
    )
    builder.result("toolu_1", "lamp.py\n```\nnot code", toolUseResult={"stdout": "lamp.py", "stderr": "warn"})
    edit = {"file_path": "/home/ada/lighthouse/lamp.py", "old_string": "dim", "new_string": "bright"}
    builder.answer(call("toolu_2", "Edit", edit), stop="tool_use")
    builder.result(
        "toolu_2",
        "The file was updated.",
        toolUseResult={
            "filePath": edit["file_path"],
            "oldString": "dim",
            "newString": "bright",
            "originalFile": "dim\n",
            "structuredPatch": [
                {"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-dim", "+bright"]}
            ],
        },
    )
    builder.answer("Done:\n\n1. bright\n   ```py\n   x = '<b>'\n   ```").compact("The lamp is mended.")
    return builder.prompt("Thanks").answer("My pleasure.").data()


@pytest.mark.parametrize("name", ["md", "text"])
def test_a_short_session_reads_well(name: str, snapshot: SnapshotAssertion) -> None:
    story = story_from(session(), is_redacted=True)
    told = b"".join(registry.find(name).write(story, Options())).decode("utf-8")
    assert told.replace(f"clew {story.version}", "clew VERSION") == snapshot
