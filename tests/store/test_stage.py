"""A folder for what is laid out for a while."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from clew.store.stage import staging
from clew.store.writer import NotWrittenError
from tests.store.faults.disks import CountingDisk, KillingDisk, RefusingDisk, in_a_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def names(state: Path) -> list[str]:
    return sorted(str(path.relative_to(state / "incoming")) for path in (state / "incoming").rglob("*"))


def test_what_is_laid_out_is_there_and_then_gone(tmp_path: Path) -> None:
    with staging(tmp_path / "state") as stage:
        stage.put("a/b/c.txt", [b"one ", b"two"])
        stage.put("a/d.txt", [])
        assert (tmp_path / "state" / "incoming" / "0" / "a" / "b" / "c.txt").read_bytes() == b"one two"
        assert (tmp_path / "state" / "incoming" / "0" / "a").stat().st_mode & 0o777 == 0o700
        assert stage.path("a/d.txt").endswith("0/a/d.txt")
    assert names(tmp_path / "state") == []


def test_it_is_gone_after_an_error_too(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"x"
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), staging(tmp_path) as stage:
        stage.put("a", broken())
    assert names(tmp_path) == []


def test_two_at_once_have_a_folder_each(tmp_path: Path) -> None:
    with staging(tmp_path) as one, staging(tmp_path) as other:
        one.put("a", [b"1"])
        other.put("a", [b"2"])
        assert names(tmp_path) == ["0", "0/a", "1", "1/a"]


def test_what_a_killed_process_left_is_removed_by_the_next(tmp_path: Path) -> None:
    def killed() -> None:
        disk = CountingDisk()
        with staging(tmp_path, disk=disk) as stage:
            stage.put("deep/a", [b"x"])
            disk.__class__ = KillingDisk
            disk.__dict__.update(at=0, is_partial=False)

    in_a_process(killed)
    assert names(tmp_path) == ["0", "0/deep", "0/deep/a"]
    with staging(tmp_path) as stage:
        assert stage.folder.endswith("0")
        assert names(tmp_path) == ["0"]


def test_a_name_twice_or_a_full_disk_is_an_error_that_names_it(tmp_path: Path) -> None:
    with staging(tmp_path) as stage:
        stage.put("a", [b"x"])
        with pytest.raises(NotWrittenError, match="file exists"):
            stage.put("a", [b"x"])
    full = RefusingDisk(lambda name, _: errno.ENOSPC if name == "write" else 0)
    with pytest.raises(NotWrittenError, match="no space left"), staging(tmp_path, disk=full) as stage:
        stage.put("a", [b"x"])
    assert names(tmp_path) == []


@pytest.mark.parametrize("call", ["make_folder"])
def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path, call: str) -> None:
    (tmp_path / "locks").mkdir()
    (tmp_path / "incoming").mkdir()
    disk = RefusingDisk(lambda name, _: errno.EROFS if name == call else 0)
    with pytest.raises(NotWrittenError, match="read-only"), staging(tmp_path, disk=disk):
        pass
    (tmp_path / "incoming").rmdir()
    with pytest.raises(NotWrittenError, match="read-only"), staging(tmp_path, disk=disk):
        pass


def test_a_folder_that_cannot_be_removed_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "incoming" / "0" / "x").mkdir(parents=True)
    stuck = RefusingDisk(lambda name, _: errno.EACCES if name == "remove_folder" else 0)
    with staging(tmp_path, disk=stuck) as stage:
        assert stage.folder.endswith("1")
    (tmp_path / "incoming" / "0" / "x").rmdir()


def test_the_state_folder_that_is_made_for_it_lasts(tmp_path: Path) -> None:
    """The journal comes to lie in it: if its name were lost in a power cut, so would be the journal."""
    synced: list[str] = []

    class Listening(CountingDisk):
        def sync_folder(self, path: str) -> None:
            synced.append(path)

    with staging(tmp_path / "far" / "state", disk=Listening()):
        pass
    assert {str(tmp_path), str(tmp_path / "far"), str(tmp_path / "far" / "state")} <= {*synced}
