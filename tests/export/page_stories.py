"""Stories made by hand for tests of pages: any parts in any turns, without a session behind them."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, cast

from clew.export.html import SCRIPT, STYLE
from clew.export.story import Story
from clew.view import parts
from clew.view.parts import Head, TurnHead, Work
from clew.view.timeline import TurnView

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clew.session.session import Session
    from clew.view.parts import Flow

START = 1_770_000_000_000
"""Early in 2026."""

PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""One dot."""


@cache
def assets() -> Mapping[str, bytes]:
    """The renderer, as it is checked in."""
    return {name: files("clew").joinpath(name).read_bytes() for name in (SCRIPT, STYLE)}


def story(
    turns: Sequence[Sequence[Flow]],
    *,
    head: Head | None = None,
    heads: Sequence[TurnHead] | None = None,
    agents: Mapping[str, Sequence[Sequence[Flow]]] | None = None,
    redacted: Mapping[str, int] | None = None,
    is_redacted: bool = False,
    version: str = "1.2.3",
    turns_of: Callable[[], Iterator[TurnView]] | None = None,
) -> Story:
    """A story with these turns."""
    made = heads if heads is not None else tuple(_head(n, flow) for n, flow in enumerate(turns, 1))
    own = agents or {}
    calls = sum(one.work.calls for one in made)
    failed = sum(one.work.failed for one in made)
    known = head or Head("5e55-10", "A title", len(made), Work(calls=calls, failed=failed), models=("m-1",))
    return Story(
        cast("Session", None),
        known,
        made,
        turns_of or (lambda: _views(turns, made)),
        lambda agent_id: _views(own.get(agent_id, ()), [_head(n, ()) for n in range(1, 99)]),
        redacted=redacted or {},
        is_redacted=is_redacted,
        version=version,
        assets=assets(),
    )


def _views(turns: Sequence[Sequence[Flow]], heads: Sequence[TurnHead]) -> Iterator[TurnView]:
    for head, flow in zip(heads, turns, strict=False):
        yield TurnView(head, lambda flow=flow: iter(flow))


def _head(n: int, flow: Sequence[Flow]) -> TurnHead:
    calls = [one for one in flow if isinstance(one, parts.Call)]
    failed = sum(1 for one in calls if one.state == "failed")
    work = Work(calls=len(calls), failed=failed, duration_ms=65_000, output_tokens=2600, cost_usd=0.12)
    prompts = (one for one in flow if isinstance(one, parts.Prompt))
    first = next(prompts, None)
    said = next((one.text for one in first.parts if isinstance(one, parts.Text)), "") if first else ""
    return TurnHead(n, said[:80], "complete", work, started=START + n * 600_000)


def prompt(said: str) -> parts.Prompt:
    return parts.Prompt((parts.Text(said),), time=START)


def answer(said: str, *, is_last: bool = False) -> parts.Answer:
    return parts.Answer((parts.Markdown(said),), time=START, is_last=is_last)


def shell(command: str, output: str, *, is_failed: bool = False) -> parts.Call:
    state = "failed" if is_failed else "done"
    outcome = "exit 1" if is_failed else f"{output.count(chr(10)) + 1} lines"
    return parts.Call(
        "Bash", command, outcome, state, duration_ms=700, result=(parts.Code(output, stream="out"),)
    )  # fmt: skip


def every_kind() -> Story:
    """A story with every kind of part there is, and the things that are seldom."""
    long = "\n".join(f"line {n} of the output" for n in range(1, 1483))
    diff = parts.Diff(
        "src/orders.py",
        (
            parts.Hunk(10, 10, (" def take(loaf):", "-    shelf[loaf] -= 1", "+    shelf[loaf] -= 2", " ")),
            parts.Hunk(40, 40, ("-old", "+new", "+more")),
        ),
        added=3,
        removed=2,
    )
    todos = parts.Todos(
        (
            parts.Todo("Read the shelf", "completed", was="in_progress"),
            parts.Todo("Write the form", "in_progress", was="pending"),
            parts.Todo("Taste the bread", "pending", is_new=True),
            parts.Todo("Ask the owner", "removed", was="pending"),
        )
    )
    image = parts.Image("image/png", "chart.png", 480, 240, 1999, PICTURE)
    agent = parts.Agent("a1b2", "Explore", "Find the soil sensors", Work(calls=1, failed=1), 1)
    first: list[Flow] = [
        parts.Prompt((parts.Text("People can order what is sold out. Why?"), image), time=START),
        parts.Thinking("take() subtracts without looking. A folded-thought-word stands here.\n\nMore of it."),
        answer("Let me **look** at `orders.py`, see [the docs](https://example.org/x) and <b>this</b>."),
        shell("cat orders.py", long),
        shell("python -m pytest -q", f"{long}\nE   the-last-line failed", is_failed=True),
        parts.Call("Edit", "src/orders.py", "+3 −2", "done", duration_ms=90, result=(diff,)),
        parts.Call("TodoWrite", "3 to-dos", "1 new", "done", result=(todos,)),
        parts.Call("WebFetch", "https://example.org", "", "refused"),
        parts.Call("Task", "Find the sensors", "", "missing", agents=(agent,)),
        parts.Note(
            "/cost", (parts.Table((("Total", "$0.12"), ("Time", "1m"))), parts.Section("Raw", (image,)))
        ),
        parts.Notice(
            "3 lines could not be read: cut off mid-record", "warning", 4, 120, 400, '{"type":"user","mes'
        ),
        answer(
            "# Done\n\n- [x] one\n- two\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```py\nx = 1\n```", is_last=True
        ),
    ]
    second: list[Flow] = [
        parts.Rule("Compacted: 160k → 12k tokens", "compaction", parts=(parts.Markdown("A summary."),)),
        prompt("And now?\x1b[31m red \u202e turned"),
        parts.Thinking("", is_encrypted=True),
        parts.Prompt((parts.Text("wait"),), is_queued=True, time=START),
        parts.Call(
            "Bash", "sleep 1", "running", "running", given=(parts.Code("sleep 1", first_line=7, path="a.sh"),)
        ),
        parts.Answer((parts.Text("overloaded", is_muted=True),), is_error=True, time=START),
        answer("It stays off the form. `hidden-at-level-one`"),
        answer("The end.", is_last=True),
    ]
    below: list[Flow] = [
        prompt("Where are they?"),
        shell("ls", "agent-output-word"),
        answer("Here.", is_last=True),
    ]
    work = Work(
        calls=7,
        failed=1,
        files=1,
        added=3,
        removed=2,
        duration_ms=65_000,
        total_tokens=128_000,
        cost_usd=0.24,
    )
    head = Head(
        "5e55-10",
        "Sold-out loaves stay off the order form",
        2,
        work,
        project="/home/robin/bakery",
        branch="sold-out",
        slug="warm-loaf",
        started=START,
        ended=START + 900_000,
        models=("claude-sonnet-4-5-20250929", "mystery-1"),
        versions=("2.1.150",),
        session_ids=("5e55-10", "5e55-11"),
        agents=1,
        damaged=3,
        compactions=1,
        branches=2,
        unpriced=("mystery-1",),
        prices="2026-02-01",
        lines=1482,
        bytes=96_000,
    )
    return story(
        [first, second], head=head, agents={"a1b2": [below]}, redacted={"token": 2}, is_redacted=True
    )
