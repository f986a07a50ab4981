"""The list of sessions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.actions.listing import SessionList, SessionRow, list_sessions, narrow
from clew.actions.opening import find_file
from clew.actions.passes import Pass
from clew.actions.stores import open_store
from clew.actions.usage import Request, usage
from clew.session.pricing import Tokens
from tests.builder import Builder
from tests.conftest import ROOT
from tests.faces.stage import NOW, demo, write

if TYPE_CHECKING:
    from collections.abc import Sequence

CORPUS = ROOT / "tests" / "data" / "corpus"
STORES = sorted(path.parent for path in CORPUS.glob("*/*/projects"))
CONTRACT = [
    "id", "path", "project", "folder", "slug", "title", "title_source", "session_ids", "lines",
    "first_prompt", "started", "ended", "turns", "messages", "tool_calls", "tokens", "cost_usd",
    "models", "git_branch", "client_versions", "agents", "kind", "live", "damaged", "prs",
]  # fmt: skip
NEEDS_A_FULL_READ = ["lines", "turns", "messages", "tool_calls", "tokens", "cost_usd", "damaged"]


def listed(root: Path, *, full: bool = True, jobs: int | None = 1) -> SessionList:
    return list_sessions(open_store([root]), now=NOW.timestamp(), full=full, jobs=jobs)


def by_id(rows: Sequence[SessionRow]) -> dict[str, SessionRow]:
    return {row.id: row for row in rows}


def test_a_row_has_every_field_of_the_contract(tmp_path: Path) -> None:
    for row in listed(demo(tmp_path)).rows:
        assert set(CONTRACT) <= set(row.as_dict())


def test_without_a_full_read_the_counts_are_null(tmp_path: Path) -> None:
    for row in listed(demo(tmp_path), full=False).rows:
        assert [row.as_dict()[name] for name in NEEDS_A_FULL_READ] == [None] * len(NEEDS_A_FULL_READ)


def test_with_a_full_read_no_count_is_null(tmp_path: Path) -> None:
    for row in listed(demo(tmp_path)).rows:
        assert None not in [row.as_dict()[name] for name in NEEDS_A_FULL_READ]


@pytest.mark.parametrize("version", sorted({path.parent.name for path in STORES}))
def test_a_glance_tells_the_same_as_a_full_read(version: str) -> None:
    """Files of some kilobytes to some hundred; only ids and versions in the middle may be missed."""
    for root in STORES:
        if root.parent.name != version:
            continue
        quick, full = listed(root, full=False), listed(root)
        assert [row.id for row in quick.rows] == [row.id for row in full.rows]
        for glance, read in zip(quick.rows, full.rows, strict=True):
            for name in (
                "title",
                "first_prompt",
                "started",
                "ended",
                "project",
                "git_branch",
                "kind",
                "slug",
            ):
                assert getattr(glance, name) == getattr(read, name), (read.path, name)


def test_the_rows_stand_in_the_order_of_their_places(tmp_path: Path) -> None:
    root = demo(tmp_path)
    store = open_store([root])
    ids = [row.id for row in listed(root).conversations]
    assert ids == [find_file(store, f"@{place}").id for place in range(1, len(ids) + 1)]


def test_a_file_of_summaries_is_no_conversation_and_an_empty_one_is_empty(tmp_path: Path) -> None:
    root = demo(tmp_path)
    write(root, "-p", {"blank": b"\n\n", "bom": b"\xef\xbb\xbf"})
    found = listed(root)
    kinds = {row.id: row.kind for row in found.rows}
    assert kinds["blank"] == kinds["bom"] == "empty"
    assert sorted(kinds.values()).count("summary") == 1
    assert all(row.kind in {"conversation", "mixed"} for row in found.conversations)
    tally = found.tally
    assert (tally.kinds["empty"], tally.kinds["summary"], tally.damaged) == (3, 1, 1)


def test_the_title_of_a_session_may_stand_in_another_file(tmp_path: Path) -> None:
    for full in (False, True):
        row = next(row for row in listed(demo(tmp_path), full=full).rows if row.id.startswith("7b0e"))
        assert (row.title, row.title_source) == (
            "Maze solver: shortest way out by breadth-first search",
            "summary",
        )


def test_a_custom_title_goes_before_the_clients_own_and_that_before_the_prompt(tmp_path: Path) -> None:
    ai = {"type": "ai-title", "sessionId": "s", "aiTitle": "By the model"}
    custom = {"type": "custom-title", "sessionId": "s", "customTitle": "By the person"}
    talk = Builder("s").prompt("What I asked").answer("Yes.")
    files = {"prompt": talk.data(), "ai": talk.line(ai).data(), "custom": talk.line(custom).data()}
    write(tmp_path, "-p", files)
    sources = {row.id: (row.title, row.title_source) for row in listed(tmp_path, full=False).rows}
    assert sources == {
        "prompt": ("What I asked", "prompt"),
        "ai": ("By the model", "ai"),
        "custom": ("By the person", "custom"),
    }


def test_a_title_at_the_end_of_a_long_file_is_seen_at_a_glance(tmp_path: Path) -> None:
    talk = Builder("s").prompt("What I asked")
    for _ in range(400):
        talk.answer("Word. " * 100)
    talk.line({"type": "custom-title", "sessionId": "s", "customTitle": "Long talk"})
    for _ in range(20):
        talk.answer("Bye.")
    write(tmp_path, "-p", {"s": talk.data()})
    assert [row.title for row in listed(tmp_path, full=False).rows] == ["Long talk"]


def test_a_file_that_begins_with_one_giant_line_is_not_taken_for_empty(tmp_path: Path) -> None:
    talk = Builder("s").prompt("a" * (9 << 20)).answer("Long.").prompt("More").answer("Yes.")
    write(tmp_path, "-p", {"s": talk.data()})
    (quick,), (full,) = listed(tmp_path, full=False).rows, listed(tmp_path).rows
    assert quick.kind == full.kind == "conversation"
    assert full.turns == 2
    assert full.damaged == 0


def test_what_a_session_cost_is_what_usage_says_of_it(tmp_path: Path) -> None:
    root = demo(tmp_path)
    rows = by_id(listed(root).rows)
    answer = usage(Request(by="session", roots=[str(root)]))
    groups = {group.key: group.sum for group in answer.account.groups}
    assert groups.keys() <= rows.keys()
    assert any(rows[key].agents for key in groups)
    for key, row in rows.items():
        total = groups.get(key)
        assert row.tokens == (total.tokens if total else Tokens())
        assert row.cost_usd == (total.cost_usd if total else 0)


def test_a_message_of_a_fork_is_the_older_sessions(tmp_path: Path) -> None:
    old = Builder("old").prompt("One").answer("Yes.", output=[10]).data()
    fork = (
        Builder("fork")
        .wait(60)
        .prompt("One")
        .answer("Yes.", output=[10])
        .prompt("Two")
        .answer("No.", output=[5])
    )
    write(tmp_path, "-p", {"fork": fork.data(), "old": old})
    rows = by_id(listed(tmp_path).rows)
    assert {name: row.tokens.output if row.tokens else None for name, row in rows.items()} == {
        "old": 10,
        "fork": 5,
    }
    assert rows["fork"].messages == 2


def test_a_model_without_a_price_is_named_and_costs_nothing_known(tmp_path: Path) -> None:
    write(tmp_path, "-p", {"s": Builder("s").prompt("Hi").answer("Yes.", model="claude-nobody-9").data()})
    (row,) = listed(tmp_path).rows
    assert (row.cost_usd, row.unpriced_models, row.unpriced_messages) == (None, ("claude-nobody-9",), 1)


def test_more_processes_make_the_same_list(tmp_path: Path) -> None:
    root = demo(tmp_path)
    assert listed(root, jobs=3) == listed(root, jobs=1)


def test_the_unfinished_end_of_a_live_session_is_not_damage(tmp_path: Path) -> None:
    torn = Builder("s").prompt("Hi").answer("Yes.").raw(b'{"type":"assis').data()
    write(tmp_path, "-live", {"live": torn}, seconds_ago=5)
    write(tmp_path, "-dead", {"dead": torn})
    rows = by_id(listed(tmp_path).rows)
    assert (rows["live"].live, rows["live"].damaged) == (True, 0)
    assert (rows["dead"].live, rows["dead"].damaged) == (False, 1)


def test_things_that_are_no_files_are_passed_over_and_named(tmp_path: Path) -> None:
    (path,) = write(tmp_path, "-p", {"s": Builder("s").prompt("Hi").data()})
    os.mkfifo(path.with_name("pipe.jsonl"))
    path.with_name("folder.jsonl").mkdir()
    found = listed(tmp_path)
    assert [row.id for row in found.rows] == ["s"]
    assert {Path(note.path).name: note.reason for note in found.skipped} == {
        "pipe.jsonl": "a pipe",
        "folder.jsonl": "a folder",
    }


def test_a_file_that_gets_shorter_while_it_is_read_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    talk = Builder("s")
    for _ in range(3000):
        talk.prompt("word " * 200)
    (path,) = write(tmp_path, "-p", {"s": talk.data()})
    one = Pass(str(path))
    items = one.items()
    next(items)
    os.truncate(path, 1_500_000)
    count = 1 + sum(1 for _ in items)
    assert one.was_cut
    assert 1000 < count < 3000
    assert one.extent.bytes == 1_500_000


def test_lines_are_counted_as_wc_does_with_one_more_for_an_unfinished_last(tmp_path: Path) -> None:
    talk = Builder("s").prompt("Hi").raw(b"\n\r\n").answer("Yes.").data()
    for tail, lines in ((b"", 4), (b"\n\n", 6), (b'{"type"', 5), (b"  ", 5)):
        write(tmp_path, "-p", {"s": talk + tail})
        (row,) = listed(tmp_path).rows
        assert row.lines == lines, tail


@pytest.mark.parametrize(
    ("project", "found"),
    [
        ("lighthouse", {"a"}),
        ("LIGHT", {"a"}),
        ("/home/ada", {"a", "b"}),
        ("/home/ada/lighthouse", {"a"}),
        ("/home/ada/light", set[str]()),
        ("-folder-b", {"b"}),
    ],
)
def test_a_project_is_meant_by_its_path_or_a_part_of_it(
    tmp_path: Path, project: str, found: set[str]
) -> None:
    write(tmp_path, "-folder-a", {"a": Builder("a").prompt("Hi").data()})
    write(tmp_path, "-folder-b", {"b": Builder("b").prompt("Hi", cwd="/home/ada/mill").data()})
    rows = listed(tmp_path, full=False).rows
    assert {row.id for row in narrow(rows, project=project)} == found


def test_a_moment_leaves_the_sessions_written_since(tmp_path: Path) -> None:
    rows = listed(demo(tmp_path), full=False).rows
    since = NOW.timestamp() - 2.5 * 86_400
    assert narrow(rows, since=since) == [row for row in rows if row.changed >= since]
    assert 0 < len(narrow(rows, since=since)) < len(rows)


def test_a_full_read_under_a_limit_depends_on_the_bytes_there_are(tmp_path: Path) -> None:
    store = open_store([demo(tmp_path)])
    assert list_sessions(store, now=NOW.timestamp(), full=10**9).is_full
    assert not list_sessions(store, now=NOW.timestamp(), full=1000).is_full


def test_whoever_asks_is_told_how_many_files_are_read_and_each_that_is_done(tmp_path: Path) -> None:
    told: list[int] = []

    def start(files: int) -> object:
        told.append(files)
        return lambda: told.append(1)

    store = open_store([demo(tmp_path)])
    found = list_sessions(store, now=NOW.timestamp(), full=True, start=start)  # pyright: ignore[reportArgumentType]  # a list's append returns None, which is what is asked for
    assert told[0] == len(found.rows) + found.agents == len(told) - 1


def test_a_session_in_a_folder_of_another_project_is_grouped_by_where_it_ran(tmp_path: Path) -> None:
    write(tmp_path, "-some-slug", {"a": Builder("a").prompt("Hi", cwd="/srv/mill").data(), "b": b"{}\n"})
    rows = by_id(listed(tmp_path, full=False).rows)
    assert (rows["a"].project, rows["a"].folder) == ("/srv/mill", "-some-slug")
    assert rows["b"].project == "-some-slug"
    assert rows["a"]._replace(id="b") != rows["b"]
