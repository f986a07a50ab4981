"""Stores to serve: the demo, and one in which everything is odd."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.builder import Builder, call, image, text, thinking
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["demo", "hostile"]

SCRIPT = "<script>alert(1)</script>\x1b]52;c;eA==\x07\u2028\u202e"


def hostile(folder: Path) -> Path:
    """Write sessions that are damaged, or say what no page should believe."""
    root = folder / "hostile"
    odd = (
        Builder("odd")
        .user(SCRIPT)
        .answer(thinking(SCRIPT), text(SCRIPT), call("t1", SCRIPT, {SCRIPT: SCRIPT}))
    )
    odd.result("t1", SCRIPT, is_error=True).user([image(), text("x")]).compact(SCRIPT)
    odd.line({"type": SCRIPT, "uuid": SCRIPT, "timestamp": "never", "cwd": 7, "sessionId": ["x"]})
    odd.line({"type": "user", "message": {"role": "user", "content": "half \ud83d"}, "uuid": "h"})
    odd.line({"type": "assistant", "message": {"id": 5, "content": {"a": 1}, "usage": {"input_tokens": -1}}})
    torn = Builder("torn").user("hello").answer("hi").data()
    loop = Builder("loop").line({"type": "user", "uuid": "a", "parentUuid": "b"})
    loop.line({"type": "user", "uuid": "b", "parentUuid": "a", "message": {"role": "user", "content": "?"}})
    deep = b'{"type":"user","uuid":"d","message":' + b"[" * 50_000 + b"]" * 50_000 + b"}\n"
    write(
        root,
        "-odd-project",
        {
            "odd": odd.data(),
            "torn": torn[:-20],
            "loop": loop.data(),
            "deep": deep + torn,
            "nul": b"\0" * 4096 + torn + b"\0" * 64 + torn,
            "glued": torn.replace(b"\n", b""),
            "latin": torn.replace(b"hello", b"h\xe9llo"),
            "numbers": b'{"type":"user","uuid":"n","x":NaN,"y":1e999,"z":' + b"9" * 5000 + b"}\n" + torn,
            "empty": b"",
            "blank": b"\n\n\n",
            "a b' \u00e9": torn,
            "torn/subagents/agent-x1": Builder("torn").user("go", isSidechain=True).answer("went").data(),
        },
    )
    write(root, "-other", {"torn": torn})
    project = root / "projects" / "-odd-project"
    os.mkfifo(project / "pipe.jsonl")
    (project / "dangling.jsonl").symlink_to(project / "nobody")
    (project / "folder.jsonl").mkdir()
    return root
