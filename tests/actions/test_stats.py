"""What sessions are made of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from clew.actions.listing import list_sessions
from clew.actions.stats import Stats, stats
from clew.actions.stores import open_store
from clew.errors import ClewError
from clew.session.inventory import total
from tests.builder import Builder, call
from tests.faces.stage import NOW, demo, write

if TYPE_CHECKING:
    from pathlib import Path

CONTRACT = [
    "files", "bytes", "lines", "entry_types", "versions", "models", "stop_reasons", "blocks",
    "human_turns", "tool_calls", "tool_results", "unpaired_calls", "unpaired_results",
    "session_ids", "damaged", "messages",
]  # fmt: skip


def counted(root: Path, name: str | None = None, *, agents: bool = False, jobs: int | None = 1) -> Stats:
    return stats(open_store([root]), name, agents=agents, now=NOW.timestamp(), jobs=jobs)


def test_a_session_has_every_field_of_the_contract(tmp_path: Path) -> None:
    (session,) = counted(demo(tmp_path), "@1").sessions
    assert set(CONTRACT) <= set(session.as_dict())


def test_a_small_session_is_counted_by_hand(tmp_path: Path) -> None:
    talk = Builder("s").prompt("Go").answer("Well.", call("t1"), call("t2"), stop="tool_use", message_id="m1")
    talk.result("t1").result("t9").answer("Done.", message_id="m2").raw(b"junk\n")
    write(tmp_path, "-p", {"s": talk.data()})
    (session,) = counted(tmp_path, "s").sessions
    assert session.as_dict() == {
        "id": "s",
        "path": str(tmp_path / "projects" / "-p" / "s.jsonl"),
        "kind": "conversation",
        "files": 1,
        "bytes": len(talk.data()),
        "lines": 8,
        "entry_types": {"user": 3, "assistant": 4},
        "versions": {"2.1.325": 7},
        "models": {"claude-sonnet-4-5-20250929": 4},
        "stop_reasons": {"null": 2, "tool_use": 1, "end_turn": 1},
        "blocks": {"text": 2, "tool_use": 2, "tool_result": 2},
        "human_turns": 1,
        "tool_calls": 2,
        "tool_results": 2,
        "unpaired_calls": 1,
        "unpaired_results": 1,
        "session_ids": {"s": 7},
        "damaged": 1,
        "messages": {"count": 2, "stop_reasons": {"tool_use": 1, "end_turn": 1}},
    }


def test_the_total_is_the_sum_of_the_sessions(tmp_path: Path) -> None:
    found = counted(demo(tmp_path))
    assert found.total == total(session.counts for session in found.sessions)
    assert found.total.lines == sum(session.counts.lines for session in found.sessions) > 100


def test_sub_agents_are_counted_only_where_they_are_asked_for(tmp_path: Path) -> None:
    root = demo(tmp_path)
    without, with_agents = counted(root), counted(root, agents=True)
    assert (without.files, with_agents.files) == (10, 12)
    assert without.total.lines < with_agents.total.lines
    (named,) = counted(root, "f947", agents=True).sessions
    assert named.files == 2


def test_sessions_are_counted_as_the_list_counts_them(tmp_path: Path) -> None:
    root = demo(tmp_path)
    listed = list_sessions(open_store([root]), now=NOW.timestamp(), full=True)
    found = counted(root)
    assert found.conversations == len(listed.conversations)
    by_id = {row.id: row for row in listed.rows}
    for session in found.sessions:
        row = by_id[session.id]
        counts = session.counts
        assert (row.lines, row.tool_calls, row.messages, row.damaged, row.kind) == (
            counts.lines,
            counts.tool_calls,
            counts.messages,
            counts.damaged,
            session.kind,
        )


def test_the_unfinished_end_of_a_live_session_is_not_damage(tmp_path: Path) -> None:
    torn = Builder("s").prompt("Hi").raw(b'{"type":"assis').data()
    write(tmp_path, "-live", {"live": torn}, seconds_ago=5)
    write(tmp_path, "-dead", {"dead": torn})
    assert {session.id: session.counts.damaged for session in counted(tmp_path).sessions} == {
        "live": 0,
        "dead": 1,
    }


def test_more_processes_count_the_same(tmp_path: Path) -> None:
    root = demo(tmp_path)
    assert counted(root, jobs=2) == counted(root, jobs=1)


def test_a_file_that_cannot_be_read_costs_only_itself(tmp_path: Path) -> None:
    good, bad = write(tmp_path, "-p", {"good": Builder("s").prompt("Hi").data(), "bad": b"{}\n"})
    bad.unlink()
    os.mkfifo(bad)
    found = counted(tmp_path)
    assert [session.path for session in found.sessions] == [str(good)]
    assert [note.reason for note in found.skipped] == ["a pipe"]
    with pytest.raises(ClewError, match="a pipe"):
        counted(tmp_path, str(bad))
