"""A second process does its share, or this one does all of it."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time

import pytest

from clew.actions.second_process import Meeting, Second, can_fork

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="no fork here")


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_it_makes_comes_back_however_long_it_is() -> None:
    data = os.urandom(1 << 20)
    with Second(lambda: data + str(os.getpid()).encode()) as second:
        found = second.result()
    assert found is not None
    assert found.startswith(data)
    assert int(found[len(data) :]) != os.getpid()


def test_one_that_fails_or_is_killed_gives_nothing() -> None:
    def fail() -> bytes:
        raise KeyError("nothing")

    def die() -> bytes:
        os.kill(os.getpid(), signal.SIGKILL)
        return b"never"

    for work in (fail, die):
        with Second(work) as second:
            assert second.result() is None


def test_one_that_is_no_longer_wanted_is_ended() -> None:
    def sleep() -> bytes:
        time.sleep(60)
        return b""

    began = time.monotonic()
    with Second(sleep) as second:
        process = second._process  # pyright: ignore[reportPrivateUsage]
        assert is_there(process)
    assert not is_there(process)
    assert time.monotonic() - began < 30


def test_where_no_process_can_be_begun_there_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError

    monkeypatch.setattr(os, "fork", refuse)
    with Second(lambda: b"made") as second:
        assert second.result() is None


def test_none_is_forked_beside_another_thread() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    before = can_fork()
    thread.start()
    try:
        assert not can_fork()
    finally:
        stop.set()
        thread.join()
    assert can_fork() == before


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_two_that_meet_leave_nothing_out(count: int) -> None:
    for ahead in range(count + 1):
        meeting = Meeting(count)
        first, last = meeting.forwards(), meeting.backwards()
        taken = [one for _, one in zip(range(ahead), first, strict=False)]
        taken += last
        taken += first
        assert sorted(taken) == list(range(count))


def test_two_processes_that_meet_leave_nothing_out() -> None:
    meeting = Meeting(500)
    with Second(lambda: b" ".join(str(one).encode() for one in meeting.backwards())) as second:
        here = set(meeting.forwards())
        found = second.result()
    assert found is not None
    assert here | set(map(int, found.split())) == set(range(500))
