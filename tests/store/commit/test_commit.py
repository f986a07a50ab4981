"""Committing an edit: all of its files or none."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.errors import ChangedOnDiskError, ClewError
from clew.store.commit import Job, Moved, NewFile, Replaced, UnfinishedError, commit, copied
from clew.store.journal import entries, recover
from clew.store.locks import BusyError
from clew.store.writer import NotWrittenError
from tests.store.commits import do, mode
from tests.store.faults.disks import AT_ONCE, CountingDisk
from tests.store.faults.jobs import (
    JOBS,
    MAIN,
    NOW_MS,
    OLD_AGENT,
    OLD_MAIN,
    after,
    before,
    new_job,
    pieces,
    place_job,
    stamp,
    tree,
)
from tests.store.lines import put

if TYPE_CHECKING:
    from collections.abc import Iterator


# --- new sessions -------------------------------------------------------------------------------------------


def test_a_new_session_is_whole_private_and_alone(root: Path, state: Path) -> None:
    umask = os.umask(0)
    try:
        done = commit(new_job(root), state=state, now_ms=NOW_MS)
    finally:
        os.umask(umask)
    assert tree(root) == after("new")
    assert done.files[-1] == str(root / "new.jsonl")
    assert (done.backups, done.is_lasting, done.is_quiet, done.carried) == ((), True, True, 0)
    for path in (*root.glob("new*"), *(root / "new").rglob("*"), *state.rglob("*")):
        assert mode(path) == (0o700 if path.is_dir() else 0o600), path
    assert [entry.state for entry in entries(state)] == ["done"]


def test_the_main_file_is_the_last_to_appear(root: Path, state: Path) -> None:
    seen: list[str] = []

    class Watching(CountingDisk):
        def link(self, source: str, target: str) -> None:
            super().link(source, target)
            seen.append(Path(target).name)

    do(new_job(root), state, Watching())
    assert seen == ["r.txt", "agent-a.jsonl", "new.jsonl"]


class Ordered(CountingDisk):
    """Writes down what is on the disk for certain, and what is only said to be."""

    def __init__(self) -> None:
        super().__init__()
        self.unsynced: set[int] = set()
        self.names: set[str] = set()
        self.seen: list[tuple[str, str, frozenset[str]]] = []

    def met(self, name: str, path: str) -> None:
        super().met(name, path)
        if name in {"link", "replace"}:
            assert not self.unsynced, "a file gets its name before it is on the disk"
            self.seen.append((name, path, frozenset(self.names)))
        if name in {"create", "make_folder", "link", "replace"}:
            self.names.add(path)
        if name == "sync_folder":
            self.names = {one for one in self.names if os.path.dirname(one) != path}  # noqa: PTH120

    def create(self, path: str, *, mode: int = 0o600) -> int:
        descriptor = super().create(path, mode=mode)
        self.unsynced.add(descriptor)
        return descriptor

    def sync(self, descriptor: int) -> None:
        self.unsynced.discard(descriptor)
        super().sync(descriptor)

    def close(self, descriptor: int) -> None:
        assert descriptor not in self.unsynced, "a file is let go of before it is on the disk"
        super().close(descriptor)


@pytest.mark.parametrize("kind", list(JOBS))
def test_what_a_step_needs_is_on_the_disk_before_it(root: Path, state: Path, kind: str) -> None:
    disk = Ordered()
    do(JOBS[kind](root), state, disk)
    places = [step for step in disk.seen if step[1].startswith(str(root)) or "backups" in step[1]]
    assert places
    for _, path, uncertain in places:
        # The journal, and the temporary names it tells of.
        assert not [one for one in uncertain if "/journal/2" in one or one.endswith("clew-new")], path
    for name, path, uncertain in places:
        if name == "replace":  # of a file that is there: its backup lasts, and so does that of every other
            assert not [one for one in uncertain if "backups" in one], path
        if path.endswith("new.jsonl"):  # the main file: all the others last
            assert not [one for one in uncertain if one.startswith(str(root))]
    assert not [one for one in disk.names if one.startswith((str(root), str(state / "journal")))]


@pytest.mark.parametrize("taken", ["new.jsonl", "new/subagents/agent-a.jsonl"])
def test_what_is_there_is_never_written_over(root: Path, state: Path, taken: str) -> None:
    put(root / taken, b"mine")
    with pytest.raises(NotWrittenError, match="already"):
        do(new_job(root), state)
    assert tree(root) == before() | {taken: b"mine"}


def test_a_name_that_is_taken_in_the_last_moment_is_left_alone(root: Path, state: Path) -> None:
    class Late(CountingDisk):
        def link(self, source: str, target: str) -> None:
            if target.endswith("new.jsonl"):
                put(Path(target), b"mine")
            super().link(source, target)

    with pytest.raises(NotWrittenError, match="already"):
        do(new_job(root), state, Late())
    assert tree(root) == before() | {"new.jsonl": b"mine"}
    assert [entry.state for entry in entries(state)] == ["rolled-back"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ChangedOnDiskError("x"), ZeroDivisionError])
def test_what_the_source_of_the_pieces_raises_leaves_nothing(
    root: Path, state: Path, error: BaseException | type[BaseException]
) -> None:
    def broken() -> Iterator[bytes]:
        yield b"one\n"
        raise error

    job = new_job(root)
    job = job._replace(new=(*job.new[:-1], NewFile(job.new[-1].target, broken)))
    with pytest.raises((KeyboardInterrupt, ChangedOnDiskError, ZeroDivisionError)):
        do(job, state)
    assert tree(root) == before()
    assert not any(entry.is_open for entry in entries(state))


def test_folders_that_others_use_meanwhile_stay(root: Path, state: Path) -> None:
    def broken() -> Iterator[bytes]:
        put(root / "new" / "subagents" / "theirs.jsonl", b"theirs")
        yield b""
        raise KeyboardInterrupt

    job = new_job(root)
    job = job._replace(new=(*job.new[:-1], NewFile(job.new[-1].target, broken)))
    with pytest.raises(KeyboardInterrupt):
        do(job, state)
    assert tree(root) == before() | {"new/subagents/theirs.jsonl": b"theirs"}


def test_a_large_side_file_is_copied_part_by_part(tmp_path: Path) -> None:
    data = os.urandom(2_500_000)
    path = put(tmp_path / "large", data)
    parts = list(copied(str(path))())
    assert b"".join(parts) == data
    assert max(map(len, parts)) <= 1 << 20


# --- in place -----------------------------------------------------------------------------------------------


def test_replaced_files_are_kept_in_the_journal_and_nowhere_else(root: Path, state: Path) -> None:
    (root / "old.jsonl").chmod(0o644)
    done = do(place_job(root), state)
    assert tree(root) == after("place")
    assert [Path(path).read_bytes() for path in done.backups] == [OLD_AGENT, OLD_MAIN]
    assert {Path(path).parent for path in done.backups} == {state / "journal" / "backups"}
    for path in (*done.files, *done.backups):
        assert mode(path) == 0o600


def test_a_file_that_changed_since_it_was_read_is_left_alone(root: Path, state: Path) -> None:
    job = place_job(root)
    with (root / "old.jsonl").open("ab") as file:
        file.write(b"more\n")
    with pytest.raises(ChangedOnDiskError):
        do(job, state)
    assert tree(root) == before() | {"old.jsonl": OLD_MAIN + b"more\n"}


@pytest.mark.parametrize("user", [0, 1234], ids=["the superuser, who asks whose it is", "anybody else"])
def test_a_file_that_is_gone_is_an_error_that_names_it(
    root: Path, state: Path, monkeypatch: pytest.MonkeyPatch, user: int
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    job = place_job(root)
    (root / "old.jsonl").unlink()
    with pytest.raises(ClewError, match=r"old\.jsonl .*: no such file"):
        do(job, state)
    assert tree(root) == {name: data for name, data in before().items() if name != "old.jsonl"}
    assert not any(entry.is_open for entry in entries(state))


def test_when_the_second_file_changes_the_first_is_put_back(root: Path, state: Path) -> None:
    class Meanwhile(CountingDisk):
        def replace(self, source: str, target: str) -> None:
            super().replace(source, target)
            if target.endswith("agent-a.jsonl") and (root / "old.jsonl").read_bytes() == OLD_MAIN:
                for name in ("old.jsonl", "old/subagents/agent-a.jsonl"):
                    with (root / name).open("ab") as file:
                        file.write(b"more\n")

    with pytest.raises(ChangedOnDiskError):
        do(place_job(root), state, Meanwhile())
    # What somebody added to the one that was put back came back with it.
    assert tree(root) == before() | {
        "old.jsonl": OLD_MAIN + b"more\n",
        "old/subagents/agent-a.jsonl": OLD_AGENT + b"more\n",
    }


def test_a_session_by_another_name_is_replaced_where_it_lies(root: Path, state: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.jsonl"
    link.symlink_to(root / "old.jsonl")
    job = Job("trim", str(link), replaced=(Replaced(str(link), pieces(MAIN), stamp(link)),))
    done = do(job, state)
    assert link.is_symlink()
    assert done.files == (str(root / "old.jsonl"),)
    assert (root / "old.jsonl").read_bytes() == MAIN


def test_the_superuser_does_not_take_a_file_from_its_owner(
    root: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[int, int]] = []

    class Giving(CountingDisk):
        def give(self, descriptor: int, user: int, group: int) -> None:
            given.append((user, group))
            super().give(descriptor, user, group)

    path = root / "old.jsonl"
    if os.geteuid() == 0:
        os.chown(path, 1234, 1235)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 0)
    owner = (path.stat().st_uid, path.stat().st_gid)
    do(Job("trim", str(path), replaced=(Replaced(str(path), pieces(MAIN), stamp(path)),)), state, Giving())
    assert given == [owner]
    assert (path.stat().st_uid, path.stat().st_gid) == owner


# --- moves --------------------------------------------------------------------------------------------------


def test_nothing_is_moved_onto_something_or_from_nowhere(root: Path, state: Path) -> None:
    main = str(root / "old.jsonl")
    put(root / "there", b"mine")
    with pytest.raises(NotWrittenError, match="already"):
        do(Job("mv", main, moved=(Moved(main, str(root / "there")),)), state)
    with pytest.raises(NotWrittenError, match="no such file"):
        do(Job("mv", main, moved=(Moved(str(root / "nowhere"), str(root / "x")),)), state)
    assert tree(root) == before() | {"there": b"mine"}
    assert entries(state) == []


def test_a_moved_file_that_is_taken_in_the_last_moment_changes_nothing(root: Path, state: Path) -> None:
    class Late(CountingDisk):
        def link(self, source: str, target: str) -> None:
            if target.endswith("far/old.jsonl"):
                put(Path(target), b"mine")
            super().link(source, target)

    with pytest.raises(NotWrittenError):
        do(JOBS["move"](root), state, Late())
    assert tree(root) == before() | {"far/old.jsonl": b"mine"}


# --- one after the other ------------------------------------------------------------------------------------


def test_files_of_an_edit_that_is_unfinished_are_not_edited_again(
    root: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Breaks(CountingDisk):
        """Breaks when the first file has just been replaced."""

        def met(self, name: str, path: str) -> None:
            super().met(name, path)
            if "make_private" in self.calls:
                raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    with pytest.raises(UnfinishedError):
        do(place_job(root), state, Breaks())
    monkeypatch.setattr("clew.store.commit.recover", lambda *_args, **_options: [])  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    with pytest.raises(UnfinishedError, match="still in the journal"):
        do(place_job(root), state)
    monkeypatch.setattr("clew.store.locks.Process.is_running", lambda _self: True)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setattr(os, "getpid", lambda: 999_999_999)
    with pytest.raises(BusyError):
        do(place_job(root), state)
    monkeypatch.undo()
    (note,) = recover(state, disk=CountingDisk(), patience=AT_ONCE)
    assert "it is done now" in note
    assert tree(root) == after("place")
    assert len(do(place_job(root), state).files) == 2
