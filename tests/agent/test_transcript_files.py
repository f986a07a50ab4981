"""What files were before a session changed them is kept, where the client looks for it."""

from __future__ import annotations

import json
import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.kept import Kept
from clew.agent.transcript import Transcript
from clew.session.check import check
from clew.session.files import files
from clew.session.session import Session
from clew.store.writer import NotWrittenError
from tests.agent.told import Talk, ask, call, clock, ids, text
from tests.store.faults.disks import CountingDisk, FailingDisk

if TYPE_CHECKING:
    from clew.store.disk import Disk


def begin(root: Path, disk: Disk | None = None) -> Transcript:
    work = root / "work"
    work.mkdir(exist_ok=True)
    return Transcript.begin(
        root / "config",
        str(work),
        ids=ids(),
        clock=clock(),
        state=root / "state",
        disk=disk or CountingDisk(),
    )


def snapshots(session: Transcript) -> list[dict[str, Any]]:
    found = [json.loads(raw) for raw in Path(session.path).read_bytes().splitlines()]
    return [one for one in found if one["type"] == "file-history-snapshot"]


def kept(session: Transcript, root: Path) -> dict[str, bytes]:
    folder = root / "config" / "file-history" / session.session_id
    return {one.name: one.read_bytes() for one in folder.iterdir()} if folder.exists() else {}


def named(path: Path, version: int) -> str:
    return f"{sha256(str(path).encode()).hexdigest()[:16]}@v{version}"


def test_a_file_is_kept_before_it_is_changed_and_once_a_prompt(tmp_path: Path) -> None:
    path = tmp_path / "work" / "a.txt"
    with begin(tmp_path) as session:
        path.write_text("one")
        ask(session, "Change it.")
        Talk(session).call(call("1"), call("2"))
        session.keep_before(str(path))
        path.write_text("two")
        session.result("toolu_1", "ok")
        session.keep_before(str(path))
        path.write_text("three")
        session.result("toolu_2", "ok")
        assert kept(session, tmp_path) == {named(path, 1): b"one"}
        ask(session, "Again.")
        assert kept(session, tmp_path) == {named(path, 1): b"one", named(path, 2): b"three"}
        ask(session, "And again.")
        assert len(kept(session, tmp_path)) == 2
        first, update, second, third = snapshots(session)
    assert (first["snapshot"]["trackedFileBackups"], first["isSnapshotUpdate"]) == ({}, False)
    assert update["isSnapshotUpdate"] is True
    assert update["snapshot"]["messageId"] == first["messageId"]
    assert update["snapshot"]["trackedFileBackups"]["a.txt"]["backupFileName"] == named(path, 1)
    assert second["snapshot"]["trackedFileBackups"]["a.txt"]["version"] == 2
    assert third["snapshot"]["trackedFileBackups"] == second["snapshot"]["trackedFileBackups"]
    read = Session.read(Path(session.path).read_bytes())
    assert [one.path for one in files(read)] == [str(path)]
    assert not check(read.source).problems
    folder = tmp_path / "config" / "file-history" / session.session_id
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()} == {0o600}


def test_a_file_that_is_not_there_is_noted_as_such(tmp_path: Path) -> None:
    path = tmp_path / "work" / "new.txt"
    with begin(tmp_path) as session:
        ask(session, "Make it.")
        session.keep_before(str(path))
        path.write_text("made")
        ask(session, "And?")
        path.unlink()
        ask(session, "Gone?")
        ask(session, "Still?")
        found = [one["snapshot"]["trackedFileBackups"].get("new.txt") for one in snapshots(session)]
    assert [one and (one["backupFileName"], one["version"]) for one in found] == [
        None,
        (None, 1),
        (named(path, 2), 2),
        (None, 3),
        (None, 3),
    ]


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with begin(tmp_path) as session:
        link, folder, pipe = (tmp_path / "work" / name for name in ("link", "folder", "pipe"))
        link.symlink_to(secret)
        folder.mkdir()
        os.mkfifo(pipe)
        ask(session, "Change them.")
        for path in (link, folder, pipe, Path("\0")):
            session.keep_before(str(path))
        assert kept(session, tmp_path) == {}
        assert len(snapshots(session)) == 1


def test_a_file_outside_the_project_is_named_in_full(tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.txt"
    path.write_text("one")
    with begin(tmp_path) as session:
        ask(session, "Change it.")
        session.keep_before(str(path))
        assert list(snapshots(session)[-1]["snapshot"]["trackedFileBackups"]) == [str(path)]


def resumed(session: Transcript, root: Path) -> Transcript:
    return Transcript.resume(
        session.path,
        cwd=str(root / "work"),
        ids=ids(5000),
        clock=clock(),
        state=root / "state",
        disk=CountingDisk(),
    )


def test_versions_go_on_when_a_session_does(tmp_path: Path) -> None:
    path = tmp_path / "work" / "a.txt"
    with begin(tmp_path) as session:
        path.write_text("one")
        ask(session, "Change it.")
        session.keep_before(str(path))
        Talk(session).say(text("Done."))
    path.write_text("two")
    with resumed(session, tmp_path) as again:
        ask(again, "More.")
    assert kept(session, tmp_path) == {named(path, 1): b"one", named(path, 2): b"two"}
    with resumed(session, tmp_path) as again:
        ask(again, "Nothing changed.")
    assert len(kept(session, tmp_path)) == 2


def test_what_a_foreign_session_names_is_not_read(tmp_path: Path) -> None:
    """A file that came from elsewhere may name anything: a key, or a way out of the folder of copies."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    with begin(tmp_path) as session:
        (tmp_path / "work" / "out").symlink_to(tmp_path)
        ask(session, "Hello.")
        Talk(session).say(text("Hello."))
    tracked = {
        str(secret): {"backupFileName": "x@v1", "version": 1},
        "../secret": {"backupFileName": "x@v1", "version": 1},
        "out/secret": {"backupFileName": "x@v1", "version": 1},
        "a": {"backupFileName": "../../../secret", "version": 1},
        "b": {"backupFileName": None, "version": 10**30},
        "c": 7,
    }
    line = {"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": tracked}}
    with Path(session.path).open("ab") as file:
        file.write(json.dumps(line).encode() + b"\n")
    with resumed(session, tmp_path) as again:
        ask(again, "More.")
    assert kept(session, tmp_path) == {}


def test_a_copy_that_somebody_left_half_done_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    folder = tmp_path / "history"
    folder.mkdir()
    (folder / named(path, 1)).write_text("ha")
    copies = Kept(str(folder), str(tmp_path))
    assert copies.before(str(path), at=0)
    assert (folder / named(path, 1)).read_text() == "ha"
    assert (folder / named(path, 2)).read_text() == "one"
    assert copies.copies["a.txt"]["backupFileName"] == named(path, 2)


def test_a_full_disk_is_told_and_leaves_no_half_copy(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one" * 100)
    for at in range(6):
        folder = tmp_path / f"history{at}"
        copies = Kept(str(folder), str(tmp_path), disk=FailingDisk(at, 28))
        try:
            assert copies.before(str(path), at=0)
        except NotWrittenError:
            assert copies.copies == {}
            assert not folder.exists() or not list(folder.iterdir())
    with pytest.raises(NotWrittenError, match="cannot be kept"):
        Kept(str(tmp_path / "h"), str(tmp_path), disk=FailingDisk(0, 28)).before(str(path), at=0)
