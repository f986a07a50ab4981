"""Clones: the same conversation under other ids, judged by what stands in the lines themselves."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from clew.edit.clone import Agent, clone, up_to
from clew.edit.ids import derive
from clew.edit.woven import Result
from clew.session.context import context
from clew.session.session import Session
from tests.conformance.generator import generate
from tests.session.recorded import CORPUS, SCENARIOS, read

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clew.edit.plan import Plan

NEW = "c10e0000-2222-4333-8444-777777777777"
SESSIONS = sorted(
    path
    for scenario in SCENARIOS
    for path in scenario.glob("projects/*/*.jsonl")
    if "agent-" not in path.name
)
SAID = ("content", "toolUseResult", "attachment", "summary", "lastPrompt", "prompt", "normalizedMessages")
"""Keys below which nothing may change."""


def cloned(path: Path, *, seed: bytes = b"seed") -> tuple[Plan, list[bytes]]:
    agents = [Agent(one.stem, read(one)) for one in sorted(path.with_suffix("").glob("subagents/*.jsonl"))]
    plan = clone(read(path), new_id=NEW, seed=seed, agents=agents)
    return plan, [b"".join(file.pieces()) for file in plan.files]


def records(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines() if line.startswith(b"{")]


def ids(value: Any, key: str = "") -> Iterator[str]:
    """Give every string that may be an id: all but what was said."""
    if key in SAID:
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():  # pyright: ignore[reportUnknownVariableType]  # any JSON
            yield from ids(inner, str(name))  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list):
        for inner in value:  # pyright: ignore[reportUnknownVariableType]
            yield from ids(inner, key)


def without_ids(value: Any, known: set[str]) -> Any:
    if isinstance(value, str):
        return "ID" if value in known else value
    if isinstance(value, dict):
        return {key: without_ids(inner, known) for key, inner in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return [without_ids(inner, known) for inner in value]  # pyright: ignore[reportUnknownVariableType]
    return value


@pytest.mark.parametrize("path", SESSIONS, ids=lambda path: "/".join(path.relative_to(CORPUS).parts[:2]))
def test_every_recorded_session_has_a_clone_that_differs_in_ids_alone(path: Path) -> None:
    plan, files = cloned(path)
    plans = [inner for one in plan.files for inner in one.plans]
    before = [one.session.source.read(0, one.session.source.size) for one in plans]
    old = {one["uuid"] for data in before for one in records(data) if one.get("uuid")} | {path.stem}
    new = {derive(b"seed", one) for one in old - {path.stem}} | {NEW}
    foreign = {one["sessionId"] for data in before for one in records(data) if one.get("sessionId")}
    for was, now in zip(before, files, strict=True):
        assert was.count(b"\n") == now.count(b"\n")
        for one, other in zip(records(was), records(now), strict=True):
            assert without_ids(other, new) == without_ids(one, old | foreign)
            assert not old & set(ids(other))
            assert other.get("message", {}).get("content") == one.get("message", {}).get("content")
    # Line by line the same tree.
    chain = [(one.get("uuid"), one.get("parentUuid")) for one in records(before[-1])]
    assert [(one.get("uuid"), one.get("parentUuid")) for one in records(files[-1])] == [
        tuple(derive(b"seed", name) if name and name in old else name for name in pair) for pair in chain
    ]


@pytest.mark.parametrize("path", SESSIONS[::3], ids=lambda path: "/".join(path.relative_to(CORPUS).parts[:2]))
def test_a_clone_sends_what_its_source_sends(path: Path) -> None:
    _, files = cloned(path)
    sent = context(read(path)).messages
    assert context(Session.read(files[-1], name=NEW)).messages == sent


@pytest.mark.parametrize("path", SESSIONS[::7], ids=lambda path: "/".join(path.relative_to(CORPUS).parts[:2]))
def test_the_clone_of_a_clone_with_the_same_words_is_the_same_but_for_ids(path: Path) -> None:
    plan, (*_, first) = cloned(path)
    assert [b"".join(file.pieces()) for file in plan.files][-1] == first
    again = clone(Session.read(first, name=NEW), new_id=path.stem, seed=b"other")
    (main,) = again.files
    old = {one["uuid"] for one in records(first) if one.get("uuid")} | {NEW}
    new = {derive(b"other", one) for one in old - {NEW}} | {path.stem}
    for one, other in zip(records(first), records(b"".join(main.pieces())), strict=True):
        assert without_ids(other, new) == without_ids(one, old)


def test_ids_that_name_no_line_and_words_that_look_like_ids_stay() -> None:
    lines = [
        {"type": "user", "uuid": "u1", "parentUuid": None, "sessionId": "s", "message": {"content": "u1 s"}},
        {"type": "assistant", "uuid": "u2", "parentUuid": "u1", "sessionId": "s",
         "message": {"id": "msg_1", "content": [{"type": "tool_use", "id": "t", "input": {"uuid": "u1"}}]}},
        {"type": "file-history-snapshot", "messageId": "elsewhere", "snapshot": {"messageId": "u1"}},
        {"type": "last-prompt", "leafUuid": "u2", "lastPrompt": "u1", "sessionId": "s"},
    ]  # fmt: skip
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    plan = clone(Session.read(data, name="s"), new_id="t", seed=b"x", cwd="/elsewhere")
    first, second, snapshot, prompt = records(b"".join(plan.files[0].pieces()))
    one, two = derive(b"x", "u1"), derive(b"x", "u2")
    assert (first["uuid"], first["sessionId"], first["message"]["content"]) == (one, "t", "u1 s")
    assert (second["uuid"], second["parentUuid"], second["message"]) == (two, one, lines[1]["message"])
    assert (snapshot["messageId"], snapshot["snapshot"]["messageId"]) == ("elsewhere", one)
    assert (prompt["leafUuid"], prompt["lastPrompt"]) == (two, "u1")


def test_a_clone_for_another_project_works_in_its_folder() -> None:
    data = b'{"type":"user","uuid":"u","cwd":"/old","sessionId":"s","message":{"content":"/old"}}\n'
    plan = clone(Session.read(data, name="s"), new_id="t", seed=b"x", cwd="/new")
    (record,) = records(b"".join(plan.files[0].pieces()))
    assert (record["cwd"], record["message"]["content"]) == ("/new", "/old")


@pytest.mark.parametrize("seed", range(0, 120, 2))
def test_a_fork_sends_what_the_session_sent_when_that_line_was_its_last(seed: int) -> None:
    session = Session.read(generate(seed).data)
    sent = [row for rows in context(session).rows for row in rows]
    rows = [row for row in sent if session.row(session.entry(row).uuid or "") == row]
    if not rows:
        return
    row = Random(seed).choice(rows)
    uuid = session.entry(row).uuid
    changes = up_to(session, row)
    forked = Result(changes.plan("")).session
    assert context(forked).messages == context(forked, at=uuid).messages
    kept = {forked.entry(one).uuid for one in range(len(forked))}
    assert uuid in kept
    # Nothing that hangs on it stays but what is of the same message, or what that called for.
    for one in range(row + 1, len(session)):
        entry = session.entry(one)
        if entry.uuid in kept and entry.parent_uuid == uuid and entry.uuid is not None:
            same = entry.message_id is not None and entry.message_id == session.entry(row).message_id
            assert same or entry.type == "user"
