"""A session file that grows: whole lines only, one of us at a time, and nothing half written left behind."""

from __future__ import annotations

import errno
import os
import stat
import threading
from typing import TYPE_CHECKING

import pytest

from clew.errors import ChangedOnDiskError, ClewError, NotARegularFileError, RefusedError, UnreadableError
from clew.store.growing import Growing, PartlyWrittenError
from clew.store.locks import BusyError
from clew.store.writer import NotWrittenError, TakenError
from tests.store.faults.disks import ERRORS, CountingDisk, FailingDisk, Killed, KillingDisk, start_process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.store.disk import Disk

NOW = 4e9
"""Long after the files of a test were made: what was written just now is no sign of anybody."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "config" / "projects" / "-a" / "s.jsonl"


def create(path: Path, disk: Disk | None = None) -> Growing:
    return Growing.create(path, state=path.parents[3] / "state", disk=disk or CountingDisk())


def reopen(path: Path, disk: Disk | None = None, *, force: bool = False) -> Growing:
    return Growing.open(
        path, state=path.parents[3] / "state", now=NOW, force=force, disk=disk or CountingDisk()
    )


def made(path: Path, data: bytes = b"x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def test_a_new_file_and_its_folders_are_for_their_owner_alone(path: Path) -> None:
    with create(path) as grown:
        grown.append([b"a\n", b"b"])
    assert path.read_bytes() == b"a\nb\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert {stat.S_IMODE(one.stat().st_mode) for one in (path.parent, path.parents[1], path.parents[2])} == {
        0o700
    }


def test_a_file_that_is_there_is_not_made_again(path: Path) -> None:
    made(path)
    with pytest.raises(TakenError):
        create(path)
    assert path.read_bytes() == b"x\n"


def test_a_new_file_that_nothing_came_into_is_gone_again(path: Path) -> None:
    create(path).close()
    assert not path.exists()


def test_lines_go_out_in_one_write(path: Path) -> None:
    disk = CountingDisk()
    with create(path, disk) as grown:
        disk.calls.clear()
        grown.append([b"a\n", b"b\n", b"c\n"])
        assert disk.calls == ["write"]
        grown.append([])
        assert disk.calls == ["write"]


@pytest.mark.parametrize("line", [b"a\nb", b"\n\n", b"a\nb\n"])
def test_two_lines_are_no_line(path: Path, line: bytes) -> None:
    with create(path) as grown, pytest.raises(ValueError, match="newline"):
        grown.append([b"a\n", line])
    assert not path.exists()


@pytest.mark.parametrize(
    ("before", "after"), [(b"", b"a\n"), (b"x\n", b"x\na\n"), (b'{"x', b'{"x\na\n'), (b"x\r\n", b"x\r\na\n")]
)
def test_an_unfinished_last_line_is_ended_first(path: Path, before: bytes, after: bytes) -> None:
    with reopen(made(path, before)) as grown:
        grown.append([b"a\n"])
    assert path.read_bytes() == after


@pytest.mark.parametrize("error", ERRORS)
def test_what_a_failed_write_left_is_cut_away(path: Path, error: int) -> None:
    disk = FailingDisk(-1, error)
    with reopen(made(path, b'{"x'), disk) as grown:
        disk.at = len(disk.calls)
        with pytest.raises(NotWrittenError, match="was not written") as met:
            grown.append([b"aaaa\n", b"bbbb\n"])
        assert not isinstance(met.value, PartlyWrittenError)
        assert path.read_bytes() == b'{"x'
        grown.append([b"cc\n"])
    assert path.read_bytes() == b'{"x\ncc\n'


class _Other(CountingDisk):
    """Somebody else writes behind the part of ours that was written before the disk was full."""

    def __init__(self, path: Path, part: int, behind: bytes = b"theirs\n", *, cuts: bool = True) -> None:
        super().__init__()
        self.path, self.part, self.behind, self.cuts = path, part, behind, cuts
        self.is_armed = False

    def write(self, descriptor: int, data: bytes) -> None:
        if not self.is_armed:
            super().write(descriptor, data)
            return
        self.is_armed = False
        os.write(descriptor, data[: self.part])
        with self.path.open("ab") as other:
            other.write(self.behind)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def truncate(self, descriptor: int, size: int) -> None:
        if not self.cuts:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        super().truncate(descriptor, size)


@pytest.mark.parametrize(("part", "whole"), [(2, 0), (5, 1), (7, 1), (10, 2)])
def test_what_somebody_wrote_behind_is_never_cut_and_whole_lines_are_told(
    path: Path, part: int, whole: int
) -> None:
    disk = _Other(path, part)
    with reopen(made(path), disk) as grown:
        disk.is_armed = True
        with pytest.raises(PartlyWrittenError) as met:
            grown.append([b"aaaa\n", b"bbbb\n"])
        assert met.value.whole == whole
        assert path.read_bytes() == b"x\n" + b"aaaa\nbbbb\n"[:part] + b"theirs\n"
        grown.append([b"c\n"])
    assert path.read_bytes().endswith(b"theirs\nc\n")


def test_a_part_that_cannot_be_cut_becomes_a_line_of_its_own(path: Path) -> None:
    disk = _Other(path, 7, b"", cuts=False)
    with reopen(made(path), disk) as grown:
        disk.is_armed = True
        with pytest.raises(PartlyWrittenError) as met:
            grown.append([b"aaaa\n", b"bbbb\n"])
        assert met.value.whole == 1
        grown.append([b"c\n"])
    assert path.read_bytes() == b"x\naaaa\nbb\nc\n"


def test_an_interrupted_write_leaves_nothing(path: Path) -> None:
    class Stopped(CountingDisk):
        is_armed = False

        def write(self, descriptor: int, data: bytes) -> None:
            if self.is_armed:
                os.write(descriptor, data[:3])
                raise KeyboardInterrupt
            super().write(descriptor, data)

    disk = Stopped()
    with reopen(made(path), disk) as grown:
        disk.is_armed = True
        with pytest.raises(KeyboardInterrupt):
            grown.append([b"aaaa\n"])
        disk.is_armed = False
    assert path.read_bytes() == b"x\n"


@pytest.mark.parametrize("at", range(12))
@pytest.mark.parametrize("is_partial", [False, True])
def test_a_process_killed_anywhere_leaves_whole_lines_and_one_part_at_most(
    path: Path, at: int, *, is_partial: bool
) -> None:
    disk = KillingDisk(at, is_partial=is_partial)
    try:
        with create(path, disk) as grown:
            grown.append([b"aaaa\n"])
            grown.append([b"bbbb\n"])
    except Killed:
        pass
    whole = b"aaaa\nbbbb\n"
    assert not path.exists() or whole.startswith(path.read_bytes())


@pytest.mark.parametrize("error", ERRORS)
def test_a_disk_that_fails_anywhere_gives_a_told_error_and_whole_lines(path: Path, error: int) -> None:
    for at in range(14):
        place = path.with_name(f"s{at}.jsonl")
        disk = FailingDisk(at, error)
        try:
            with create(place, disk) as grown:
                grown.append([b"aaaa\n"])
                grown.sync()
        except ClewError:
            pass
        assert not place.exists() or place.read_bytes() in {b"", b"aaaa\n"}


@pytest.mark.parametrize("what", ["link", "folder", "pipe", "nothing"])
def test_only_a_file_of_its_own_is_opened(path: Path, what: str) -> None:
    made(path)
    there = path.with_name("other.jsonl")
    does: dict[str, Callable[[], None]] = {
        "link": lambda: there.symlink_to(path),
        "folder": there.mkdir,
        "pipe": lambda: os.mkfifo(there),
        "nothing": lambda: None,
    }
    does[what]()
    with pytest.raises(UnreadableError if what == "nothing" else NotARegularFileError):
        reopen(there)
    assert path.read_bytes() == b"x\n"


def test_two_of_us_do_not_go_on_with_the_same_session(path: Path) -> None:
    with create(path) as grown:
        grown.append([b"a\n"])
        with pytest.raises(BusyError):
            reopen(path)
        with pytest.raises(BusyError):
            reopen(path, force=True)
    reopen(path).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_that_has_it_open_is_named_and_force_goes_on(path: Path) -> None:
    made(path)
    told, tell = os.pipe()
    end, stop = os.pipe()

    def hold_open() -> None:
        with path.open("ab"):
            os.write(tell, b".")
            os.close(stop)
            os.read(end, 1)

    child = start_process(hold_open)
    try:
        os.read(told, 1)
        with pytest.raises(RefusedError, match=f"process {child} has it open"):
            reopen(path)
        with reopen(path, force=True) as grown:
            assert grown.live is not None
            assert grown.live.pid == child
    finally:
        for descriptor in (stop, end, told, tell):
            os.close(descriptor)
        os.waitpid(child, 0)


def test_a_session_that_was_left_just_now_is_gone_on_with(path: Path) -> None:
    made(path)
    with Growing.open(path, state=path.parents[3] / "state", now=path.stat().st_mtime + 1) as grown:
        assert grown.live is not None
        assert grown.live.why == "recent"


def test_what_others_add_meanwhile_is_counted_and_stays(path: Path) -> None:
    with reopen(made(path)) as grown:
        with path.open("ab") as other:
            other.write(b'{"half')
        grown.append([b"a\n"])
        assert grown.written_by_others == 6
    assert path.read_bytes() == b'x\n{"half\na\n'


@pytest.mark.parametrize("change", ["gone", "replaced", "cut"])
def test_nothing_is_written_into_a_file_that_is_no_longer_the_same(path: Path, change: str) -> None:
    with reopen(made(path, b"xxxx\n")) as grown:
        if change == "cut":
            path.write_bytes(b"x\n")
        else:
            path.unlink()
        if change == "replaced":
            path.write_bytes(b"another one\n")
        before = path.read_bytes() if path.exists() else None
        with pytest.raises(ChangedOnDiskError):
            grown.append([b"a\n"])
    assert (path.read_bytes() if path.exists() else None) == before


def test_a_closed_file_takes_nothing(path: Path) -> None:
    grown = create(path)
    grown.append([b"a\n"])
    grown.close()
    grown.close()
    with pytest.raises(NotWrittenError, match="closed"):
        grown.append([b"b\n"])
    assert path.read_bytes() == b"a\n"


def test_lines_of_several_threads_stay_whole(path: Path) -> None:
    def write(number: int) -> None:
        for line in range(50):
            grown.append([f"{number}-{line}".encode()])

    with create(path) as grown:
        threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert grown.written_by_others == 0
        assert grown.size == path.stat().st_size
    found = path.read_text().splitlines()
    assert sorted(found) == sorted(f"{n}-{i}" for n in range(4) for i in range(50))
