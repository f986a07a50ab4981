"""Opening files safely and reading them as they were."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import ChangedOnDiskError, NotARegularFileError, UnreadableError
from clew.store import source as module
from clew.store.source import FileSource, open_regular, reason, seek_and_read, what_is
from tests.store.lines import put


def test_reading_gives_the_bytes_asked_for(tmp_path: Path) -> None:
    with FileSource(put(tmp_path / "x.jsonl", b"0123456789")) as source:
        assert source.size == 10
        assert source.read(0, 4) == b"0123"
        assert source.read(4, 100) == b"456789"
        assert source.read(10, 5) == source.read(99, 5) == source.read(3, 0) == b""
        assert repr(source).endswith("x.jsonl', 10 bytes)")


def test_bytes_added_later_are_not_seen(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b"one\n")
    with FileSource(path) as source:
        with path.open("ab") as file:
            file.write(b"two\n")
        assert source.read(0, 100) == b"one\n"
        assert source.readline()(100) == b"one\n"
        assert source.change() is None


def test_a_cut_file_is_an_error_and_never_silently_short(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b"x" * 10_000)
    with FileSource(path) as source:
        os.truncate(path, 5_000)
        assert source.read(0, 5_000) == b"x" * 5_000
        assert source.change() == "cut"
        assert not source.was_cut
        with pytest.raises(ChangedOnDiskError):
            source.read(4_000, 2_000)
        assert source.was_cut


def test_reading_lines_ends_where_the_file_was_cut(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b"one\ntwo\nthree\n")
    with FileSource(path) as source:
        readline = source.readline(buffer=4)
        assert readline(100) == b"one\n"
        os.truncate(path, 6)
        assert readline(100) == b"tw"
        assert readline(100) == b""
        assert source.was_cut
        assert source.size == 6
        assert source.read(0, 100) == b"one\ntw"
        assert source.change() == "cut"


def test_reading_lines_stops_at_the_end_that_was_set(tmp_path: Path) -> None:
    with FileSource(put(tmp_path / "x.jsonl", b"one\ntwo\nthree\n")) as source:
        readline = source.readline(end=6)
        assert [readline(100), readline(100), readline(100)] == [b"one\n", b"tw", b""]
        assert not source.was_cut


def test_short_reads_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def three(descriptor: int, length: int, offset: int) -> bytes:
        return os.pread(descriptor, min(3, length), offset)

    monkeypatch.setattr(module, "read_at", three)
    with FileSource(put(tmp_path / "x.jsonl", b"0123456789")) as source:
        assert source.read(1, 8) == b"12345678"
        assert source.readline()(100) == b"0123456789"


def test_an_error_of_the_disk_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(descriptor: int, length: int, offset: int) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = put(tmp_path / "x.jsonl", b"0123456789")
    monkeypatch.setattr(module, "read_at", broken)
    with FileSource(path) as source, pytest.raises(UnreadableError) as caught:
        source.read(0, 1)
    assert caught.value.path == str(path)
    assert caught.value.cause == "input/output error"


@given(st.binary(max_size=200), st.integers(0, 250), st.integers(0, 250))
def test_seeking_reads_what_pread_reads(data: bytes, offset: int, length: int) -> None:
    descriptor = os.memfd_create("x")
    try:
        os.write(descriptor, data)
        assert seek_and_read(descriptor, length, offset) == os.pread(descriptor, length, offset)
    finally:
        os.close(descriptor)


def test_what_was_deleted_or_replaced_is_still_read_and_is_told(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", b"old")
    with FileSource(path) as source:
        put(tmp_path / "y.jsonl", b"new").rename(path)
        assert source.read(0, 3) == b"old"
        assert source.change() == "replaced"
        path.unlink()
        assert source.change() == "deleted"
        assert source.read(0, 3) == b"old"


def rewrite_end(path: Path, at: int) -> None:
    """Cut the end away and write another of the same length, as the client does."""
    size = path.stat().st_size
    os.truncate(path, at)
    with path.open("ab") as file:
        file.write(b"n" * (size - at))


def test_two_parts_of_a_file_whose_end_was_rewritten_between_them_are_not_put_together(
    tmp_path: Path,
) -> None:
    part = 1 << 17
    path = put(tmp_path / "x.jsonl", b"o" * 3 * part)
    with FileSource(path) as source:
        assert source.read(0, part) == b"o" * part
        with path.open("ab") as file:
            file.write(b"more")
        assert source.read(part, part) == b"o" * part
        rewrite_end(path, 2 * part + 100)
        assert source.read(2 * part, 100) == b"o" * 100
        assert not source.was_cut
    with FileSource(path) as source:
        source.read(0, part)
        rewrite_end(path, part - 1)
        assert source.read(5, 5) == b"o" * 5
        assert source.read(part, part) == b"n" * part, "only parts that follow each other are one"
        rewrite_end(path, part)
        assert source.read(2 * part, 10) == b"n" * 10, "rewritten to the same bytes"
    with FileSource(path) as source:
        source.read(0, part)
        rewrite_end(path, 0)
        with pytest.raises(ChangedOnDiskError):
            source.read(part, 10)
        assert source.was_cut


def test_lines_end_where_the_end_of_the_file_was_rewritten(tmp_path: Path) -> None:
    lines = [b"%07d\n" % number for number in range(30_000)]
    path = put(tmp_path / "x.jsonl", b"".join(lines))
    with FileSource(path) as source:
        readline = source.readline(buffer=1 << 16)
        assert readline(100) == lines[0]
        rewrite_end(path, (1 << 16) - 3)
        rest = list(iter(lambda: readline(100), b""))
        assert rest == lines[1 : (1 << 16) // 8]
        assert source.was_cut


def test_a_pipe_is_never_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.jsonl")
    with pytest.raises(NotARegularFileError) as caught:
        FileSource(tmp_path / "x.jsonl")
    assert caught.value.what == "a pipe"


def test_a_pipe_put_in_the_place_of_a_file_does_not_hang(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = put(tmp_path / "x.jsonl", b"old")
    real_open = os.open
    opened: list[int] = []

    def swapped(name: str, flags: int) -> int:
        path.unlink()
        os.mkfifo(path)
        opened.append(real_open(name, flags))
        return opened[-1]

    monkeypatch.setattr(os, "open", swapped)
    with pytest.raises(NotARegularFileError):
        open_regular(str(path))
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(opened[0])


def test_a_folder_a_device_and_a_socket_are_never_opened(tmp_path: Path) -> None:
    with pytest.raises(NotARegularFileError, match="a folder"):
        FileSource(tmp_path)
    with pytest.raises(NotARegularFileError, match="a device"):
        FileSource("/dev/zero")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s.jsonl"))
        with pytest.raises(NotARegularFileError, match="a socket"):
            FileSource(tmp_path / "s.jsonl")


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (stat.S_IFREG, None),
        (stat.S_IFDIR, "a folder"),
        (stat.S_IFBLK, "a device"),
        (stat.S_IFLNK, "not a regular file"),
    ],
)
def test_kinds_of_files_are_named(kind: int, name: str | None) -> None:
    assert what_is(kind | 0o644) == name


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "loop.jsonl").symlink_to(tmp_path / "loop.jsonl")
    causes: list[str] = []
    for path in ("missing.jsonl", "loop.jsonl", "a\0b"):
        with pytest.raises(UnreadableError) as caught:
            FileSource(tmp_path / path)
        causes.append(caught.value.cause)
    assert causes == ["no such file or directory", "a loop of symbolic links", "embedded null byte"]

    def forbidden(name: str, flags: int) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)

    path = put(tmp_path / "x.jsonl", b"x")
    monkeypatch.setattr(os, "open", forbidden)
    with pytest.raises(UnreadableError, match="permission denied"):
        FileSource(path)


def test_an_error_without_words_is_named_by_its_type() -> None:
    assert reason(OSError()) == "OSError"


def test_a_file_is_let_go_of_when_no_one_looks_at_it(tmp_path: Path) -> None:
    source = FileSource(put(tmp_path / "x.jsonl", b"x"))
    before = len(list(Path("/proc/self/fd").iterdir()))
    del source
    assert len(list(Path("/proc/self/fd").iterdir())) == before - 1
