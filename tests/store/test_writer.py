"""The first and the last step of writing: all of it on the disk, and then a name that nobody has."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from clew.errors import ChangedOnDiskError, UnreadableError
from clew.store.source import FileSource
from clew.store.writer import (
    WINDOW,
    NotWrittenError,
    Stamp,
    TakenError,
    claim,
    confirm,
    drop,
    expect,
    prepare,
)
from tests.store.faults.disks import ERRORS, CountingDisk, FailingDisk, Killed, RefusingDisk, no_links
from tests.store.lines import put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OLD = b'{"old":1}\n' * 50


def stamp(path: Path) -> Stamp:
    with FileSource(path) as source:
        return Stamp.of(source)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


# --- all of it ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sizes",
    [(), (0,), (1,), (WINDOW,), (WINDOW - 1, 1), (WINDOW - 1, 2), (10, 0, 10), (9000, 5), (5, 9000)],
)
def test_what_is_written_is_known_again_by_its_size_its_end_and_its_time(
    tmp_path: Path, sizes: tuple[int, ...]
) -> None:
    path = tmp_path / "x"
    pieces = [os.urandom(size) for size in sizes]
    prepared = prepare(str(path), pieces, target="x.jsonl")
    seen = stamp(path)
    assert path.read_bytes() == b"".join(pieces)
    assert (prepared.size, prepared.tail) == (seen.size, seen.tail)
    assert prepared.mtime_ns == path.stat().st_mtime_ns
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_fails_leaves_nothing_and_names_what_was_to_be_written(tmp_path: Path) -> None:
    whole = CountingDisk()
    prepare(str(tmp_path / "count"), [b"a", b"b"], target="x.jsonl", disk=whole)
    assert whole.calls == ["create", "write", "write", "sync"]
    for error in ERRORS:
        for at in range(len(whole.calls)):
            with pytest.raises(NotWrittenError, match=r"^x\.jsonl was not written: ") as raised:
                prepare(str(tmp_path / "x"), [b"a", b"b"], target="x.jsonl", disk=FailingDisk(at, error))
            assert raised.value.cause == os.strerror(error)[:1].lower() + os.strerror(error)[1:]
            assert names(tmp_path) == {"count"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, Killed, ChangedOnDiskError("x")])
def test_what_the_source_of_the_pieces_raises_leaves_nothing(
    tmp_path: Path, error: BaseException | type[BaseException]
) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"one\n"
        raise error

    with pytest.raises((KeyboardInterrupt, Killed, ChangedOnDiskError)):
        prepare(str(tmp_path / "x"), pieces(), target="x.jsonl")
    assert names(tmp_path) == set()


# --- its name -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("has_links", [True, False])
def test_a_file_gets_a_name_that_is_free_and_no_other(tmp_path: Path, has_links: bool) -> None:
    disk = CountingDisk() if has_links else RefusingDisk(no_links)
    temporary, target = put(tmp_path / ".t", b"new"), tmp_path / "x.jsonl"
    assert claim(str(temporary), str(target), disk=disk) == has_links == temporary.exists()
    assert target.read_bytes() == b"new"
    second = put(tmp_path / ".s", b"second")
    with pytest.raises(TakenError, match=r"x\.jsonl was not written: there is such a file already"):
        claim(str(second), str(target), disk=disk)
    assert target.read_bytes() == b"new"
    assert second.read_bytes() == b"second"


@pytest.mark.parametrize("has_links", [True, False])
def test_a_link_that_leads_nowhere_has_its_name_too(tmp_path: Path, has_links: bool) -> None:
    disk = CountingDisk() if has_links else RefusingDisk(no_links)
    temporary, target = put(tmp_path / ".t", b"new"), tmp_path / "x.jsonl"
    target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(TakenError):
        claim(str(temporary), str(target), disk=disk)
    assert target.is_symlink()
    assert not target.exists()


@pytest.mark.parametrize("call", ["link", "replace"])
def test_a_name_that_cannot_be_given_is_an_error_that_names_it(tmp_path: Path, call: str) -> None:
    def picks(name: str, _path: str) -> int:
        return errno.EIO if name == call else no_links(name, "")

    temporary = put(tmp_path / ".t", b"new")
    with pytest.raises(NotWrittenError, match=r"x\.jsonl was not written: input/output error") as raised:
        claim(str(temporary), str(tmp_path / "x.jsonl"), disk=RefusingDisk(picks))
    assert not isinstance(raised.value, TakenError)
    assert names(tmp_path) == {".t"}


# --- what is still so ---------------------------------------------------------------------------------------


def test_a_file_that_is_as_it_was_passes_and_one_that_changed_does_not(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", OLD)
    seen = stamp(path)
    expect(str(path), seen)
    with path.open("ab") as file:
        file.write(b"more\n")
    with pytest.raises(ChangedOnDiskError):
        expect(str(path), seen)
    expect(str(path), seen, may_grow=True)


@pytest.mark.parametrize("may_grow", [True, False])
@pytest.mark.parametrize("data", [OLD[:-1], OLD[:-2] + b"!\n", b"", b"!" * len(OLD) + b"more\n"])
def test_one_that_was_cut_or_rewritten_never_passes(tmp_path: Path, data: bytes, may_grow: bool) -> None:
    path = put(tmp_path / "x.jsonl", OLD)
    seen = stamp(path)
    path.write_bytes(data)
    with pytest.raises(ChangedOnDiskError):
        expect(str(path), seen, may_grow=may_grow)


@pytest.mark.parametrize("may_grow", [True, False])
def test_another_file_of_the_same_name_never_passes(tmp_path: Path, may_grow: bool) -> None:
    path = put(tmp_path / "x.jsonl", OLD)
    seen = stamp(path)
    put(tmp_path / "y", OLD).replace(path)
    with pytest.raises(ChangedOnDiskError):
        expect(str(path), seen, may_grow=may_grow)
    path.unlink()
    with pytest.raises(UnreadableError, match="no such file"):
        expect(str(path), seen, may_grow=may_grow)


# --- what may fail ------------------------------------------------------------------------------------------


def test_a_disk_that_does_not_confirm_a_name_is_told_of_and_no_more(tmp_path: Path) -> None:
    assert confirm(str(tmp_path), disk=CountingDisk())
    assert not confirm(str(tmp_path), disk=FailingDisk(0, errno.EIO))


def test_what_is_not_wanted_is_gone_or_said_to_be_there(tmp_path: Path) -> None:
    path = put(tmp_path / "x", b"")
    assert not drop(str(path), disk=FailingDisk(0, errno.EIO))
    assert path.exists()
    assert drop(str(path), disk=CountingDisk())
    assert drop(str(path), disk=CountingDisk())
    assert not path.exists()


def test_a_file_may_have_another_time_and_other_rights(tmp_path: Path) -> None:
    then = 1_700_000_000_123_456_789
    path = tmp_path / "x"
    found = prepare(str(path), [b"one"], target=str(path), mode=0o640, mtime_ns=then)
    assert found.mtime_ns == path.stat().st_mtime_ns == then
    assert path.stat().st_mode & 0o777 == 0o640
