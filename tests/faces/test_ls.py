"""`clew ls`, and `clew` alone."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from clew.actions.listing import SessionList, list_sessions, narrow
from clew.actions.stores import open_store
from clew.faces.cli.commands.ls import ON_A_TERMINAL, show
from clew.faces.cli.main import run
from tests.builder import Builder
from tests.faces.stage import NOW, demo, stage, widest, write

if TYPE_CHECKING:
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion


def listed(root: Path, *, full: bool = True) -> SessionList:
    found = list_sessions(open_store([root]), now=NOW.timestamp(), full=full, jobs=1)
    # The date of the prices changes with each new table.
    return found._replace(price_date="2026-02-01")


def screen(
    root: Path, width: int | None, *, full: bool = True, newest: bool = False, ascii_only: bool = False
) -> str:
    found = listed(root, full=full)
    on = stage(width, ascii_only=ascii_only)
    show(on.screen, found, found.conversations, now=NOW, limit=None, newest=newest)
    return on.out


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 160])
def test_the_list_looks_right_at_every_width(tmp_path: Path, width: int, snapshot: SnapshotAssertion) -> None:
    shown = screen(demo(tmp_path), width)
    assert widest(shown.splitlines()) <= width or width < 60
    assert shown == snapshot


def test_a_quick_list_has_sizes_and_says_how_to_get_the_counts(
    tmp_path: Path, snapshot: SnapshotAssertion
) -> None:
    assert screen(demo(tmp_path), 100, full=False) == snapshot


def test_the_newest_come_with_hints(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    assert screen(demo(tmp_path), 100, newest=True) == snapshot


def test_the_list_can_be_drawn_in_ascii(tmp_path: Path, snapshot: SnapshotAssertion) -> None:
    write(tmp_path / "demo", "-p", {"live": Builder("live").prompt("Now").data()}, seconds_ago=5)
    (tmp_path / "demo" / "clew-demo.json").write_text('{"clew_demo": 1}')
    shown = screen(demo(tmp_path), 80, ascii_only=True)
    assert shown == snapshot
    assert "*  now" in shown


def test_piped_text_has_all_columns_and_neither_cuts_nor_footer(tmp_path: Path) -> None:
    long = "A title that goes on and on " * 9
    write(tmp_path, "-p", {"s": Builder("s").prompt(long.strip()).answer("Yes.").data()})
    lines = screen(tmp_path, None).splitlines()
    assert len(lines) == 2
    assert long.strip() in lines[1]
    assert "BRANCH" in lines[0]


def test_on_a_terminal_thirty_are_shown_and_the_rest_is_counted(tmp_path: Path) -> None:
    files = {f"{number:04}-x": Builder("s").prompt(f"Prompt {number}").data() for number in range(42)}
    write(tmp_path, "-p", files)
    found = listed(tmp_path)
    on = stage(100)
    show(on.screen, found, found.conversations, now=NOW, limit=ON_A_TERMINAL)
    lines = on.out.splitlines()
    assert lines[-2] == "12 more: clew ls --all"
    assert lines[-1] == "42 sessions, 0 sub-agents"
    assert len(lines) == 1 + 30 + 2


def test_a_filter_says_of_how_many(tmp_path: Path) -> None:
    found = listed(demo(tmp_path))
    on = stage(120)
    show(on.screen, found, narrow(found.conversations, project="bakery"), now=NOW)
    assert "3 of 8 sessions" in on.out


def test_text_from_a_session_cannot_act_on_the_terminal(tmp_path: Path) -> None:
    hostile = "\x1b[31mred\x1b]0;title\x07 \u202eevil\nsecond line"
    talk = (
        Builder("s")
        .prompt(hostile, cwd="/tmp/\x1b[2J", gitBranch="\x1b[1m")
        .answer("Yes.", model="claude-\x1b[5m")
    )
    write(tmp_path, "-p", {"s": talk.data()})
    for width in (40, 80, 160, None):
        shown = screen(tmp_path, width)
        assert "\x1b" not in shown
        assert "\u202e" not in shown
    assert "␛[31mred" in screen(tmp_path, 160)


def test_no_sessions_names_the_folders_and_the_demo(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ls", "--root", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert str(tmp_path) in told.err
    assert "clew demo DIR" in told.err


def test_a_filter_that_fits_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ls", "--root", str(demo(tmp_path)), "--project", "nobody"]) == 0
    assert "None of 8 sessions fits." in capsys.readouterr().err


def test_json_lists_every_file_with_its_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ls", "--root", str(demo(tmp_path)), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sorted(row["kind"] for row in rows) == ["conversation"] * 8 + ["empty", "summary"]
    assert {row["turns"] for row in rows} == {None}


def test_a_damaged_session_is_listed_and_the_exit_code_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = str(demo(tmp_path))
    assert run(["ls", "--root", root, "--json", "--full"]) == 3
    rows = json.loads(capsys.readouterr().out)
    assert [row["id"][:4] for row in rows if row["damaged"]] == ["4a01"]
    assert run(["ls", "--root", root, "--full", "--project", "maze"]) == 0


def test_jsonl_is_one_row_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ls", "--root", str(demo(tmp_path)), "--jsonl", "--limit", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["id"][:4] for line in lines] == ["f026", "fc79", "f947"]


def test_a_time_that_is_none_is_an_error_also_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["ls", "--root", str(tmp_path), "--since", "whenever"]
    assert run(arguments) == 1
    assert "'whenever' is no time" in capsys.readouterr().err
    assert run([*arguments, "--json"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert json.loads(told.err)["error"]["code"] == "usage"


def test_things_passed_over_are_named_on_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = write(tmp_path, "-p", {"s": Builder("s").prompt("Hi").data()})
    os.mkfifo(path.with_name("pipe.jsonl"))
    path.with_name("link.jsonl").symlink_to(path)
    assert run(["ls", "--root", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert "pipe.jsonl: a pipe" in told
    assert "link.jsonl" not in told
    assert run(["ls", "--root", str(tmp_path), "-v"]) == 0
    assert "link.jsonl: a link to a file that is listed already" in capsys.readouterr().err


def test_of_many_things_passed_over_three_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path,) = write(tmp_path, "-p", {"s": Builder("s").prompt("Hi").data()})
    for number in range(7):
        path.with_name(f"{number}.jsonl").mkdir()
    assert run(["ls", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr().err.count("skipped:") == 4
    assert run(["ls", "--root", str(tmp_path), "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_clew_alone_lists_the_newest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(demo(tmp_path)))
    assert run([]) == 3
    assert "Stop the vents from flapping at dusk" in capsys.readouterr().out


def test_a_cost_that_is_partly_unknown_carries_a_mark_and_a_note(tmp_path: Path) -> None:
    talk = Builder("s").prompt("Hi").answer("Yes.", output=[900_000]).answer("No.", model="claude-nobody-9")
    unknown = Builder("t").prompt("Hi").answer("No.", model="claude-nobody-9", message_id="m9")
    nothing = Builder("u").prompt("Hi")
    write(tmp_path, "-p", {"s": talk.data(), "t": unknown.data(), "u": nothing.data()})
    shown = screen(tmp_path, 100)
    costs = [line.split()[-2] for line in shown.splitlines()[1:4]]
    assert costs == ["$13.50+", "–", "0"]
    assert "no price known for claude-nobody-9" in shown
