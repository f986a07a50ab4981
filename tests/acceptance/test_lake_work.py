"""What a build costs: as much as changed, and four times as much for four times the sessions.

Counted in processor time, of the tasks and of the whole process, on sessions of one size.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from clew.lake.engines import EngineError, LocalEngine
from tests.lake.lab import KEY, Report, built, conversation, everything, put

if TYPE_CHECKING:
    from pathlib import Path

    from tests.builder import Builder


def session(name: str, turns: int) -> Builder:
    made = conversation(name, turns=turns, wait=crc32(name.encode()) % 40 * 86_400)
    return made.user("Look at this: " + "words and more of them " * 2_000)


def developers(source: Path, sessions: int, *, turns: int) -> list[Path]:
    """Make sessions of some developers, fifty each."""
    return [
        put(
            source / f"team{number % 3}" / f"dev{number // 50}",
            f"s{number}",
            session(f"s{number}", turns).data(),
        )
        for number in range(sessions)
    ]


def measured(source: Path, lake: Path) -> tuple[Report, float]:
    start = time.process_time()
    report = built(source, lake, key=KEY)
    return report, time.process_time() - start


def grown(paths: list[Path], share: int) -> int:
    chosen = paths[::share]
    for path in chosen:
        with path.open("ab") as file:
            file.write(b'{"type":"summary","summary":"One more line."}\n')
    return len(chosen)


@pytest.mark.acceptance
def test_a_hundredth_of_the_sessions_takes_a_hundredth_of_the_work(tmp_path: Path) -> None:
    paths = developers(tmp_path / "source", 200, turns=60)
    whole, _ = measured(tmp_path / "source", tmp_path / "lake")
    changed = grown(paths, 100)
    again, _ = measured(tmp_path / "source", tmp_path / "lake")
    assert (whole.mapped, again.mapped) == (200, changed)
    assert again.task_seconds <= 0.05 * whole.task_seconds
    assert measured(tmp_path / "source", tmp_path / "lake")[0].mapped == 0


@pytest.mark.acceptance
def test_four_times_the_sessions_take_four_times_the_work(tmp_path: Path) -> None:
    taken: list[float] = []
    for sessions in (60, 240):
        developers(tmp_path / f"source{sessions}", sessions, turns=60)
        best = min(
            measured(tmp_path / f"source{sessions}", tmp_path / f"lake{sessions}-{turn}")[1]
            for turn in range(2)
        )
        taken.append(best)
    assert taken[1] <= 4.4 * taken[0]


@pytest.mark.acceptance
def test_two_processes_make_the_rows_of_one(tmp_path: Path) -> None:
    developers(tmp_path / "source", 90, turns=60)
    built(tmp_path / "source", tmp_path / "one", key=KEY)
    engine = LocalEngine(2)
    try:
        assert built(tmp_path / "source", tmp_path / "two", engine=engine, key=KEY).mapped == 90
    finally:
        engine.close()
    assert everything(tmp_path / "one") == everything(tmp_path / "two")


@pytest.mark.soak
def test_a_hundredth_of_a_thousand_sessions_takes_a_twentieth_of_all_that_a_build_does(
    tmp_path: Path,
) -> None:
    paths = developers(tmp_path / "source", 1000, turns=60)
    _, whole = measured(tmp_path / "source", tmp_path / "lake")
    assert grown(paths, 100) == 10
    report, again = measured(tmp_path / "source", tmp_path / "lake")
    assert report.mapped == 10
    assert again <= 0.05 * whole


@pytest.mark.acceptance
def test_a_process_that_is_killed_ends_the_build_and_the_next_one_goes_on(tmp_path: Path) -> None:
    developers(tmp_path / "source", 90, turns=60)
    engine = LocalEngine(2)
    stopped = threading.Event()

    def kill() -> None:
        while not stopped.wait(0.05):
            for child in multiprocessing.active_children():
                child.kill()
                return

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        with pytest.raises(EngineError, match="ended from outside"):
            built(tmp_path / "source", tmp_path / "lake", engine=engine)
        assert built(tmp_path / "source", tmp_path / "lake", engine=engine).sessions == 90
    finally:
        stopped.set()
        killer.join()
        engine.close()
    built(tmp_path / "source", tmp_path / "anew")
    assert everything(tmp_path / "lake") == everything(tmp_path / "anew")
