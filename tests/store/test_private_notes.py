"""Notes in the state folder: the owner's alone, whole or not there."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest

from clew.errors import ClewError
from clew.store.private_notes import drop_note, read_note, write_note

if TYPE_CHECKING:
    from pathlib import Path


def test_a_note_is_read_as_it_was_written_by_its_owner_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state" / "web"
    for data in (b"one", b"", b"another\n"):
        path = write_note(folder, "note", data)
        assert read_note(folder, "note") == data
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [one.name for one in folder.iterdir()] == ["note"]
    drop_note(folder, "note")
    drop_note(folder, "note")
    assert read_note(folder, "note") is None


def test_what_is_no_file_is_no_note_and_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    assert read_note(tmp_path, "folder") is None
    secret = tmp_path / "secret"
    secret.write_bytes(b"keep")
    (tmp_path / "note").symlink_to(secret)
    write_note(tmp_path, "note", b"mine")
    assert secret.read_bytes() == b"keep"
    assert not (tmp_path / "note").is_symlink()


def test_what_is_in_the_way_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "note").mkdir()
    with pytest.raises((ClewError, OSError)):
        write_note(tmp_path, "note", b"x")
