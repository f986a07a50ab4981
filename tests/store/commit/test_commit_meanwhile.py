"""Committing while others write: nothing of theirs is lost."""

from __future__ import annotations

import errno
import threading
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.errors import ClewError
from clew.store.carrying import NotCarriedError, Patience
from clew.store.commit import Job, Replaced, commit
from clew.store.journal import entries, recover, undo
from tests.store.commits import do
from tests.store.faults.disks import AT_ONCE, CountingDisk, Killed, RefusingDisk, ticking
from tests.store.faults.jobs import (
    AGENT,
    MAIN,
    NOW_MS,
    OLD_AGENT,
    OLD_MAIN,
    before,
    pieces,
    place_job,
    stamp,
    tree,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.store.commit import Done


def trimmed(root: Path) -> Job:
    """An edit of the session's own file alone."""
    path = root / "old.jsonl"
    return Job("trim", str(path), replaced=(Replaced(str(path), pieces(MAIN), stamp(path)),))


def late(state: Path, data: bytes, *, times: int = 1) -> Callable[[float], None]:
    """Somebody who has the old file open, and adds to it each time that is waited."""
    left = iter(range(times))

    def sleep(_seconds: float) -> None:
        (backup,) = (state / "journal" / "backups").iterdir()
        for _ in islice(left, 1):
            with backup.open("ab") as file:
                file.write(data)

    return sleep


def test_an_unfinished_end_comes_over_too(root: Path, state: Path) -> None:
    added = b'{"late":1}\n{"torn'
    done = do(trimmed(root), state, patience=ticking(late(state, added)))
    assert (root / "old.jsonl").read_bytes() == MAIN + added
    assert (done.carried, done.is_quiet) == (len(added), True)


def test_somebody_who_never_stops_writing_is_told_of(root: Path, state: Path) -> None:
    done = do(trimmed(root), state, patience=ticking(late(state, b"{}\n", times=1000)))
    assert not done.is_quiet
    assert 0 < done.carried < 3000
    assert (root / "old.jsonl").read_bytes() == MAIN + b"{}\n" * (done.carried // 3)
    assert [entry.state for entry in entries(state)] == ["done"]


def test_what_cannot_be_carried_over_is_said_to_be_in_the_backup(root: Path, state: Path) -> None:
    disk = RefusingDisk(lambda name, _path: errno.EACCES if name == "open_end" else 0)
    with pytest.raises(NotCarriedError, match="in its backup only") as raised:
        do(trimmed(root), state, disk, patience=ticking(late(state, b"{}\n")))
    (backup,) = (state / "journal" / "backups").iterdir()
    assert raised.value.hint == f"the backup is {backup}"
    assert raised.value.path == str(root / "old.jsonl")
    assert (root / "old.jsonl").read_bytes() == MAIN
    assert backup.read_bytes() == OLD_MAIN + b"{}\n"


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
