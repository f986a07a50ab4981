"""The user's own files, and git: nothing is written over or outside, and nothing of the user's is used."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
from typing import TYPE_CHECKING

import pytest

from clew.errors import ClewError, RefusedError, UsageError
from clew.store import workspace
from clew.store.disk import Disk
from clew.store.workspace import Commit, GitError, repository
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *words: str) -> str:
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    return subprocess.run(
        ["git", "-C", str(folder), *words], env=environ, capture_output=True, text=True, check=True
    ).stdout


def test_a_file_is_written_where_none_is(tmp_path: Path) -> None:
    assert workspace.write(str(tmp_path / "a"), b"x") == str(tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"x"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_file_that_is_there_is_written_over_only_when_asked(tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.write_bytes(b"mine")
    place.chmod(0o640)
    with pytest.raises(RefusedError):
        workspace.write(str(place), b"x")
    assert place.read_bytes() == b"mine"
    workspace.write(str(place), b"x", force=True)
    assert place.read_bytes() == b"x"
    assert stat.S_IMODE(place.stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("force", [False, True])
def test_nothing_is_written_through_a_link_or_over_a_folder(tmp_path: Path, force: bool) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"mine")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "dangling").symlink_to(tmp_path / "new")
    (tmp_path / "folder").mkdir()
    for name in ("link", "dangling", "folder"):
        with pytest.raises(RefusedError):
            workspace.write(str(tmp_path / name), b"x", force=force)
    assert outside.read_bytes() == b"mine"
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_not_there_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no folder"):
        workspace.write(str(tmp_path / "gone" / "a"), b"x")


def test_a_disk_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    class Full(Disk):
        def write(self, descriptor: int, data: bytes) -> None:  # noqa: ARG002
            raise OSError(28, "No space left on device")

    place = tmp_path / "a"
    place.write_bytes(b"mine")
    for force in (False, True):
        with pytest.raises((NotWrittenError, RefusedError)):
            workspace.write(str(place), b"x", force=force, disk=Full())
    with pytest.raises(NotWrittenError):
        workspace.write(str(tmp_path / "b"), b"x", disk=Full())
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert place.read_bytes() == b"mine"


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "gone", "."):
        with pytest.raises(ClewError):
            workspace.read(str(tmp_path / name))


def test_a_history_has_its_commits_dates_and_files(tmp_path: Path) -> None:
    place = tmp_path / "new" / "repo"
    with repository(str(place)) as made:
        made.add(Commit("First\n\nwords", 1_772_614_800_000, {"a b": b"1\r\n", 'd/"e\n': b"\xff\0"}))
        made.add(Commit("Second", 1_772_614_900_000, {"a b": b"2", "d": b"no folder any more"}))
        made.add(Commit("Third", None, {"a b": None}))
    assert made.commits == 3
    log = git(place, "log", "--reverse", "--format=%s|%an|%ae|%at|%ct|%G?").splitlines()
    assert log[0] == "First|clew|clew@localhost|1772614800|1772614800|N"
    assert [row.split("|")[0] for row in log] == ["First", "Second", "Third"]
    assert git(place, "status", "--porcelain") == ""
    assert {path.name for path in place.iterdir()} == {".git", "d"}
    assert (place / "d").read_bytes() == b"no folder any more"
    assert git(place, "cat-file", "-s", "HEAD~2:a b") == "3\n"
    assert git(place, "cat-file", "-s", 'HEAD~2:d/"e\n') == "2\n"


def test_nothing_of_the_users_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings, hooks, an identity, another repository: a trace of any would be found here."""
    home, outer = tmp_path / "home", tmp_path / "outer"
    hooks = home / "hooks"
    hooks.mkdir(parents=True)
    witness = tmp_path / "witness"
    for name in ("post-checkout", "post-commit", "pre-commit", "reference-transaction", "post-index-change"):
        (hooks / name).write_text(f"#!/bin/sh\necho {name} >> {witness}\n")
        (hooks / name).chmod(0o755)
    template = home / "template"
    (template / "hooks").mkdir(parents=True)
    (template / "hooks" / "post-checkout").write_text(f"#!/bin/sh\necho template >> {witness}\n")
    (template / "hooks" / "post-checkout").chmod(0o755)
    (home / ".gitconfig").write_text(
        f"[user]\n name = Somebody\n email = s@example.org\n[core]\n hooksPath = {hooks}\n autocrlf = true\n"
        f"[init]\n templateDir = {template}\n[commit]\n gpgSign = true\n"
        f'[filter "f"]\n smudge = touch {witness}\n'
    )
    outer.mkdir()
    git(outer, "init", "-q")
    before = sorted(str(path) for path in outer.rglob("*"))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_DIR", str(outer / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(outer))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Somebody")
    monkeypatch.setenv("GIT_TEMPLATE_DIR", str(template))
    attributes = b"* filter=f text eol=crlf working-tree-encoding=UTF-16 ident\n"
    with repository(str(tmp_path / "repo")) as made:
        made.add(Commit("One", 0, {".gitattributes": attributes, "a": b"x $Id$\ny\n"}))
    assert not witness.exists()
    assert (tmp_path / "repo" / "a").read_bytes() == b"x $Id$\ny\n"
    assert sorted(str(path) for path in outer.rglob("*")) == before
    assert "Somebody" not in git(tmp_path / "repo", "log", "--format=%an %cn")
    assert not (tmp_path / "repo" / ".git" / "hooks").exists()


@pytest.mark.parametrize("place", ["full", "link", "file"])
def test_a_history_goes_into_a_place_of_its_own(tmp_path: Path, place: str) -> None:
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_bytes(b"mine")
    (full / "out").symlink_to(tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    (tmp_path / "link").symlink_to(empty)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(RefusedError), repository(str(tmp_path / place)):
        pass
    assert not any(empty.iterdir())


@pytest.mark.parametrize("place", ["../out", "/abs", "a/../../out", ".git/config", "a//b", ".GIT/x", ""])
def test_a_place_outside_is_never_given_to_git(tmp_path: Path, place: str) -> None:
    with pytest.raises(ValueError, match="no place inside"), repository(str(tmp_path / "repo")) as made:
        made.add(Commit("x", 0, {place: b"x"}))
    assert {path.name for path in tmp_path.iterdir()} == {"repo"}


def test_without_git_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitError, match="git is needed"), repository(str(tmp_path / "repo")):
        pass
    assert not (tmp_path / "repo").exists()


def test_a_file_is_read_whole_unless_it_is_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").write_bytes(b"four")
    assert workspace.read(str(tmp_path / "a")) == b"four"
    monkeypatch.setattr(workspace, "MOST", 3)
    with pytest.raises(ClewError, match="more than"):
        workspace.read(str(tmp_path / "a"))


def test_a_name_no_file_can_have_is_told(tmp_path: Path) -> None:
    with pytest.raises(ClewError):
        workspace.write(str(tmp_path / ("x" * 300)), b"x")
    assert not any(tmp_path.iterdir())


def test_a_file_that_comes_up_meanwhile_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").write_bytes(b"mine")

    def nothing(path: str) -> None:
        assert path == str(tmp_path / "a")

    monkeypatch.setattr(workspace, "_look", nothing)
    with pytest.raises(RefusedError, match="there already"):
        workspace.write(str(tmp_path / "a"), b"x")
    assert (tmp_path / "a").read_bytes() == b"mine"


def test_a_file_that_cannot_be_put_in_its_place_leaves_the_old_one(tmp_path: Path) -> None:
    class Stubborn(Disk):
        def replace(self, source: str, target: str) -> None:  # noqa: ARG002
            raise OSError(1, "Operation not permitted")

    (tmp_path / "a").write_bytes(b"mine")
    with pytest.raises(NotWrittenError, match="not permitted"):
        workspace.write(str(tmp_path / "a"), b"x", force=True, disk=Stubborn())
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"mine"


@pytest.mark.parametrize(
    ("verb", "does", "message"),
    [
        ("init", "echo first >&2; echo no room >&2; exit 3", "git init failed: no room"),
        ("fast-import", "echo broken >&2; exit 3", "git"),
        ("fast-import", "cat > /dev/null; exit 3", "it did not say why"),
        ("reset", "exit 1", "git reset failed"),
    ],
)
def test_a_git_that_fails_is_told_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str, does: str, message: str
) -> None:
    real = shutil.which("git")
    folder = tmp_path / "programs"
    folder.mkdir()
    program = folder / "git"
    program.write_text(
        f'#!/bin/sh\nfor word; do [ "$word" = {verb} ] && {{ {does}; }}; done\nexec {real} "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    with pytest.raises(GitError, match=message):
        _write_much(str(tmp_path / "repo"))


def _write_much(folder: str) -> None:
    """Write more than a pipe holds."""
    with repository(folder) as made:
        for number in range(40):
            made.add(Commit("x", number, {"a": bytes(1 << 14)}))


def test_an_empty_history_is_a_repository_without_files(tmp_path: Path) -> None:
    with repository(str(tmp_path / "repo")) as made:
        pass
    assert made.commits == 0
    assert [path.name for path in (tmp_path / "repo").iterdir()] == [".git"]
