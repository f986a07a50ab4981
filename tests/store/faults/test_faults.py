"""An edit that fails or is killed anywhere: all is as before or all is done, and the next run works."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.errors import ClewError
from clew.store.commit import UnfinishedError, commit
from clew.store.disk import Disk
from clew.store.journal import entries, forget, recover, undo
from clew.store.writer import NotWrittenError
from tests.store.faults.disks import AT_ONCE, ERRORS, CountingDisk, FailingDisk, Killed, KillingDisk
from tests.store.faults.jobs import JOBS, NOW_MS, after, before, old_session, tree

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

KINDS = tuple(JOBS)


class Place:
    """A session and a state folder, made anew for each try."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.root = base / "projects"
        self.state = base / "state"

    def renew(self) -> None:
        shutil.rmtree(self.base, ignore_errors=True)
        self.root.mkdir(parents=True)
        old_session(self.root)

    def commit(self, kind: str, disk: Disk) -> object:
        return commit(JOBS[kind](self.root), state=self.state, now_ms=NOW_MS, disk=disk, patience=AT_ONCE)

    def calls(self, kind: str) -> list[str]:
        """What a job that succeeds asks of the disk."""
        self.renew()
        disk = CountingDisk()
        self.commit(kind, disk)
        assert tree(self.root) == after(kind)
        return disk.calls

    def leftovers(self) -> list[str]:
        """Files of the state folder that no entry of the journal names, and that are no lock."""
        named = {path for entry in entries(self.state) for path in (*entry.backups, *entry.trash)}
        named |= {str(self.state / "journal" / f"{entry.id}.json") for entry in entries(self.state)}
        found = [str(path) for path in self.state.rglob("*") if path.is_file()]
        return [path for path in found if path not in named and not path.endswith(".lock")]

    def retry(self, kind: str) -> None:
        """Do it again on a disk that works, after what was left is put right; then take it back."""
        recover(self.state, disk=CountingDisk(), patience=AT_ONCE)
        assert not any(entry.is_open for entry in entries(self.state))
        now = tree(self.root)
        assert now in (before(), after(kind))
        if now == before():
            self.commit(kind, CountingDisk())
        assert tree(self.root) == after(kind)
        assert self.leftovers() == []
        undo(self.state, now_ms=NOW_MS + 1, disk=CountingDisk(), patience=AT_ONCE)
        assert tree(self.root) == before()
        assert self.leftovers() == []


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    memory = Path("/dev/shm")
    base = Path(tempfile.mkdtemp(dir=memory)) if os.access(memory, os.W_OK) else tmp_path / "place"
    yield Place(base)
    shutil.rmtree(base, ignore_errors=True)


@contextmanager
def another_process() -> Generator[None]:
    """Let what is done meanwhile be done by a process that is no more afterwards."""
    pid = os.getpid()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "getpid", lambda: pid + 10_000_000)
        yield


def test_a_job_asks_for_all_that_can_fail(place: Place) -> None:
    new, in_place, moved = (place.calls(kind) for kind in KINDS)
    assert set(new) == {
        "create", "write", "sync", "link", "unlink", "replace", "make_folder", "sync_folder", "open_lock",
        "set_time",
    }  # fmt: skip
    assert set(moved) >= set(in_place) | {"link", "replace", "make_private", "make_folder"}
    assert new.count("link") == 3
    assert min(len(new), len(in_place), len(moved)) > 40


@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_fails_leaves_all_or_nothing(place: Place, kind: str, for_ever: bool) -> None:
    """Every call fails, each with one of the errors."""
    fail_at_each(place, kind, for_ever, lambda at: [ERRORS[at % len(ERRORS)]])


@pytest.mark.soak
@pytest.mark.parametrize("for_ever", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_fails_with_whatever_error_leaves_all_or_nothing(
    place: Place, kind: str, for_ever: bool
) -> None:
    fail_at_each(place, kind, for_ever, lambda _: ERRORS)


def fail_at_each(place: Place, kind: str, for_ever: bool, errors_at: Callable[[int], Sequence[int]]) -> None:
    """Let each call of a job fail, with these errors one after the other."""
    calls = place.calls(kind)
    failed = done = 0
    for at in range(len(calls)):
        for error in errors_at(at):
            place.renew()
            disk = FailingDisk(at, error, for_ever=for_ever)
            failure: ClewError | None = None
            try:
                place.commit(kind, disk)
            except ClewError as raised:
                failure = raised
            seen = tree(place.root)
            if failure is None:
                assert {name: data for name, data in seen.items() if "clew" not in name} == after(kind)
                assert for_ever or len(seen) <= len(after(kind)) + 1
                done += 1
            else:
                assert os.strerror(error).lower() in failure.message.lower()
                failed += 1
                if isinstance(failure, UnfinishedError):
                    assert for_ever
                else:
                    # What is told must be so: nothing was changed, and nothing is left lying about.
                    assert isinstance(failure, NotWrittenError)
                    assert failure.hint == "nothing was changed"
                    assert seen == before()
            assert disk.failures
            place.retry(kind)
    assert failed > len(errors_at(0)) * 20
    assert done


@pytest.mark.parametrize("is_partial", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_process_killed_anywhere_leaves_what_the_next_one_puts_right(
    place: Place, kind: str, is_partial: bool
) -> None:
    calls = place.calls(kind)
    outcomes: list[bool] = []
    for at in range(len(calls)):
        place.renew()
        with another_process(), pytest.raises(Killed):
            place.commit(kind, KillingDisk(at, is_partial=is_partial))
        seen = {name: data for name, data in tree(place.root).items() if "clew" not in name}
        for name, data in seen.items():
            if kind == "move":  # what was changed is moved after that
                assert data in {*before().values(), *after(kind).values(), b""}
            else:
                assert data in {before().get(name), after(kind).get(name), b""}
        if kind == "new" and "new.jsonl" in seen:
            assert seen == after(kind)  # the main file is there only when all the others are
        recover(place.state, disk=CountingDisk(), patience=AT_ONCE)
        outcomes.append(tree(place.root) == after(kind))
        place.retry(kind)
    assert outcomes == sorted(outcomes)  # from one call on it is done, before that it is not
    assert {True, False} == set(outcomes)


@pytest.mark.parametrize("kind", KINDS)
def test_to_be_killed_while_putting_things_right_changes_nothing(place: Place, kind: str) -> None:
    calls = place.calls(kind)
    tries = 0
    for at in range(0, len(calls), 5):
        for second in range(60):
            place.renew()
            with pytest.raises(Killed):
                place.commit(kind, KillingDisk(at))
            try:
                recover(place.state, disk=KillingDisk(second), patience=AT_ONCE)
            except Killed:
                tries += 1
                place.retry(kind)
            else:
                break
        else:
            pytest.fail("to put it right takes more than 60 calls")
    assert tries > 50


@pytest.mark.parametrize("kind", KINDS)
def test_to_be_killed_while_giving_up_changes_nothing(place: Place, kind: str) -> None:
    class Both(FailingDisk):
        """Fails once, and ends the process later."""

        def __init__(self, at: int, end: int) -> None:
            super().__init__(at, ERRORS[0], for_ever=False)
            self.end = end

        def met(self, name: str, path: str) -> None:
            if len(self.calls) >= self.end:
                raise Killed
            super().met(name, path)

    calls = place.calls(kind)
    tries = 0
    for at in range(1, len(calls), 4):
        for more in range(1, 60):
            place.renew()
            try:
                place.commit(kind, Both(at, at + more))
            except Killed:
                tries += 1
                place.retry(kind)
            except ClewError:
                break
            else:
                break
    assert tries > 100


@pytest.mark.parametrize("kind", KINDS)
def test_an_undoing_that_fails_or_is_killed_is_undone_by_the_next_run(place: Place, kind: str) -> None:
    place.calls(kind)
    whole = CountingDisk()
    undo(place.state, now_ms=NOW_MS, disk=whole, patience=AT_ONCE)
    assert tree(place.root) == before()
    for at in range(len(whole.calls)):
        for disk in (
            KillingDisk(at),
            *(FailingDisk(at, error, for_ever=ever) for error in ERRORS[:2] for ever in (False, True)),
        ):
            place.calls(kind)
            with another_process(), suppress(Killed, ClewError):
                undo(place.state, now_ms=NOW_MS, disk=disk, patience=AT_ONCE)
            recover(place.state, disk=CountingDisk(), patience=AT_ONCE)
            (entry,) = entries(place.state)
            if entry.state == "done":
                assert tree(place.root) == after(kind)
                undo(place.state, now_ms=NOW_MS, disk=CountingDisk(), patience=AT_ONCE)
            assert tree(place.root) == before()
            assert place.leftovers() == []


def test_to_forget_can_be_tried_again(place: Place) -> None:
    place.calls("place")
    whole = CountingDisk()
    forget(place.state, disk=whole)
    for at in range(len(whole.calls)):
        place.calls("place")
        (entry,) = entries(place.state)
        kept = entry.backups
        assert len(kept) == 2
        try:
            forget(place.state, disk=FailingDisk(at, ERRORS[1], for_ever=True))
        except ClewError:
            forget(place.state, disk=CountingDisk())
        assert not [path for path in kept if Path(path).exists()]
        assert tree(place.root) == after("place")


def test_a_disk_that_takes_little_at_a_time_is_given_all(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = os.write

    def little(descriptor: int, data: memoryview) -> int:
        return write(descriptor, data[:7])

    monkeypatch.setattr(os, "write", little)
    for kind in KINDS:
        place.calls(kind)
        assert tree(place.root) == after(kind)


def test_a_disk_that_takes_nothing_does_not_hang(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.renew()

    def nothing(_descriptor: int, _data: memoryview) -> int:
        return 0

    monkeypatch.setattr(os, "write", nothing)
    with pytest.raises(NotWrittenError):
        place.commit("new", Disk())
    monkeypatch.undo()
    assert tree(place.root) == before()
