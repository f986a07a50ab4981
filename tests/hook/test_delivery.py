"""From the hook to the collector, nothing stubbed: each turn arrives once, whoever is killed on the way."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.hook_lab import Collector
from tests.hook.place import Place, make
from tests.hook.test_races import at_once

if TYPE_CHECKING:
    from collections.abc import Iterator

SPANS = 2
"""Of each turn."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as found:
        yield found


def real(folder: Path, collector: Collector) -> Place:
    """A place in which what is sent goes to the collector."""
    place = make(folder)
    place.environ.pop("PYTHONPATH")
    file = Path(place.environ["HOME"]) / ".config" / "clew" / "trace.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f'[[endpoint]]\nurl = "{collector.url}"\n')
    return place


def turn(place: Place, session: str, number: int) -> Path:
    """Add a turn to a session as the client writes it."""
    name = f"{session}-{number}"
    clock = f"2026-11-15T10:{number:02}"
    common = {"sessionId": session, "cwd": "/home/ada/shop", "version": "2.1.325", "isSidechain": False}
    prompt = {
        **common,
        "type": "user",
        "uuid": f"u-{name}",
        "parentUuid": f"a-{session}-{number - 1}" if number else None,
        "timestamp": f"{clock}:00.000Z",
        "message": {"role": "user", "content": f"PROMPT<{name}>"},
    }
    message = {
        "id": f"msg_{name}",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5-20250929",
        "content": [{"type": "text", "text": f"answer {name}"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 10, "output_tokens": 5},
    }
    answer = {
        **common,
        "type": "assistant",
        "uuid": f"a-{name}",
        "parentUuid": f"u-{name}",
        "timestamp": f"{clock}:05.000Z",
        "requestId": f"req_{name}",
        "message": message,
    }
    path = place.project / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(prompt) + "\n" + json.dumps(answer) + "\n")
    return path


def many(place: Place, collector: Collector, rounds: int) -> None:
    prompts: list[str] = []
    for number in range(rounds):
        first, second = f"one-{number // 20}", f"two-{number // 20}"
        one, two = turn(place, first, number % 20), turn(place, second, number % 20)
        last = f"answer {first}-{number % 20}"
        at_once(
            place,
            place.said(one, "Stop", last_assistant_message=last),
            place.said(two, "Stop"),
            place.said(one, "SessionEnd", reason="other"),
        )
        prompts += [f"PROMPT<{name}-{number % 20}>" for name in (first, second)]
        if number % 3:
            place.wait()
    place.wait()
    collector.judge(prompts)
    assert not Path(place.spool.pending).exists()


def test_two_stops_and_an_end_at_once_reach_the_collector_once(tmp_path: Path, collector: Collector) -> None:
    collector.open()
    many(real(tmp_path, collector), collector, 4)


@pytest.mark.soak
def test_two_stops_and_an_end_at_once_200_times_reach_it_once(tmp_path: Path, collector: Collector) -> None:
    collector.open()
    many(real(tmp_path, collector), collector, 200)


def killed(place: Place, collector: Collector, rounds: int, seed: int) -> int:
    """Kill the worker at any moment, round after round; return how often one was there to be killed."""
    dice = random.Random(seed)
    prompts: list[str] = []
    hit = 0
    for number in range(rounds):
        path = turn(place, "s1", number)
        place.hook(place.said(path, last_assistant_message=f"answer s1-{number}"), "Stop")
        prompts.append(f"PROMPT<s1-{number}>")
        if number % 2:  # at a moment nobody chose, which on a quick machine may be after all is done
            time.sleep(dice.random() * 0.6)
        else:
            end = time.monotonic() + 5
            while not workers(place) and time.monotonic() < end:
                time.sleep(0.001)
            time.sleep(dice.random() * 0.05)
        for pid in workers(place):
            os.kill(pid, signal.SIGKILL)
            hit += 1
    path = turn(place, "s1", rounds)
    prompts.append(f"PROMPT<s1-{rounds}>")
    place.hook(place.said(path, "SessionEnd"), "SessionEnd")
    place.wait(40)
    roots = [one for one in collector.arrived if not one.parent]
    missing = [prompt for prompt in prompts if not any(prompt in root for root in roots)]
    # One that is killed between saying that it sends and sending leaves spans that nobody knows of.
    assert len(missing) * SPANS <= unknown(place), f"lost: {missing}; {place.log}"
    spans = Counter(one.span for one in collector.arrived)
    assert set(spans.values()) == {1}
    return hit


def unknown(place: Place) -> int:
    """Return how many spans nobody knows to have arrived."""
    command = [sys.executable, "-P", "-m", "clew", "trace", "status", "--json"]
    said = subprocess.run(command, env=place.environ, capture_output=True, check=True).stdout
    (endpoint,) = json.loads(said)
    return int(endpoint["unknown_spans"])


class Deadly(Collector):
    """Kills the worker that brings the first spans, and keeps nothing of them."""

    place: Place
    has_killed = False

    def take(self, data: bytes) -> None:
        if data and not self.has_killed:
            self.has_killed = True
            for pid in workers(self.place):
                os.kill(pid, signal.SIGKILL)
            return
        super().take(data)


def test_a_turn_of_which_nobody_knows_whether_it_arrived_is_told_and_not_sent_again(tmp_path: Path) -> None:
    """The worker is killed when its request is out and no answer has come: so a turn can be missing."""
    with Deadly() as collector:
        place = collector.place = real(tmp_path, collector)
        collector.open()
        for number in range(2):
            path = turn(place, "s1", number)
            place.hook(place.said(path, last_assistant_message=f"answer s1-{number}"), "Stop")
            place.wait(40)
        assert collector.has_killed
        roots = [one for one in collector.arrived if not one.parent]
        assert [f"PROMPT<s1-{number}>" in root for root in roots for number in range(2)] == [False, True]
        assert unknown(place) == SPANS


def workers(place: Place) -> list[int]:
    """The workers of this place, by what they hold open."""
    found: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"hook\0work" in (process / "cmdline").read_bytes() and any(
                str(each.readlink()) == place.spool.lock for each in (process / "fd").iterdir()
            ):
                found.append(int(process.name))
        except OSError:
            continue
    return found


def test_a_worker_killed_at_any_moment_loses_no_turn(tmp_path: Path, collector: Collector) -> None:
    collector.open()
    assert killed(real(tmp_path, collector), collector, 6, seed=3) > 0


@pytest.mark.soak
def test_a_worker_killed_fifty_times_loses_no_turn(tmp_path: Path, collector: Collector) -> None:
    collector.open()
    hit = killed(real(tmp_path, collector), collector, 50, seed=4)
    print(f"\n{hit} workers killed")
    assert hit > 10
