"""The commands that edit, used as a person uses them: on the demo's sessions, with the files looked at."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.faces.stage import demo

if TYPE_CHECKING:
    from tests.faces.console import Console

EDITS = [
    ("clone",),
    ("strip",),
    ("strip", "--thinking"),
    ("trim", "--tools", "all"),
    ("trim", "--results-only", "--larger-than", "20"),
    ("trim", "--keep-turns", "1"),
    ("compress", "--keep-turns", "1"),
    ("repair",),
    ("redact",),
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The demo, of which nothing was written lately."""
    folder = demo(tmp_path)
    for path in folder.rglob("*.jsonl"):
        os.utime(path, (1_700_000_000 + path.stat().st_size, 1_700_000_000 + path.stat().st_size))
    return folder


def tree(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def conversations(clew: Console, root: Path) -> list[dict[str, Any]]:
    listed = json.loads(clew("ls", "--json", "--root", root).out)
    return [one for one in listed if one["kind"] == "conversation"]


def session_of(path: str) -> list[bytes]:
    return Path(path).read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("edit", EDITS, ids=" ".join)
def test_an_edit_makes_a_new_session_and_undo_takes_it_back(
    clew: Console, root: Path, edit: tuple[str, ...]
) -> None:
    before = tree(root)
    for one in conversations(clew, root):
        ran = clew(edit[0], one["id"], *edit[1:], "--json", "--root", root)
        assert ran.code == 0, ran.err
        told = json.loads(ran.out)
        now = tree(root)
        assert {name: now[name] for name in before} == before, "the source was touched"
        if told["result"] is None:
            assert now == before
            assert told["notes"][-1] == "There is nothing to change."
            continue
        new = {name for name in now if name not in before}
        assert f"{told['result']['id']}.jsonl" in {Path(name).name for name in new}
        checked = json.loads(clew("check", told["result"]["path"], "--json", "--root", root).out)
        assert checked[0]["resumable"]
        assert told["resume"] == f"claude --resume {told['result']['id']}"
        undone = clew("undo", "--json")
        assert undone.code == 0, undone.err
        assert tree(root) == before


@pytest.mark.parametrize("edit", EDITS[1:], ids=" ".join)
def test_an_edit_in_place_changes_the_session_and_undo_puts_it_back(
    clew: Console, root: Path, edit: tuple[str, ...]
) -> None:
    before = tree(root)
    one = conversations(clew, root)[0]
    ran = clew(edit[0], one["id"], *edit[1:], "--in-place", "--json", "--root", root)
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    changed = {name for name, digest in tree(root).items() if before.get(name) != digest}
    if told["result"] is None:
        assert not changed
        return
    assert told["result"]["path"] == one["path"]
    assert {Path(name).name for name in changed} == {f"{one['id']}.jsonl"}
    assert clew("undo").code == 0
    assert tree(root) == before


@pytest.mark.parametrize("edit", EDITS, ids=" ".join)
def test_a_dry_run_writes_nothing_and_says_what_would_change(
    clew: Console, root: Path, tmp_path: Path, edit: tuple[str, ...]
) -> None:
    one = conversations(clew, root)[0]
    before = tree(tmp_path)
    ran = clew(edit[0], one["id"], *edit[1:], "--dry-run", "--root", root, width=100)
    assert ran.code == 0
    assert ran.out.startswith("Nothing was written.")
    assert "tokens" in ran.out
    assert all(len(line) <= 100 for line in ran.lines)
    told = json.loads(clew(edit[0], one["id"], *edit[1:], "--dry-run", "--json", "--root", root).out)
    assert told["result"] is None
    after = {name: digest for name, digest in tree(tmp_path).items() if "cache" not in name}
    assert after == {name: digest for name, digest in before.items() if "cache" not in name}


def test_the_figures_of_a_trim_are_those_of_what_is_sent(clew: Console, root: Path) -> None:
    one = conversations(clew, root)[0]
    told = json.loads(clew("trim", one["id"], "--tools", "all", "--json", "--root", root).out)

    def tokens(session: str) -> int:
        return json.loads(clew("context", session, "--json", "--root", root).out)["tokens_estimate"]

    assert tokens(one["path"]) == told["context_tokens_before"]
    assert tokens(told["result"]["path"]) == told["context_tokens_after"] < told["context_tokens_before"]


def test_lines_that_are_not_concerned_are_byte_for_byte_the_same(clew: Console, root: Path) -> None:
    one = conversations(clew, root)[0]
    told = json.loads(clew("strip", one["id"], "--thinking", "--json", "--root", root).out)
    old, new = session_of(one["path"]), session_of(told["result"]["path"])
    touched = {step["line"] for step in told["steps"]}
    kept = [line for number, line in enumerate(old, 1) if number not in touched]
    assert [line for line in new if line in set(kept)] == kept


def test_a_session_that_is_being_written_is_not_changed_in_place(clew: Console, root: Path) -> None:
    one = conversations(clew, root)[0]
    os.utime(one["path"])
    ran = clew("strip", one["id"], "--in-place", "--root", root)
    assert ran.code == 4
    assert "somebody may be writing" in ran.err
    assert "ten minutes" in ran.err
    assert clew("clone", one["id"], "--root", root).code == 0


def test_a_copy_of_a_session_that_is_being_written_ends_in_a_whole_line(clew: Console, root: Path) -> None:
    one = conversations(clew, root)[0]
    with Path(one["path"]).open("ab") as file:
        file.write(b'{"type":"user","uuid":"half')
    told = json.loads(clew("clone", one["path"], "--json", "--root", root).out)
    lines = session_of(told["result"]["path"])
    assert lines[-1].endswith(b"}\n")
    assert not any(b'"half' in line for line in lines)


def test_a_fork_ends_in_the_line_that_was_named(clew: Console, root: Path) -> None:
    one = conversations(clew, root)[0]
    lines = [json.loads(line) for line in session_of(one["path"])]
    prompts = [
        line for line in lines if line["type"] == "user" and isinstance(line["message"]["content"], str)
    ]
    told = json.loads(
        clew("clone", one["id"], "--at", prompts[1]["uuid"], "--title", "Fork", "--json", "--root", root).out
    )
    sent = json.loads(clew("context", told["result"]["path"], "--json", "--root", root).out)["messages"]
    whole = json.loads(clew("context", one["path"], "--json", "--root", root).out)["messages"]
    texts = [block.get("text") for message in sent for block in message["content"]]
    assert prompts[1]["message"]["content"] in texts
    assert whole[-1]["content"][-1]["text"] not in texts
    (row,) = [
        row
        for row in json.loads(clew("ls", "--json", "--root", root).out)
        if row["id"] == told["result"]["id"]
    ]
    assert row["title"] == "Fork"


def test_a_clone_can_go_to_another_project(clew: Console, root: Path, tmp_path: Path) -> None:
    one = conversations(clew, root)[0]
    other = tmp_path / "other.project"
    told = json.loads(clew("clone", one["id"], "--to", other, "--json", "--root", root).out)
    path = Path(told["result"]["path"])
    assert path.parent.name.endswith("-other-project")
    assert {json.loads(line).get("cwd") for line in session_of(str(path))} <= {str(other), None}


def test_a_split_session_is_merged_again(clew: Console, root: Path) -> None:
    one = max(conversations(clew, root), key=lambda row: row["turns"] or 0)
    before = tree(root)
    parts = json.loads(clew("split", one["id"], "--turn", 2, "--keep-thinking", "--json", "--root", root).out)
    ids = [part["result"]["path"] for part in parts]
    told = json.loads(clew("merge", *ids, "--json", "--root", root).out)

    def sent(path: str) -> Any:
        return json.loads(clew("context", path, "--json", "--root", root).out)["messages"]

    assert sent(told["result"]["path"]) == sent(one["path"])
    assert clew("undo").code == 0
    assert clew("undo").code == 0
    assert tree(root) == before


def test_a_title_and_a_tag_are_written_as_the_client_writes_them(clew: Console, root: Path) -> None:
    before = tree(root)
    one = conversations(clew, root)[0]
    assert clew("rename", one["id"], "  A new\tname ", "--root", root).code == 0
    assert clew("tag", one["id"], "keep", "--root", root).code == 0
    lines = [json.loads(line) for line in session_of(one["path"])[-3:]]
    assert lines == [
        {"type": "custom-title", "customTitle": "A new name", "sessionId": one["id"]},
        {"type": "agent-name", "agentName": "A new name", "sessionId": one["id"]},
        {"type": "tag", "tag": "keep", "sessionId": one["id"]},
    ]
    titles = {row["id"]: row["title"] for row in conversations(clew, root)}
    assert titles[one["id"]] == "A new name"
    assert clew("undo").code == 0
    assert clew("undo").code == 0
    assert tree(root) == before


def test_a_session_that_is_being_written_is_renamed_by_a_line_at_its_end(clew: Console, root: Path) -> None:
    one = conversations(clew, root)[0]
    os.utime(one["path"])
    inode = Path(one["path"]).stat().st_ino
    old = Path(one["path"]).read_bytes()
    assert clew("rename", one["id"], "Live", "--root", root).code == 0
    new = Path(one["path"]).read_bytes()
    assert new.startswith(old)
    assert b'"customTitle":"Live"' in new[len(old) :]
    assert Path(one["path"]).stat().st_ino == inode


def test_the_sessions_of_a_project_move_with_it(clew: Console, root: Path, tmp_path: Path) -> None:
    one = conversations(clew, root)[0]
    history = root / "history.jsonl"
    line = {"display": "x", "project": one["project"], "sessionId": one["id"]}
    other = {"display": "y", "project": "/elsewhere", "sessionId": "s"}
    history.write_text(json.dumps(line) + "\n" + json.dumps(other) + "\n")
    before = tree(root)
    target = tmp_path / "moved"
    ran = clew("mv", "--project", one["project"], target, "--json", "--root", root)
    assert ran.code == 0, ran.err
    moved = json.loads(ran.out)
    assert one["id"] in moved["sessions"]
    rows = {row["id"]: row["project"] for row in conversations(clew, root)}
    assert rows[one["id"]] == str(target)
    assert [json.loads(each)["project"] for each in history.read_text().splitlines()] == [
        str(target),
        "/elsewhere",
    ]
    assert clew("undo").code == 0
    assert tree(root) == before


def test_the_journal_tells_what_was_done(clew: Console, root: Path) -> None:
    assert "No edit was made yet" in clew("journal").err
    one = conversations(clew, root)[0]
    assert clew("clone", one["id"], "--root", root).code == 0
    assert clew("strip", one["id"], "--thinking", "--in-place", "--root", root).code == 0
    shown = clew("journal", width=100)
    assert [line.split()[1:3] for line in shown.lines[1:]] == [
        ["strip", one["id"][:8]],
        ["clone", one["id"][:8]],
    ]
    listed = json.loads(clew("journal", "--json").out)
    assert [entry["state"] for entry in listed] == ["done", "done"]
    (backup,) = listed[0]["kept"]
    assert Path(backup).exists()
    assert backup in clew("undo", "--forget").out
    assert not Path(backup).exists()
    assert clew("undo", listed[0]["id"]).code != 0


def test_an_undo_does_not_take_away_what_was_gone_on_with(clew: Console, root: Path) -> None:
    one = conversations(clew, root)[0]
    told = json.loads(clew("clone", one["id"], "--json", "--root", root).out)
    with Path(told["result"]["path"]).open("ab") as file:
        file.write(b'{"type":"user"}\n')
    ran = clew("undo")
    assert ran.code == 4
    assert Path(told["result"]["path"]).exists()


def test_the_doctor_names_what_is_wrong_what_mends_it_and_what_goes_next(clew: Console, root: Path) -> None:
    ran = clew("doctor", "--json", "--root", root)
    assert ran.code == 3
    told = json.loads(ran.out)
    assert told["files"] == told["sessions"] + told["agents"] + told["empty"] + told["unreadable"]
    assert told["files"] == len([*root.rglob("*.jsonl")])
    (needed,) = [one for one in told["patients"] if one["needs"]]
    assert needed["needs"].startswith("clew repair ")
    assert told["deleted_next"], "everything in it is old"
    mended = json.loads(clew(*needed["needs"].split()[1:], "--json", "--root", root).out)
    checked = json.loads(clew("check", mended["result"]["path"], "--json", "--root", root).out)[0]
    assert not [one for one in checked["problems"] if one["severity"] != "info"]


def test_sessions_are_archived_deleted_and_put_back(clew: Console, root: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    before = tree(root)
    assert clew("archive", "add", "--all", "--root", root, "--archive", archive).code == 0
    kept = tree(archive)
    assert clew("archive", "add", "--all", "--root", root, "--archive", archive).code == 0
    assert tree(archive) == kept, "nothing is new"
    for path in root.rglob("*.jsonl"):
        path.unlink()
    listed = json.loads(clew("archive", "ls", "--json", "--root", root, "--archive", archive).out)
    assert {one["in_store"] for one in listed["sessions"]} == {"gone"}
    assert clew("archive", "get", "--all", "--root", root, "--archive", archive).code == 0
    assert tree(root) == before
    assert clew("archive", "verify", "--archive", archive).code == 0


def test_a_damaged_archive_is_mended_from_the_sessions_that_are_still_there(
    clew: Console, root: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "archive"
    assert clew("archive", "mend", "--archive", archive).out == "No pack is damaged.\n"
    assert clew("archive", "add", "--all", "--root", root, "--archive", archive).code == 0
    (pack, *_) = sorted(archive.rglob("*.pack"))
    pack.chmod(0o600)
    data = bytearray(pack.read_bytes())
    data[len(data) // 2] ^= 0xFF
    pack.write_bytes(data)
    ran = clew("archive", "verify", "--archive", archive)
    assert ran.code == 3
    assert "clew archive mend" in ran.out
    ran = clew("archive", "mend", "--json", "--archive", archive)
    assert ran.code == 3, "what it held is not there"
    (aside,) = json.loads(ran.out)["set_aside"]
    assert Path(aside).read_bytes() == data
    assert clew("archive", "add", "--all", "--root", root, "--archive", archive).code == 0
    assert clew("archive", "verify", "--archive", archive).code == 0


def test_the_doctor_names_files_that_go_before_their_session_does(clew: Console, root: Path) -> None:
    now = time.time()
    session = next(path for path in root.rglob("*.jsonl") if "subagents" not in path.parts)
    os.utime(session, (now, now))
    old = session.with_suffix("") / "tool-results" / "old.txt"
    old.parent.mkdir(parents=True, exist_ok=True)
    old.write_text("words")
    month = 29 * 86400
    os.utime(old, (now - month, now - month))
    ran = clew("doctor", "--json", "--root", root)
    going = {one["path"]: one for one in json.loads(ran.out)["side_files_deleted_next"]}
    assert going[str(old)]["session"] == session.stem
    assert going[str(old)]["days_left"] == pytest.approx(1, abs=0.1)
    assert str(old) in clew("doctor", "-v", "--root", root).out
