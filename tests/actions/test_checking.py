"""Checking files: what is asked for, what resumable means, and files that cannot be read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from clew.actions.checking import check_document, check_file, check_files, files_to_check
from clew.actions.contexts import read_context
from clew.actions.opening import file_at
from clew.actions.reading import open_reading
from tests.builder import Builder
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path

ID = "0a0a0a0a-0000-4000-8000-000000000001"


def test_resumable_agrees_with_what_the_client_would_send(tmp_path: Path) -> None:
    root = demo(tmp_path)
    for path in sorted(root.glob("projects/*/*.jsonl")):
        sent = read_context(open_reading([root], str(path))).context
        resumable = sent.refused is None and bool(sent.messages)
        assert check_file(file_at(path)).resumable == resumable, path


def test_several_processes_find_what_one_finds(tmp_path: Path) -> None:
    asked = files_to_check([demo(tmp_path)], [], everything=True, with_agents=True)
    alone, together = check_files(asked.files, jobs=1), check_files(asked.files, jobs=2)
    assert [check_document(one) for one in alone] == [check_document(one) for one in together]


def test_a_file_that_is_gone_is_told_and_the_others_are_checked(tmp_path: Path) -> None:
    data = Builder(ID).user("Hi").answer("Hello.").data()
    paths = write(tmp_path, "-p", {ID: data, ID[:-1] + "2": data})
    asked = files_to_check([tmp_path], [], everything=True)
    paths[0].unlink()
    gone, there = check_files(asked.files)
    assert gone.unreadable is not None
    assert not gone.is_sound
    assert there.is_sound
    assert check_document(gone)["problems"] == []


def test_a_pipe_in_the_store_is_passed_over(tmp_path: Path) -> None:
    write(tmp_path, "-p", {ID: Builder(ID).user("Hi").answer("Hello.").data()})
    os.mkfifo(tmp_path / "projects" / "-p" / "11111111-0000-4000-8000-000000000001.jsonl")
    asked = files_to_check([tmp_path], [], everything=True)
    assert [file.id for file in asked.files] == [ID]
    assert [note.reason for note in asked.skipped] == ["a pipe"]


def test_a_sub_agents_own_file_has_nothing_to_resume_and_nothing_wrong(tmp_path: Path) -> None:
    builder = Builder(ID).user("Do", isSidechain=True, agentId="a1").answer("Done.", isSidechain=True)
    write(tmp_path, "-p", {f"{ID}/subagents/agent-a1": builder.data()})
    (file,) = files_to_check([tmp_path], [], everything=True, with_agents=True).files
    found = check_file(file)
    assert found.is_sound
    assert found.is_empty
    assert not found.resumable


def test_progress_is_told_after_each_file(tmp_path: Path) -> None:
    asked = files_to_check([demo(tmp_path)], [], everything=True)
    told: list[int] = []
    check_files(asked.files, advance=lambda: told.append(1))
    assert len(told) == len(asked.files) == 10
