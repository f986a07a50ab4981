"""What belongs to a session beside its own file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from clew.store.files import SessionFile, Store, at_path
from clew.store.sides import side_files
from tests.store.lines import ONE, TWO, lines, put


def _session(path: Path) -> SessionFile:
    file = at_path(path)
    assert isinstance(file, SessionFile)
    return file


def test_each_kind_of_side_file_is_known_by_its_place(tmp_path: Path) -> None:
    project = tmp_path / "projects" / "-p"
    path = put(project / f"{ONE}.jsonl", lines(1))
    places = {
        f"projects/-p/{ONE}/custom-title.json": "title",
        f"projects/-p/{ONE}/tool-results/b1.txt": "tool-result",
        f"projects/-p/{ONE}/tool-results/deep/b2.jsonl": "tool-result",
        f"projects/-p/{ONE}/subagents/agent-a1.meta.json": "meta",
        f"projects/-p/{ONE}/subagents/notes.txt": "other",
        f"projects/-p/{ONE}/something/new.bin": "other",
        f"file-history/{ONE}/0123456789abcdef@v1": "file-history",
        f"tasks/{ONE}/1.json": "task",
        f"todos/{ONE}-agent-{ONE}.json": "todo",
    }
    for place in places:
        put(tmp_path / place, b"123")
    for place in (f"projects/-p/{ONE}/subagents/agent-a1.jsonl", f"todos/{TWO}-agent-{TWO}.json"):
        put(tmp_path / place, b"not a side file of this session")
    sides = side_files(_session(path))
    found = {str(Path(side.path).relative_to(tmp_path)): side.kind for side in sides.files}
    assert found == places
    assert {side.size for side in sides.files} == {3}
    assert [side.path for side in sides.files] == sorted(side.path for side in sides.files)


def test_a_sub_agent_has_its_metadata(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-p" / ONE / "subagents"
    agent = put(folder / "agent-a1.jsonl", lines(1))
    put(folder / "agent-a2.meta.json", b"{}")
    assert side_files(_session(agent)).files == ()
    meta = put(folder / "agent-a1.meta.json", b"{}")
    assert [(side.path, side.kind) for side in side_files(_session(agent)).files] == [(str(meta), "meta")]


def test_links_and_pipes_are_noted_and_not_followed(tmp_path: Path) -> None:
    path = put(tmp_path / "projects" / "-p" / f"{ONE}.jsonl", lines(1))
    own = tmp_path / "projects" / "-p" / ONE
    put(own / "tool-results" / "good.txt", b"")
    put(tmp_path / "secret" / "key", b"")
    (own / "out").symlink_to(tmp_path / "secret")
    (own / "round").symlink_to(own)
    os.mkfifo(own / "pipe")
    sides = side_files(_session(path))
    assert [Path(side.path).name for side in sides.files] == ["good.txt"]
    assert [(Path(note.path).name, note.reason) for note in sides.skipped] == [
        ("out", "a link"),
        ("pipe", "a pipe"),
        ("round", "a link"),
    ]


@pytest.mark.parametrize("name", ["...jsonl", "..jsonl"])
def test_a_hostile_name_reaches_nothing_outside(tmp_path: Path, name: str) -> None:
    put(tmp_path / "projects" / "secret" / "key", b"")
    path = put(tmp_path / "projects" / "-p" / name, lines(1))
    assert side_files(_session(path)).files == ()


def test_a_tree_without_end_is_cut_off(tmp_path: Path) -> None:
    path = put(tmp_path / "projects" / "-p" / f"{ONE}.jsonl", lines(1))
    put(Path(tmp_path, "projects", "-p", ONE, *"abcdefghijkl", "x"), b"")
    sides = side_files(_session(path))
    assert sides.files == ()
    assert [note.reason for note in sides.skipped] == ["a folder"]


def test_a_file_outside_a_store_has_only_what_lies_beside_it(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(1))
    put(tmp_path / "x" / "tool-results" / "1.txt", b"")
    put(tmp_path / "todos" / "x-agent-x.json", b"")
    assert [side.kind for side in side_files(_session(path)).files] == ["tool-result"]


def test_a_folder_that_cannot_be_listed_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "projects" / "-p" / f"{ONE}.jsonl", lines(1))
    put(tmp_path / "projects" / "-p" / ONE / "x", b"")
    file = Store.at([str(tmp_path)]).listing().sessions[0]

    def closed(path: Path) -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", closed)
    sides = side_files(file)
    assert [note.reason for note in sides.skipped] == ["permission denied"]
