"""Carrying over what somebody still writes into a file that was replaced."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

import pytest

from clew.store.carrying import NotCarriedError, Watched, carry_missing, drain
from tests.store.faults.disks import RefusingDisk, ticking
from tests.store.lines import put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    put(tmp_path / "old", b"OLD\n")
    put(tmp_path / "new", b"NEW\n")
    return Watched(str(tmp_path / "old"), str(tmp_path / "new"), 4, 4)


def adding(path: str, *parts: bytes) -> Callable[[float], None]:
    """Somebody who adds to a file, a part each time that is waited."""
    left = [*parts]

    def sleep(_seconds: float) -> None:
        if left:
            with open(path, "ab") as file:  # noqa: PTH123
                file.write(left.pop(0))

    return sleep


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (b'{"late":1}\n',),
        (b'{"late":1}\n{"torn',),
        (b'{"la', b'te":1}', b"\n", b"\n"),
        (b"a\n", b"b\n", b"c"),
    ],
)
def test_what_is_added_comes_over_an_unfinished_end_too(
    tmp_path: Path, watched: Watched, parts: tuple[bytes, ...]
) -> None:
    added = b"".join(parts)
    carried, is_quiet = drain([watched], patience=ticking(adding(watched.old, *parts)))
    assert (tmp_path / "new").read_bytes() == b"NEW\n" + added
    assert (carried, is_quiet) == ([len(added)], True)


def test_of_a_line_that_is_being_written_no_half_comes_over_before_the_other(
    tmp_path: Path, watched: Watched
) -> None:
    add = adding(watched.old, b'{"la', b'te":1}\n{"n', b'ext":1}\n')
    seen: list[bytes] = []

    def sleep(seconds: float) -> None:
        seen.append((tmp_path / "new").read_bytes())
        add(seconds)

    drain([watched], patience=ticking(sleep))
    assert len(set(seen)) == 3
    assert all(data.endswith(b"\n") for data in seen)


def test_a_line_that_somebody_is_writing_into_the_new_file_is_not_cut_in_two(
    tmp_path: Path, watched: Watched
) -> None:
    """It has opened the new file already, and what it wrote into the old one comes over meanwhile."""
    put(tmp_path / "old", b"OLD\na\nb\n")
    put(tmp_path / "new", b'NEW\n{"ha')
    drain([watched], patience=ticking(adding(watched.path, b"", b'lf":', b"1}\n", b"c\n")))
    assert (tmp_path / "new").read_bytes() == b'NEW\n{"half":1}\na\nb\nc\n'


def test_a_line_that_stays_unfinished_in_the_new_file_takes_no_other_with_it(
    tmp_path: Path, watched: Watched
) -> None:
    put(tmp_path / "old", b"OLD\na\n")
    put(tmp_path / "new", b'NEW\n{"ha')
    drain([watched], patience=ticking(adding(watched.path)))
    assert (tmp_path / "new").read_bytes() == b'NEW\n{"ha\na\n'


def test_a_line_in_the_new_file_that_never_ends_is_not_waited_for(tmp_path: Path, watched: Watched) -> None:
    put(tmp_path / "old", b"OLD\na\n")
    put(tmp_path / "new", b'NEW\n{"ha')
    drain([watched], patience=ticking(adding(watched.path, *[b"x"] * 1000)))
    before, carried, _ = (tmp_path / "new").read_bytes().partition(b"\na\n")
    assert carried
    assert 0 < before.count(b"x") < 1000


def test_the_rest_of_the_last_line_follows_its_beginning(tmp_path: Path) -> None:
    """The old file had no ending, and so has the new one."""
    put(tmp_path / "old", b'OLD\n{"la')
    put(tmp_path / "new", b'NEW\n{"la')
    watched = Watched(str(tmp_path / "old"), str(tmp_path / "new"), 8, 8)
    drain([watched], patience=ticking(adding(watched.old, b'st":1}\n', b"a\n")))
    assert (tmp_path / "new").read_bytes() == b'NEW\n{"last":1}\na\n'


def test_somebody_who_never_stops_writing_is_told_of(tmp_path: Path, watched: Watched) -> None:
    carried, is_quiet = drain([watched], patience=ticking(adding(watched.old, *[b"{}\n"] * 1000)))
    assert not is_quiet
    assert 0 < carried[0] < 3000
    assert (tmp_path / "new").read_bytes() == b"NEW\n" + b"{}\n" * (carried[0] // 3)


@pytest.mark.parametrize("call", ["open_end", "write", "sync"])
def test_what_cannot_be_carried_over_is_said_to_be_in_the_backup(watched: Watched, call: str) -> None:
    disk = RefusingDisk(lambda name, _path: errno.EACCES if name == call else 0)
    with pytest.raises(NotCarriedError, match="in its backup only: permission denied") as raised:
        drain([watched], disk=disk, patience=ticking(adding(watched.old, b"{}\n")))
    assert (raised.value.path, raised.value.backup) == (watched.path, watched.old)
    assert raised.value.hint == f"the backup is {watched.old}"


@pytest.mark.parametrize(
    ("gained", "there", "expected"),
    [
        (b"", b"x\n", b"x\n"),
        (b"a\nb\n", b"", b"a\nb\n"),
        (b"a\nb\n", b"a\n", b"a\nb\n"),
        (b"a\na\n", b"a\n", b"a\na\n"),
        (b"a\nb\n", b"x\na\nb\ny\n", b"x\na\nb\ny\n"),
        (b"abc\nd\n", b"ab", b"abc\nd\n"),
        (b"abc\nd\n", b"xy", b"xy\nabc\nd\n"),
        (b"a\nto", b"a\n", b"a\nto"),
        (b"a\nto", b"a\nto", b"a\nto"),
        (b"a\nto", b"a\nt", b"a\nto"),
        (b"a\n\n", b"a\n", b"a\n\n"),
    ],
)
def test_no_line_is_carried_over_twice(tmp_path: Path, gained: bytes, there: bytes, expected: bytes) -> None:
    old = put(tmp_path / "old", b"OLD" + gained)
    new = put(tmp_path / "new", b"NEW!" + there)
    assert carry_missing(Watched(str(old), str(new), 3), 4) == len(gained)
    assert new.read_bytes() == b"NEW!" + expected
    carry_missing(Watched(str(old), str(new), 3), 4)
    assert new.read_bytes() == b"NEW!" + expected
