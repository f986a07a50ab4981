"""Archives: what was put aside comes back byte for byte."""

from __future__ import annotations

import os
import shutil
import stat
import threading
import time
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import ChangedOnDiskError
from clew.store.archive import Archive, archive_folder
from clew.store.archive_chunks import MOST
from clew.store.archive_footprint import Opened
from clew.store.disk import DISK
from tests.store.archives import NOW, add, get, noise, session, tree
from tests.store.lines import ONE, TWO, line, lines, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


# --- there and back -----------------------------------------------------------------------------------------


def test_a_session_comes_back_with_all_that_belonged_to_it(root: Path, place: Path) -> None:
    session(root)
    before = tree(root)
    (added,) = add(root, place, disk=DISK)
    assert added.is_new
    assert not added.skipped
    shutil.rmtree(root)
    restored = get(place, root, disk=DISK)
    assert tree(root) == before
    assert len(restored.put) == len(before)
    assert restored.put[-1] == restored.path == str(root / "projects/-home-ada-lighthouse" / f"{ONE}.jsonl")
    assert not restored.kept
    assert not restored.lost


def test_each_file_is_named_by_the_digest_that_other_programs_print(root: Path, place: Path) -> None:
    path = session(root)
    (added,) = add(root, place)
    manifest = added.snapshot.manifest
    assert manifest.main.digest == sha256(path.read_bytes()).hexdigest()
    assert {file.kind for file in manifest.files} == {
        "session", "agent", "meta", "tool-result", "title", "file-history", "todo", "task",
    }  # fmt: skip


def test_what_is_put_back_has_the_time_of_now_and_only_its_owner_may_write_it(
    root: Path, place: Path
) -> None:
    path = session(root)
    os.utime(path, (1, 1))
    path.chmod(0o666)
    (added,) = add(root, place)
    assert added.snapshot.manifest.main.mtime_ns == 1_000_000_000
    shutil.rmtree(root)
    get(place, root)
    assert abs(path.stat().st_mtime - time.time()) < 60
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.skipif(os.name != "posix", reason="modes are of POSIX")
def test_nobody_else_may_look_into_an_archive(root: Path, place: Path) -> None:
    session(root)
    before = os.umask(0)
    try:
        add(root, place)
    finally:
        os.umask(before)
    for path in (place, *place.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_a_second_add_of_the_same_bytes_writes_nothing_at_all(root: Path, place: Path) -> None:
    path = session(root)
    (first,) = add(root, place)
    before = tree(place.parent, times=True)
    os.utime(path, (5, 5))
    (second,) = add(root, place, now_ms=first.snapshot.manifest.archived_ms + 1)
    assert not second.is_new
    assert second.snapshot.id == first.snapshot.id
    assert tree(place.parent, times=True) == before


def test_a_session_that_went_back_to_what_it_was_is_what_comes_back(root: Path, place: Path) -> None:
    path = session(root, lines(5))
    for now, count in ((1, 5), (2, 9), (3, 5)):
        path.write_bytes(lines(count))
        assert add(root, place, now_ms=now)[0].is_new
    path.unlink()
    get(place, root)
    assert path.read_bytes() == lines(5)


def test_a_fork_of_a_session_costs_only_what_it_adds(root: Path, place: Path) -> None:
    path = session(root, noise(1, 3_000_000))
    add(root, place)
    fork = put(path.with_name(f"{TWO}.jsonl"), path.read_bytes() + line(9, session=TWO))
    added = {one.footprint.file.id: one for one in add(root, place, now_ms=NOW + 1)}
    assert added[TWO].is_new
    assert added[TWO].new_bytes < MOST
    fork.unlink()
    get(place, root, number=-1)
    assert fork.read_bytes() == path.read_bytes() + line(9, session=TWO)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("append"), st.integers(0, 300_000)),
            st.tuples(st.just("cut"), st.integers(0, 300_000)),
            st.tuples(st.just("rewrite"), st.integers(0, 300_000)),
        ),
        max_size=6,
    ),
    st.integers(0, 1000),
)
@settings(max_examples=20)
def test_every_version_of_a_session_comes_back_and_what_they_share_is_kept_once(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int]], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("versions")
    root, place = folder / "config", folder / "archive"
    path = session(root, noise(seed, 400_000))
    versions: list[bytes] = []
    for number, (what, size) in enumerate([("append", 0), *changes]):
        data = path.read_bytes()
        kept = data if what == "append" else data[: max(0, len(data) - size)]
        more = b"" if what == "cut" else noise(seed + number + 1, size)
        path.write_bytes(kept + more)
        (added,) = add(root, place, now_ms=number)
        assert added.is_new == (not versions or versions[-1] != kept + more)
        if added.is_new:
            versions.append(kept + more)
        if number:
            # What stands before the change is there already, but for the chunk that the change is in.
            assert added.new_bytes <= len(more) + MOST
    assert not Archive(place).verify().damage
    for number, data in enumerate(versions):
        to = folder / f"back{number}"
        assert not get(place, to, number=number).lost
        assert (to / path.relative_to(root)).read_bytes() == data
    shutil.rmtree(folder)


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX")
def test_names_that_are_no_utf8_come_back_as_they_were(root: Path, place: Path) -> None:
    path = session(root)
    odd = os.fsdecode(b"caf\xe9 \\ \n.txt")
    put(path.parent / ONE / "tool-results" / odd, b"odd")
    before = tree(root)
    add(root, place)
    shutil.rmtree(root)
    get(place, root)
    assert tree(root) == before


def test_links_among_the_side_files_are_not_followed_but_named(
    root: Path, place: Path, tmp_path: Path
) -> None:
    path = session(root)
    secret = put(tmp_path / "secret", b"key")
    (path.parent / ONE / "tool-results" / "link").symlink_to(secret)
    (added,) = add(root, place)
    assert [os.path.basename(one.path) for one in added.skipped] == ["link"]  # noqa: PTH119
    assert all(b"key" not in data for data in tree(place).values() if isinstance(data, bytes))


def test_the_archive_is_in_the_folder_for_data() -> None:
    assert str(archive_folder({"XDG_DATA_HOME": "/d"}, platform="linux")) == "/d/clew/archive"
    assert str(archive_folder({"HOME": "/h"}, platform="linux")) == "/h/.local/share/clew/archive"
    assert str(archive_folder({"HOME": "/h", "XDG_DATA_HOME": "d"}, platform="darwin")) == (
        "/h/Library/Application Support/clew/archive"
    )


# --- live sessions ------------------------------------------------------------------------------------------


def test_of_a_session_that_is_being_written_the_whole_lines_are_kept(root: Path, place: Path) -> None:
    path = session(root, lines(4) + b'{"type":"user","mess')
    now = int(path.stat().st_mtime * 1000)
    (added,) = add(root, place, now_ms=now)
    assert added.snapshot.manifest.main.digest == sha256(lines(4)).hexdigest()
    # An hour later nobody will finish the line, and it is kept as it is.
    (added,) = add(root, place, now_ms=now + 3_600_000)
    assert added.snapshot.manifest.main.size == path.stat().st_size


def test_a_live_session_without_any_whole_line_is_empty(root: Path, place: Path) -> None:
    path = session(root, b"{" * 3_000_000)
    (added,) = add(root, place, now_ms=int(path.stat().st_mtime * 1000))
    assert added.snapshot.manifest.main.size == 0


def test_a_session_that_is_cut_while_it_is_read_is_read_again(
    root: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session(root, noise(1, 3_000_000))
    pieces = Opened.pieces
    times: list[int] = []

    def cutting(self: Opened) -> Iterator[bytes]:
        for piece in pieces(self):
            yield piece
            if self.source.path == str(path) and not times:
                times.append(1)
                path.write_bytes(noise(2, 500_000))

    monkeypatch.setattr(Opened, "pieces", cutting)
    (added,) = add(root, place)
    assert times
    assert added.snapshot.manifest.main.digest == sha256(noise(2, 500_000)).hexdigest()
    assert not Archive(place).verify().damage


def test_a_session_that_never_holds_still_is_an_error_and_no_snapshot(
    root: Path, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = session(root, noise(1, 3_000_000))
    pieces = Opened.pieces

    def cutting(self: Opened) -> Iterator[bytes]:
        for piece in pieces(self):
            yield piece
            path.unlink(missing_ok=True)
            path.write_bytes(noise(2, 2_000_000))

    monkeypatch.setattr(Opened, "pieces", cutting)
    with pytest.raises(ChangedOnDiskError):
        add(root, place)
    assert not Archive(place).snapshots().found


def test_beside_a_writer_every_snapshot_is_a_beginning_of_the_session_in_whole_lines(
    root: Path, place: Path
) -> None:
    path = session(root, b"")
    stop = threading.Event()

    def write() -> None:
        number = 0
        with path.open("ab", buffering=0) as file:
            while not stop.is_set():
                number += 1
                raw = line(number)
                file.write(raw[:40])
                file.write(raw[40:])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(15):
            add(root, place, now_ms=int(time.time() * 1000) + number)
    finally:
        stop.set()
        writer.join()
    whole = path.read_bytes()
    found = Archive(place).snapshots().found
    assert len(found) > 5
    for snapshot in found:
        size = snapshot.manifest.main.size
        assert sha256(whole[:size]).hexdigest() == snapshot.manifest.main.digest
        assert not size or whole[:size].endswith(b"\n")
