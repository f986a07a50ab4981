"""The journal: what was done can be looked up and taken back, and nobody's edit is disturbed."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.errors import RefusedError
from clew.store.commit import Job, Moved, NewFile, commit
from clew.store.journal import NoBackupError, UnknownEditError, entries, forget, recover, undo
from clew.store.journal_entry import entry_file, save
from clew.store.locks import BusyError, hold
from tests.conftest import ROOT
from tests.store.faults.disks import AT_ONCE, CountingDisk, Killed, KillingDisk, RefusingDisk
from tests.store.faults.jobs import (
    AGENT,
    JOBS,
    MAIN,
    NOW_MS,
    OLD_MAIN,
    RESULT,
    after,
    before,
    new_job,
    old_session,
    pieces,
    place_job,
    tree,
)
from tests.store.lines import put

if TYPE_CHECKING:
    from clew.store.commit import Done
    from clew.store.journal import Undone


@pytest.fixture
def root(tmp_path: Path) -> Path:
    old_session(tmp_path / "projects")
    return tmp_path / "projects"


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def do(job: Job, state: Path, *, at: int = 0) -> Done:
    return commit(job, state=state, now_ms=NOW_MS + at, disk=CountingDisk(), patience=AT_ONCE)


def back(state: Path, name: str | None = None, *, force: bool = False) -> Undone:
    return undo(state, name, now_ms=NOW_MS, force=force, disk=CountingDisk(), patience=AT_ONCE)


def add(path: Path, data: bytes = b'{"more":1}\n') -> None:
    with path.open("ab") as file:
        file.write(data)


# --- what it says -------------------------------------------------------------------------------------------


def test_the_newest_edit_comes_first(root: Path, state: Path) -> None:
    assert entries(state) == []
    do(place_job(root), state, at=5000)
    do(new_job(root), state, at=9000)
    job = Job("note", str(root / "old.jsonl"), new=(NewFile(str(root / "n"), pieces(b"x")),))
    do(job, state, at=1000)
    found = entries(state)
    assert [entry.command for entry in found] == ["clone", "trim", "note"]
    assert found[0].result == str(root / "new.jsonl")
    assert found[0].files[-1] == str(root / "new.jsonl")
    assert found[1].result is None
    assert found[1].session == str(root / "old.jsonl")
    assert len(found[1].backups) == 2
    assert found[0].pid == os.getpid()


@pytest.mark.parametrize(
    "said",
    [b"", b"{", b"[]", b"null", b'{"id": 3}', b"\xff\xfe", b"[" * 100_000, b'{"version": 99}'],
)
def test_a_damaged_entry_does_not_hide_the_others(root: Path, state: Path, said: bytes) -> None:
    do(new_job(root), state)
    (entry,) = entries(state)
    put(state / "journal" / "20200101-000000-aaaaaa.json", said)
    # Another one's entry under a wrong name is not believed either.
    put(state / "journal" / "20200101-000000-bbbbbb.json", entry_file(state, entry.id).read_bytes())
    (state / "journal" / "folder.json").mkdir()
    assert entries(state) == [entry]
    assert recover(state) == []
    assert back(state).id == entry.id


def test_an_entry_of_a_later_version_is_left_alone(root: Path, state: Path) -> None:
    done = do(new_job(root), state)
    path = entry_file(state, done.id)
    path.write_bytes(path.read_bytes().replace(b'"version": 1', b'"version": 2'))
    assert entries(state) == []
    with pytest.raises(UnknownEditError):
        back(state)
    assert tree(root) == after("new")


def test_names_that_are_no_text_are_kept(root: Path, state: Path) -> None:
    name = os.fsdecode(os.fsencode(root) + b"/n\xff\xe9")
    do(Job("note", str(root / "old.jsonl"), new=(NewFile(name, pieces(b"x")),)), state)
    (entry,) = entries(state)
    assert entry.files == (name,)
    back(state)
    assert tree(root) == before()


def test_the_journal_is_private_and_holds_nothing_of_a_session(root: Path, state: Path) -> None:
    umask = os.umask(0)
    try:
        do(place_job(root), state)
        forget(state)
        do(new_job(root), state, at=1)
        back(state)
        forget(state)
    finally:
        os.umask(umask)
    for path in state.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
        if path.is_file():
            data = path.read_bytes()
            assert not [part for part in (OLD_MAIN, MAIN, AGENT, RESULT) if part[:8] in data]


# --- undo ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(JOBS))
def test_undoing_gives_the_old_bytes_back(root: Path, state: Path, kind: str) -> None:
    done = do(JOBS[kind](root), state)
    undone = back(state)
    assert tree(root) == before()
    assert undone.id == done.id
    (entry,) = entries(state)
    assert (entry.state, entry.undone_ms) == ("undone", NOW_MS)
    with pytest.raises(UnknownEditError, match="no edit to undo"):
        back(state)


def test_a_new_session_goes_to_the_trash(root: Path, state: Path) -> None:
    do(new_job(root), state)
    undone = back(state)
    assert sorted(Path(path).read_bytes() for path in undone.trash) == sorted([RESULT, AGENT, MAIN])
    assert {Path(path).parent for path in undone.trash} == {state / "journal" / "trash"}
    assert set(undone.files) >= {str(root / "new.jsonl")}


def test_the_trash_may_be_on_another_file_system(root: Path, state: Path) -> None:
    do(new_job(root), state)
    trash = str(state / "journal" / "trash")

    def apart(name: str, path: str) -> int:
        return errno.EXDEV if name == "replace" and path.startswith(trash) else 0

    undone = undo(state, now_ms=NOW_MS, disk=RefusingDisk(apart), patience=AT_ONCE)
    assert tree(root) == before()
    assert sorted(Path(path).read_bytes() for path in undone.trash) == sorted([RESULT, AGENT, MAIN])
    assert {stat.S_IMODE(Path(path).stat().st_mode) for path in undone.trash} == {0o600}


def test_killed_between_two_file_systems_it_is_still_in_one_of_them(root: Path, state: Path) -> None:
    trash = state / "journal" / "trash"

    class Apart(KillingDisk):
        def replace(self, source: str, target: str) -> None:
            if target.startswith(str(trash)):
                raise OSError(errno.EXDEV, "another file system", source, None, target)
            super().replace(source, target)

    do(new_job(root), state)
    for at in range(200):
        try:
            undo(state, now_ms=NOW_MS, disk=Apart(at, is_partial=True), patience=AT_ONCE)
        except Killed:
            kept = {path.read_bytes() for path in (*trash.glob("*"), *root.rglob("*")) if path.is_file()}
            assert kept >= {MAIN, AGENT, RESULT}
        if not (root / "new.jsonl").exists():
            break
    recover(state, disk=Apart(10_000), patience=AT_ONCE)
    assert tree(root) == before()
    assert {path.read_bytes() for path in trash.iterdir()} == {MAIN, AGENT, RESULT}


@pytest.mark.parametrize("name", ["new.jsonl", "new/subagents/agent-a.jsonl"])
@pytest.mark.parametrize("how", ["grown", "rewritten", "cut"])
def test_a_new_session_that_has_changed_is_not_undone(root: Path, state: Path, name: str, how: str) -> None:
    do(new_job(root), state)
    data = (root / name).read_bytes()
    new = {"grown": data + b"{}\n", "rewritten": data[::-1], "cut": data[:-5]}[how]
    (root / name).write_bytes(new)
    with pytest.raises(RefusedError, match=name) as raised:
        back(state)
    assert raised.value.exit_code == 4
    assert tree(root) == after("new") | {name: new}
    undone = back(state, force=True)
    assert tree(root) == before()
    assert new in [Path(path).read_bytes() for path in undone.trash]


def test_what_is_gone_of_a_new_session_need_not_be_taken_away(root: Path, state: Path) -> None:
    do(new_job(root), state)
    (root / "new.jsonl").unlink()
    assert len(back(state).trash) == 2
    assert tree(root) == before()


@pytest.mark.parametrize("how", ["grown", "rewritten", "gone"])
def test_a_replaced_file_that_has_changed_is_not_put_back(root: Path, state: Path, how: str) -> None:
    do(place_job(root), state)
    path = root / "old.jsonl"
    if how == "grown":
        add(path)
    elif how == "rewritten":
        path.write_bytes(MAIN[::-1])
    else:
        path.unlink()
    with pytest.raises(RefusedError, match=r"old\.jsonl has changed"):
        back(state)
    changed = None if how == "gone" else path.read_bytes()
    undone = back(state, force=True)
    assert tree(root) == before()
    assert [Path(path).read_bytes() for path in undone.trash] == ([] if changed is None else [changed])


def test_edits_are_undone_one_after_the_other(root: Path, state: Path) -> None:
    first = do(place_job(root), state)
    job = place_job(root)
    second = do(job._replace(replaced=tuple(file._replace(pieces=pieces(b"2\n")) for file in job.replaced)),
                state, at=1)  # fmt: skip
    with pytest.raises(RefusedError, match="has changed"):
        back(state, first.id)
    assert back(state).id == second.id
    assert tree(root) == after("place")
    assert back(state).id == first.id
    assert tree(root) == before()


def test_an_edit_is_named_by_its_id_or_the_start_of_it(root: Path, state: Path) -> None:
    first = do(new_job(root), state, at=0)
    do(place_job(root), state, at=3_600_000)
    with pytest.raises(UnknownEditError, match="nonsense"):
        back(state, "nonsense")
    with pytest.raises(UnknownEditError):
        back(state, first.id[:6])  # both begin so
    with pytest.raises(UnknownEditError):
        back(state, "")
    assert back(state, first.id[:13]).id == first.id
    with pytest.raises(UnknownEditError):
        back(state, first.id)


def test_without_its_backup_an_edit_cannot_be_undone(root: Path, state: Path) -> None:
    done = do(place_job(root), state)
    Path(done.backups[0]).unlink()
    with pytest.raises(NoBackupError, match="is gone"):
        back(state)
    assert tree(root) == after("place")


def test_a_move_is_not_undone_onto_something(root: Path, state: Path) -> None:
    main = str(root / "old.jsonl")
    do(Job("mv", main, moved=(Moved(main, str(root / "x.jsonl")),)), state)
    put(root / "old.jsonl", b"again")
    with pytest.raises(RefusedError, match="is there again"):
        back(state, force=True)
    (root / "old.jsonl").unlink()
    (root / "x.jsonl").rename(root / "y.jsonl")
    with pytest.raises(NoBackupError):
        back(state)


def test_lines_carried_over_are_there_after_undoing_too(root: Path, state: Path) -> None:
    class Writer(CountingDisk):
        def make_private(self, path: str) -> None:
            super().make_private(path)
            add(Path(path), b'{"late":1}\n')

    done = commit(place_job(root), state=state, now_ms=NOW_MS, disk=Writer(), patience=AT_ONCE)
    assert done.carried == 22
    assert (root / "old.jsonl").read_bytes() == MAIN + b'{"late":1}\n'
    back(state)
    assert (root / "old.jsonl").read_bytes() == OLD_MAIN + b'{"late":1}\n'


def test_lines_added_while_it_is_undone_are_not_lost(root: Path, state: Path) -> None:
    class Writer(CountingDisk):
        def replace(self, source: str, target: str) -> None:
            if "backups" in source:
                add(Path(target), b'{"late":1}\n')
            super().replace(source, target)

    do(place_job(root), state)
    undo(state, now_ms=NOW_MS, disk=Writer(), patience=AT_ONCE)
    assert (root / "old.jsonl").read_bytes() == OLD_MAIN + b'{"late":1}\n'
    assert {name for name in tree(root) if "clew" in name} == set()


def test_a_session_that_is_being_edited_is_not_undone(root: Path, state: Path) -> None:
    done = do(new_job(root), state)
    with hold(done.files[-1], state=state), pytest.raises(BusyError):
        back(state)
    assert tree(root) == after("new")


def test_undoing_what_was_interrupted_does_not_undo_the_edit_before(root: Path, state: Path) -> None:
    do(place_job(root), state)
    with pytest.raises(Killed):
        commit(new_job(root), state=state, now_ms=NOW_MS + 1, disk=KillingDisk(20), patience=AT_ONCE)
    undone = back(state)
    assert undone.command == "clone"
    assert tree(root) == after("place")
    assert back(state).command == "trim"


# --- forget -------------------------------------------------------------------------------------------------


def test_what_is_forgotten_is_gone_for_good(root: Path, state: Path) -> None:
    done = do(place_job(root), state)
    forgotten = forget(state)
    assert forgotten.files == done.backups
    assert not [path for path in done.backups if Path(path).exists()]
    assert tree(root) == after("place")
    with pytest.raises(NoBackupError):
        back(state)
    assert forget(state).files == ()
    assert entries(state)[0].backups == ()


def test_the_trash_is_forgotten_too(root: Path, state: Path) -> None:
    do(new_job(root), state)
    assert forget(state).files == ()  # nothing is kept yet
    trash = back(state).trash
    assert len(trash) == 3
    assert set(forget(state, entries(state)[0].id).files) == set(trash)
    assert not [path for path in trash if Path(path).exists()]


def test_a_backup_that_somebody_went_on_writing_into_is_not_removed(root: Path, state: Path) -> None:
    done = do(place_job(root), state)
    add(Path(done.backups[1]))
    with pytest.raises(RefusedError, match="went on writing"):
        forget(state)
    assert Path(done.backups[0]).exists()
    back(state)
    assert (root / "old.jsonl").read_bytes() == OLD_MAIN + b'{"more":1}\n'


def test_nothing_can_be_forgotten_where_nothing_was_done(state: Path) -> None:
    with pytest.raises(UnknownEditError):
        forget(state)


# --- other processes ----------------------------------------------------------------------------------------

STOPS = """
    import sys, time
    from pathlib import Path
    from clew.store.commit import commit
    from tests.store.faults.disks import AT_ONCE, CountingDisk
    from tests.store.faults.jobs import JOBS, NOW_MS

    class Stops(CountingDisk):
        def met(self, name, path):
            super().met(name, path)
            if len(self.calls) == int(sys.argv[4]):
                print("stopped", flush=True)
                time.sleep(600)

    job = JOBS[sys.argv[3]](Path(sys.argv[1]))
    commit(job, state=Path(sys.argv[2]), now_ms=NOW_MS, disk=Stops(), patience=AT_ONCE)
"""


@pytest.mark.parametrize("kind", list(JOBS))
@pytest.mark.parametrize("part", [0.3, 0.6, 0.75, 0.95])
def test_the_edit_of_a_process_is_left_alone_until_it_is_killed(
    root: Path, state: Path, tmp_path: Path, kind: str, part: float
) -> None:
    whole = CountingDisk()
    old_session(tmp_path / "count")
    commit(JOBS[kind](tmp_path / "count"), state=tmp_path / "s", now_ms=NOW_MS, disk=whole, patience=AT_ONCE)
    at = str(int(len(whole.calls) * part))
    argv = [sys.executable, "-c", textwrap.dedent(STOPS), str(root), str(state), kind, at]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, cwd=ROOT) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"stopped\n"
        seen = tree(root), tree(state)
        assert recover(state) == []
        assert (tree(root), tree(state)) == seen
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert len(recover(state, disk=CountingDisk(), patience=AT_ONCE)) == 1
    assert tree(root) in (before(), after(kind))
    assert recover(state) == []


def test_what_cannot_be_put_right_is_said_and_tried_again(root: Path, state: Path) -> None:
    with pytest.raises(Killed):
        commit(new_job(root), state=state, now_ms=NOW_MS, disk=KillingDisk(30), patience=AT_ONCE)

    def broken(name: str, path: str) -> int:
        return errno.EROFS if name == "unlink" and path.startswith(str(root)) else 0

    (note,) = recover(state, disk=RefusingDisk(broken), patience=AT_ONCE)
    assert "cannot be put right now" in note
    assert "read-only" in note.lower()
    # Others are not kept from working by it.
    do(place_job(root), state, at=1)
    assert tree(root) == after("place")


def test_an_entry_that_another_run_has_put_right_is_not_touched(root: Path, state: Path) -> None:
    with pytest.raises(Killed):
        commit(new_job(root), state=state, now_ms=NOW_MS, disk=KillingDisk(30), patience=AT_ONCE)
    (entry,) = entries(state)
    with hold(entry_file(state, entry.id), state=state):
        assert recover(state) == []
    save(entry, state, CountingDisk())
    assert len(recover(state, disk=CountingDisk(), patience=AT_ONCE)) == 1
