"""What the model says in a chat, by what is said to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.agent.standin import Failure, Pace, Reply, text, thinking, tool_use
from tests.faces.cli.chat.tmux_lab import last_said

if TYPE_CHECKING:
    from clew.agent.standin import Answer, Request

MARKDOWN = """## A heading

Some **bold** words and `code`, 漢字 too.

- one
- two

```python
def f() -> int:
    return 1
```

| name | n |
|---|---|
| alpha | 1 |

The end of it."""


def bash(command: str, *, call_id: str = "toolu_1") -> Reply:
    return Reply((text("I look."), tool_use("Bash", {"command": command}, call_id=call_id)))


def answer(request: Request) -> Answer:
    """Answer by what was said last."""
    said = last_said(request)
    call_id = f"toolu_{request.number}"
    if "tool_result" in said:
        return Reply((text("That was it."),))
    if "MARKDOWN" in said:
        return Reply((thinking("Let me think."), text(MARKDOWN)), pace=Pace(between=0.01, piece=7))
    if "SLOWLY" in said:
        return Reply((text("word " * 200 + "END"),), pace=Pace(between=0.05, piece=5))
    if "COUNT" in said:
        return bash("seq 10000", call_id=call_id)
    if "TICKS" in said:
        return bash("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo tick $i; sleep 0.5; done", call_id=call_id)
    if "WRITE" in said:
        made = {"file_path": "note.txt", "content": "first line\nsecond line\n"}
        return Reply((tool_use("Write", made, call_id=call_id),))
    if "BUSY" in said:
        return Failure(401, "authentication_error", "invalid x-api-key")
    return Reply((text(f"answer {request.number}"),))
