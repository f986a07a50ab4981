"""Committing an edit: all of its files or none, and nothing that others write is lost."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.errors import ChangedOnDiskError, ClewError
from clew.store.carrying import NotCarriedError, Patience, Watched, carry_missing
from clew.store.commit import Job, Moved, NewFile, Replaced, UnfinishedError, commit, copied
from clew.store.files import Store
from clew.store.journal import entries, recover, undo
from clew.store.locks import BusyError
from clew.store.writer import NotWrittenError
from tests.store.faults.disks import AT_ONCE, CountingDisk, Killed, RefusingDisk
from tests.store.faults.jobs import (
    AGENT,
    JOBS,
    MAIN,
    NOW_MS,
    OLD_AGENT,
    OLD_MAIN,
    after,
    before,
    new_job,
    old_session,
    pieces,
    place_job,
    stamp,
    tree,
)
from tests.store.lines import put

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.store.commit import Done
    from clew.store.disk import Disk


@pytest.fixture
def root(tmp_path: Path) -> Path:
    old_session(tmp_path / "config" / "projects" / "slug")
    return tmp_path / "config" / "projects" / "slug"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def do(job: Job, state: Path, disk: Disk | None = None) -> Done:
    return commit(job, state=state, now_ms=NOW_MS, disk=disk or CountingDisk(), patience=AT_ONCE)


def mode(path: str | Path) -> int:
    return stat.S_IMODE(Path(path).stat().st_mode)


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


# --- other file systems -------------------------------------------------------------------------------------


def elsewhere(state: Path) -> Callable[[str, str], int]:
    """The state folder lies on another file system."""
    return lambda name, path: errno.EXDEV if name == "link" and path.startswith(str(state)) else 0


def no_links(name: str, _path: str) -> int:
    """A file system that knows no second names."""
    return errno.EPERM if name == "link" else 0


def test_on_another_file_system_the_backup_is_hidden_beside_the_file(root: Path, state: Path) -> None:
    done = do(place_job(root), state, RefusingDisk(elsewhere(state)))
    assert {Path(path).parent for path in done.backups} == {root, root / "old" / "subagents"}
    for path in done.backups:
        assert Path(path).name.startswith(".")
        assert not path.endswith(".jsonl")
    listing = Store.at([str(root.parent.parent)]).listing()
    assert [Path(file.path).name for file in (*listing.sessions, *listing.agents)] == [
        "old.jsonl",
        "agent-a.jsonl",
    ]
    undo(state, now_ms=NOW_MS, disk=RefusingDisk(elsewhere(state)), patience=AT_ONCE)
    assert tree(root) == before()


@pytest.mark.parametrize("kind", list(JOBS))
def test_without_second_names_it_is_done_and_undone_all_the_same(root: Path, state: Path, kind: str) -> None:
    done = do(JOBS[kind](root), state, RefusingDisk(no_links))
    assert tree(root) == after(kind)
    for backup in done.backups:
        assert Path(backup).parent == state / "journal" / "backups"
        assert mode(backup) == 0o600
    undo(state, now_ms=NOW_MS, disk=RefusingDisk(no_links), patience=AT_ONCE)
    assert tree(root) == before()


class Poor(RefusingDisk):
    """A disk that lacks something, and on which the process may end."""

    def __init__(self, lacks: str, state: Path, end: int | None = None) -> None:
        super().__init__(elsewhere(state) if lacks == "one file system" else no_links)
        self.is_apart = lacks == "both"
        self.end = end

    def met(self, name: str, path: str) -> None:
        if self.end is not None and len(self.calls) >= self.end:
            raise Killed
        super().met(name, path)

    def replace(self, source: str, target: str) -> None:
        if self.is_apart and "backups" in source:  # a copy cannot simply be put in the file's place
            raise OSError(errno.EXDEV, "another file system", source, None, target)
        super().replace(source, target)


def _without_backups(root: Path) -> dict[str, bytes]:
    return {name: data for name, data in tree(root).items() if not name.endswith("clew-backup")}


@pytest.mark.parametrize("lacks", ["one file system", "links", "both"])
@pytest.mark.parametrize("kind", list(JOBS))
def test_there_too_it_may_be_killed_anywhere(tmp_path: Path, kind: str, lacks: str) -> None:
    outcomes: list[bool] = []
    root = state = tmp_path
    for end in range(200):
        root, state = tmp_path / str(end) / "projects", tmp_path / str(end) / "state"
        old_session(root)
        try:
            do(JOBS[kind](root), state, Poor(lacks, state, end))
        except Killed:
            recover(state, disk=Poor(lacks, state), patience=AT_ONCE)
            assert _without_backups(root) in (before(), after(kind))
            outcomes.append(_without_backups(root) == after(kind))
        else:
            break
    assert outcomes.count(False) > 20
    assert outcomes.count(True) > 1
    # And so may the undoing, of what the last of them did.
    for end in range(200):
        (entry,) = entries(state)
        if entry.state == "undone":
            break
        with suppress(Killed):
            undo(state, now_ms=NOW_MS, disk=Poor(lacks, state, end), patience=AT_ONCE)
    recover(state, disk=Poor(lacks, state), patience=AT_ONCE)
    assert tree(root) == before()


@pytest.mark.parametrize("how", ["undone", "taken back"])
def test_a_copy_that_was_just_put_back_is_not_put_back_again(root: Path, state: Path, how: str) -> None:
    class Ends(Poor):
        """Ends the process when the old file is in its place again and its copy is still there."""

        def met(self, name: str, path: str) -> None:
            if name == "unlink" and "backups" in path and (root / "old.jsonl").read_bytes() == OLD_MAIN:
                self.end = 0
            super().met(name, path)

    class Fails(Ends):
        def met(self, name: str, path: str) -> None:
            super().met(name, path)
            if name == "make_private" and (root / "old.jsonl").read_bytes() == MAIN:
                (root / "far" / "old.jsonl").mkdir(parents=True)

    main = root / "old.jsonl"
    job = Job("trim", str(main), replaced=(Replaced(str(main), pieces(MAIN), stamp(main)),))
    if how == "undone":
        do(job, state, Poor("both", state))
        with pytest.raises(Killed):
            undo(state, now_ms=NOW_MS, disk=Ends("both", state), patience=AT_ONCE)
    else:
        put(root / "x.jsonl", b"x")
        job = job._replace(moved=(Moved(str(root / "x.jsonl"), str(root / "far" / "old.jsonl")),))
        with pytest.raises(Killed):
            do(job, state, Fails("both", state))
    assert len(list((state / "journal" / "backups").iterdir())) == 1
    with main.open("ab") as file:
        file.write(b"more\n")
    recover(state, disk=Poor("both", state), patience=AT_ONCE)
    assert main.read_bytes() == OLD_MAIN + b"more\n"
    assert list((state / "journal" / "backups").iterdir()) == []
    assert not [entry for entry in entries(state) if entry.is_open]


def test_what_changed_goes_to_the_trash_without_second_names_too(root: Path, state: Path) -> None:
    do(place_job(root), state, RefusingDisk(no_links))
    with (root / "old.jsonl").open("ab") as file:
        file.write(b"more\n")
    undone = undo(state, now_ms=NOW_MS, force=True, disk=RefusingDisk(no_links), patience=AT_ONCE)
    assert tree(root) == before()
    assert [Path(path).read_bytes() for path in undone.trash] == [MAIN + b"more\n"]


@pytest.mark.parametrize("new", [OLD_MAIN + b"added\n", OLD_MAIN[:4000], b""])
def test_an_edit_that_only_adds_or_cuts_is_undone_without_second_names_too(
    root: Path, state: Path, new: bytes
) -> None:
    main = root / "old.jsonl"
    job = Job("trim", str(main), replaced=(Replaced(str(main), pieces(new), stamp(main)),))
    do(job, state, Poor("both", state))
    assert main.read_bytes() == new
    undo(state, now_ms=NOW_MS, disk=Poor("both", state), patience=AT_ONCE)
    assert tree(root) == before()
    assert list((state / "journal" / "backups").iterdir()) == []


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


# --- others who write ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("holds", [True, False])
def test_nothing_that_is_written_meanwhile_is_lost(root: Path, state: Path, holds: bool) -> None:
    path, agent = root / "old.jsonl", root / "old" / "subagents" / "agent-a.jsonl"
    path.write_bytes(b'{"n":-1}\n')
    stop = threading.Event()
    count = 0

    def write() -> None:
        nonlocal count
        held = path.open("ab", buffering=0)
        while not stop.is_set():
            file = held if holds else path.open("ab", buffering=0)
            file.write(b'{"n":%d}\n' % count)
            if not holds:
                file.close()
            count += 1
            time.sleep(0.001)
        held.close()

    def edit(patience: Patience) -> Done:
        seen = stamp(path)
        job = Job(
            "trim",
            str(path),
            replaced=(
                Replaced(str(path), pieces(path.read_bytes()[: seen.size]), seen, may_grow=True),
                Replaced(str(agent), pieces(AGENT), stamp(agent)),
            ),
        )
        return commit(job, state=state, now_ms=NOW_MS, disk=CountingDisk(), patience=patience)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        time.sleep(0.05)
        if not holds:  # one that holds the file would go on in the first one's backup
            edit(Patience(quiet=0.1, longest=0.2))
        threading.Timer(0.3, stop.set).start()
        done = edit(Patience())
    finally:
        stop.set()
        writer.join()
    lines = path.read_bytes().splitlines()
    assert sorted(int(line[5:-1]) for line in lines) == list(range(-1, count))
    assert done.is_quiet
    assert done.carried or not holds
    assert count > 100
    assert agent.read_bytes() == AGENT


def test_what_could_not_be_carried_over_is_by_the_next_run(root: Path, state: Path) -> None:
    class Writer(CountingDisk):
        """Somebody has the file open, and its end cannot be written to."""

        def replace(self, source: str, target: str) -> None:
            super().replace(source, target)
            if target == str(root / "old.jsonl"):
                with (state / "journal" / "backups" / f"{Path(source).name[1:-9]}").open("ab") as file:
                    file.write(b'{"late":1}\n{"late":2}\n')

        def open_end(self, path: str) -> int:
            raise OSError(errno.EACCES, "Permission denied", path)

    with pytest.raises(NotCarriedError, match="permission denied"):
        do(place_job(root), state, Writer())
    assert (root / "old.jsonl").read_bytes() == MAIN
    with (root / "old.jsonl").open("ab") as file:
        file.write(b'{"own":1}\n')
    (note,) = recover(state, disk=CountingDisk(), patience=AT_ONCE)
    assert "it is done now" in note
    assert (root / "old.jsonl").read_bytes() == MAIN + b'{"own":1}\n{"late":1}\n{"late":2}\n'
    assert recover(state) == []


@pytest.mark.parametrize(
    ("gained", "there", "expected"),
    [
        (b"", b"x\n", b"x\n"),
        (b"a\nb\n", b"", b"a\nb\n"),
        (b"a\nb\n", b"a\n", b"a\nb\n"),
        (b"a\na\n", b"a\n", b"a\na\n"),
        (b"a\nb\n", b"x\na\nb\ny\n", b"x\na\nb\ny\n"),
        (b"abc\nd\n", b"ab", b"abc\nd\n"),
        (b"abc\nd\n", b"xy", b"xy\nabc\nd\n"),
        (b"a\nto", b"a\n", b"a\nto"),
        (b"a\nto", b"a\nto", b"a\nto"),
        (b"a\nto", b"a\nt", b"a\nto"),
        (b"a\n\n", b"a\n", b"a\n\n"),
    ],
)
def test_no_line_is_carried_over_twice(tmp_path: Path, gained: bytes, there: bytes, expected: bytes) -> None:
    old = put(tmp_path / "old", b"OLD" + gained)
    new = put(tmp_path / "new", b"NEW!" + there)
    assert carry_missing(Watched(str(old), str(new), 3), 4) == len(gained)
    assert new.read_bytes() == b"NEW!" + expected
    carry_missing(Watched(str(old), str(new), 3), 4)
    assert new.read_bytes() == b"NEW!" + expected


class EndsAtMain(CountingDisk):
    """Ends the process when the session's own file is about to be replaced."""

    is_over = False

    def met(self, name: str, path: str) -> None:
        super().met(name, path)
        self.is_over = self.is_over or (name == "replace" and path.endswith("old.jsonl"))
        if self.is_over:
            raise Killed


def test_a_session_that_went_on_after_a_killed_edit_loses_nothing(root: Path, state: Path) -> None:
    """The sub-agent's file had been replaced, the session's had not; then a client went on in both."""
    with pytest.raises(Killed):
        do(place_job(root), state, EndsAtMain())
    for name in ("old.jsonl", "old/subagents/agent-a.jsonl"):
        with (root / name).open("ab") as file:
            file.write(b'{"later":1}\n')
    recover(state, disk=CountingDisk(), patience=AT_ONCE)
    assert tree(root) == before() | {
        "old.jsonl": MAIN + b'{"later":1}\n',
        "old/subagents/agent-a.jsonl": AGENT + b'{"later":1}\n',
    }
    with pytest.raises(ClewError, match="has changed since"):
        undo(state, now_ms=NOW_MS, disk=CountingDisk(), patience=AT_ONCE)


def test_a_killed_edit_that_cannot_be_finished_is_taken_back(root: Path, state: Path) -> None:
    with pytest.raises(Killed):
        do(place_job(root), state, EndsAtMain())
    (root / "old.jsonl").write_bytes(b'{"rewritten":1}\n')
    with (root / "old" / "subagents" / "agent-a.jsonl").open("ab") as file:
        file.write(b'{"later":1}\n')
    (note,) = recover(state, disk=CountingDisk(), patience=AT_ONCE)
    assert "nothing of it is left" in note
    assert tree(root) == before() | {
        "old.jsonl": b'{"rewritten":1}\n',
        "old/subagents/agent-a.jsonl": OLD_AGENT + b'{"later":1}\n',
    }


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
