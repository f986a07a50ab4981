"""A run that is killed, or for which something goes wrong: the session stays whole and goes on."""

from __future__ import annotations

import json
import os
import random
import resource
import threading
import time
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

import pytest

from clew.agent.standin import Failure, Pace, Reply, StandIn, text, thinking
from tests.acceptance.run_lab import (
    SESSION,
    Place,
    api,
    conversation,
    go_on,
    kill,
    lines,
    problems,
    told,
    written_once,
)
from tests.acceptance.run_stories import FREE, NEW, ask, bash
from tests.conformance.notation import without_prompt

if TYPE_CHECKING:
    from pathlib import Path

    from clew.agent.standin import Answer, Request, Scripted

pytestmark = pytest.mark.acceptance

KEY = "sk-ant-api03-not-for-anybody"
EACH = 20
"""So many kills a session has to bear."""


def steps(request: Request) -> Reply:
    """Answer with three calls, one after the other or two at once, and then with words."""
    messages = cast("list[dict[str, Any]]", request.body["messages"])
    done = 0
    for message in reversed(messages):
        results = [block for block in message["content"] if block["type"] == "tool_result"]
        if message["role"] == "user" and not results:
            break
        done += len(results)
    name, pace = uuid4().hex, Pace(between=0.004, piece=20)
    if done >= 3:
        words = (thinking(f"All is done: {name}"), text("There is nothing more to be said about it."))
        return Reply(words, message_id=f"msg_{name}", pace=pace)
    command = bash(name, f"echo {name} >> log.txt; sleep 0.03; head -c 3000 /dev/zero | tr '\\0' x")
    first = thinking(f"Once more: {name}") if done == 0 else text("And again.")
    calls = (command, bash(f"{name}b", "echo other")) if done == 1 else (command,)
    return Reply((first, *calls), message_id=f"msg_{name}", pace=pace)


def killed_once(place: Place, number: int, draw: random.Random) -> bool:
    """Run, and kill it at a moment nobody chose; say whether it was still running."""
    begun = threading.Event()
    with StandIn(strict=True, default=steps, heard=lambda _request, _answer: begun.set()) as there:
        named = ("--resume", SESSION) if place.files else ("--session-id", SESSION)
        with place.starting(there.url, *FREE, *named, f"Prompt number {number}.") as run:
            if draw.random() < 0.9:  # most of a short run is spent before it does anything
                begun.wait(30)
            time.sleep(draw.uniform(0, 0.6))
            is_running = run.poll() is None
            if is_running:
                kill(run)
            _, err = run.communicate()
            assert is_running or run.returncode == 0, err
        # One that was killed in the midst of a request has sent only its beginning.
        whole = [one for one in there.refusals if len(one.raw) >= int(one.headers["content-length"])]
        assert not whole, whole[0].refusal
    return is_running


def is_valid(data: bytes, kills: int) -> int:
    """Raise unless a file is whole but for torn lines, at most one for a kill; return how many there are."""
    raw = data.split(b"\n")
    torn = len([one for one in raw if one]) - len(lines(data))
    assert torn <= kills
    written_once(data)
    assert problems(data) <= {"torn-line", "garbage", "unpaired-call"}
    return torn


def bear(root: Path, kills: int, seed: int) -> None:
    """Kill runs of some sessions so often; each time the next run goes on with what the last one left."""
    draw = random.Random(seed)
    runs = torn = 0
    for first in range(0, kills, EACH):
        place, left = Place(root / str(first)), min(EACH, kills - first)
        while left:
            left -= killed_once(place, runs, draw)
            runs += 1
            if place.files:
                is_valid(place.file.read_bytes(), EACH)
        data = place.file.read_bytes()
        torn += is_valid(data, EACH)
        assert go_on(place) == told(data)
        after = place.file.read_bytes()
        assert after.startswith(data)
        # What could not be answered is answered now: nothing is left open.
        assert "unpaired-call" not in problems(after)
        with api() as there:
            assert place.run(there.url, *FREE, "--resume", SESSION, "The last one.").code == 0
            assert told(after) == without_prompt(conversation(there.requests), "The last one.")
    print(f"\n{kills} of {runs} runs killed while they ran, {torn} torn lines")
    assert runs < 3 * kills


def test_a_session_bears_20_kills_at_random_moments(tmp_path: Path) -> None:
    bear(tmp_path, 20, seed=7)


# What goes wrong ----------------------------------------------------------------------------------------


FAILURES: dict[str, tuple[list[Scripted], str]] = {
    "refused": ([Failure(400, "invalid_request_error", "messages: no")], "the API refuses the request (400"),
    "no such key": ([Failure(401, "authentication_error", f"bad key {KEY}")], "does not take the key (401"),
    "too much asked": (
        [Failure(429, "rate_limit_error", "slower", retry_after=900)],
        "cannot answer now (429",
    ),
    "overloaded": ([Failure(529, "overloaded_error", "busy", retry_after=900)], "cannot answer now (529"),
    "lost": (
        [Reply((thinking("Hm."), text("It was a dark night")), pace=Pace(piece=4, cut_after=9, then="drop"))],
        "the answer broke off",
    ),
    "failed in mid-stream": (
        [Reply((text("It was a dark night"),), pace=Pace(piece=4, cut_after=6, then="error"))],
        "the answer broke off",
    ),
    "nonsense": ([lambda _request: Failure(418, "teapot", "\x1b[31mI am \u202ea teapot")], "(418"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_whatever_the_api_does_is_told_and_the_session_goes_on(tmp_path: Path, name: str) -> None:
    script, words = FAILURES[name]
    place = Place(tmp_path)
    ask(place, [Reply((bash("1", "echo one"),)), Reply((text("One."),))], *NEW, "First.")
    with api(script) as there:
        ran = place.run(there.url, *FREE, "--resume", SESSION, "Second.", environ={"ANTHROPIC_API_KEY": KEY})
        assert len(there.requests) == 1
    assert (ran.code, ran.out) == (1, "")
    assert words in ran.err
    assert "Traceback" not in ran.err
    assert KEY not in ran.err
    assert "\x1b[31m" not in ran.err
    data = place.file.read_bytes()
    assert KEY.encode() not in data
    assert problems(data) == {"api-error-last"}
    assert go_on(place) == told(data)
    written_once(place.file.read_bytes())


def test_a_busy_api_is_asked_again_when_it_said(tmp_path: Path) -> None:
    place = Place(tmp_path)
    busy = [Failure(429, "rate_limit_error", "slower", retry_after=0.2), Failure(529, retry_after=0.2)]
    ran = ask(place, [*busy, Reply((text("At last."),))], *NEW, "Please.")
    assert ran.out == "At last.\n"
    assert ran.err.count("trying again in") == 2
    assert problems(place.file.read_bytes()) == set()


def test_a_full_disk_is_told_and_what_was_written_is_whole(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ask(place, [Reply((text("One."),))], *NEW, "First.")
    room = place.file.stat().st_size + 3000

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))

    script = [Reply((bash(str(number), "echo word"),)) for number in range(9)]
    with api(script) as there:
        ran = place.run(there.url, *FREE, "--resume", SESSION, "Second.", preexec_fn=little_room)
        assert 1 < len(there.requests) < 9
    assert ran.code == 1
    assert "was not written: file too large" in ran.err
    assert "Traceback" not in ran.err
    data = place.file.read_bytes()
    assert len(data) <= room
    assert data.endswith(b"\n")
    assert problems(data) <= {"unpaired-call"}
    assert go_on(place) == told(data)
    written_once(place.file.read_bytes())


def test_a_folder_that_cannot_be_written_to_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    place = Place(tmp_path)
    (place.config / "projects").write_text("in the way")
    with api() as there:
        ran = place.run(there.url, *NEW, "First.")
        assert not there.requests
    assert ran.code == 1
    assert "Traceback" not in ran.err
    assert "projects" in ran.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_session_that_may_only_be_read_is_not_gone_on_with(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ask(place, [Reply((text("One."),))], *NEW, "First.")
    place.file.chmod(0o400)
    with api() as there:
        ran = place.run(there.url, *FREE, "--resume", SESSION, "Second.")
        assert not there.requests
    assert ran.code == 1
    assert "Traceback" not in ran.err


def test_two_runs_never_write_into_one_session(tmp_path: Path) -> None:
    """The second is refused while the first is at it."""
    place = Place(tmp_path)
    ask(place, [Reply((text("One."),))], *NEW, "First.")
    slow = Reply((text("A long answer, slowly."),), pace=Pace(piece=1, between=0.2))
    asked = threading.Event()

    def hear(_request: Request, _answer: Answer) -> None:
        asked.set()

    with (
        api([slow], heard=hear) as there,
        place.starting(there.url, *FREE, "--resume", SESSION, "Second.") as first,
    ):
        assert asked.wait(30)
        second = place.run(there.url, *FREE, "--resume", SESSION, "Third.")
        assert second.code == 4
        assert len(there.requests) == 1
        first.communicate()
        assert first.returncode == 0
    assert problems(place.file.read_bytes()) == set()


def test_too_many_requests_or_too_much_money_end_a_run(tmp_path: Path) -> None:
    place = Place(tmp_path)
    ran = ask(place, [Reply((bash("1", "echo"),))], *NEW, "--max-turns", "1", "Go.", code=1)
    assert "the limit of 1 requests" in ran.err
    dear = Reply((bash("2", "echo"),), usage={"input_tokens": 150_000, "output_tokens": 1})
    ran = ask(
        place, [dear], *FREE, "--resume", SESSION, "--max-cost", "0.1", "--output", "json", "On.", code=1
    )
    result = json.loads(ran.out)
    assert (result["subtype"], result["is_error"]) == ("error_max_budget", True)
    assert result["total_cost_usd"] == pytest.approx(0.45, rel=0.01)
    assert problems(place.file.read_bytes()) == set()
    data = place.file.read_bytes()
    assert go_on(place) == told(data)
