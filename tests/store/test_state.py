"""Where the journal and the locks lie."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from clew.store.disk import DISK, Disk
from clew.store.state import make_private, missing_folders, state_folder


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "linux", "/s/clew"),
        ({"XDG_STATE_HOME": "/s", "HOME": "/h"}, "darwin", "/s/clew"),
        ({"HOME": "/h"}, "linux", "/h/.local/state/clew"),
        ({"XDG_STATE_HOME": "", "HOME": "/h"}, "linux", "/h/.local/state/clew"),
        ({"XDG_STATE_HOME": "here", "HOME": "/h"}, "linux", "/h/.local/state/clew"),
        ({"HOME": "/h"}, "darwin", "/h/Library/Application Support/clew"),
        ({"LOCALAPPDATA": "/l", "HOME": "/h"}, "win32", "/l/clew/state"),
        ({"HOME": "/h"}, "win32", "/h/AppData/Local/clew/state"),
    ],
)
def test_each_system_has_its_place(environ: dict[str, str], platform: str, expected: str) -> None:
    assert state_folder(environ, platform=platform) == Path(expected)


def test_without_being_told_it_is_the_users_own() -> None:
    assert state_folder().is_relative_to(Path.home())
    assert state_folder({}, platform="linux") == Path.home() / ".local" / "state" / "clew"


def test_every_folder_that_is_made_is_private(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b" / "c"
    assert missing_folders(str(deep)) == [str(tmp_path / part) for part in ("a", "a/b", "a/b/c")]
    umask = os.umask(0)
    try:
        make_private(deep, DISK)
        make_private(deep, DISK)
    finally:
        os.umask(umask)
    for folder in (deep, deep.parent, deep.parent.parent):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert missing_folders(str(deep)) == []
    assert missing_folders("") == []


def test_another_process_may_make_them_at_the_same_time(tmp_path: Path) -> None:
    class Late(Disk):
        def make_folder(self, path: str) -> None:
            Path(path).mkdir()
            super().make_folder(path)

    make_private(tmp_path / "a" / "b", Late())
    assert (tmp_path / "a" / "b").is_dir()

    class Full(Disk):
        def make_folder(self, path: str) -> None:
            raise OSError(errno.ENOSPC, "full", path)

    with pytest.raises(OSError, match="full"):
        make_private(tmp_path / "c", Full())
