"""`clew ls` and `clew usage` as a person gets them from the index: options, notes, what is loaded for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.listing import list_sessions
from clew.faces.cli.commands import ls
from clew.faces.cli.commands.ls import show
from clew.faces.cli.main import run
from clew.faces.cli.session_table import COLUMNS, chosen_columns
from clew.store.files import Store
from tests.actions.stores import index, made
from tests.builder import Builder
from tests.faces.stage import NOW, stage, widest, write

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion

HINT = "counts come with the index: clew index rebuild"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = made("demo", tmp_path)
    index(found)
    return found


def answered(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    assert run([*map(str, arguments), "--json"]) in {0, 3}
    return json.loads(capsys.readouterr().out)


# --- from the index -----------------------------------------------------------------------------------------


def test_the_list_is_the_same_with_and_without_the_index(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quick = answered(capsys, "ls", "--root", root)
    slow = answered(capsys, "ls", "--root", root, "--full", "--no-index")
    assert quick == slow
    assert all(row["turns"] is not None for row in quick)


def test_the_exit_code_tells_of_damage_from_the_index_too(root: Path) -> None:
    assert run(["ls", "--root", str(root), "--json"]) == 3
    assert run(["ls", "--root", str(root), "--json", "--project", "maze"]) == 0


def test_usage_is_the_same_with_and_without_the_index(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for by in ("day", "session", "tool"):
        quick = answered(capsys, "usage", "--root", root, "--by", by)
        slow = answered(capsys, "usage", "--root", root, "--by", by, "--no-index")
        assert quick | {"damaged": 0} == slow | {"damaged": 0}


def test_jsonl_of_usage_is_a_row_a_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = answered(capsys, "usage", "--root", root)["rows"]
    run(["usage", "--root", str(root), "--jsonl"])
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == rows


def test_json_of_nothing_is_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answered(capsys, "ls", "--root", tmp_path) == []
    assert answered(capsys, "usage", "--root", tmp_path)["rows"] == []


# --- without one --------------------------------------------------------------------------------------------


def test_a_list_without_counts_says_where_they_come_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(made("demo", tmp_path))
    monkeypatch.setattr(ls, "SMALL", 0)
    assert run(["ls", "--root", root]) == 0
    assert capsys.readouterr().err == f"{HINT}\n"
    for more in (["-q"], ["--json"], ["--no-index"]):
        assert run(["ls", "--root", root, *more]) == 0
        assert capsys.readouterr().err == ""


def test_a_small_store_is_counted_without_an_index_and_nothing_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ls", "--root", str(made("demo", tmp_path))]) == 3
    told = capsys.readouterr()
    assert "TURNS" in told.out
    assert HINT not in told.err


def test_a_cache_that_cannot_be_used_costs_a_note_and_not_the_answer(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from clew.catalog.place import catalog_folder, shard_paths

    wanted = answered(capsys, "usage", "--root", root, "--no-index")
    shard = shard_paths(catalog_folder(Store.at([str(root)]).roots.found))[2]
    for ending in ("-wal", "-shm", ""):
        other = shard.with_name(shard.name + ending)
        if other.exists():
            other.unlink()
    shard.mkdir()
    run(["usage", "--root", str(root), "--json"])
    told = capsys.readouterr()
    assert json.loads(told.out) == wanted
    assert told.err.startswith("note: ")


def test_a_filter_that_needs_counts_is_an_error_with_something_to_try(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(made("demo", tmp_path))
    for arguments in (["--errors"], ["--model", "opus"], ["--tool", "Bash"], ["--sort", "cost"]):
        assert run(["ls", "--root", root, "--json", *arguments]) == 1
        error = json.loads(capsys.readouterr().err)["error"]
        assert "clew index rebuild" in error["hint"]


# --- options ------------------------------------------------------------------------------------------------


def test_filters_and_order_from_the_command_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    every = answered(capsys, "ls", "--root", root)
    failed = answered(capsys, "ls", "--root", root, "--errors", "--sort", "cost")
    assert [row["id"] for row in failed] == [
        row["id"]
        for row in sorted(every, key=lambda row: -(row["cost_usd"] or 0))
        if row["failed_calls"] and row["cost_usd"] is not None
    ]
    assert 0 < len(failed) < len(every)
    named = answered(capsys, "ls", "--root", root, "--tool", "bash", "--reverse")
    assert 0 < len(named) < len(every)
    assert [row["changed"] for row in named] == sorted(row["changed"] for row in named)
    until = answered(capsys, "ls", "--root", root, "--until", "2026-03-01")
    assert all((row["started"] or row["changed"]) < "2026-03-02" for row in until)
    assert answered(capsys, "ls", "--root", root, "--since", "2026-03-02", "--until", "2026-03-01") == []


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_columns_asked_for_are_shown_as_far_as_they_fit(
    root: Path, width: int, snapshot: SnapshotAssertion
) -> None:
    found = list_sessions(Store.at([str(root)]), now=NOW.timestamp(), full=True, jobs=1)
    on = stage(width)
    names = chosen_columns("id, title,cost,tokens,turns,started,version,size")
    show(on.screen, found, found.conversations[:4], now=NOW, columns=names)
    shown = "\n".join(on.out.splitlines()[:5])
    assert widest(shown.splitlines()) <= width
    assert shown == snapshot


def test_every_column_has_something_to_say(root: Path) -> None:
    found = list_sessions(Store.at([str(root)]), now=NOW.timestamp(), full=True, jobs=1)
    for name in COLUMNS:
        on = stage(None)
        show(on.screen, found, found.conversations, now=NOW, columns=[name])
        assert any(line.strip(" ●!") for line in on.out.splitlines()[1:]), name


def test_a_column_that_is_none_is_an_error_that_lists_them(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for wrong, told in (("id,nothing", "'nothing'"), (" , ", "no column")):
        assert run(["ls", "--root", str(root), "--columns", wrong]) == 1
        error = capsys.readouterr().err
        assert told in error
        assert "id" in error


def test_hostile_text_is_safe_in_json_and_in_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hostile = "\x1b[31mred\u202e \ud800 日本"
    write(tmp_path, "-p", {"s": Builder("s").prompt(hostile, gitBranch="\x1b[1m").answer("Yes.").data()})
    index(tmp_path)
    for arguments in ([], ["--json"], ["--columns", "title,branch"]):
        run(["ls", "--root", str(tmp_path), *arguments])
        shown = capsys.readouterr().out
        assert "日本" in shown
        assert not {"\x1b", "\u202e", "\ud800"} & set(shown)


# --- what is loaded -----------------------------------------------------------------------------------------


def loaded(root: Path, *arguments: str) -> set[str]:
    """Run a command in a process of its own and return the modules it loaded."""
    program = (
        "import sys\nfrom clew.faces.cli.main import run\n"
        f"run({[*arguments, '--root', str(root)]!r})\n"
        "print(*sys.modules, sep='\\n', file=sys.stderr)"
    )
    # Not measured: what measures it imports things of its own.
    env = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=env
    )
    assert json.loads(done.stdout)
    return set(done.stderr.split())


HEAVY = {"msgspec", "orjson", "rich", "multiprocessing", "asyncio", "clew.catalog.catalog"}
"""What reads session files, and what it stands on."""


def heavy(names: set[str]) -> set[str]:
    light = {
        "clew.format",
        "clew.format.times",
        "clew.session",
        "clew.session.prices",
        "clew.session.pricing",
    }
    light |= {f"clew.session.{name}" for name in ("accounts", "ledger", "periods")}
    return {
        name for name in names - light if name in HEAVY or name.startswith(("clew.format", "clew.session"))
    }


@pytest.mark.parametrize(
    "command", [["ls", "--json"], ["usage", "--json"], ["usage", "--by", "project", "--json"]]
)
def test_an_answer_from_the_index_loads_nothing_that_reads_session_files(
    root: Path, command: list[str]
) -> None:
    assert heavy(loaded(root, *command)) == set()


def test_something_new_would_be_noticed_here(root: Path) -> None:
    """The check can fail: what is new has to be read."""
    write(root, "-p", {"new": Builder("new").prompt("Hi").data()})
    assert "msgspec" in heavy(loaded(root, "ls", "--json"))
    assert heavy(loaded(root, "ls", "--json")) == set()
