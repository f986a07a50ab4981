"""Exports are written whole or not at all, over nothing that nobody gave up, and for their owner alone."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from clew.errors import RefusedError, UsageError
from clew.store import outputs
from clew.store.writer import NotWrittenError
from tests.store.faults.disks import ERRORS, CountingDisk, FailingDisk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIECES = (b"one\n", b"", b"two\n")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_new_file_is_whole_and_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        pieces = outputs.Digested(PIECES)
        found = outputs.write_output(str(tmp_path / "x"), pieces)
    finally:
        os.umask(old)
    path = tmp_path / "x"
    assert path.read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (found.size, pieces.digest) == (8, outputs.digest_of(str(path)))
    assert names(tmp_path) == {"x"}


def test_what_is_there_is_replaced_only_on_request_and_then_at_once(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(0o644)
    with pytest.raises(RefusedError):
        outputs.write_output(str(path), PIECES)
    assert path.read_bytes() == b"old"
    outputs.write_output(str(path), PIECES, replace=True)
    assert path.read_bytes() == b"one\ntwo\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_folders_and_missing_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "folder", tmp_path / "missing" / "x"):
        with pytest.raises(UsageError):
            outputs.write_output(str(path), PIECES, replace=True)
    with pytest.raises(NotWrittenError):
        outputs.write_output(str(tmp_path / ("x" * 300)), PIECES)


def test_what_the_source_of_the_pieces_raises_leaves_what_was_there(tmp_path: Path) -> None:
    def broken() -> object:
        yield b"new"
        raise KeyError("broken")

    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(KeyError):
        outputs.write_output(str(tmp_path / "x"), broken(), replace=True)  # type: ignore[arg-type]
    assert (tmp_path / "x").read_bytes() == b"old"
    assert names(tmp_path) == {"x"}


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("error", ERRORS)
def test_a_disk_that_fails_at_any_call_leaves_the_old_file_or_the_new_one(
    tmp_path: Path, error: int, replace: bool
) -> None:
    whole = CountingDisk()
    (tmp_path / "count").mkdir()
    outputs.write_output(str(tmp_path / "count" / "x"), PIECES, replace=replace, disk=whole)
    for at, name in enumerate(whole.calls):
        folder = tmp_path / f"{at}"
        folder.mkdir()
        path = folder / "x"
        if replace:
            path.write_bytes(b"old")
        disk = FailingDisk(at, error)
        if name == "unlink":
            outputs.write_output(str(path), PIECES, replace=replace, disk=disk)
        else:
            with pytest.raises(NotWrittenError):
                outputs.write_output(str(path), PIECES, replace=replace, disk=disk)
        assert disk.failures
        if path.exists():
            assert path.read_bytes() in {b"old", b"one\ntwo\n"}
        assert path.exists() >= replace
        assert name == "unlink" or names(folder) <= {"x"}


def test_a_line_is_added_and_the_file_made_for_it(tmp_path: Path) -> None:
    path = str(tmp_path / "lines")
    outputs.add_line(path, b"one\n")
    outputs.add_line(path, b"two\n")
    assert outputs.read_output(path, most=100) == b"one\ntwo\n"
    assert outputs.read_output(path, most=3) == b""
    assert outputs.read_output(str(tmp_path / "none"), most=3) == b""
    (tmp_path / "link").symlink_to(tmp_path / "lines")
    with pytest.raises(NotWrittenError):
        outputs.add_line(str(tmp_path / "link"), b"three\n")


def test_a_file_beside_another_takes_its_place(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"old")
    temporary = outputs.beside(str(path))
    assert outputs.is_folder(str(tmp_path))
    with open(temporary, "wb") as file:  # noqa: PTH123
        file.write(b"new")
    assert outputs.take_over(temporary, str(path)) == str(path)
    assert path.read_bytes() == b"new"
    assert names(tmp_path) == {"x"}
    with pytest.raises(NotWrittenError):
        outputs.take_over(temporary, str(path))


def test_what_is_written_aside_is_whole_on_the_disk_and_settles_with_the_others(tmp_path: Path) -> None:
    disk = CountingDisk()
    temporary = outputs.beside(str(tmp_path / "x"))
    written = outputs.write_aside(temporary, PIECES, disk=disk)
    assert written == outputs.write_output(str(tmp_path / "y"), PIECES)._replace(path=temporary)
    assert disk.calls[-2:] == ["sync", "replace"]
    assert "sync_folder" not in disk.calls
    outputs.take_over(temporary, str(tmp_path / "x"), settles=False, disk=disk)
    assert "sync_folder" not in disk.calls
    assert (tmp_path / "x").read_bytes() == b"".join(PIECES)

    def failing() -> Iterator[bytes]:
        yield b"half"
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        outputs.write_aside(temporary, failing())
    assert names(tmp_path) == {"x", "y"}


def test_what_was_left_unfinished_goes_when_the_folder_is_used_again(tmp_path: Path) -> None:
    (tmp_path / ".export.999999999-3.clew").write_bytes(b"half")
    assert outputs.make_output_folder(str(tmp_path)) == str(tmp_path)
    assert names(tmp_path) == set()


def test_where_nothing_can_be_looked_up_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotWrittenError):
        outputs.is_there(f"{tmp_path}/nul\0")
    with pytest.raises(NotWrittenError):
        outputs.add_line(str(tmp_path / "missing" / "x"), b"line\n")
    assert outputs.size_of(str(tmp_path)) is None


def test_many_pieces_are_written_as_one_and_a_race_for_the_name_is_lost_politely(tmp_path: Path) -> None:
    class Racing(CountingDisk):
        def link(self, source: str, target: str) -> None:
            (tmp_path / "y").write_bytes(b"theirs")
            super().link(source, target)

    disk = CountingDisk()
    outputs.write_output(str(tmp_path / "x"), [b"x" * 1000] * 1000, disk=disk)
    assert disk.calls.count("write") == 4
    with pytest.raises(RefusedError):
        outputs.write_output(str(tmp_path / "y"), PIECES, disk=Racing())
    assert (tmp_path / "y").read_bytes() == b"theirs"
    assert outputs.make_output_folder(str(tmp_path / "a" / "b")) == str(tmp_path / "a" / "b")
    assert outputs.is_folder(str(tmp_path / "a" / "b"))
