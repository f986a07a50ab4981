"""Files put into a bundle and laid out again."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from clew.errors import ChangedOnDiskError, UnreadableError
from clew.store.archive_footprint import Part
from clew.store.archive_manifest import Manifest
from clew.store.bundle import Bundle, Member, member_of, unpack
from clew.store.stage import staging
from tests.store.bundles import FILES, FOLDER, MAIN, SESSION, listed
from tests.store.lines import put

if TYPE_CHECKING:
    from pathlib import Path

NOW_MS = 1_790_000_000_000
EMPTY = Manifest(SESSION, "/home/ada/.claude", True, FOLDER, NOW_MS, (), cwd="/home/ada/lighthouse")


def members(root: Path) -> list[Member]:
    """All files of a session, as they are on the disk."""
    found: list[Member] = []
    for place, data in FILES.items():
        path = put(root / place, data)
        kind = "session" if place == MAIN else "other"
        found.append(member_of(Part(place, str(path), kind), place, now=NOW_MS / 1000))
    return found


def made(found: list[Member]) -> Bundle:
    return Bundle.of(EMPTY, found, is_redacted=False, made_by="a test")


def test_what_is_packed_is_what_tarfile_finds_and_what_is_laid_out(tmp_path: Path) -> None:
    bundle = made(members(tmp_path / "a"))
    data = b"".join(bundle.pieces())
    found = listed(data)
    assert json.loads(found.pop("manifest.json"))["files"][-1]["place"] == MAIN
    assert found == FILES
    with staging(tmp_path / "s") as stage:
        about = unpack(io.BytesIO(data).read, stage, path="x.clew")
        assert about == bundle.about
        for place, expected in FILES.items():
            with open(stage.path(place), "rb") as file:  # noqa: PTH123
                assert file.read() == expected


def test_the_same_files_make_the_same_bundle(tmp_path: Path) -> None:
    found = members(tmp_path)
    assert b"".join(made(found).pieces()) == b"".join(made(found).pieces())


@pytest.mark.parametrize(
    "now", [b"", b"other bytes of any length, and more of them than there were before\n" * 9]
)
def test_a_file_that_is_another_one_by_now_is_told(tmp_path: Path, now: bytes) -> None:
    found = members(tmp_path)
    bundle = made(found)
    (tmp_path / MAIN).write_bytes(now)
    with pytest.raises(ChangedOnDiskError):
        list(bundle.pieces())


def test_a_file_that_gives_more_than_it_did_is_told(tmp_path: Path) -> None:
    given = [b"one"]
    member = Member(MAIN, "session", 0o600, 0, str(tmp_path), lambda: given)
    bundle = made([member])
    given.append(b"two")
    with pytest.raises(ChangedOnDiskError):
        list(bundle.pieces())


def test_a_file_that_has_grown_is_taken_as_it_was(tmp_path: Path) -> None:
    bundle = made(members(tmp_path))
    with (tmp_path / MAIN).open("ab") as file:
        file.write(b"another line\n")
    assert listed(b"".join(bundle.pieces()))[MAIN] == FILES[MAIN]


def test_more_files_than_a_bundle_may_have_are_not_packed() -> None:
    member = Member("x", "other", 0o600, 0, "/x", tuple[bytes])
    with pytest.raises(UnreadableError, match="20,001 files"):
        made([member] * 20_001)
