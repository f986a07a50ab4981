"""A walk tells of regular files, in order, and of nothing outside."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from clew.agent import globs
from clew.agent.walking import walk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a little of everything."""
    root = tmp_path.resolve() / "root"
    for name in ("a/z.py", "a.txt", "b/c/d.py", ".h/x.py", "é.py", "B.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.py").write_text("secret")
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "loop").symlink_to(".")
    (root / "link.py").symlink_to(tmp_path / "outside/secret.py")
    os.mkfifo(root / "pipe.py")
    return root


def test_files_come_by_name_and_links_are_not_followed(place: Path) -> None:
    found = [file.relative for file in walk(str(place))]
    assert found == [".h/x.py", "B.py", "a/z.py", "a.txt", "b/c/d.py", "é.py"]


def test_only_what_is_wanted_is_told(place: Path) -> None:
    wanted = globs.choice(["*.py", "!b"])
    assert [f.relative for f in walk(str(place), wanted=wanted)] == [".h/x.py", "B.py", "a/z.py", "é.py"]
    assert [f.relative for f in walk(str(place), has_type=lambda name: name == "a.txt")] == ["a.txt"]


def test_what_is_wanted_by_name_is_told_though_it_is_ignored(place: Path) -> None:
    (place / ".ignore").write_text("a.txt\nb/\n")
    plain = [f.relative for f in walk(str(place), respects_ignores=True)]
    assert "a.txt" not in plain
    assert "b/c/d.py" not in plain
    wanted = globs.choice(["a.txt", "d.py"])
    assert [f.relative for f in walk(str(place), wanted=wanted, respects_ignores=True)] == ["a.txt"]


def test_a_folder_that_cannot_be_read_is_left_out(place: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (place / "b").chmod(0)
    try:
        assert "b/c/d.py" not in [file.relative for file in walk(str(place))]
    finally:
        (place / "b").chmod(0o700)


def test_a_folder_that_became_a_link_is_not_looked_into(place: Path) -> None:
    files = walk(str(place))
    assert next(files).relative == ".h/x.py"
    (place / "a/z.py").unlink()
    (place / "a").rmdir()
    (place / "a").symlink_to(place.parent / "outside")
    assert not any("secret" in file.relative for file in files)


def test_whoever_waits_can_end_it(place: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(walk(str(place), look_up=stop))


def test_a_folder_that_is_not_there_holds_nothing(place: Path) -> None:
    assert list(walk(str(place / "gone"))) == []


def test_names_that_are_no_text_are_told(place: Path) -> None:
    (place / os.fsdecode(b"bad\xff.py")).touch()
    assert os.fsdecode(b"bad\xff.py") in [file.relative for file in walk(str(place))]
