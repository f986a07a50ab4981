"""What a project says is not worth looking at is left out, by ripgrep's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.agent.ignores import ignores

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository in a folder without links on the way."""
    folder = tmp_path.resolve() / "project"
    (folder / ".git/info").mkdir(parents=True)
    (folder / "sub").mkdir()
    return folder


def _is_left_out(folder: Path, name: str, *, is_folder: bool = False) -> bool:
    return ignores(str(folder)).judge(str(folder / name), is_folder=is_folder)


def test_git_files_count_inside_a_repository_only(tmp_path: Path, project: Path) -> None:
    outside = tmp_path.resolve() / "outside"
    outside.mkdir()
    for folder in (project, outside):
        (folder / ".gitignore").write_text("*.log\n")
    assert _is_left_out(project, "x.log")
    assert not _is_left_out(outside, "x.log")


def test_files_above_count_and_nearer_ones_count_more(project: Path) -> None:
    (project / ".gitignore").write_text("*.log\nsub/only.txt\n")
    (project / "sub/.gitignore").write_text("!keep.log\n")
    assert _is_left_out(project / "sub", "x.log")
    assert not _is_left_out(project / "sub", "keep.log")
    assert _is_left_out(project / "sub", "only.txt")


def test_above_the_top_of_a_repository_git_files_do_not_count(tmp_path: Path, project: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("*.txt\n")
    (tmp_path / ".ignore").write_text("*.md\n")
    assert not _is_left_out(project, "a.txt")
    assert _is_left_out(project, "a.md")


def test_the_stronger_kind_of_file_wins(project: Path) -> None:
    (project / ".gitignore").write_text("*.a\n*.b\n")
    (project / ".ignore").write_text("!x.a\n*.c\n")
    (project / ".rgignore").write_text("!x.c\n")
    (project / ".git/info/exclude").write_text("*.d\n")
    assert [_is_left_out(project, f"x.{end}") for end in "abcd"] == [False, True, False, True]


def test_odd_ignore_files_are_survived(project: Path) -> None:
    (project / ".ignore").mkdir()
    (project / ".rgignore").symlink_to("/dev/zero")
    (project / ".gitignore").write_bytes(b"\xef\xbb\xbf*.log\r\n\xff\xfe[\n")
    assert _is_left_out(project, "x.log")
