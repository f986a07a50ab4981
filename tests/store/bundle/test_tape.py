"""A tape, with Python's `tarfile` and the system's `tar` as the judges."""

from __future__ import annotations

import io
import subprocess
import tarfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.store.squeezing import squeezed
from clew.store.tape import END, BadTapeError, Tape, TapeFile, header, padding

if TYPE_CHECKING:
    from pathlib import Path

NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=150).filter(
    lambda name: name not in {".", ".."}
)
PLACES = st.lists(NAMES, min_size=1, max_size=4).map("/".join)
FILES = st.dictionaries(PLACES, st.binary(max_size=1500), max_size=5)


def written(files: dict[str, bytes]) -> bytes:
    out = b"".join(
        header(name, len(data), mode=0o640, mtime_ns=1_790_000_000_000_000_000) + data + padding(len(data))
        for name, data in files.items()
    )
    return out + END


def exact(data: bytes) -> Tape:
    held = io.BytesIO(data)
    return Tape(held.read)


def read(tape: Tape) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    while (file := tape.next()) is not None:
        found[file.name.decode()] = b"".join(tape.pieces(file))
    return found


@settings(max_examples=30)
@given(FILES)
def test_what_is_written_is_what_tarfile_reads(files: dict[str, bytes]) -> None:
    with tarfile.open(fileobj=io.BytesIO(written(files))) as found:
        members = found.getmembers()
        assert [member.name for member in members] == [*files]
        for member, data in zip(members, files.values(), strict=True):
            opened = found.extractfile(member)
            assert opened is not None
            assert opened.read() == data
            assert (member.mode, member.mtime, member.uid) == (0o640, 1_790_000_000, 0)


@settings(max_examples=30)
@given(FILES)
def test_what_is_written_is_read_back(files: dict[str, bytes]) -> None:
    assert read(exact(written(files))) == files


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_what_tarfile_writes_is_read(form: int) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as made:
        for name in ("a", "d/" * 40 + "name"):
            info = tarfile.TarInfo(name)
            info.size = 5
            made.addfile(info, io.BytesIO(b"hello"))
    assert read(exact(out.getvalue()[: 4 * 512 + 1024])) == {"a": b"hello", "d/" * 40 + "name": b"hello"}


def test_names_of_every_length_come_back() -> None:
    for length in range(1, 400):
        name = ("d" * 37 + "/") * 20
        name = name[: length - 1].rstrip("/") + "x"
        with tarfile.open(fileobj=io.BytesIO(written({name: b""}))) as found:
            assert found.getnames() == [name]
        assert [*read(exact(written({name: b""})))] == [name]


def test_a_file_too_large_for_a_header_has_its_size_in_a_further_one() -> None:
    size = 20 << 30
    block = header("x", size, mode=0o600, mtime_ns=0)
    assert exact(block).next() == TapeFile(b"x", size)
    assert tarfile.TarInfo.frombuf(block[-512:], "utf-8", "strict").name == "x"


def test_times_that_a_header_has_no_room_for_are_brought_near() -> None:
    for time in (-5, 1 << 90):
        with tarfile.open(fileobj=io.BytesIO(header("x", 0, mode=0o600, mtime_ns=time) + END)) as found:
            assert found.getmembers()[0].mtime in {0, 0o77777777777}


def test_a_name_that_is_no_text_is_kept() -> None:
    name = b"caf\xe9".decode("utf-8", "surrogateescape")
    assert exact(header(name, 0, mode=0o600, mtime_ns=0) + END).next() == TapeFile(b"caf\xe9", 0)


@pytest.mark.parametrize("field", [b"size=9x", b"size=" + b"9" * 19])
def test_a_size_that_is_none_is_refused(field: bytes) -> None:
    line = b"%d %s\n" % (len(field) + 3 + (len(field) > 7), field)
    info = tarfile.TarInfo("h")
    info.size, info.type = len(line), b"x"
    data = info.tobuf() + line + padding(len(line)) + header("x", 0, mode=0o600, mtime_ns=0)
    with pytest.raises(BadTapeError):
        exact(data).next()


def test_a_nul_in_a_name_is_refused() -> None:
    line = b"12 path=a\0b\n"
    info = tarfile.TarInfo("h")
    info.size, info.type = len(line), b"x"
    with pytest.raises(BadTapeError, match="NUL"):
        exact(info.tobuf() + line + padding(len(line)) + header("x", 0, mode=0o600, mtime_ns=0)).next()


def test_the_tools_of_the_system_read_it(tmp_path: Path) -> None:
    """What a person without clew does; where there is no zstd, Python's own reading has to do."""
    files = {"manifest.json": b"{}", "projects/" + "p" * 200 + "/s.jsonl": b"line\n" * 5000}
    (tmp_path / "x.tar").write_bytes(written(files))
    (tmp_path / "x.clew").write_bytes(b"".join(squeezed([written(files)])))
    subprocess.run(["tar", "xf", "x.tar"], cwd=tmp_path, check=True)
    assert {name: (tmp_path / name).read_bytes() for name in files} == files
