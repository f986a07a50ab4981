"""Locks: one at a time, and nobody who is no more blocks anybody."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.store import locks
from clew.store.locks import BusyError, Process, hold, lock_file, started
from clew.store.writer import NotWrittenError
from tests.conftest import ROOT
from tests.store.faults.disks import FailingDisk
from tests.store.lines import put

if TYPE_CHECKING:
    from collections.abc import Iterator

HOLDER = """
    import sys, time
    from pathlib import Path
    from clew.store.locks import hold
    with hold(sys.argv[1], state=Path(sys.argv[2])):
        print("held", flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return put(tmp_path / "projects" / "s.jsonl", b"{}\n")


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def holder(session: Path, state: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that holds the session until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLDER), str(session), str(state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    with process:
        yield process
        process.kill()


def test_a_second_process_is_refused_within_two_seconds_and_told_by_whom(
    session: Path, state: Path, holder: subprocess.Popen[bytes]
) -> None:
    began = time.monotonic()
    with pytest.raises(BusyError, match=f"process {holder.pid}") as raised, hold(session, state=state):
        pass
    assert 1.4 < time.monotonic() - began < 2
    assert raised.value.pid == holder.pid
    assert raised.value.exit_code == 4
    assert str(session) in raised.value.message


def test_it_is_had_as_soon_as_it_is_let_go(
    session: Path, state: Path, holder: subprocess.Popen[bytes]
) -> None:
    assert holder.stdin is not None
    threading.Timer(0.3, holder.stdin.close).start()
    with hold(session, state=state, wait=30):
        pass


def test_a_process_that_was_killed_blocks_nobody(
    session: Path, state: Path, holder: subprocess.Popen[bytes]
) -> None:
    holder.send_signal(signal.SIGKILL)
    # Not waited for: a process that nobody has asked about yet is still listed.
    with hold(session, state=state):
        assert Path(lock_file(str(session), state)).read_bytes().startswith(b"%d " % os.getpid())
    assert list((state / "locks").iterdir()) == []


def test_other_sessions_are_not_concerned(
    session: Path, state: Path, holder: subprocess.Popen[bytes]
) -> None:
    with hold(session.with_name("t.jsonl"), state=state, wait=0):
        pass
    assert holder.poll() is None


def test_a_session_has_one_lock_by_whatever_name(session: Path, state: Path) -> None:
    other = session.with_name("link.jsonl")
    other.symlink_to(session)
    with hold(session, state=state), pytest.raises(BusyError), hold(other, state=state, wait=0):
        pass


def test_threads_exclude_one_another(session: Path, state: Path) -> None:
    inside = most = 0
    seen: list[int] = []

    def work() -> None:
        nonlocal inside, most
        for _ in range(5):
            with hold(session, state=state, wait=60):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)
                inside -= 1
                seen.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, len(seen)) == (1, 20)
    with (
        hold(session, state=state),
        pytest.raises(BusyError, match=f"process {os.getpid()}"),
        hold(session, state=state, wait=0),
    ):
        pass


def test_processes_exclude_one_another(session: Path, state: Path, tmp_path: Path) -> None:
    log = put(tmp_path / "log")
    code = """
        import os, sys, time
        from pathlib import Path
        from clew.store.locks import hold
        log = os.open(sys.argv[3], os.O_WRONLY | os.O_APPEND)
        for _ in range(40):
            with hold(sys.argv[1], state=Path(sys.argv[2]), wait=60):
                os.write(log, b"(")
                time.sleep(0.0005)
                os.write(log, b")")
    """
    argv = [sys.executable, "-c", textwrap.dedent(code), str(session), str(state), str(log)]
    workers = [subprocess.Popen(argv, cwd=ROOT) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    assert log.read_bytes() == b"()" * 120
    assert list((state / "locks").iterdir()) == []


def test_locks_are_private_and_gone_afterwards(session: Path, state: Path) -> None:
    umask = os.umask(0)
    try:
        with hold(session, state=state):
            (lock,) = (state / "locks").iterdir()
            assert stat.S_IMODE(lock.stat().st_mode) == 0o600
            assert stat.S_IMODE(lock.parent.stat().st_mode) == 0o700
    finally:
        os.umask(umask)
    assert list((state / "locks").iterdir()) == []


def test_what_is_raised_inside_lets_go_too(session: Path, state: Path) -> None:
    with pytest.raises(KeyboardInterrupt), hold(session, state=state):
        raise KeyboardInterrupt
    with hold(session, state=state, wait=0):
        pass


def test_a_lock_that_cannot_be_made_is_an_error_that_names_it(session: Path, state: Path) -> None:
    for at in range(3):
        disk = FailingDisk(at, errno.ENOSPC, for_ever=False)
        with (
            pytest.raises(NotWrittenError, match=r"locks.*no space"),
            hold(session, state=state / str(at), disk=disk, wait=0),
        ):
            pass
    with hold(session, state=state, wait=0):
        pass


def test_who_it_is_need_not_be_written(session: Path, state: Path) -> None:
    with hold(session, state=state):
        pass
    with (
        hold(session, state=state, disk=FailingDisk(1, errno.ENOSPC, for_ever=False)),
        pytest.raises(BusyError),
        hold(session, state=state, wait=0),
    ):
        pass


# --- where the file system knows no locks -------------------------------------------------------------------


@pytest.fixture
def _no_locks(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]  # used by name
    def refuse(_descriptor: int) -> None:
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr(locks, "_lock_now", refuse)


def left_by(session: Path, state: Path, process: Process | bytes) -> None:
    said = (
        process if isinstance(process, bytes) else f"{process.pid} {process.space} {process.start}\n".encode()
    )
    put(Path(lock_file(str(session), state)), said)


@pytest.mark.usefixtures("_no_locks")
def test_there_a_lock_counts_while_its_process_runs(session: Path, state: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        left_by(session, state, Process.this()._replace(pid=other.pid, start=started(other.pid) or ""))
        with pytest.raises(BusyError, match=str(other.pid)), hold(session, state=state, wait=0):
            pass
        other.kill()
        # It has not been asked about yet, and is listed still.
        with hold(session, state=state, wait=5):
            pass


@pytest.mark.usefixtures("_no_locks")
@pytest.mark.parametrize("said", [b"", b"nonsense\n", b"12\n", b"\xff\xfe a b\n"])
def test_there_a_lock_that_says_nothing_is_taken_over(session: Path, state: Path, said: bytes) -> None:
    left_by(session, state, said)
    with hold(session, state=state, wait=0), pytest.raises(BusyError), hold(session, state=state, wait=0):
        pass


@pytest.mark.usefixtures("_no_locks")
def test_there_a_lock_whose_process_id_somebody_else_has_by_now_is_taken_over(
    session: Path, state: Path
) -> None:
    left_by(session, state, Process.this()._replace(pid=os.getppid(), start="1"))
    with hold(session, state=state, wait=0):
        assert Path(lock_file(str(session), state)).read_bytes().startswith(b"%d " % os.getpid())


@pytest.mark.usefixtures("_no_locks")
def test_there_a_lock_of_another_machine_is_respected(session: Path, state: Path) -> None:
    left_by(session, state, Process(4, "1", "elsewhere"))
    with pytest.raises(BusyError, match="process 4"), hold(session, state=state, wait=0):
        pass


@pytest.mark.usefixtures("_no_locks")
def test_there_a_lock_that_cannot_be_written_is_an_error(session: Path, state: Path) -> None:
    with hold(session, state=state):
        pass
    with (
        pytest.raises(NotWrittenError),
        hold(session, state=state, disk=FailingDisk(1, errno.ENOSPC, for_ever=False)),
    ):
        pass


def test_a_lock_with_a_used_process_id_blocks_nobody_where_there_are_locks(
    session: Path, state: Path
) -> None:
    left_by(session, state, Process.this()._replace(pid=os.getppid()))
    with hold(session, state=state, wait=0):
        pass


# --- processes ----------------------------------------------------------------------------------------------


def test_this_process_runs_and_one_that_began_at_another_time_does_not() -> None:
    me = Process.this()
    assert me.pid == os.getpid()
    assert me.start
    assert me.is_running() is True
    assert me._replace(start="1").is_running() is False
    assert me._replace(pid=999_999_999).is_running() is False
    assert me._replace(space="elsewhere").is_running() is None


def test_the_name_of_a_program_does_not_mislead(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    fields = [b"S", *(b"%d" % number for number in range(4, 60))]
    put(tmp_path / "7" / "stat", b"7 (a ) Z (b) " + b" ".join(fields))
    put(tmp_path / "8" / "stat", b"8 (x) Z " + b" ".join(fields[1:]))
    put(tmp_path / "9" / "stat", b"9 (x) S")
    assert started(7, proc=str(tmp_path)) == "22"
    assert started(8, proc=str(tmp_path)) is None
    assert started(9, proc=str(tmp_path)) == ""
    assert started(10, proc=str(tmp_path)) is None


def test_without_a_list_of_processes_the_system_is_asked(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    assert started(os.getpid(), proc=nowhere) is not None
    assert started(999_999_999, proc=nowhere) is None
