"""Archives: what was put aside comes back byte for byte, whatever failed, was killed or was damaged."""

from __future__ import annotations

import errno
import json
import os
import random
import shutil
import stat
import struct
import threading
import time
import zlib
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.errors import ChangedOnDiskError, RefusedError
from clew.store import archive_packs
from clew.store.archive import Archive, archive_folder
from clew.store.archive_chunks import LEAST, MOST, cut
from clew.store.archive_footprint import Footprint, Opened
from clew.store.archive_manifest import is_safe
from clew.store.archive_restore import restore
from clew.store.disk import DISK
from clew.store.files import Store
from clew.store.source import reason
from clew.store.writer import NotWrittenError
from tests.store.archives import NOW, CountingDisk, add, dying, failing, session, tree, without_links
from tests.store.lines import ONE, TWO, line, lines, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from clew.store.archive_restore import Restored
    from clew.store.disk import Disk


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "data" / "archive"


def get(
    place: Path, to: Path, *, number: int = -1, partly: bool = False, disk: Disk | None = None
) -> Restored:
    archive = Archive(place)
    snapshot = archive.snapshots().found[number]
    return restore(snapshot, archive.packs(), to=str(to), partly=partly, disk=disk or CountingDisk())


@cache
def noise(seed: int, size: int) -> bytes:
    """Lines of many lengths that no compression makes small."""
    made = random.Random(seed)
    parts: list[bytes] = []
    while size > 0:
        length = min(size, int(made.expovariate(1 / 1500)) + 1)
        parts.append(made.randbytes(length - 1).replace(b"\n", b" ") + b"\n")
        size -= length
    return b"".join(parts)


# --- chunks -------------------------------------------------------------------------------------------------


def in_pieces(data: bytes, sizes: list[int]) -> Iterator[bytes]:
    at = 0
    for size in sizes:
        yield data[at : at + size]
        at += size
    yield data[at:]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 700_000)), max_size=6),
    st.lists(st.integers(0, 900_000), max_size=5),
)
@settings(max_examples=60)
def test_chunks_join_to_what_was_cut_and_do_not_depend_on_how_it_came(
    parts: list[tuple[int, int]], sizes: list[int]
) -> None:
    data = b"".join(
        noise(seed, size) if seed < 7 else bytes([seed]) * size + b"\n" * (seed - 7) for seed, size in parts
    )
    chunks = list(cut([data]))
    assert b"".join(chunks) == data
    assert list(cut(in_pieces(data, sizes))) == chunks
    assert all(LEAST <= len(chunk) <= MOST for chunk in chunks[:-1])
    assert all(0 < len(chunk) <= MOST for chunk in chunks[-1:])


def test_chunks_end_where_lines_end_unless_a_line_is_larger_than_a_chunk() -> None:
    chunks = list(cut([noise(1, 3_000_000)]))
    assert len(chunks) > 20
    assert all(chunk.endswith(b"\n") for chunk in chunks)
    giant = list(cut([b"a" * (2 * MOST + 7) + b"\n" + noise(2, 100_000)]))
    assert [len(chunk) for chunk in giant[:2]] == [MOST, MOST]


def test_a_line_more_or_less_in_the_middle_leaves_nearly_all_chunks_as_they_were() -> None:
    data = noise(3, 4_000_000)
    before = set(cut([data]))
    at = data.index(b"\n", 2_000_000) + 1
    inserted = list(cut([data[:at] + b'{"new":1}\n' + data[at:]]))
    dropped = list(cut([data[:at] + data[data.index(b"\n", at) + 1 :]]))
    assert sum(len(chunk) for chunk in inserted if chunk not in before) < 600_000
    assert sum(len(chunk) for chunk in dropped if chunk not in before) < 600_000


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


# --- not over others ----------------------------------------------------------------------------------------


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


# --- hostile and damaged archives ---------------------------------------------------------------------------


def rewrite(place: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the only snapshot as somebody would who knows how they are named."""
    (path,) = (place / "snapshots").iterdir()
    document = json.loads(path.read_bytes())
    changed = change(document)
    data = json.dumps(document if changed is None else changed).encode()
    path.unlink()
    (place / "snapshots" / f"{sha256(data).hexdigest()}.json").write_bytes(data)


Document = dict[str, Any]
Change = Callable[[Document], object]


def _in_file(**fields: object) -> Change:
    def change(document: Document) -> None:
        document["files"][0].update(fields)

    return change


def _without_files(document: Document) -> None:
    document["files"].clear()


def _a_file_twice(document: Document) -> None:
    document["files"].append(document["files"][0])


def _of_the_future(document: Document) -> None:
    document["clew-archive"] = 2


def _without_session(document: Document) -> None:
    del document["session"]


def _a_list(_document: Document) -> object:
    return [1, 2]


@pytest.mark.parametrize(
    "change",
    [
        *(
            _in_file(place=place)
            for place in (
                "../x", "projects/../../x", "/etc/x", "", ".", "..", "a//b", "a/./b", "a/", "a\0b", "x" * 5000
            )
        ),
        _in_file(kind="link"),
        _in_file(place=7),
        _in_file(size=-1),
        _in_file(size=1.5),
        _in_file(size=True),
        _in_file(mode=0o4755),
        _in_file(sha256="../../x"),
        _in_file(chunks=["zz"]),
        _in_file(chunks={"a": 1}),
        _without_files,
        _a_file_twice,
        _of_the_future,
        _without_session,
        _a_list,
    ],
)  # fmt: skip
def test_a_hostile_manifest_is_named_and_refused(root: Path, place: Path, change: Change) -> None:
    session(root)
    add(root, place)
    rewrite(place, change)
    found = Archive(place).snapshots()
    assert not found.found
    assert len(found.damage) == 1
    assert Archive(place).verify().damage


def test_a_manifest_that_was_changed_is_no_snapshot_any_more(root: Path, place: Path) -> None:
    session(root)
    add(root, place)
    (path,) = (place / "snapshots").iterdir()
    path.write_bytes(path.read_bytes().replace(b"lighthouse", b"lighthousf"))
    found = Archive(place).snapshots()
    assert not found.found
    assert "not as it was written" in found.damage[0].detail


def test_chunks_that_make_another_file_than_the_manifest_says_are_not_put_back(
    root: Path, place: Path
) -> None:
    session(root)
    add(root, place)

    def swap(document: Any) -> None:
        files = document["files"]
        files[0]["chunks"], files[-1]["chunks"] = files[-1]["chunks"], files[0]["chunks"]

    rewrite(place, swap)
    shutil.rmtree(root)
    restored = get(place, root)
    assert len(restored.lost) == 2
    assert not (root / "projects/-home-ada-lighthouse" / f"{ONE}.jsonl").exists()
    assert not [name for name in tree(root) if name.endswith(".clew")]


@pytest.mark.parametrize("place", ["C:/x", "C:x", "a\\..\\..\\x", "\\\\host\\x", "nul", "a/con"])
def test_on_windows_more_places_lead_elsewhere(place: str) -> None:
    assert not is_safe(place, on_windows=True)
    assert is_safe("projects/-p/a.jsonl", on_windows=True)


@given(st.data())
@settings(max_examples=40)
def test_damage_anywhere_is_named_and_never_comes_back_as_if_it_were_whole(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("damage")
    root, place = folder / "config", folder / "archive"
    session(root, noise(5, 1_500_000))
    before = tree(root)
    add(root, place)
    (pack,) = (place / "packs").iterdir()
    raw = bytearray(pack.read_bytes())
    at = data.draw(st.integers(0, len(raw) - 1))
    what = data.draw(st.sampled_from(["flip", "zeros", "cut", "insert"]))
    if what == "flip":
        raw[at] ^= data.draw(st.integers(1, 255))
    elif what == "zeros":
        raw[at : at + 512] = bytes([raw[at] ^ 1]) * min(512, len(raw) - at)
    elif what == "cut":
        del raw[at:]
    else:
        raw[at:at] = b"\x89clewblk?"
    pack.write_bytes(raw)
    verified = Archive(place).verify()
    assert verified.damage or verified.lost
    back = folder / "back"
    restored = get(place, back)
    lost = {one.place for one in restored.lost}
    assert lost == {place for _, place in verified.lost}
    assert tree(back) == {name: seen for name, seen in before.items() if name not in lost}
    shutil.rmtree(folder)


def test_what_is_left_of_a_damaged_file_can_be_had_in_whole_lines(root: Path, place: Path) -> None:
    path = session(root, noise(5, 4_000_000))
    whole = path.read_bytes()
    add(root, place)
    (pack,) = (place / "packs").iterdir()
    raw = bytearray(pack.read_bytes())
    raw[len(raw) // 2] ^= 255
    pack.write_bytes(raw)
    shutil.rmtree(root)
    restored = get(place, root, partly=True)
    (lost,) = restored.lost
    assert lost.is_partial
    left = path.read_bytes()
    assert 0 < lost.bytes == len(whole) - len(left) < 2_200_000
    assert set(left.splitlines()) <= set(whole.splitlines())


def test_one_damaged_block_does_not_take_the_next_with_it(root: Path, place: Path) -> None:
    session(root, noise(5, 4_000_000))
    add(root, place)
    packs = Archive(place).packs()
    assert len(packs.blocks()) >= 3
    second = packs.blocks()[1]
    raw = bytearray((place / "packs" / second.pack).read_bytes())
    raw[second.at - 30] ^= 1  # in its head: where it ends is not known then
    (place / "packs" / second.pack).write_bytes(raw)
    after = Archive(place).packs()
    assert len(after.blocks()) == len(packs.blocks()) - 1
    assert [one.offset is not None for one in after.damage] == [True]


def test_the_next_add_puts_in_again_what_a_lost_pack_held(root: Path, place: Path) -> None:
    session(root)
    add(root, place)
    for pack in (place / "packs").iterdir():
        pack.unlink()
    assert Archive(place).verify().lost
    (added,) = add(root, place)
    assert not added.is_new
    assert added.new_bytes
    assert not Archive(place).verify().lost
    before = tree(root)
    shutil.rmtree(root)
    get(place, root)
    assert tree(root) == before


def test_damaged_packs_are_set_aside_and_the_next_add_puts_in_again_what_they_lost(
    root: Path, place: Path
) -> None:
    session(root, noise(5, 4_000_000))
    before = tree(root)
    add(root, place)
    (pack,) = (place / "packs").iterdir()
    raw = bytearray(pack.read_bytes())
    raw[len(raw) // 2] ^= 255
    pack.write_bytes(raw)
    archive = Archive(place, disk=CountingDisk())
    lost = archive.verify().lost
    assert lost
    assert archive.mend() == (f"{pack}.damaged",)
    verified = archive.verify()
    assert not verified.damage
    assert verified.lost == lost  # what was sound is still there, what was not is not
    (added,) = add(root, place)
    assert 0 < added.new_bytes < 2_200_000
    assert not archive.verify().lost
    assert archive.mend() == ()
    shutil.rmtree(root)
    get(place, root)
    assert tree(root) == before


@pytest.mark.parametrize("for_ever", [False, True])
def test_whatever_call_fails_while_mending_nothing_more_is_lost(tmp_path: Path, for_ever: bool) -> None:
    root, place = tmp_path / "config", tmp_path / "archive"
    session(root, noise(5, 1_500_000))
    add(root, place)
    (pack,) = (place / "packs").iterdir()
    raw = bytearray(pack.read_bytes())
    raw[-1] ^= 255
    pack.write_bytes(raw)
    lost = Archive(place).verify().lost
    shutil.copytree(place, tmp_path / "counted")
    counting = CountingDisk()
    Archive(tmp_path / "counted", disk=counting).mend()
    refused = 0
    for at in range(len(counting.calls)):
        copy = tmp_path / f"copy{at}"
        shutil.copytree(place, copy)
        try:
            Archive(copy, disk=failing(at, errno.EIO, for_ever=for_ever)).mend()
        except NotWrittenError:
            refused += 1
        assert Archive(copy).verify().lost == lost
        Archive(copy, disk=CountingDisk()).mend()
        assert Archive(copy).verify().lost == lost
        assert not Archive(copy).verify().damage
    assert refused >= 5


def test_a_chunk_that_two_packs_hold_is_read_from_the_one_that_is_sound(root: Path, place: Path) -> None:
    session(root)
    before = tree(root)
    add(root, place)
    (pack,) = (place / "packs").iterdir()
    raw = bytearray(pack.read_bytes())
    raw[-1] ^= 255
    raw[-100] ^= 255
    for name in ("0.pack", "z.pack"):  # before and after the sound one
        (place / "packs" / name).write_bytes(raw)
    shutil.rmtree(root)
    assert not get(place, root).lost
    assert tree(root) == before


def test_a_block_that_says_it_is_huge_is_no_block(root: Path, place: Path) -> None:
    session(root)
    add(root, place)
    (pack,) = (place / "packs").iterdir()
    table = b"".join(bytes([number]) * 32 + (500 << 10).to_bytes(4, "little") for number in range(200))
    body = zlib.compress(bytes(100_000_000))
    head = b"\x89clewblk\x01" + struct.pack("<II", len(body), 200)
    head += zlib.crc32(table, zlib.crc32(head)).to_bytes(4, "little")
    (place / "packs" / "huge.pack").write_bytes(head + table + body)
    packs = Archive(place).packs()
    assert bytes(32) not in packs
    assert all(block.pack == str(pack) for block in packs.blocks())
    assert packs.damage


# --- disks that fail, processes that die --------------------------------------------------------------------


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
            add(root, place, disk=failing(at, error, for_ever=for_ever))
        except NotWrittenError as caught:
            refused += str(folder) in caught.path and caught.cause == reason(
                OSError(error, os.strerror(error))
            )
        if not for_ever and name != "unlink" and place.exists():
            assert not [found for found in tree(place) if found.endswith(".clew")]
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
        child = os.fork()
        if not child:
            try:
                add(root, place, disk=dying(at))
            finally:
                os._exit(0)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status)
        check_after_trouble(root, place)
        assert not [found for found in tree(place) if found.endswith(".clew")]
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
            get(place, back, disk=failing(at, errno.ENOSPC, for_ever=for_ever))
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
    add(root, place, disk=without_links(error))
    shutil.rmtree(root)
    get(place, root, disk=without_links(error))
    assert tree(root) == before
    assert not [name for name in tree(place) if name.endswith(".clew")]


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
        add(root, other, disk=failing(last - 3, errno.ENOSPC, for_ever=True))
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
    disk = failing(len(counting.calls) - 1, errno.EIO)
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
def test_several_processes_may_add_at_once(root: Path, place: Path) -> None:
    session(root, noise(1, 1_500_000))
    put(root / "projects" / "-q" / f"{TWO}.jsonl", noise(2, 1_500_000))
    children: list[int] = []
    for number in range(4):
        child = os.fork()
        if not child:
            code = 1
            try:
                add(root, place, now_ms=number % 2)
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    check_after_trouble(root, place)
    assert not [name for name in tree(place) if name.endswith(".clew")]


def test_snapshots_are_in_the_order_in_which_they_were_made(root: Path, place: Path) -> None:
    path = session(root)
    for now in (30, 10, 20):
        path.write_bytes(lines(now))
        add(root, place, now_ms=now)
    times = [one.manifest.archived_ms for one in Archive(place).snapshots().found]
    assert all(first < second for first, second in pairwise(times))
