"""The calls that write: each does all of what it says, or raises."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING

import pytest

from clew.store.disk import DISK
from tests.store.lines import put

if TYPE_CHECKING:
    from pathlib import Path


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
