"""Writing: the old file or the new one, whole, whatever fails and whenever."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from typing import TYPE_CHECKING

import pytest

from clew.errors import ChangedOnDiskError
from clew.store.disk import DISK, Disk
from clew.store.source import FileSource
from clew.store.writer import NotCarriedError, NotWrittenError, Stamp, clean, write_in_place, write_new
from tests.store.lines import put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIECES = (b'{"a":1}\n', b'{"b":2}\n' * 300)
NEW = b"".join(PIECES)
OLD = b'{"old":1}\n' * 50


class FailingDisk(Disk):
    """Fails at one of its calls, once or from then on, and counts them."""

    def __init__(self, at: int = -1, *, error: int = errno.ENOSPC, for_ever: bool = False) -> None:
        self.at, self.error, self.for_ever = at, error, for_ever
        self.calls: list[str] = []

    def _count(self, name: str) -> None:
        number = len(self.calls)
        self.calls.append(name)
        # A file is let go of whatever happens: nothing a kernel says about that changes what is written.
        if name != "close" and (number == self.at or (self.for_ever and number > self.at >= 0)):
            raise OSError(self.error, os.strerror(self.error))

    def create(self, path: str, *, mode: int = 0o600) -> int:
        self._count("create")
        return super().create(path, mode=mode)

    def open_end(self, path: str) -> int:
        self._count("open_end")
        return super().open_end(path)

    def write(self, descriptor: int, data: bytes) -> None:
        try:
            self._count("write")
        except OSError:
            super().write(descriptor, data[: len(data) // 2])  # a part of it is there
            raise
        super().write(descriptor, data)

    def sync(self, descriptor: int) -> None:
        self._count("sync")
        super().sync(descriptor)

    def close(self, descriptor: int) -> None:
        self._count("close")
        super().close(descriptor)

    def link(self, source: str, target: str) -> None:
        self._count("link")
        super().link(source, target)

    def replace(self, source: str, target: str) -> None:
        self._count("replace")
        super().replace(source, target)

    def unlink(self, path: str) -> None:
        self._count("unlink")
        super().unlink(path)

    def sync_folder(self, path: str) -> None:
        self._count("sync_folder")
        super().sync_folder(path)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def stamp(path: Path) -> Stamp:
    with FileSource(path) as source:
        return Stamp.of(source)


def in_place(path: Path, disk: Disk = DISK) -> object:
    return write_in_place(
        str(path),
        PIECES,
        expected=stamp(path),
        backup=f"{path}.backup",
        disk=disk,
        sleep=_no_sleep,
        clock=_Clock(),
    )


def _no_sleep(_seconds: float) -> None:
    return


class _Clock:
    """A clock that goes on by a third of a second each time it is looked at."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        self._now += 0.3
        return self._now


# --- new files ----------------------------------------------------------------------------------------------


def test_a_new_file_is_whole_private_and_alone(tmp_path: Path) -> None:
    target = tmp_path / "new.jsonl"
    umask = os.umask(0)
    try:
        written = write_new(str(target), PIECES)
    finally:
        os.umask(umask)
    assert target.read_bytes() == NEW
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert names(tmp_path) == {"new.jsonl"}
    assert (written.bytes, written.is_lasting) == (len(NEW), True)


def test_a_file_that_is_there_is_never_written_over(tmp_path: Path) -> None:
    target = put(tmp_path / "x.jsonl", OLD)
    with pytest.raises(NotWrittenError, match="already"):
        write_new(str(target), PIECES)
    assert target.read_bytes() == OLD
    assert names(tmp_path) == {"x.jsonl"}


def test_where_there_are_no_second_names_it_is_written_all_the_same(tmp_path: Path) -> None:
    class NoLinks(FailingDisk):
        def link(self, source: str, target: str) -> None:
            raise OSError(errno.EPERM, "no links here", source, None, target)

    target = tmp_path / "new.jsonl"
    write_new(str(target), PIECES, disk=NoLinks())
    assert target.read_bytes() == NEW
    assert names(tmp_path) == {"new.jsonl"}
    with pytest.raises(NotWrittenError, match="already"):
        write_new(str(target), PIECES, disk=NoLinks())
    assert target.read_bytes() == NEW


def test_a_disk_that_fails_at_any_call_leaves_no_file_or_a_whole_one(tmp_path: Path) -> None:
    whole = FailingDisk()
    write_new(str(tmp_path / "count.jsonl"), PIECES, disk=whole)
    assert {"create", "write", "sync", "link", "unlink", "sync_folder"} <= set(whole.calls)
    failed = 0
    for error in (errno.ENOSPC, errno.EIO, errno.EDQUOT):
        for for_ever in (False, True):
            for at in range(len(whole.calls)):
                folder = tmp_path / f"{error}-{for_ever}-{at}"
                folder.mkdir()
                target = folder / "new.jsonl"
                disk = FailingDisk(at, error=error, for_ever=for_ever)
                try:
                    written = write_new(str(target), PIECES, disk=disk)
                except NotWrittenError as failure:
                    failed += _names(failure, target)
                    assert not target.exists()
                else:
                    assert target.read_bytes() == NEW
                    assert written.is_lasting or "sync_folder" in disk.calls
                # The next run finds a folder it can work in, and leaves it tidy.
                target.unlink(missing_ok=True)
                for left in folder.iterdir():
                    left.rename(folder / left.name.replace(f".{os.getpid()}-", ".999999999-"))
                write_new(str(target), PIECES)
                assert names(folder) == {"new.jsonl"}
                assert target.read_bytes() == NEW
    assert failed >= 6 * 4


def _names(error: NotWrittenError, target: Path) -> bool:
    """Say whether an error names what it is about."""
    return str(target) in error.message


def test_what_the_source_of_the_pieces_raises_leaves_nothing(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"one\n"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_new(str(tmp_path / "x"), pieces())
    assert names(tmp_path) == set()


def test_only_what_dead_writers_left_is_removed(tmp_path: Path) -> None:
    for name in (".a.999999999-0.clew", f".a.{os.getpid()}-0.clew", ".a.clew", "a.1-1.clew", ".b.1-0.clew"):
        put(tmp_path / name, b"")
    assert clean(str(tmp_path)) == [".a.999999999-0.clew"]
    assert len(names(tmp_path)) == 4
    assert clean(str(tmp_path / "nowhere")) == []


# --- in place -----------------------------------------------------------------------------------------------


def test_a_replaced_file_keeps_its_mode_and_the_old_one_is_the_backup(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", OLD)
    path.chmod(0o640)
    in_place(path)
    assert path.read_bytes() == NEW
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert (tmp_path / "x.jsonl.backup").read_bytes() == OLD
    assert names(tmp_path) == {"x.jsonl", "x.jsonl.backup"}


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", OLD)
    seen = stamp(path)
    with path.open("ab") as file:
        file.write(b"more\n")
    with pytest.raises(ChangedOnDiskError):
        write_in_place(str(path), PIECES, expected=seen, backup=f"{path}.backup")
    assert path.read_bytes() == OLD + b"more\n"
    assert names(tmp_path) == {"x.jsonl"}


def test_a_disk_that_fails_at_any_call_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    whole = FailingDisk()
    in_place(put(tmp_path / "count.jsonl", OLD), whole)
    assert "replace" in whole.calls
    outcomes: set[bytes] = set()
    for for_ever in (False, True):
        for at in range(len(whole.calls)):
            folder = tmp_path / f"{for_ever}-{at}"
            folder.mkdir()
            path = put(folder / "x.jsonl", OLD)
            disk = FailingDisk(at, error=errno.EIO, for_ever=for_ever)
            try:
                in_place(path, disk)
            except NotWrittenError:
                assert path.read_bytes() == OLD
                # Only a disk that fails for ever cannot even tidy up.
                assert for_ever or names(folder) == {"x.jsonl"}
            else:
                assert path.read_bytes() == NEW
                assert (folder / "x.jsonl.backup").read_bytes() == OLD
            outcomes.add(path.read_bytes())
    assert outcomes == {OLD, NEW}


@pytest.mark.parametrize("holds", [True, False])
def test_nothing_that_is_written_meanwhile_is_lost(tmp_path: Path, holds: bool) -> None:
    path = put(tmp_path / "x.jsonl", b'{"n":-1}\n')
    stop = threading.Event()
    count = 0

    def write() -> None:
        nonlocal count
        held = path.open("ab", buffering=0) if holds else None
        while not stop.is_set():
            line = b'{"n":%d}\n' % count
            if held is not None:
                held.write(line)
            else:
                with path.open("ab", buffering=0) as file:
                    file.write(line)
            count += 1
            time.sleep(0.001)
        if held is not None:
            held.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        edits = 0
        ends_at = time.monotonic() + 1.5
        while time.monotonic() < ends_at and edits < 3:
            with FileSource(path) as source:
                seen, data = Stamp.of(source), source.read(0, source.size)
            whole = data[: data.rfind(b"\n") + 1]
            if whole != data:
                continue
            if edits == 2 or holds:
                threading.Timer(0.1, stop.set).start()
            try:
                write_in_place(str(path), [data], expected=seen, backup=f"{path}.{edits}")
            except ChangedOnDiskError:
                continue
            edits += 1
            if holds:
                break
    finally:
        stop.set()
        writer.join()
    assert edits
    lines = path.read_bytes().splitlines()
    assert sorted(int(line[5:-1]) for line in lines) == list(range(-1, count))


# --- the disk -----------------------------------------------------------------------------------------------


def test_a_folder_is_private(tmp_path: Path) -> None:
    DISK.make_folder(str(tmp_path / "new"))
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    with pytest.raises(FileExistsError):
        DISK.make_folder(str(tmp_path / "new"))


def test_a_file_whose_mode_cannot_be_set_is_not_left_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[int] = []

    def refuse(descriptor: int, _mode: int) -> None:
        opened.append(descriptor)
        raise OSError(errno.EPERM, "no")

    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(OSError, match="no"):
        DISK.create(str(tmp_path / "x"))
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(opened[0])


def test_a_folder_that_cannot_be_asked_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = errno.EINVAL

    def refuse(_descriptor: int) -> None:
        raise OSError(said, os.strerror(said))

    monkeypatch.setattr(os, "fsync", refuse)
    DISK.sync_folder(str(tmp_path))
    said = errno.EIO
    with pytest.raises(OSError, match="Input/output"):
        DISK.sync_folder(str(tmp_path))
    with pytest.raises(FileNotFoundError):
        DISK.sync_folder(str(tmp_path / "nowhere"))


def test_only_its_owner_may_read_what_was_made_private(tmp_path: Path) -> None:
    path = put(tmp_path / "x", b"")
    path.chmod(0o644)
    DISK.make_private(str(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_a_process_left_long_ago_is_removed_though_another_has_its_id(tmp_path: Path) -> None:
    old, new = (put(tmp_path / f".a.{os.getppid()}-{number}.clew", b"") for number in range(2))
    own = put(tmp_path / f".a.{os.getpid()}-0.clew", b"")
    for path in (old, own):
        os.utime(path, (0, 0))
    assert clean(str(tmp_path)) == [old.name]
    assert names(tmp_path) == {new.name, own.name}


def test_a_name_that_is_taken_by_ourselves_is_not_taken_again(tmp_path: Path) -> None:
    for number in range(3):
        put(tmp_path / f".x.jsonl.{os.getpid()}-{number}.clew", b"")
    write_new(str(tmp_path / "x.jsonl"), PIECES)
    assert (tmp_path / "x.jsonl").read_bytes() == NEW
    assert len(names(tmp_path)) == 4


def test_a_folder_that_is_not_there_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(NotWrittenError, match="nowhere"):
        write_new(str(tmp_path / "nowhere" / "x.jsonl"), PIECES)
    with pytest.raises(NotWrittenError, match="gone"):
        write_in_place(
            str(tmp_path / "gone"), PIECES, expected=Stamp(0, 0, 0, b""), backup=str(tmp_path / "b")
        )


def test_an_unfinished_end_comes_over_too(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", OLD)
    backup = tmp_path / "b"
    seen = stamp(path)
    is_first = True

    def sleep(_seconds: float) -> None:
        nonlocal is_first
        if is_first:
            with backup.open("ab") as file:
                file.write(b'{"late":1}\n{"torn')
        is_first = False

    written = write_in_place(
        str(path), PIECES, expected=seen, backup=str(backup), sleep=sleep, clock=_Clock()
    )
    assert path.read_bytes() == NEW + b'{"late":1}\n{"torn'
    assert (written.carried, written.is_quiet) == (17, True)


def test_what_cannot_be_carried_over_is_said_to_be_in_the_backup(tmp_path: Path) -> None:
    class NoEnd(FailingDisk):
        def open_end(self, path: str) -> int:
            raise OSError(errno.EACCES, "Permission denied", path)

    path = put(tmp_path / "x.jsonl", OLD)
    backup = tmp_path / "b"

    def sleep(_seconds: float) -> None:
        with backup.open("ab") as file:
            file.write(b"{}\n")

    with pytest.raises(NotCarriedError, match="in its backup only") as raised:
        write_in_place(
            str(path),
            PIECES,
            expected=stamp(path),
            backup=str(backup),
            disk=NoEnd(),
            sleep=sleep,
            clock=_Clock(),
        )
    assert raised.value.hint == f"the backup is {backup}"
    assert path.read_bytes() == NEW
    assert backup.read_bytes() == OLD + b"{}\n"


def test_somebody_who_never_stops_writing_is_told_of(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", OLD)
    backup = tmp_path / "b"

    def sleep(_seconds: float) -> None:
        with backup.open("ab") as file:
            file.write(b"{}\n")

    written = write_in_place(
        str(path), PIECES, expected=stamp(path), backup=str(backup), sleep=sleep, clock=_Clock()
    )
    assert not written.is_quiet
    assert written.carried > 0
