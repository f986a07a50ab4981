"""Putting back: never over another file, and never through a link."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.errors import RefusedError
from tests.store.archives import add, get, session, tree
from tests.store.faults.disks import CountingDisk
from tests.store.lines import ONE, line

if TYPE_CHECKING:
    from collections.abc import Callable


def _changed(data: bytes) -> bytes:
    return data[:-1] + b"!"


def _shorter(data: bytes) -> bytes:
    return data[:-5]


def _longer(data: bytes) -> bytes:
    return data + line(999)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_changed, "another file"),
        (_shorter, "another file"),
        (_longer, "has grown"),
    ],
)
def test_a_file_that_differs_is_never_written_over(
    root: Path, place: Path, change: Callable[[bytes], bytes], says: str
) -> None:
    path = session(root)
    add(root, place)
    (path.parent / ONE / "custom-title.json").unlink()
    path.write_bytes(change(path.read_bytes()))
    before = tree(root)
    with pytest.raises(RefusedError, match=says) as caught:
        get(place, root)
    assert caught.value.exit_code == 4
    assert tree(root) == before


def test_what_is_there_just_so_is_left_alone(root: Path, place: Path) -> None:
    path = session(root)
    add(root, place)
    gone = path.parent / ONE / "custom-title.json"
    gone.unlink()
    before = tree(root, times=True)
    restored = get(place, root)
    assert restored.put == (str(gone),)
    after = tree(root, times=True)
    assert {name: after[name] for name in before if not name.endswith(ONE)} == {
        name: seen for name, seen in before.items() if not name.endswith(ONE)
    }


@pytest.mark.parametrize("where", ["projects", f"projects/-home-ada-lighthouse/{ONE}", "todos"])
def test_nothing_is_put_back_through_a_link(root: Path, place: Path, tmp_path: Path, where: str) -> None:
    session(root)
    add(root, place)
    shutil.rmtree(root)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / where).parent.mkdir(parents=True)
    (root / where).symlink_to(elsewhere)
    with pytest.raises(RefusedError, match="link"):
        get(place, root)
    assert not list(elsewhere.iterdir())


def test_a_link_in_the_place_of_a_file_is_refused(root: Path, place: Path, tmp_path: Path) -> None:
    path = session(root)
    add(root, place)
    path.unlink()
    path.symlink_to(tmp_path / "nothing")
    with pytest.raises(RefusedError, match="link"):
        get(place, root)
    assert not (tmp_path / "nothing").exists()


def test_when_the_session_is_there_all_that_belongs_to_it_is_on_the_disk(root: Path, place: Path) -> None:
    class Told(CountingDisk):
        def __init__(self) -> None:
            super().__init__()
            self.told: list[tuple[str, str]] = []

        def met(self, name: str, path: str) -> None:
            super().met(name, path)
            self.told.append((name, path))

        def link(self, source: str, target: str) -> None:
            super().link(source, target)
            self.told.append(("named", target))

    path = session(root)
    add(root, place)
    shutil.rmtree(root)
    disk = Told()
    get(place, root, disk=disk)
    at = disk.told.index(("named", str(path)))
    sides = [(number, name) for number, (what, name) in enumerate(disk.told) if what == "named"][:-1]
    assert len(sides) > 2
    for number, name in sides:
        folder = str(Path(name).parent)
        assert ("sync_folder", folder) in disk.told[number:at], name
