"""Hooks that come at once: one worker at a time, and each session is sent after the last hook spoke of it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import BinaryIO

import pytest

from clew.actions import hook_spool as spools
from tests.hook.place import CLEW, Place, make


def at_once(place: Place, *said: bytes) -> None:
    """Start a hook for each, as close to each other as can be, and wait for them."""
    files: list[BinaryIO] = []
    for number, data in enumerate(said):
        file = place.folder / f"said-{number}"
        file.write_bytes(data)
        files.append(file.open("rb"))
    hooks = [
        subprocess.Popen(
            [*CLEW, "hook", "run"],
            env=place.environ,
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for file in files
    ]
    for hook, file in zip(hooks, files, strict=True):
        out, err = hook.communicate(timeout=20)
        file.close()
        assert (hook.returncode, out, err) == (0, b"", b"")


def many_at_once(folder: Path, rounds: int) -> None:
    place = make(folder, CLEW_TEST_SINK_SLEEP="0.02")
    expected: dict[str, int] = {}
    for number in range(rounds):
        one = place.transcript(f"one-{number}", "ok")
        two = place.transcript(f"two-{number}", "ok")
        at_once(place, place.said(one, "Stop"), place.said(two, "Stop"), place.said(one, "SessionEnd"))
        if number % 3:  # else the next come while the worker is still at these
            place.wait()
        expected |= {str(path): path.stat().st_size for path in (one, two)}
    place.wait()
    calls = place.calls
    assert all(call["alone"] for call in calls), "two workers at once"
    assert {path: size for call in calls for path, _, size in call["paths"]} == expected
    assert not Path(place.spool.pending).exists()
    assert place.log == ""
    print(f"\n{rounds} rounds, {len({call['pid'] for call in calls})} workers, {len(calls)} calls")


def test_two_stops_and_an_end_at_once(tmp_path: Path) -> None:
    many_at_once(tmp_path, 6)


@pytest.mark.soak
def test_two_stops_and_an_end_at_once_200_times(tmp_path: Path) -> None:
    many_at_once(tmp_path, 200)


def test_a_hanging_endpoint_is_not_felt_by_hooks_and_leaves_no_process(tmp_path: Path) -> None:
    """Ten here; the figures are measured with five hundred."""
    worst, pids, place = hang(tmp_path, runs=10, busy=0)
    assert worst[-1] < 1.5
    for pid in pids:
        os.kill(pid, 9)  # that it ends by itself is shown with the five hundred
    assert len(pids) == 1
    assert spools.has_new(place.spool)  # for whoever comes next


def hang(folder: Path, *, runs: int, busy: int) -> tuple[list[float], set[int], Place]:
    """Run hooks beside a worker whose endpoint hangs; return how long they took, sorted."""
    place = make(folder, mode="hang")
    path = place.transcript("s1", "ok")
    data = place.said(path, last_assistant_message="ok")
    load = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(busy)]
    times: list[float] = []
    try:
        for _ in range(runs):
            start = time.perf_counter()
            done = place.hook(data, "Stop")
            times.append(time.perf_counter() - start)
            assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    finally:
        for each in load:
            each.kill()
            each.wait()
    return sorted(times), {call["pid"] for call in place.calls}, place


@pytest.mark.soak
def test_p99_is_a_second_with_the_endpoint_hanging_on_a_busy_machine(tmp_path: Path) -> None:
    times, _, place = hang(tmp_path, runs=500, busy=2 * (os.cpu_count() or 2))
    figures = {name: times[int(share * 499)] for name, share in (("min", 0), ("median", 0.5), ("p99", 0.99))}
    print("\n" + json.dumps({name: round(1000 * value) for name, value in figures.items()}), "ms")
    assert figures["p99"] <= 1.0
    end = time.monotonic() + 60
    pids = {call["pid"] for call in place.calls}
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < end, "a process is left after a minute"
        time.sleep(0.5)
        pids |= {call["pid"] for call in place.calls}
    place.wait(1)
