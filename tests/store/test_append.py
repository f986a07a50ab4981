"""Lines added to the end of a session file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.store.append import append_lines
from clew.store.disk import Disk
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("before", "after"), [(b"", b"a\nb\n"), (b"x\n", b"x\na\nb\n"), (b"x", b"x\na\nb\n")]
)
def test_lines_come_behind_what_is_there(tmp_path: Path, before: bytes, after: bytes) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(before)
    assert append_lines(str(path), [b"a", b"b"]) == len(after) - len(before)
    assert path.read_bytes() == after


class _Full(Disk):
    def write(self, descriptor: int, data: bytes) -> None:
        raise OSError(28, "No space left on device", descriptor, None, len(data))


def test_a_full_disk_is_told_with_the_file_and_the_cause(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"x\n")
    with pytest.raises(NotWrittenError, match=r"s\.jsonl was not written: no space left"):
        append_lines(str(path), [b"a"], disk=_Full())
    assert path.read_bytes() == b"x\n"
