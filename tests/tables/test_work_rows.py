"""Turns, calls and files as rows: what `clew show` tells, and what plain code counts in the same files."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

import pytest

from clew.actions.reading import open_reading, read_turns
from clew.actions.turn_documents import show_document
from clew.format.times import iso
from clew.tables import rows
from tests.builder import Builder, call
from tests.session.recorded import SCENARIOS
from tests.tables.recorded import AT, RECORDED, Json, home, lines, read


def test_turns_and_calls_are_those_that_clew_show_tells() -> None:
    seen: Counter[str] = Counter()
    for root in SCENARIOS:
        for path in sorted(root.glob("projects/**/*.jsonl")):
            if not path.stat().st_size:
                continue
            reading = read_turns(open_reading([root], str(path)))
            document = cast("Any", show_document(reading))
            told: list[Json] = [
                {**turn, "messages": list(turn["messages"]), "calls": list(turn["calls"])}
                for turn in document["turns"]
            ]
            session, at = reading.session, home(path)
            found = list(rows.turn_rows(session, at, found=reading.turns))
            assert found == list(rows.turn_rows(session, at))
            assert len(found) == len(told)
            for row, turn in zip(found, told, strict=True):
                same_turn(row, turn)
            calls = {(row.uuid, row.block): row for row in rows.call_rows(session, at)}
            for turn in told:
                for one in turn["calls"]:
                    same_call(next(row for row in calls.values() if row.call_id == one["id"]), one, turn["n"])
                    seen["calls"] += 1
            seen["turns"] += len(found)
    assert seen["turns"] > 300
    assert seen["calls"] > 500


def same_turn(row: rows.TurnRow, turn: Json) -> None:
    for name in ("uuid", "round", "input_kind", "duration_ms", "status", "cost_usd"):
        assert getattr(row, name) == turn[name], name
    assert (row.turn, row.messages, row.calls) == (turn["n"], len(turn["messages"]), len(turn["calls"]))
    assert (iso(row.started_ms), iso(row.ended_ms)) == (turn["started"], turn["ended"])
    assert row.day == (turn["started"][:10] if turn["started"] else None)
    assert row.prompt == (None if turn["prompt"] is None else turn["prompt"][:2400])
    assert {name: getattr(row, f"{name}_tokens") for name in turn["tokens"]} == turn["tokens"]


def same_call(row: rows.CallRow, one: Json, turn: int) -> None:
    for name in ("uuid", "result_uuid", "name", "is_error", "duration_ms"):
        assert getattr(row, name) == one[name], name
    assert (row.turn, row.subagent_id) == (turn, one["agent_id"])


def test_calls_and_results_are_as_many_as_plain_code_counts() -> None:
    """Every id that a `tool_use` block has is one row, with the line of the first result that names it."""
    for path in RECORDED:
        asked: dict[str, int] = {}
        answered: dict[str, int] = {}
        for number, data in enumerate(lines(path), 1):
            content = data.get("message", {}).get("content")
            if data["type"] in ("user", "assistant") and isinstance(content, list):
                for block in cast("list[Json]", content):
                    if block["type"] == "tool_use":
                        asked.setdefault(block["id"], number)
                    elif block["type"] == "tool_result":
                        answered.setdefault(block["tool_use_id"], number)
        found = {row.call_id: (row.line, row.result_line) for row in rows.call_rows(read(path), home(path))}
        assert found == {name: (line, answered.get(name)) for name, line in asked.items()}, path


def test_a_call_of_a_sub_agent_is_beside_the_turns() -> None:
    built = Builder().user("Go").answer(call("a", "Task"))
    built.answer(call("b", "Read"), isSidechain=True, agentId="x9")
    made = {row.call_id: row for row in rows.call_rows(built.session(), AT)}
    assert (made["a"].turn, made["a"].agent_id) == (1, None)
    assert (made["b"].turn, made["b"].agent_id) == (None, "x9")


def patch(*hunks: str) -> Json:
    """A structured patch, each hunk given by the marks of its lines."""
    return {"structuredPatch": [{"lines": [f"{mark}x" for mark in hunk]} for hunk in hunks]}


NEW: Json = {"oldString": "", "newString": "b\nc", "originalFile": ""}


@pytest.mark.parametrize(
    ("tool", "result", "expected"),
    [
        ("Write", {"type": "create", "content": "1\n2\n", **patch()}, ("create", 2, 0)),
        ("Write", {"type": "create", "content": ""}, ("create", 0, 0)),
        ("Write", {"type": "update", **patch("-++ ")}, ("overwrite", 2, 1)),
        ("Write", {"content": "1"}, (None, None, None)),
        ("Edit", {"oldString": "a", "newString": "b", **patch("-+")}, ("edit", 1, 1)),
        ("Edit", {**NEW, **patch()}, ("create", 2, 0)),
        ("Edit", {**NEW, "originalFile": "a", **patch(" ++")}, ("edit", 2, 0)),
        ("Edit", {"oldString": "a", "newString": "b"}, ("edit", None, None)),
        ("MultiEdit", {"edits": [], **patch("+", "+-")}, ("edit", 2, 1)),
        ("NotebookEdit", {"notebook_path": "/a", "new_source": "x"}, ("edit", None, None)),
        ("NotebookEdit", {"error": "no such cell"}, (None, None, None)),
        ("Write", "refused", (None, None, None)),
        ("Write", None, (None, None, None)),
        ("Edit", {"structuredPatch": 5, "oldString": 5}, ("edit", 0, 0)),
    ],
)
def test_what_a_call_did_to_its_file(tool: str, result: object, expected: tuple[object, ...]) -> None:
    name = "notebook_path" if tool == "NotebookEdit" else "file_path"
    built = Builder().user("Go").answer(call("a", tool, {name: "/a"})).result("a", toolUseResult=result)
    (made,) = rows.file_rows(built.session(), AT)
    assert (made.action, made.added, made.removed) == expected
    assert (made.path, made.tool, made.turn, made.call_id, made.line) == ("/a", tool, 1, "a", 2)


def test_a_call_that_failed_or_never_came_back_wrote_nothing() -> None:
    built = Builder().user("Go").answer(call("a", "Write", {"file_path": "x"})).result("a", is_error=True)
    built.answer(call("b", "Write", {"file_path": "x"}))
    made = list(rows.file_rows(built.session(), AT))
    assert [(row.path, row.action, row.is_error, row.call_id) for row in made] == [
        ("/home/ada/lighthouse/x", None, True, "a"),
        ("/home/ada/lighthouse/x", None, False, "b"),
    ]


def test_a_file_that_only_a_copy_was_kept_of_has_one_row() -> None:
    kept = {"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": {"/b": {"version": 1}}}}
    built = Builder().line(kept).user("Go").line(kept)
    assert [(row.path, row.action, row.line) for row in rows.file_rows(built.session(), AT)] == [
        ("/b", "backup", 1)
    ]


def test_lines_added_in_the_recordings_are_those_of_the_patches() -> None:
    found: Counter[str] = Counter()
    for path in RECORDED:
        told: list[Any] = [data.get("toolUseResult") for data in lines(path)]
        hunks: list[Json] = []
        for one in told:
            if isinstance(one, dict):
                hunks += cast("Json", one).get("structuredPatch", [])
        marks = "".join(line[0] for hunk in hunks for line in hunk["lines"])
        made = [row for row in rows.file_rows(read(path), home(path)) if row.action in ("edit", "overwrite")]
        assert sum(row.added or 0 for row in made) == marks.count("+"), path
        assert sum(row.removed or 0 for row in made) == marks.count("-"), path
        found.update(row.action or "" for row in made)
    assert found["edit"] > 20
