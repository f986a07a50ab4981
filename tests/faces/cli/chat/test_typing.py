"""What is around typing: the history on disk, completion, and commands that begin with a slash."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from clew.faces.cli.chat import slash
from clew.faces.cli.chat.completing import complete
from clew.faces.cli.chat.draft import draft_of
from clew.faces.cli.chat.history import keep, read_history

if TYPE_CHECKING:
    from pathlib import Path


def test_what_was_typed_comes_back_in_order(tmp_path: Path) -> None:
    state = tmp_path / "state" / "clew"
    assert read_history(state) == []
    for text in ("one", "two\nlines", "sur\ud800rogate", "   "):
        keep(state, text)
    assert read_history(state) == ["one", "two\nlines", "sur\ud800rogate"]
    assert (state / "chat-history.jsonl").stat().st_mode & 0o777 == 0o600
    assert state.stat().st_mode & 0o777 == 0o700


def test_a_damaged_history_is_read_as_far_as_it_can_be(tmp_path: Path) -> None:
    path = tmp_path / "chat-history.jsonl"
    path.write_bytes(b'"one"\n{"x": 1}\nnull\n"torn\n\xff\n[[[[\n"two"\n"torn')
    assert read_history(tmp_path) == ["one", "two"]


def test_a_very_long_prompt_is_not_kept(tmp_path: Path) -> None:
    keep(tmp_path, "x" * 20_001)
    assert read_history(tmp_path) == []


def test_a_long_history_is_shortened(tmp_path: Path) -> None:
    path = tmp_path / "chat-history.jsonl"
    path.write_text(f"{json.dumps('x' * 9000)}\n" * 1000)
    keep(tmp_path, "newest")
    assert path.stat().st_size < 6_000_000
    assert read_history(tmp_path)[-1] == "newest"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("kind", ["link", "pipe", "folder", "read-only"])
def test_what_is_no_history_is_left_alone(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "chat-history.jsonl", tmp_path / "other"
    other.write_text("")
    match kind:
        case "link":
            path.symlink_to(other)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            path.write_text('"x"\n')
            path.chmod(0o400)
    keep(tmp_path, "secret")
    read_history(tmp_path)
    assert other.read_text() == ""


def test_tab_completes_commands(tmp_path: Path) -> None:
    def tab(text: str) -> tuple[str, tuple[str, ...]]:
        found = complete(draft_of(text), commands=["greet", "greet:all"], folder=str(tmp_path))
        return found.draft.text, found.others

    assert tab("/he") == ("/help ", ())
    assert tab("/mo") == ("/mode", ())
    assert tab("/mode") == ("/mode", ("mode", "model"))
    assert tab("/gr") == ("/greet", ())
    assert tab("/zzz") == ("/zzz", ())
    assert tab("say /he") == ("say /he", ())


def test_tab_completes_paths_behind_an_at(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    for name in ("src/alpha.py", "src/alpine.py", "readme.md", ".hidden"):
        (tmp_path / name).write_text("")
    (tmp_path / "src" / "al\x1bevil").write_text("")

    def tab(text: str) -> tuple[str, tuple[str, ...]]:
        found = complete(draft_of(text), commands=[], folder=str(tmp_path))
        return found.draft.text, found.others

    assert tab("look at @re") == ("look at @readme.md", ())
    assert tab("@s") == ("@src/", ())
    assert tab("@src/al") == ("@src/alp", ())
    assert tab("@src/alp") == ("@src/alp", ("src/alpha.py", "src/alpine.py"))
    assert tab("@.h") == ("@.hidden", ())
    assert tab("@nowhere/x") == ("@nowhere/x", ())
    assert tab("mail@re") == ("mail@re", ())


def test_a_slash_at_the_start_is_a_command_and_a_path_is_none() -> None:
    assert slash.read("/compact keep the names") == slash.Called("compact", "keep the names", is_ours=True)
    assert slash.read(" /quit ") == slash.Called("exit", "", is_ours=True)
    assert slash.read("/greet Ada") == slash.Called("greet", "Ada", is_ours=False)
    assert slash.read("/usr/bin/env is a path") is None
    assert slash.read("what is /help?") is None
    assert slash.read("/") is None


def test_near_names_are_found() -> None:
    assert slash.near("hlep", []) == ["help"]
    assert slash.near("co", []) == ["compact", "cost", "context"]
    assert "greet" in slash.near("gret", ["greet"])
    assert slash.near("qqqqqq", []) == []
