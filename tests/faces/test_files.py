"""`clew files`, `restore`, `patch`, `blame` and `replay`, as a person runs them."""

from __future__ import annotations

import json
import subprocess
import sys
from random import Random
from typing import TYPE_CHECKING

import pytest

from clew.faces.cli.cells import width as cells
from tests.actions.file_lab import store_of
from tests.conftest import ROOT
from tests.faces.hostile_sessions import hostile
from tests.faces.payloads import PAYLOADS, assert_harmless
from tests.faces.show_lab import one
from tests.faces.stage import demo, write
from tests.fuzz.mutate import damaged_file
from tests.session.file_stories import Story, path

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console

CORPUS = ROOT / "tests" / "data" / "corpus"


def story() -> Story:
    made = Story().prompt("Make it").write("src/new.py", "one\ntwo")
    made.files["old.txt"] = b"a\nb\n"
    made.prompt("Change it").edit("old.txt", "b", "B").bash("old.txt", lambda data: data + b"c\n")
    return made.prompt("Change it again").edit("old.txt", "a", "A")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return store_of(tmp_path / "store", s1234567=story())


def test_files_are_a_table_with_the_gaps_below(clew: Console, store: Path) -> None:
    assert clew("files", "s1234567", "--root", store, width=80).out == (
        "FILE        HOW     VERSIONS  TURNS  ADDED  REMOVED  GAPS\n"
        "src/new.py  new            1      1     +2       −0\n"
        "old.txt     edited         2    2–3     +2       −2     1\n"
        "\n"
        "gap old.txt, between turns 2 and 3: changed outside the session's file tools: by Bash, a formatter "
        "or a person\n"
    )


def test_the_documents_have_their_shapes(clew: Console, store: Path, tmp_path: Path) -> None:
    root = ("--root", store, "--json")
    files = json.loads(clew("files", "s1234567", *root).out)
    assert [set(one) for one in files] == [{"path", "versions", "gaps"}] * 2
    wanted = {"turn", "call", "tool", "action", "added", "removed", "time"}
    assert all(set(version) >= wanted for one in files for version in one["versions"])
    assert [set(gap) for gap in files[1]["gaps"]] == [{"first_turn", "last_turn", "why", "seen_by"}]
    restored = json.loads(clew("restore", "s1234567", "old.txt", "--turn", 2, *root).out)
    assert (restored["text"], restored["turn"], restored["path"]) == ("a\nB\n", 2, path("old.txt"))
    patch = json.loads(clew("patch", "s1234567", *root).out)
    assert [(one["action"], one["added"], one["removed"]) for one in patch["files"]] == [
        ("create", 2, 0),
        ("edit", 3, 2),
    ]
    replayed = json.loads(clew("replay", "s1234567", "--into", tmp_path / "repo", *root).out)
    assert (replayed["commits"], replayed["files"], replayed["left_out"]) == (3, 2, [])
    moved = tmp_path / "src" / "new.py"
    moved.parent.mkdir()
    moved.write_bytes(b"one\nmine\n")
    blame = json.loads(clew("blame", moved, *root).out)
    assert set(blame) == {"file", "lines"}
    assert set(blame["lines"][0]) >= {"n", "text", "session", "turn", "prompt", "uuid", "time"}
    assert blame["lines"][1] is None


def test_a_restored_file_is_its_bytes_and_nothing_else(store: Path) -> None:
    """By a process: what a pipe gets is the file, to the byte."""
    command = [sys.executable, "-P", "-m", "clew", "restore", "s1234567", "src/new.py", "--root", str(store)]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"one\ntwo", b"")


def test_a_file_that_is_there_is_not_written_over(clew: Console, store: Path, tmp_path: Path) -> None:
    target = tmp_path / "mine"
    target.write_bytes(b"mine")
    common = ("restore", "s1234567", "old.txt", "-o", target, "--root", store)
    ran = clew(*common)
    assert (ran.code, target.read_bytes()) == (4, b"mine")
    assert "--force" in ran.err
    assert clew(*common, "--force").code == 0
    assert target.read_bytes() == b"A\nB\nc\n"


def test_errors_say_what_to_do(clew: Console, store: Path, tmp_path: Path) -> None:
    for words, told in (
        (("restore", "s1234567", "none.py"), "clew files lists"),
        (("restore", "s1234567", "old.txt", "--turn", "7"), "the turns here are 1 to 3"),
        (("patch", "s1234567", "--turn", "7"), "the turns here are 1 to 3"),
        (("blame", tmp_path / "none"), "there is no file"),
    ):
        ran = clew(*words, "--root", store)
        assert ran.code == 1
        assert told in ran.err
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    assert clew("replay", "s1234567", "--into", tmp_path / "full", "--root", store).code == 4


def test_blame_shows_each_line_with_its_prompt(clew: Console, store: Path, tmp_path: Path) -> None:
    moved = tmp_path / "src" / "new.py"
    moved.parent.mkdir()
    moved.write_bytes(b"one\nmine\n")
    out = clew("blame", moved, "--root", store, width=60).out
    assert out == (
        "s1234567 turn 1 1 │ one\n                2 │ mine\n\ns1234567 turn 1, 2026-03-04: Make it\n"
    )


def test_a_copy_under_another_name_is_blamed_by_the_path_it_had(
    clew: Console, store: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "elsewhere.py"
    copy.write_bytes(b"one\nmine\n")
    ran = clew("blame", copy, "--root", store, width=60)
    assert "No session in the store changed this file; --as PATH" in ran.err
    for known_as in (path("src/new.py"), "src/new.py", "./src//new.py"):
        ran = clew("blame", copy, "--as", known_as, "--root", store, width=60)
        assert ran.lines[:2] == ["s1234567 turn 1 1 │ one", "                2 │ mine"], known_as
    blame = json.loads(clew("blame", copy, "--as", "src/new.py", "--root", store, "--json").out)
    assert (blame["file"], blame["lines"][0]["session"]) == (str(copy), "s1234567")


def test_only_the_path_that_was_given_counts(clew: Console, store: Path, tmp_path: Path) -> None:
    moved = tmp_path / "src" / "new.py"
    moved.parent.mkdir()
    moved.write_bytes(b"one\n")
    for known_as in ("/srv/src/new.py", "new.py", "old\x1b[31m.txt"):
        ran = clew("blame", moved, "--as", known_as, "--root", store, width=60)
        assert ran.code == 0
        assert ran.lines[0].strip() == "1 │ one"
        assert "No session in the store changed" in ran.err
        assert "\x1b[31m" not in ran.err
    for known_as in ("src/", "..", ""):
        ran = clew("blame", moved, "--as", known_as, "--root", store)
        assert ran.code == 1
        assert "names no file" in ran.err


@pytest.mark.parametrize("width", [40, 80, 160])
def test_no_line_of_a_table_is_wider_than_the_terminal(clew: Console, tmp_path: Path, width: int) -> None:
    root = demo(tmp_path)
    for session in sorted(root.glob("projects/*/*.jsonl")):
        ran = clew("files", session, "--root", root, width=width)
        table = [line for line in ran.lines if not line.startswith("gap ")]
        assert max(map(cells, table), default=0) <= width


def test_every_recorded_session_can_be_asked(clew: Console) -> None:
    asked = 0
    for session in sorted(CORPUS.glob("*/*/projects/*/*.jsonl")):
        if session.name.startswith("agent-"):
            continue
        root = session.parents[2]
        files = clew("files", session, "--root", root, "--json")
        assert files.code in {0, 3}, files.err
        for file in json.loads(files.out):
            for version in file["versions"]:
                assert version["action"] in {"create", "edit", "overwrite"}
                # Recorded sessions were scrubbed, but what a call told of itself is whole.
                assert version["known"], (session, version)
        assert clew("patch", session, "--root", root).code == files.code
        asked += 1
    assert asked > 100


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_no_damage_stops_any_of_them(clew: Console, tmp_path: Path, start: int) -> None:
    write(tmp_path, "-p", {f"{seed:04}": damaged_file(Random(seed)) for seed in range(start, start + 20)})
    for seed in range(start, start + 20):
        session = tmp_path / "projects" / "-p" / f"{seed:04}.jsonl"
        for words in (("files",), ("files", "--json"), ("patch", "--full-paths")):
            ran = clew(words[0], session, *words[1:], "--root", tmp_path)
            assert ran.code in {0, 3}, ran.err
        ran = clew("restore", session, "a.txt", "--root", tmp_path)
        assert ran.code in {0, 1, 3}
        if seed % 10 == 0:
            assert clew("replay", session, "--into", tmp_path / f"r{seed}", "--root", tmp_path).code in {0, 3}
    blamed = tmp_path / "a.txt"
    blamed.write_bytes(b"alpha\n")
    assert clew("blame", blamed, "--root", tmp_path).code == 0


def test_no_payload_acts_on_a_terminal(clew: Console, tmp_path: Path) -> None:
    for number, payload in enumerate(PAYLOADS):
        made = Story().prompt(payload)
        made.write(f"{payload}/x", payload).prompt().edit(f"{payload}/x", payload, "y")
        data = made.builder.data() + hostile(payload)
        session = one(tmp_path / str(number), data)
        for words in (("files",), ("files", "--json"), ("patch",), ("patch", "--json"), ("restore", "x")):
            ran = clew(words[0], session, *words[1:], width=80)
            assert ran.code in {0, 1, 3}
            assert_harmless(ran.out)
            assert_harmless(ran.err)
