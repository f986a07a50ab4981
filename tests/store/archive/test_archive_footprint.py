"""What belongs to a session, and what of it can be archived."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.errors import UnreadableError
from clew.store import archive as archives
from clew.store.archive import Archive, stored_bytes
from clew.store.archive_footprint import Footprint, Opened, Part, remains
from clew.store.files import SessionFile, Store
from clew.store.heads import group_agents
from clew.store.writer import NotWrittenError
from tests.store.archives import NOW, add, get, session, tree
from tests.store.faults.disks import CountingDisk, FailingDisk
from tests.store.lines import ONE, TWO, lines, put


def the_session(root: Path) -> SessionFile:
    (file,) = Store.at([str(root)]).listing().sessions
    return file


def test_a_sub_agent_that_comes_later_is_found_when_the_footprint_is_looked_up(root: Path) -> None:
    path = session(root)
    file = the_session(root)
    fixed, looked_up = Footprint.of(file), Footprint.of(file).looked_up()
    put(path.parent / ONE / "subagents" / "agent-a2.jsonl", lines(2))
    ends = [{Path(part.path).name for part in one.others()[0]} for one in (fixed, looked_up)]
    assert ends[1] - ends[0] == {"agent-a1.jsonl", "agent-a2.jsonl"}


def test_a_file_outside_any_config_folder_belongs_to_itself_alone(tmp_path: Path) -> None:
    path = put(tmp_path / "x.jsonl", lines(2))
    file = SessionFile(str(path), "x", "", path.stat().st_size, path.stat().st_mtime_ns, 0, 0, None)
    footprint = Footprint.of(file)
    assert footprint.looked_up() is footprint
    assert footprint.main is not None
    assert (footprint.base, footprint.main.place) == (str(tmp_path), "x.jsonl")
    # One that lies elsewhere would be put back elsewhere too.
    other = put(tmp_path.parent / f"{tmp_path.name}-other" / "agent-a.jsonl", lines(1))
    agent = file._replace(path=str(other), id="agent-a")
    parts, skipped = Footprint.of(file, [agent]).others()
    assert parts == []
    assert [one.path for one in skipped] == [str(other)]


def test_what_is_left_of_a_session_whose_own_file_is_gone_is_archived_and_comes_back(
    root: Path, place: Path
) -> None:
    path = session(root)
    whole = put(path.with_name(f"{TWO}.jsonl"), lines(2))
    (path.parent / ".hidden").mkdir()
    (path.parent / "empty").mkdir()
    (path.parent / "memory").mkdir()
    put(path.parent / "memory" / "note.md", b"no session's")
    path.unlink()
    store = Store.at([str(root)])
    listing = store.listing()
    (left,) = remains(store, listing)
    assert left.main is None
    assert left.file.path == str(path)
    assert [file.path for file in listing.sessions] == [str(whole)]
    before = tree(root)
    with Archive(place, disk=CountingDisk()).adding(now_ms=NOW) as adding:
        added = adding.add(left)
        assert adding.written == 0  # a pack is written when it is full, or in the end
    assert adding.written > 0
    assert added.is_new
    names = {file.place for file in added.snapshot.manifest.files}
    assert len(names) == 7
    to = root.parent / "back"
    get(place, to)
    assert tree(to) == {name: data for name, data in before.items() if name in names}


def test_where_there_are_no_projects_nothing_is_left(root: Path) -> None:
    root.mkdir()
    store = Store.at([str(root)])
    assert remains(store, store.listing()) == []


def test_of_what_is_gone_when_it_is_added_there_is_no_snapshot(root: Path, place: Path) -> None:
    path = session(root, lines(2))
    file = the_session(root)
    agents = group_agents(Store.at([str(root)]).listing()).of(file)
    path.unlink()
    with pytest.raises(UnreadableError, match="no such file"):
        Opened(Part("x", str(path), "session"), now=0)
    with Archive(place, disk=CountingDisk()).adding(now_ms=NOW) as adding:
        with pytest.raises(UnreadableError, match="no such file"):
            adding.add(Footprint.of(file, agents))
        nothing = Footprint.of(file._replace(id="none"))._replace(main=None)
        with pytest.raises(UnreadableError, match="nothing of it is to be read"):
            adding.add(nothing)
    assert Archive(place).snapshots().found == ()


def test_a_disk_that_fails_with_a_side_file_is_no_side_file_left_out(root: Path, place: Path) -> None:
    session(root, b"")
    disk = CountingDisk()
    add(root, place.parent / "count", disk=disk)
    with pytest.raises(NotWrittenError):
        add(root, place, disk=FailingDisk(disk.calls.index("make_folder"), 28))
    assert Archive(place).snapshots().found == ()


def test_an_archive_whose_folders_are_files_is_named(tmp_path: Path) -> None:
    for name in ("packs", "snapshots"):
        put(tmp_path / "archive" / name, b"")
    archive = Archive(tmp_path / "archive")
    with pytest.raises(UnreadableError, match="snapshots cannot be read: not a directory"):
        archive.snapshots()
    with pytest.raises(UnreadableError, match="packs cannot be read: not a directory"):
        archive.packs()
    with pytest.raises(UnreadableError, match="packs cannot be read: not a directory"):
        stored_bytes(archive)


def test_how_much_an_archive_takes_is_all_of_its_files(root: Path, place: Path) -> None:
    assert stored_bytes(Archive(place)) == 0
    session(root)
    add(root, place)
    files = [path for path in place.rglob("*") if path.is_file()]
    assert stored_bytes(Archive(place)) == sum(path.stat().st_size for path in files) > 0


def test_a_manifest_that_is_too_large_or_no_file_is_named(
    root: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session(root)
    add(root, place)
    (place / "snapshots" / "folder.json").mkdir()
    monkeypatch.setattr(archives, "_LARGEST", 10)
    found = Archive(place).snapshots()
    assert found.found == ()
    large, folder = sorted((one.detail for one in found.damage), key=len)
    assert large == "it is too large"
    assert "folder.json is a folder" in folder
