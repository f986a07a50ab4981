"""Damaged archives: what is lost is named, and what is not comes back."""

from __future__ import annotations

import errno
import shutil
import struct
import zlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.store.archive import Archive
from clew.store.writer import NotWrittenError
from tests.store.archives import add, get, noise, session, tree
from tests.store.faults.disks import (
    CountingDisk,
    FailingDisk,
)

if TYPE_CHECKING:
    from pathlib import Path


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
            Archive(copy, disk=FailingDisk(at, errno.EIO, for_ever=for_ever)).mend()
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
