"""Drafts: a file has its name when it is whole, and what nobody finished is removed by the next."""

from __future__ import annotations

import errno
import os
import stat
from functools import partial
from typing import TYPE_CHECKING

import pytest

from clew.store.drafts import Draft, clean, make_folders, put, sync_names
from clew.store.writer import NotWrittenError, TakenError
from tests.store import lines
from tests.store.faults.disks import (
    ERRORS,
    CountingDisk,
    DyingDisk,
    FailingDisk,
    RefusingDisk,
    in_a_process,
    no_links,
    start_process,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clew.store.disk import Disk

PIECES = (b'{"a":1}\n', b'{"b":2}\n' * 300)
NEW = b"".join(PIECES)
OLD = b'{"old":1}\n' * 50

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def put_new(folder: Path, disk: Disk | None = None) -> str:
    """Put a file there as a whole command does: what others left is removed, and the name lasts."""
    disk = disk or CountingDisk()
    clean(str(folder), disk=disk)
    path = put(str(folder), "new.jsonl", PIECES, disk=disk)
    sync_names(str(folder), disk=disk)
    return path


# --- new files ----------------------------------------------------------------------------------------------


def test_a_new_file_is_whole_private_and_alone(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        path = put(str(tmp_path), "new.jsonl", PIECES)
    finally:
        os.umask(umask)
    assert path == str(tmp_path / "new.jsonl")
    assert (tmp_path / "new.jsonl").read_bytes() == NEW
    assert stat.S_IMODE((tmp_path / "new.jsonl").stat().st_mode) == 0o600
    assert names(tmp_path) == {"new.jsonl"}


def test_who_else_may_read_it_is_for_the_caller_to_say(tmp_path: Path) -> None:
    umask = os.umask(0o077)
    try:
        put(str(tmp_path), "x", PIECES, mode=0o644)
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o644


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_that_is_there_is_never_written_over(tmp_path: Path, has_links: bool) -> None:
    target = lines.put(tmp_path / "x.jsonl", OLD)
    disk = CountingDisk() if has_links else RefusingDisk(no_links)
    with pytest.raises(TakenError, match="already"):
        put(str(tmp_path), "x.jsonl", PIECES, disk=disk)
    assert target.read_bytes() == OLD
    assert names(tmp_path) == {"x.jsonl"}


def test_where_there_are_no_second_names_it_is_written_all_the_same(tmp_path: Path) -> None:
    disk = RefusingDisk(no_links)
    put_new(tmp_path, disk)
    assert (tmp_path / "new.jsonl").read_bytes() == NEW
    assert names(tmp_path) == {"new.jsonl"}
    assert disk.calls[-3:] == ["link", "replace", "sync_folder"]


def test_nothing_has_the_name_before_all_of_it_is_on_the_disk(tmp_path: Path) -> None:
    class Looking(CountingDisk):
        def met(self, name: str, path: str) -> None:
            super().met(name, path)
            is_there = (tmp_path / "new.jsonl").exists()
            assert is_there == ("link" in self.calls[:-1])
            if name == "link":
                assert self.calls == ["create", "write", "write", "sync", "link"]

    put_new(tmp_path, Looking())


def test_what_the_source_of_the_pieces_raises_leaves_nothing(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"one\n"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        put(str(tmp_path), "x", pieces())
    assert names(tmp_path) == set()


def test_a_draft_that_is_given_up_leaves_nothing_and_may_be_given_up_twice(tmp_path: Path) -> None:
    draft = Draft(str(tmp_path), "x")
    draft.write(b"12345")
    assert draft.size == 5
    assert len(names(tmp_path)) == 1
    draft.drop()
    # The same name may be somebody else's draft by now.
    other = Draft(str(tmp_path), "x")
    draft.drop()
    assert len(names(tmp_path)) == 1
    other.finish("y")
    other.drop()
    assert names(tmp_path) == {"y"}


def test_a_file_that_cannot_be_let_go_of_well_is_not_left(tmp_path: Path) -> None:
    class Grumbling(CountingDisk):
        def close(self, descriptor: int) -> None:
            super().close(descriptor)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with pytest.raises(NotWrittenError, match="input/output"):
        put(str(tmp_path), "x", PIECES, disk=Grumbling())
    assert names(tmp_path) == set()
    Draft(str(tmp_path), "x", disk=Grumbling()).drop()
    assert names(tmp_path) == set()


# --- names --------------------------------------------------------------------------------------------------


def test_a_name_that_is_taken_by_ourselves_is_not_taken_again(tmp_path: Path) -> None:
    for number in range(3):
        lines.put(tmp_path / f".x.jsonl.{os.getpid()}-{number}.clew", b"")
    put(str(tmp_path), "x.jsonl", PIECES)
    assert (tmp_path / "x.jsonl").read_bytes() == NEW
    assert len(names(tmp_path)) == 4


def test_when_all_names_are_taken_that_is_said(tmp_path: Path) -> None:
    disk = RefusingDisk(lambda name, _path: errno.EEXIST if name == "create" else 0)
    with pytest.raises(NotWrittenError, match="no name left") as raised:
        put(str(tmp_path), "x.jsonl", PIECES, disk=disk)
    assert raised.value.path == str(tmp_path / "x.jsonl")


@pytest.mark.skipif(os.name != "posix", reason="how long a name may be is counted in bytes on POSIX")
@pytest.mark.parametrize(
    "name",
    ["x" * 255, "ö" * 127, "灯" * 85, "🗼" * 63, os.fsdecode(b"\xff\n" * 127)],
    ids=["one byte each", "two", "three", "four", "no text"],
)
def test_a_name_as_long_as_the_file_system_takes_is_no_trouble(tmp_path: Path, name: str) -> None:
    put(str(tmp_path), name, PIECES)
    assert (tmp_path / name).read_bytes() == NEW
    if hasattr(os, "fork"):
        in_a_process(lambda: Draft(str(tmp_path), name))
        assert len(names(tmp_path)) == 2
        assert len(clean(str(tmp_path))) == 1
    assert names(tmp_path) == {name}


def test_a_folder_that_is_not_there_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(NotWrittenError, match=r"nowhere.x\.jsonl was not written: no such file"):
        put(str(tmp_path / "nowhere"), "x.jsonl", PIECES)


# --- disks that fail, processes that die --------------------------------------------------------------------


@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("error", ERRORS)
def test_a_disk_that_fails_at_any_call_leaves_no_file_or_a_whole_one(
    tmp_path: Path, error: int, for_ever: bool
) -> None:
    whole = CountingDisk()
    (tmp_path / "count").mkdir()
    put_new(tmp_path / "count", whole)
    assert whole.calls == ["create", "write", "write", "sync", "link", "unlink", "sync_folder"]
    failed: dict[str, str] = {}
    for at, name in enumerate(whole.calls):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        target = folder / "new.jsonl"
        disk = FailingDisk(at, error, for_ever=for_ever)
        # By a process that is no more afterwards, so that the next may tidy up.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "getpid", lambda: 999_999_999)
            try:
                put_new(folder, disk)
            except NotWrittenError as failure:
                failed[name] = failure.message
        assert disk.failures
        said = failed.get(name, f"{folder} {os.strerror(error)}")
        assert str(folder) in said
        assert os.strerror(error).lower() in said.lower()
        if name in {"unlink", "sync_folder"}:
            assert target.read_bytes() == NEW
        else:
            assert not target.exists()
        # Only a disk that fails for ever, or at just that, cannot even tidy up.
        assert names(folder) <= {"new.jsonl"} or for_ever or name == "unlink"
        # The next run finds a folder it can work in, and leaves it tidy.
        target.unlink(missing_ok=True)
        put_new(folder)
        assert names(folder) == {"new.jsonl"}
        assert target.read_bytes() == NEW
    assert {*whole.calls} - {*failed} == ({"unlink"} if not for_ever else set())


@forks
def test_a_process_killed_at_any_call_leaves_no_file_or_a_whole_one(tmp_path: Path) -> None:
    whole = CountingDisk()
    (tmp_path / "count").mkdir()
    put_new(tmp_path / "count", whole)
    outcomes: list[bool] = []
    for at in range(len(whole.calls)):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        assert os.WIFSIGNALED(in_a_process(partial(put_new, folder, DyingDisk(at))))
        target = folder / "new.jsonl"
        outcomes.append(target.exists())
        assert not target.exists() or target.read_bytes() == NEW
        target.unlink(missing_ok=True)
        put_new(folder)
        assert names(folder) == {"new.jsonl"}
    assert outcomes == sorted(outcomes)
    assert {*outcomes} == {False, True}


@forks
def test_of_several_processes_that_put_the_same_name_one_does_and_the_others_are_told(tmp_path: Path) -> None:
    def try_it(number: int) -> None:
        try:
            put(str(tmp_path), "x", [b"%d" % number], disk=CountingDisk())
        except TakenError:
            os._exit(7)

    children = [start_process(partial(try_it, number)) for number in range(6)]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    assert sorted(codes) == [0, 7, 7, 7, 7, 7]
    assert (tmp_path / "x").read_bytes() == b"%d" % codes.index(0)
    assert names(tmp_path) == {"x"}


# --- what others left ---------------------------------------------------------------------------------------


def test_only_what_dead_writers_left_is_removed(tmp_path: Path) -> None:
    for name in (".a.999999999-0.clew", f".a.{os.getpid()}-0.clew", ".a.clew", "a.1-1.clew", ".b.1-0.clew"):
        lines.put(tmp_path / name, b"")
    assert clean(str(tmp_path)) == [".a.999999999-0.clew"]
    assert len(names(tmp_path)) == 4
    assert clean(str(tmp_path / "nowhere")) == []


def test_what_a_process_left_long_ago_is_removed_though_another_has_its_id(tmp_path: Path) -> None:
    old, new = (lines.put(tmp_path / f".a.{os.getppid()}-{number}.clew", b"") for number in range(2))
    own = lines.put(tmp_path / f".a.{os.getpid()}-0.clew", b"")
    for path in (old, own):
        os.utime(path, (0, 0))
    assert clean(str(tmp_path)) == [old.name]
    assert names(tmp_path) == {new.name, own.name}


def test_one_that_is_finished_while_it_is_looked_at_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lines.put(tmp_path / f".a.{os.getppid()}-0.clew", b"")

    def gone(_process: int) -> str:
        path.unlink()
        return "then"

    monkeypatch.setattr("clew.store.drafts.started", gone)
    assert clean(str(tmp_path)) == []


# --- folders ------------------------------------------------------------------------------------------------


def test_folders_that_are_missing_are_made_private_and_last(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    disk = CountingDisk()
    make_folders(str(deep), disk=disk)
    make_folders(str(deep), disk=disk)
    assert disk.calls == ["make_folder", "sync_folder"] * 2
    for folder in (deep, deep.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("call", ["make_folder", "sync_folder"])
def test_a_folder_that_cannot_be_made_or_may_not_last_is_an_error_that_names_it(
    tmp_path: Path, call: str
) -> None:
    disk = RefusingDisk(lambda name, _path: errno.EDQUOT if name == call else 0)
    with pytest.raises(NotWrittenError, match="quota") as raised:
        make_folders(str(tmp_path / "a" / "b"), disk=disk)
    assert raised.value.path.startswith(str(tmp_path))


def test_a_folder_that_somebody_else_makes_in_the_same_moment_will_do(tmp_path: Path) -> None:
    class Late(CountingDisk):
        def make_folder(self, path: str) -> None:
            os.mkdir(path)  # noqa: PTH102
            super().make_folder(path)

    make_folders(str(tmp_path / "a" / "b"), disk=Late())
    assert (tmp_path / "a" / "b").is_dir()


def test_a_file_in_the_place_of_a_folder_is_named(tmp_path: Path) -> None:
    lines.put(tmp_path / "a", b"")
    with pytest.raises(NotWrittenError, match="no folder is in its place") as raised:
        make_folders(str(tmp_path / "a" / "b"))
    assert raised.value.path == str(tmp_path / "a")
