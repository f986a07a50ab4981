"""What sessions did to files: listed, restored, as patches, as a history, and line by line."""

from __future__ import annotations

import json
import os
import subprocess
from random import Random
from typing import TYPE_CHECKING

import pytest

from clew.actions.blaming import blame
from clew.actions.file_changes import (
    UnknownContentError,
    follow,
    list_files,
    make_patch,
    restore,
    write_restored,
)
from clew.actions.replaying import replay
from clew.errors import RefusedError, UsageError
from clew.store.files import Store
from tests.actions.file_lab import HOME, NOBODY, signed, store_of
from tests.builder import Builder, call
from tests.faces.stage import write
from tests.session.file_stories import Story, path
from tests.session.test_git_patches import apply
from tests.store.test_workspace import git

if TYPE_CHECKING:
    from pathlib import Path

    from clew.actions.file_changes import Followed


def told(root: Path, story: Story) -> Followed:
    return follow([store_of(root, s1=story)], "s1")


def day(root: Path) -> tuple[Story, Followed]:
    """A session of three turns: a new file, one that was there, one outside."""
    story = Story().prompt().write("src/new.py", "one\ntwo")
    story.files["old.txt"] = b"a\nb\nc\n"
    story.prompt().edit("old.txt", "b", "B").edit("src/new.py", "two", "2\n")
    story.prompt().edit("old.txt", "c", "C").write("../outside.txt", "x\n")
    return story, told(root, story)


def test_files_are_listed_with_their_versions(tmp_path: Path) -> None:
    _, followed = day(tmp_path)
    found = list_files(followed)
    assert [(one.shown, [step.turn for step in one.versions]) for one in found] == [
        ("src/new.py", [1, 2]),
        ("old.txt", [2, 3]),
        ("/home/ada/outside.txt", [3]),
    ]
    document = found[0].as_dict()
    assert set(document) == {"path", "versions", "gaps"}
    assert json.loads(json.dumps(document))["versions"][0]["action"] == "create"


@pytest.mark.parametrize("name", ["old.txt", path("old.txt"), "./old.txt"])
def test_a_file_is_restored_as_it_was_after_a_turn(tmp_path: Path, name: str) -> None:
    _, followed = day(tmp_path)
    assert [restore(followed, name, turn=turn).data for turn in (0, 1, 2, 3, None)] == [
        b"a\nb\nc\n",
        b"a\nb\nc\n",
        b"a\nB\nc\n",
        b"a\nB\nC\n",
        b"a\nB\nC\n",
    ]


def test_a_file_that_was_not_there_yet_or_never_cannot_be_restored(tmp_path: Path) -> None:
    _, followed = day(tmp_path)
    with pytest.raises(UsageError, match="was not there after turn 0"):
        restore(followed, "new.py", turn=0)
    with pytest.raises(UsageError, match="did not change"):
        restore(followed, "other.py")
    with pytest.raises(UsageError, match="no turn 9"):
        restore(followed, "old.txt", turn=9)
    story = Story(shape="large")
    story.files["big"] = b"x\n" * 99
    with pytest.raises(UnknownContentError):
        restore(told(tmp_path / "b", story.prompt().edit("big", "x\nx", "y")), "big")


def test_a_restored_file_is_written_over_another_only_when_asked(tmp_path: Path) -> None:
    _, followed = day(tmp_path)
    found = restore(followed, "old.txt")
    target = tmp_path / "out"
    target.write_bytes(b"mine")
    with pytest.raises(RefusedError):
        write_restored(found, str(target))
    write_restored(found, str(target), force=True)
    assert target.read_bytes() == b"a\nB\nC\n"


def test_a_patch_makes_of_what_was_there_what_is(tmp_path: Path) -> None:
    story, followed = day(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    (work / "old.txt").write_bytes(b"a\nb\nc\n")
    found = make_patch(followed)
    apply(work, b"".join(one.patch for one in found.files))
    for name in ("old.txt", "src/new.py"):
        assert (work / name).read_bytes() == story.files[name]
    assert [one.path for one in found.left_out] == ["/home/ada/outside.txt"]
    assert len(make_patch(followed, full_paths=True).files) == 3


def test_patches_of_the_turns_one_after_the_other_make_the_same(tmp_path: Path) -> None:
    story, followed = day(tmp_path)
    work = tmp_path / "work"
    work.mkdir()
    (work / "old.txt").write_bytes(b"a\nb\nc\n")
    for turn in (1, 2, 3):
        apply(work, b"".join(one.patch for one in make_patch(followed, turn=turn).files))
    assert (work / "old.txt").read_bytes() == story.files["old.txt"]
    assert (work / "src/new.py").read_bytes() == story.files["src/new.py"]


def test_a_file_that_is_gone_is_deleted_by_the_patch(tmp_path: Path) -> None:
    story = Story()
    story.files["a"] = b"one\n"
    followed = told(tmp_path, story.prompt().edit("a", "one", "two").prompt().copy("a", None, 2))
    (found,) = make_patch(followed).files
    assert found.action == "delete"


# A history ------------------------------------------------------------------------------------------------


def test_a_history_has_a_commit_for_each_turn_that_changed_files(tmp_path: Path) -> None:
    story, followed = day(tmp_path)
    found = replay(followed, str(tmp_path / "repo"))
    assert (found.commits, found.files) == (3, 3)
    log = git(tmp_path / "repo", "log", "--reverse", "--format=%s|%(trailers:key=Clew-Turn,valueonly)")
    assert [row for row in log.split("\n") if row] == ["Prompt 1|1", "Prompt 2|2", "Prompt 3|3"]
    assert (tmp_path / "repo/src/new.py").read_bytes() == story.files["src/new.py"]
    assert (tmp_path / "repo/_outside/home/ada/outside.txt").read_bytes() == b"x\n"
    assert git(tmp_path / "repo", "show", "HEAD~1:old.txt") == "a\nB\nc\n"


def test_a_history_can_begin_with_what_was_there(tmp_path: Path) -> None:
    _, followed = day(tmp_path)
    assert replay(followed, str(tmp_path / "repo"), base=True).commits == 4
    assert git(tmp_path / "repo", "show", "HEAD~3:old.txt") == "a\nb\nc\n"
    assert git(tmp_path / "repo", "show", "--format=", "--numstat", "HEAD~1").splitlines() == [
        "1\t1\told.txt",
        "1\t1\tsrc/new.py",
    ]


HOSTILE = (
    "/etc/clew-was-here",
    "../../../../../../etc/clew-was-here",
    "/home/ada/lighthouse/.git/hooks/post-checkout",
    "/home/ada/lighthouse/.git/config",
    "/home/ada/lighthouse/.gitattributes",
    "nul\0in it",
    "half \ud800",
    "CON",
    "C:\\x\\..\\y",
    "\\\\server\\x",
    "~/.bashrc",
    "/home/ada/lighthouse",
    "a/b",
    "a",
    "a/b/c",
    "\n",
    "-rf",
    "x" * 3000,
)


def test_no_path_leads_out_of_the_folder(tmp_path: Path) -> None:
    builder = Builder()
    for number, name in enumerate(HOSTILE):
        builder.prompt(f"{number}")
        builder.answer(call(f"c{number}", "Write", {"file_path": name, "content": "x\n"}), stop="tool_use")
        builder.result(f"c{number}", f"File created successfully at: {name}")
    root = tmp_path / "store"
    write(root, "-p", {"s1": builder.data()})
    followed = follow([root], "s1")
    before = {str(one) for one in tmp_path.rglob("*")}
    found = replay(followed, str(tmp_path / "repo"))
    assert found.commits == len(HOSTILE)
    assert git(tmp_path / "repo", "status", "--porcelain") == ""
    new = {str(one) for one in tmp_path.rglob("*")} - before
    assert all(one == str(tmp_path / "repo") or one.startswith(f"{tmp_path}/repo/") for one in new)
    assert not [one for one in (tmp_path / "repo").rglob("*") if one.is_symlink()]
    assert not (tmp_path / "repo/.git/hooks").exists()
    assert not os.path.exists("/etc/clew-was-here")  # noqa: PTH110
    for turn in (None, 1, 2):
        for one in make_patch(followed, turn=turn).files:
            assert b"/../" not in one.patch
            assert b"a/.." not in one.patch


# Line by line ---------------------------------------------------------------------------------------------


def truth(text: str) -> tuple[str, int] | None:
    """Who wrote a line: it says so itself."""
    words = text.split(" ")
    return None if text.startswith(NOBODY) else (words[0], int(words[2]))


@pytest.mark.parametrize("seed", range(4))
def test_every_line_of_thirty_turns_is_given_to_the_turn_that_wrote_it(tmp_path: Path, seed: int) -> None:
    assert_every_line_is_known(tmp_path, seed)


def assert_every_line_is_known(folder: Path, seed: int) -> None:
    """Two sessions of thirty turns in all change one file, whose lines say themselves who wrote them."""
    random = Random(seed)
    one = signed(random, 20, name="s1", first=b"")
    two = signed(random, 10, name="s2", first=one.files["diary.txt"], start=1e6)
    home = folder / "work"
    home.mkdir(parents=True)
    root = folder / "store"
    sessions = {
        name: story.builder.data().replace(HOME.encode(), str(home).encode())
        for name, story in (("s1", one), ("s2", two))
    }
    write(root, "-p", sessions)
    last = two.files["diary.txt"] + f"{NOBODY} at the end\n".encode()
    (home / "diary.txt").write_bytes(last)
    found = blame(Store.at([str(root)]), str(home / "diary.txt"))
    assert [line.text for line in found.lines] == last.decode().splitlines()
    wrong = [
        (line.text, line.author)
        for line in found.lines
        if (None if line.author is None else (line.author.session, line.author.turn)) != truth(line.text)
    ]
    assert not wrong
    assert len({line.author.turn for line in found.lines if line.author}) > 5
    assert all(line.author.prompt for line in found.lines if line.author)
    document = found.as_dict()
    assert document["lines"][-1] is None  # pyright: ignore[reportIndexIssue]  # a document is of plain values


def test_a_project_that_moved_is_known_by_folder_and_name(tmp_path: Path) -> None:
    story = Story().prompt("Why").write("src/a.py", "one\n")
    store_of(tmp_path / "store", s1=story)
    place = tmp_path / "moved" / "src" / "a.py"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"one\n")
    (line,) = blame(Store.at([str(tmp_path / "store")]), str(place)).lines
    assert line.author is not None
    assert (line.author.turn, line.author.prompt) == (1, "Why")


def test_a_fork_counts_once_and_a_file_nobody_changed_is_nobodys(tmp_path: Path) -> None:
    story = Story().prompt().write("src/a.py", "one\n")
    store_of(tmp_path / "store", s1=story, s2=story)
    for name in ("src/a.py", "src/b.py"):
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(b"one\ntwo\n")
    first = blame(Store.at([str(tmp_path / "store")]), str(tmp_path / "src/a.py"))
    assert [line.author is None for line in first.lines] == [False, True]
    assert len(first.sessions) == 1
    assert not blame(Store.at([str(tmp_path / "store")]), str(tmp_path / "src/b.py")).sessions
    with pytest.raises(UsageError):
        blame(Store.at([str(tmp_path / "store")]), str(tmp_path / "gone"))


def test_git_is_there() -> None:
    """Without it nothing above says much."""
    assert subprocess.run(["git", "--version"], capture_output=True, check=False).returncode == 0
