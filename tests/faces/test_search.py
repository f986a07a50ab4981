"""`clew search`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from clew.actions.searching import Request, Result, search
from clew.catalog import options
from clew.faces.cli.commands.search import ON_A_TERMINAL, show
from clew.faces.cli.main import run
from tests.actions.test_searching import PROJECT, story
from tests.builder import Builder
from tests.faces.console import Console, console
from tests.faces.stage import NOW, demo, stage, widest, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from syrupy.assertion import SnapshotAssertion


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from console(monkeypatch)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The story, with a session in Chinese and one that means harm."""
    odd = Builder("s-0003").prompt("検索エンジンの harbour を直す 🧑‍🚀" + "長い題名です" * 9)
    odd.answer("港 harbour 🧶 " * 12 + "終わり")
    evil = Builder("s-0004").prompt("\x1b]0;evil\x07 harbour \u202e\x1b[31m and on")
    write(
        tmp_path,
        PROJECT,
        {"s-0001": story().data(), "s-0003": odd.data(), "s-0004": evil.data()},
    )
    agent = Builder("s-0001").prompt("Look for the harbour", isSidechain=True, agentId="a77")
    write(tmp_path, PROJECT, {"s-0001/subagents/agent-a77": agent.data()})
    return tmp_path


def found(root: Path, words: str = "harbour", **given: object) -> Result:
    request = Request(words, roots=[root], width=200, **given)  # pyright: ignore[reportArgumentType]
    return replace(search(request, now=int(NOW.timestamp() * 1000)), elapsed_ms=41)


def screen(result: Result, width: int | None, *, ascii_only: bool = False) -> str:
    on = stage(width, ascii_only=ascii_only)
    show(on.screen, result, now=NOW)
    return on.out


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_hits_look_right_at_every_width(root: Path, width: int, snapshot: SnapshotAssertion) -> None:
    shown = screen(found(root), width)
    assert widest(shown.splitlines()) <= width
    assert shown == snapshot


@pytest.mark.parametrize("width", [60, 120])
def test_the_demo_looks_right(tmp_path: Path, width: int, snapshot: SnapshotAssertion) -> None:
    shown = screen(found(demo(tmp_path), "the", limit=6), width)
    assert widest(shown.splitlines()) <= width
    assert shown == snapshot


def test_hits_can_be_drawn_in_ascii_and_with_lines_around_them(
    root: Path, snapshot: SnapshotAssertion
) -> None:
    result = found(root, "abandoned OR such", context=1)
    assert screen(result, 80, ascii_only=True) == snapshot


def test_what_is_found_is_marked_by_reverse_video(root: Path, terminal: Console) -> None:
    ran = terminal("search", "abandoned", "--root", root, width=80, color=True)
    assert "\x1b[7mabandoned\x1b[0m" in ran.out
    assert terminal("search", "abandoned", "--root", root, width=80).out.count("\x1b") == 0


def test_nothing_of_a_text_reaches_the_terminal_but_its_letters(root: Path, terminal: Console) -> None:
    ran = terminal("search", "evil", "--root", root, width=80)
    assert "harbour" in ran.out
    assert not {"\x1b", "\x07", "\u202e"} & set(ran.out)


def test_piped_text_has_no_footer_and_cuts_no_title(root: Path, terminal: Console) -> None:
    ran = terminal("search", "終わり", "--root", root)
    title, hit = ran.lines
    assert "長い題名です" * 9 in title
    assert "終わり" in hit


def test_json_is_the_contract(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "abandoned", "--root", str(root), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["query"], document["total"]) == ("abandoned", 1)
    (hit,) = document["hits"]
    path = root / "projects" / PROJECT / "s-0001.jsonl"
    number: int = hit["line"]
    line = path.read_bytes().splitlines()[number - 1]
    assert path.read_bytes()[hit["offset"] :].startswith(line)
    assert json.loads(line)["uuid"] == hit["uuid"]
    first, last = hit["ranges"][0]
    assert hit["snippet"][first:last] == "abandoned"
    assert {
        key: hit[key] for key in ("session", "path", "field", "tool", "turn", "agent_id", "where", "role")
    } == {
        "session": "s-0001",
        "path": str(path),
        "field": "text",
        "tool": None,
        "turn": 2,
        "agent_id": None,
        "where": "branch",
        "role": "assistant",
    }
    assert run(["search", "harbour", "--root", str(root), "--jsonl", "--limit", "2"]) == 0
    assert [json.loads(row)["session"] for row in capsys.readouterr().out.splitlines()]


def test_every_hit_opens(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for hit in found(root).hits:
        if hit.uuid is None:
            continue
        name = hit.agent_id if hit.where == "sub-agent" else hit.session
        assert run(["show", str(name), "--at", hit.uuid, "--root", str(root), "--json"]) == 0
    capsys.readouterr()


def test_nothing_found_is_no_error_and_says_what_was_searched(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["search", "harbuor", "--root", str(root), "--role", "user"]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        f"Nothing holds harbuor in 3 sessions of {root}, --role user.\ndid you mean: harbour\n"
    )
    assert run(["search", "harbuor", "--root", str(root), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["hits"] == []


def test_a_store_without_sessions_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["search", "harbour", "--root", str(tmp_path)]) == 0
    assert capsys.readouterr().err.startswith(f"No sessions in {tmp_path}.")


def test_on_a_terminal_twenty_are_shown_and_the_rest_is_counted(tmp_path: Path, terminal: Console) -> None:
    talk = Builder("s")
    for number in range(30):
        talk.prompt(f"A buoy, number {number}")
    write(tmp_path, "-p", {"s": talk.data()})
    ran = terminal("search", "buoy", "--root", tmp_path, width=100)
    assert sum("number" in line for line in ran.lines) == ON_A_TERMINAL + 1
    assert f"{ON_A_TERMINAL} of 30 hits, in 1 session" in ran.out
    assert (
        sum(
            "number" in line
            for line in terminal("search", "buoy", "--root", tmp_path, "--all", width=100).lines
        )
        == 31
    )
    assert len(terminal("search", "buoy", "--root", tmp_path).lines) == 31


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--in", "prompts", "x"], "prompts"),
        (["--literal", "--regex", "x"], "exclude"),
        (["--since", "someday", "x"], "someday"),
        (["--regex", "("], "not a pattern"),
        (["a OR"], "a word is missing"),
        (["--session", "nobody", "x"], "nobody"),
    ],
)
def test_wrong_use_is_said(
    root: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert run(["search", "--root", str(root), *arguments]) == 1
    assert said in capsys.readouterr().err


def test_what_was_said_is_shown_before_what_tools_said_is_read(
    root: Path, terminal: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(options, "WORTH_TWO_STAGES", 0)
    ran = terminal("search", "harbour", "--root", root, width=100)
    assert "found so far" in ran.err
    said, tools = ran.out.index("The abandoned harbour."), ran.out.index("no such file")
    assert said < tools
    again = terminal("search", "harbour", "--root", root, width=100)
    assert "found so far" not in again.err
    hits = [[line for line in one.lines if line.startswith("  ")] for one in (ran, again)]
    assert sorted(map(str.split, hits[0])) == sorted(map(str.split, hits[1]))
