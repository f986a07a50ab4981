"""Bundles that nobody should trust: each is refused for what is wrong with it, and leaves nothing."""

from __future__ import annotations

import io
import json
import os
import random
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from clew.errors import ClewError
from clew.store import bundle as bundle_module
from clew.store import squeezing
from clew.store.bundle import unpack
from clew.store.bundle_manifest import BadBundleError, UnsafeBundleError
from clew.store.stage import staging
from tests.store.bundles import (
    FILES,
    FOLDER,
    LINE,
    MAIN,
    PROJECT,
    SESSION,
    bundle,
    manifest,
    member,
    row,
    squeezed,
    tape,
    with_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.store.bundle_manifest import BundleManifest

SOUND = bundle()
REST = [member(place, data) for place, data in FILES.items()]
TAPE = tape([member("manifest.json", json.dumps(manifest()).encode()), *REST])
HISTORY = next(iter(FILES))


def swapped(**other: Any) -> bytes:
    """A bundle whose first file, told of truly in the manifest, is something else on the tape."""
    return bundle(None, [member(HISTORY, **{"data": FILES[HISTORY], **other}), *REST[1:]])


def rows(**other: Any) -> bytes:
    """A bundle whose manifest says something else of the first file."""
    first, *rest = manifest()["files"]
    return bundle(manifest(files=[{**first, **other}, *rest]))


def patched(at: int, new: bytes) -> bytes:
    """A bundle with other bytes on its tape, of which the check sum of the header does not know."""
    return squeezed(TAPE[:at] + new + TAPE[at + len(new) :])


LONG = "d/" * 40 + "n" * 90

HOSTILE: dict[str, tuple[Callable[[], bytes], type[BadBundleError], str]] = {
    # Paths that lead elsewhere, in the manifest.
    "an absolute path": (lambda: with_file("/etc/passwd"), UnsafeBundleError, "leads elsewhere"),
    "a path upwards": (lambda: with_file("../../.bashrc"), UnsafeBundleError, "leads elsewhere"),
    "a path upwards inside": (
        lambda: with_file(f"{PROJECT}/{SESSION}/../../../settings.json"),
        UnsafeBundleError,
        "leads elsewhere",
    ),
    "a dot in a path": (lambda: with_file(f"{PROJECT}/./x"), UnsafeBundleError, "leads elsewhere"),
    "an empty part": (lambda: with_file(f"{PROJECT}//{SESSION}/x"), UnsafeBundleError, "leads elsewhere"),
    "a NUL": (lambda: rows(place=f"{PROJECT}/{SESSION}/a\0b"), UnsafeBundleError, "leads elsewhere"),
    "a backslash": (
        lambda: with_file(f"{PROJECT}/{SESSION}/..\\..\\x"),
        UnsafeBundleError,
        "leads elsewhere",
    ),
    "a drive": (lambda: with_file("C:/Windows/x"), UnsafeBundleError, "leads elsewhere"),
    "half a character": (
        lambda: rows(place=f"{PROJECT}/{SESSION}/\ud800"),
        UnsafeBundleError,
        "leads elsewhere",
    ),
    "a path without an end": (
        lambda: rows(place=f"{PROJECT}/{SESSION}/" + "x/" * 3000 + "x"),
        UnsafeBundleError,
        "leads elsewhere",
    ),
    # Places that a session has nothing in.
    "the client's settings": (lambda: with_file("settings.json", b"{}"), UnsafeBundleError, "belongs"),
    "settings of a project": (lambda: with_file(f"{PROJECT}/settings.json"), UnsafeBundleError, "belongs"),
    "credentials": (lambda: with_file(".credentials.json"), UnsafeBundleError, "belongs"),
    "another session": (lambda: with_file(f"{PROJECT}/other.jsonl", LINE), UnsafeBundleError, "belongs"),
    "another project": (lambda: with_file("projects/-root/agent-a.jsonl"), UnsafeBundleError, "belongs"),
    "memory": (lambda: with_file(f"{PROJECT}/memory/MEMORY.md"), UnsafeBundleError, "belongs"),
    "an agent of the client's": (lambda: with_file("agents/evil.md"), UnsafeBundleError, "belongs"),
    "another's file history": (lambda: with_file("file-history/other/x"), UnsafeBundleError, "belongs"),
    "a todo list that is a program": (
        lambda: with_file(f"todos/{SESSION}-agent-x.sh"),
        UnsafeBundleError,
        "belongs",
    ),
    "a file that is a folder": (
        lambda: with_file(f"{PROJECT}/{SESSION}/tool-results"),
        UnsafeBundleError,
        "at once",
    ),
    "a session called ..": (
        lambda: bundle(manifest(session=".."), []),
        UnsafeBundleError,
        "no name of a session",
    ),
    "a folder called ..": (lambda: bundle(manifest(folder=".."), []), UnsafeBundleError, "no name"),
    "a session with a stroke in its name": (
        lambda: bundle(manifest(session=f"x/{SESSION}"), []),
        UnsafeBundleError,
        "no name",
    ),
    "no session's own file": (
        lambda: bundle(manifest(dict(list(FILES.items())[:2])), REST[:2]),
        UnsafeBundleError,
        "not the session's own",
    ),
    # What is no file.
    "a symbolic link": (
        lambda: swapped(data=b"", kind=tarfile.SYMTYPE, linkname="/etc/passwd"),
        UnsafeBundleError,
        "a symbolic link",
    ),
    "a hard link": (
        lambda: swapped(data=b"", kind=tarfile.LNKTYPE, linkname=MAIN),
        UnsafeBundleError,
        "a hard link",
    ),
    "a character device": (lambda: swapped(data=b"", kind=tarfile.CHRTYPE), UnsafeBundleError, "a device"),
    "a block device": (lambda: swapped(data=b"", kind=tarfile.BLKTYPE), UnsafeBundleError, "a device"),
    "a pipe": (lambda: swapped(data=b"", kind=tarfile.FIFOTYPE), UnsafeBundleError, "a pipe"),
    "a folder": (lambda: swapped(data=b"", kind=tarfile.DIRTYPE), UnsafeBundleError, "a folder"),
    "a file with holes": (lambda: swapped(kind=tarfile.GNUTYPE_SPARSE), UnsafeBundleError, "holes"),
    "a file that says it is a link": (lambda: swapped(linkname="/etc/x"), UnsafeBundleError, "to be a link"),
    "an unknown kind": (lambda: swapped(kind=b"Z"), BadBundleError, "unknown kind"),
    "a long name in the manner of GNU": (
        lambda: bundle(None, [member(LONG), *REST], form=tarfile.GNU_FORMAT),
        BadBundleError,
        "unknown kind",
    ),
    # Members that are not those of the manifest.
    "a file that is not in the manifest": (
        lambda: bundle(None, [*REST, member("settings.json", b"{}")]),
        UnsafeBundleError,
        "not in the manifest",
    ),
    "a strange file in the middle": (
        lambda: bundle(None, [REST[0], member("../x", b"x"), *REST[1:]]),
        UnsafeBundleError,
        "not in the manifest",
    ),
    "a file twice on the tape": (
        lambda: bundle(None, [REST[0], REST[0], *REST[1:]]),
        UnsafeBundleError,
        "is in it twice",
    ),
    "a file twice at the end": (lambda: bundle(None, [*REST, REST[-1]]), UnsafeBundleError, "twice"),
    "a file twice in the manifest": (
        lambda: bundle(manifest(files=[manifest()["files"][0], *manifest()["files"]])),
        UnsafeBundleError,
        "is in it twice",
    ),
    "files out of their turn": (lambda: bundle(None, REST[::-1]), UnsafeBundleError, "not in its turn"),
    "a missing file": (lambda: bundle(None, REST[:-1]), BadBundleError, "is missing"),
    "a file larger than told": (
        lambda: swapped(data=FILES[HISTORY] + b"x"),
        UnsafeBundleError,
        "in the manifest",
    ),
    "a file smaller than told": (lambda: swapped(data=b""), UnsafeBundleError, "in the manifest"),
    "a file with other bytes": (
        lambda: swapped(data=FILES[HISTORY][::-1]),
        BadBundleError,
        "check sum differs",
    ),
    "a manifest with another check sum": (lambda: rows(sha256="0" * 64), BadBundleError, "differs"),
    # Bombs.
    "a manifest of a gigabyte": (
        lambda: squeezed(tape([(member("manifest.json", size=1 << 30)[0], b"")], end=b"")),
        UnsafeBundleError,
        "the most is",
    ),
    "too many files": (
        lambda: bundle(
            manifest(files=[row(f"tasks/{SESSION}/{n}", b"") for n in range(20_001)] + [row(MAIN, b"")])
        ),
        UnsafeBundleError,
        "files, the most is",
    ),
    "more bytes than a bundle may have": (
        lambda: rows(size=1 << 40),
        UnsafeBundleError,
        "bytes, the most is",
    ),
    "a header of a gigabyte": (
        lambda: squeezed(tape([(member("x", size=1 << 30, kind=b"x")[0], b"")], end=b"")),
        UnsafeBundleError,
        "a header has",
    ),
    "a manifest nested without an end": (lambda: bundle(b"[" * 200_000), BadBundleError, "no JSON"),
    "a window of two gigabytes": (
        lambda: bytes.fromhex("28b52ffd04a8") + SOUND[6:],
        BadBundleError,
        "damaged",
    ),
    # What is damaged, or nothing of the kind.
    "nothing": (lambda: b"", BadBundleError, "empty"),
    "half the first mark": (lambda: SOUND[:2], BadBundleError, "does not begin"),
    "a zip": (lambda: b"PK\x03\x04" + bytes(100), BadBundleError, "does not begin"),
    "a session": (lambda: LINE, BadBundleError, "does not begin"),
    "a stream that is skipped": (
        lambda: bytes.fromhex("502a4d1804000000") + b"abcd" + SOUND,
        BadBundleError,
        "does not begin",
    ),
    "half of it": (lambda: SOUND[: len(SOUND) // 2], BadBundleError, "cut off"),
    "all but a byte": (lambda: SOUND[:-1], BadBundleError, "cut off"),
    "no tape": (lambda: squeezed(b"hello" * 300), BadBundleError, "there is none"),
    "an empty tape": (lambda: squeezed(bytes(1024)), BadBundleError, "does not begin with"),
    "no manifest": (lambda: squeezed(tape(REST)), BadBundleError, "does not begin with"),
    "half a tape": (lambda: squeezed(TAPE[: len(TAPE) // 2]), BadBundleError, "cut off"),
    "no end": (lambda: squeezed(TAPE[:-1024]), BadBundleError, "cut off"),
    "half an end": (lambda: squeezed(TAPE[:-512]), BadBundleError, "cut off"),
    "an end that is none": (lambda: squeezed(TAPE[:-1] + b"x"), BadBundleError, "does not end"),
    "more on the tape": (lambda: squeezed(TAPE + b"x"), BadBundleError, "behind its end"),
    "more behind the stream": (lambda: SOUND + b"x", BadBundleError, "behind its end"),
    "two of them": (lambda: SOUND + SOUND, BadBundleError, "behind its end"),
    "a header with another check sum": (lambda: patched(100, b"0000777"), BadBundleError, "check sum"),
    "a number that is none": (
        lambda: patched(148, b"zzzzzz\0 "),
        BadBundleError,
        "number",
    ),
    "something between files": (
        lambda: squeezed(TAPE[:-1536] + b"evil" + TAPE[-1532:]),
        BadBundleError,
        "",
    ),
    "a newer format": (lambda: bundle({**manifest(), "clew-bundle": 2}), BadBundleError, "this clew knows 1"),
    "a snapshot of an archive": (
        lambda: bundle({"clew-archive": 1, "files": []}),
        BadBundleError,
        "clew-bundle",
    ),
    "no files": (lambda: bundle(manifest(files=[])), BadBundleError, "files"),
    "a list": (lambda: bundle(b"[]"), BadBundleError, "not as it should be"),
    "no JSON": (lambda: bundle(b"\xff\xfe"), BadBundleError, "no JSON"),
    "a mode with more than rights": (lambda: rows(mode=0o4755), BadBundleError, "not as it should be"),
    "a size below nothing": (lambda: rows(size=-1), BadBundleError, "not as it should be"),
    "a size that is a text": (lambda: rows(size="9"), BadBundleError, "not as it should be"),
    "a size without an end": (lambda: rows(size=1 << 70), BadBundleError, "not as it should be"),
    "an unknown kind of file": (lambda: rows(kind="program"), BadBundleError, "unknown kind"),
    "a further header that makes no sense": (
        lambda: squeezed(tape([member("x", b"99 path=a\n", kind=b"x"), *REST])),
        BadBundleError,
        "further header",
    ),
    "a further header for a link": (
        lambda: squeezed(tape([member("x", b"17 linkpath=/etc\n", kind=b"x"), *REST])),
        UnsafeBundleError,
        "linkpath",
    ),
    "two further headers": (
        lambda: squeezed(
            tape([member("x", b"10 path=a\n", kind=b"x"), member("x", b"10 path=b\n", kind=b"x"), *REST])
        ),
        BadBundleError,
        "two further headers",
    ),
}


def tree(folder: Path) -> list[str]:
    """All names below a folder but those of locks, which stay."""
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.suffix != ".lock")
    return [name for name in found if name not in {"state/locks", "state/incoming"}]


def taken(data: bytes, base: Path, *, unlimited: bool = False) -> BundleManifest:
    """Lay a bundle out below a folder."""
    with staging(base / "state") as stage:
        return unpack(io.BytesIO(data).read, stage, path="x.clew", unlimited=unlimited)


def test_there_are_enough_of_them() -> None:
    assert len(HOSTILE) >= 70


def test_the_one_they_are_made_of_is_sound(tmp_path: Path) -> None:
    assert len(taken(SOUND, tmp_path).manifest.files) == len(FILES)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_bundle_is_refused_and_leaves_nothing(name: str, tmp_path: Path) -> None:
    make, kind, why = HOSTILE[name]
    (tmp_path / "state").mkdir()
    before = tree(tmp_path)
    with pytest.raises(BadBundleError) as caught:
        taken(make(), tmp_path)
    assert type(caught.value) is kind
    assert why in caught.value.message
    assert caught.value.exit_code == (4 if kind is UnsafeBundleError else 1)
    assert tree(tmp_path) == before


def test_a_bundle_that_grows_beyond_all_measure_is_refused_unless_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(squeezing, "_HARMLESS", 1 << 20)
    files = {**FILES, MAIN: bytes(8 << 20)}
    data = bundle(manifest(files), [member(place, one) for place, one in files.items()])
    assert len(data) < 4000
    with pytest.raises(UnsafeBundleError, match="stand for more than"):
        taken(data, tmp_path)
    assert taken(data, tmp_path, unlimited=True).manifest.size > 8 << 20


def test_what_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    def read(_most: int) -> bytes:
        raise OSError(5, os.strerror(5))

    with (
        staging(tmp_path) as stage,
        pytest.raises(ClewError, match="cannot be read: input/output error"),
    ):
        unpack(read, stage, path="x.clew")


def try_any(data: bytes, base: Path) -> bool:
    """Say whether a bundle is taken; anything but a `ClewError` is a mistake of ours."""
    try:
        taken(data, base)
    except ClewError:
        return False
    return True


def mutated(rng: random.Random, number: int) -> bytes:
    """A bundle with some of its bytes changed, before or after it was compressed; or any bytes at all."""
    if number % 10 == 0:
        return SOUND[: rng.choice((0, 4, 9))] + rng.randbytes(rng.randrange(2000))
    data = bytearray(SOUND if number % 2 else TAPE)
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(data))
        match rng.randrange(4):
            case 0:
                data[at] = rng.randrange(256)
            case 1:
                del data[at : at + rng.randrange(600)]
            case 2:
                data[at:at] = rng.randbytes(rng.randrange(600))
            case _:
                size = rng.randrange(600)
                data[at:at] = data[at : at + size]
    return bytes(data) if number % 2 else squeezed(bytes(data))


def go_through(numbers: range, base: Path) -> int:
    """Try mutated bundles; return how many were taken."""
    rng = random.Random(numbers.start)
    return sum(try_any(mutated(rng, number), base) for number in numbers)


def test_no_mutated_bundle_does_anything_but_be_refused(tmp_path: Path) -> None:
    before = tree(tmp_path)
    taken_ = go_through(range(300), tmp_path)
    assert taken_ < 10
    assert tree(tmp_path) == [*before, "state"]


@pytest.mark.soak
def test_no_mutated_bundle_of_many_does_anything_but_be_refused(tmp_path: Path) -> None:
    assert go_through(range(1000, 21_000), tmp_path) < 1000


class _Room:
    f_bavail, f_frsize = 3, 512


def test_a_bundle_that_there_is_no_room_for_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def little(_path: object) -> type[_Room]:
        return _Room

    monkeypatch.setattr(bundle_module.os, "statvfs", little)
    with pytest.raises(UnsafeBundleError, match="there is room for 1,536"):
        taken(SOUND, tmp_path)


def test_a_disk_that_cannot_say_how_much_room_it_has_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(_path: object) -> os.statvfs_result:
        raise OSError

    monkeypatch.setattr(bundle_module.os, "statvfs", nothing)
    assert taken(SOUND, tmp_path).manifest.folder == FOLDER
