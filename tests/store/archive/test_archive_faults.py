"""Archives on disks that fail, and in processes that die: what is there is whole."""

from __future__ import annotations

import errno
import os
import shutil
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from clew.store import archive_packs
from clew.store.archive import Archive
from clew.store.archive_footprint import Footprint
from clew.store.archive_restore import restore
from clew.store.files import Store
from clew.store.source import reason
from clew.store.writer import NotWrittenError
from tests.store.archives import add, drafts, get, noise, session, tree
from tests.store.faults.disks import (
    CountingDisk,
    DyingDisk,
    FailingDisk,
    RefusingDisk,
    in_a_process,
    no_links,
    start_process,
)
from tests.store.lines import ONE, TWO, lines, put

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.store.disk import Disk


def calls_of_an_add(tmp_path: Path) -> list[str]:
    root = tmp_path / "counted"
    session(root, noise(1, 1_300_000))
    disk = CountingDisk()
    add(root, tmp_path / "counting" / "archive", disk=disk)
    assert {"create", "write", "sync", "link", "unlink", "make_folder", "sync_folder"} == set(disk.calls)
    return disk.calls


def check_after_trouble(root: Path, place: Path) -> None:
    """What is there is whole, and the next add is as if nothing had been."""
    verified = Archive(place).verify()
    assert not verified.damage
    assert not verified.lost
    add(root, place, now_ms=7)
    before = tree(root)
    back = place.parent / "back"
    archive = Archive(place)
    for snapshot in archive.snapshots().newest().values():
        assert not restore(snapshot, archive.packs(), to=str(back), disk=CountingDisk()).lost
    assert tree(back) == before


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize("for_ever", [False, True])
def test_whatever_call_fails_what_is_there_is_whole_and_the_next_add_is_right(
    tmp_path: Path, error: int, for_ever: bool
) -> None:
    refused = 0
    for at, name in enumerate(calls_of_an_add(tmp_path)):
        folder = tmp_path / f"{at}-{name}"
        root, place = folder / "config", folder / "data" / "archive"
        session(root, noise(1, 1_300_000))
        try:
            add(root, place, disk=FailingDisk(at, error, for_ever=for_ever))
        except NotWrittenError as caught:
            refused += str(folder) in caught.path and caught.cause == reason(
                OSError(error, os.strerror(error))
            )
        if not for_ever and name != "unlink" and place.exists():
            assert not drafts(place)
        check_after_trouble(root, place)
        shutil.rmtree(folder)
    assert refused >= 10


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_wherever_an_add_is_killed_what_is_there_is_whole_and_the_next_add_is_right(tmp_path: Path) -> None:
    calls = calls_of_an_add(tmp_path)
    for at, name in enumerate(calls):
        folder = tmp_path / f"{at}-{name}"
        root, place = folder / "config", folder / "data" / "archive"
        session(root, noise(1, 1_300_000))
        status = in_a_process(partial(add, root, place, disk=DyingDisk(at)))
        assert os.WIFSIGNALED(status)
        check_after_trouble(root, place)
        assert not drafts(place)
        shutil.rmtree(folder)


@pytest.mark.parametrize("for_ever", [False, True])
def test_whatever_call_fails_while_putting_back_the_next_try_finishes_it(
    tmp_path: Path, for_ever: bool
) -> None:
    root, place = tmp_path / "config", tmp_path / "archive"
    session(root, lines(50))
    before = tree(root)
    add(root, place)
    counting = CountingDisk()
    get(place, tmp_path / "counted", disk=counting)
    refused = 0
    for at in range(len(counting.calls)):
        back = tmp_path / f"back{at}"
        try:
            get(place, back, disk=FailingDisk(at, errno.ENOSPC, for_ever=for_ever))
        except NotWrittenError:
            refused += 1
        found = tree(back) if back.exists() else {}
        assert all(before[name] == data for name, data in found.items() if not name.endswith(".clew"))
        get(place, back)
        assert {name: data for name, data in tree(back).items() if not name.endswith(".clew")} == before
        shutil.rmtree(back)
    assert refused > 30


@pytest.mark.parametrize("error", [errno.EPERM, errno.EOPNOTSUPP])
def test_a_file_system_without_second_names_will_do(root: Path, place: Path, error: int) -> None:
    session(root)
    before = tree(root)
    disk = RefusingDisk(lambda name, _path: error if name == "link" else 0)
    add(root, place, disk=disk)
    shutil.rmtree(root)
    get(place, root, disk=disk)
    assert "link" in disk.calls
    assert tree(root) == before
    assert not drafts(place)


def test_what_fills_several_packs_comes_back_and_a_full_disk_costs_only_what_was_not_finished(
    root: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_packs, "_FULL", 1_500_000)
    session(root, noise(1, 5_000_000))
    put(root / "projects" / "-q" / f"{TWO}.jsonl", noise(2, 5_000_000))
    counting = CountingDisk()
    add(root, place, disk=counting)
    assert len(list((place / "packs").iterdir())) >= 4
    check_after_trouble(root, place)
    last = max(at for at, name in enumerate(counting.calls) if name == "write")
    other = place.parent / "full" / "archive"
    with pytest.raises(NotWrittenError):
        add(root, other, disk=FailingDisk(last - 3, errno.ENOSPC, for_ever=True))
    assert [one.manifest.session for one in Archive(other).snapshots().found] == [ONE]
    assert sum(one.new_bytes for one in add(root, other, now_ms=9)) < 5_000_000
    check_after_trouble(root, other)


def test_a_disk_that_does_not_confirm_the_names_is_told_of(root: Path, place: Path) -> None:
    path = session(root)
    add(root, place)
    path.write_bytes(lines(3))
    file = Store.at([str(root)]).listing().sessions[0]
    counting = CountingDisk()
    with Archive(place.parent / "counted", disk=counting).adding(now_ms=1) as adding:
        adding.add(Footprint.of(file))
    assert adding.is_lasting
    assert counting.calls[-1] == "sync_folder"
    disk = FailingDisk(len(counting.calls) - 1, errno.EIO)
    with Archive(place.parent / "failing", disk=disk).adding(now_ms=1) as adding:
        adding.add(Footprint.of(file))
    assert not adding.is_lasting
    assert len(Archive(place.parent / "failing").snapshots().found) == 1


def test_a_side_file_that_vanishes_is_named_and_the_rest_is_kept(
    root: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session(root)
    gone = path.parent / ONE / "custom-title.json"
    others = Footprint.others

    def vanishing(self: Footprint) -> object:
        found = others(self)
        gone.unlink()
        return found

    monkeypatch.setattr(Footprint, "others", vanishing)
    (added,) = add(root, place)
    assert [one.path for one in added.skipped] == [str(gone)]
    assert len(added.snapshot.manifest.files) == len(tree(root))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("disk", [CountingDisk, partial(RefusingDisk, no_links)], ids=["links", "no links"])
def test_several_processes_may_add_at_once(root: Path, place: Path, disk: Callable[[], Disk]) -> None:
    session(root, noise(1, 1_500_000))
    put(root / "projects" / "-q" / f"{TWO}.jsonl", noise(2, 1_500_000))
    children = [
        start_process(partial(add, root, place, now_ms=number % 2, disk=disk())) for number in range(4)
    ]
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    check_after_trouble(root, place)
    assert not drafts(place)


def test_snapshots_are_in_the_order_in_which_they_were_made(root: Path, place: Path) -> None:
    path = session(root)
    for now in (30, 10, 20):
        path.write_bytes(lines(now))
        add(root, place, now_ms=now)
    times = [one.manifest.archived_ms for one in Archive(place).snapshots().found]
    assert all(first < second for first, second in pairwise(times))
