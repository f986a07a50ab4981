"""What the reading commands hold of a long session: some bytes a line, whatever the lines are."""

from __future__ import annotations

import json
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from clew.actions.contexts import read_context
from clew.actions.reading import open_reading, read_turns
from clew.actions.trees import read_tree
from tests.faces.stage import write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.actions.reading import Opened

ID = "0a0a0a0a-0000-4000-8000-000000000001"
MOST = 110
"""Bytes a line: with them a gigabyte of short lines, 1.4 million, stays well below 200 MB."""


def progress(count: int, *, backwards: bool) -> bytes:
    """A prompt, progress that hangs on progress, and an answer to it all."""
    made: list[bytes] = []
    for n in range(count):
        fields: dict[str, object] = {
            "parentUuid": f"u{n - 1}" if n else None,
            "type": "progress",
            "uuid": f"u{n}",
            "timestamp": "2026-01-01T00:00:00.000Z",
            "sessionId": ID,
        }
        if n in {0, count - 1}:
            role = "assistant" if n else "user"
            fields |= {"type": role, "message": {"role": role, "content": [{"type": "text", "text": "Hi"}]}}
        made.append(json.dumps(fields, separators=(",", ":")).encode())
    return b"\n".join(reversed(made) if backwards else made) + b"\n"


def context(opened: Opened) -> None:
    assert read_context(opened).context.messages


def tree(opened: Opened) -> None:
    assert read_tree(opened).leaves


def show(opened: Opened) -> None:
    assert read_turns(opened).turns


def branch(opened: Opened) -> None:
    table = opened.session.table
    last = opened.session.entry(table.kind.index(table.kinds.index("assistant")))
    assert len(read_turns(opened, at=last.uuid).turns) == 1


def peak(root: Path, path: Path, command: Callable[[Opened], None]) -> int:
    """Return the most that a session and what is made of it take together, without what reading it took."""
    tracemalloc.start()
    try:
        opened = open_reading([root], str(path))
        tracemalloc.reset_peak()
        command(opened)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("command", [context, tree, show, branch])
def test_a_line_more_takes_some_bytes_more(
    tmp_path: Path, command: Callable[[Opened], None], backwards: bool
) -> None:
    peaks: list[int] = []
    for count in (500, 2_000, 8_000):  # the first for what is made once
        root = tmp_path / str(count)
        (path,) = write(root, "-p", {ID: progress(count, backwards=backwards)})
        peaks.append(peak(root, path, command))
    assert (peaks[2] - peaks[1]) / 6_000 < MOST
