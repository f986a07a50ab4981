"""Every word of a session stands in some part of it.

The words are looked up in the file with nothing but `json`; what is compared is lines without their blanks.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from clew.session.session import Session
from clew.session.subagents import agents
from clew.session.turns import turns
from clew.view import parts
from clew.view.timeline import Timeline
from tests.view.sessions import CORPUS, files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

VERSIONS = sorted(path.name for path in CORPUS.iterdir() if path.is_dir())
TAG = re.compile(r"</?[a-z][a-z_-]*>")
NUMBER = re.compile(r"^ *\d+(?:→|\t)")
BLANK = re.compile(r"\s+")


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file, as plainly as can be."""
    for line in path.read_bytes().split(b"\n"):
        try:
            found = json.loads(line)
        except ValueError:
            continue
        if isinstance(found, dict):
            yield found


def said(record: dict[str, Any]) -> Iterator[str]:
    """Every text of a message: what was said, thought and given back by tools."""
    if record.get("type") not in {"user", "assistant"}:
        return
    content = record.get("message", {}).get("content")
    for block in [content] if isinstance(content, str) else content or []:
        if isinstance(block, str):
            yield block
        elif block.get("type") == "text":
            yield block["text"]
        elif block.get("type") == "thinking":
            yield block["thinking"]
        elif block.get("type") == "tool_result":
            inner: Any = block.get("content")
            listed = [{"type": "text", "text": inner}] if isinstance(inner, str) else inner
            yield from (one["text"] for one in listed or [] if one.get("type") == "text")


def called(record: dict[str, Any]) -> Iterator[str]:
    content: Any = record.get("message", {}).get("content")
    for block in cast("list[Any]", content) if isinstance(content, list) else []:
        if block.get("type") == "tool_use":
            yield block["id"]


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from strings(list(cast("dict[str, Any]", value).values()))
    elif isinstance(value, list | tuple):
        for one in cast("list[Any]", value):
            yield from strings(one)


def drawn(path: Path) -> tuple[str, set[str]]:
    """All text of a session's parts without blanks, its sub-agents' too, and the ids of its calls."""
    session = Session.read(path.read_bytes(), name=path.stem)
    within = agents(session)
    timeline = Timeline(session, turns(session), agents=within)
    views = list(timeline.turns())
    waiting = list(within)
    while waiting:
        one = waiting.pop()
        views += timeline.agent_turns(one.agent_id)
        waiting += one.children
    words: list[str] = []
    ids: set[str] = set()
    for view in views:
        for part in view.flow():
            words += strings(msgspec.to_builtins(part))
            if isinstance(part, parts.Call) and part.id:
                ids.add(part.id)
    return BLANK.sub("", "".join(f"{word}\0" for word in words)), ids


def is_there(line: str, found: str) -> bool:
    """Whether a line is among the words: whole, without its number, or piece by piece between tags."""
    return any(
        all(BLANK.sub("", piece).strip("[]") in found for piece in pieces)
        for pieces in ([line], [NUMBER.sub("", line)], TAG.split(NUMBER.sub("", line)))
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_every_text_and_every_call_of_a_recorded_session_stands_in_a_part(version: str) -> None:
    looked = 0
    for path in files():
        if path.relative_to(CORPUS).parts[0] != version:
            continue
        found, ids = drawn(path)
        for record in records(path):
            for text in said(record):
                for line in text.split("\n"):
                    looked += 1
                    assert is_there(line, found), (path, line)
            assert set(called(record)) <= ids, path
    assert looked > 100
