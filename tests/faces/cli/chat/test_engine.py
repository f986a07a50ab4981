"""The session behind a chat: jobs one by one, words that wait until they can be heard, questions."""

from __future__ import annotations

import os
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from clew.actions.run_requests import RunRequest
from clew.agent.asking import Answer, Question
from clew.agent.happenings import CallBegan, Said
from clew.agent.standin import Pace, Reply, StandIn, text, tool_use
from clew.faces.cli.chat.engine import Asked, Ended, Engine, Heard
from clew.faces.cli.chat.talk import Talk
from clew.faces.cli.styled import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from clew.agent.standin import Scripted


class Lab:
    """An engine, what came out of it so far, and the API behind it."""

    def __init__(self, engine: Engine, api: StandIn) -> None:
        self.engine, self.api = engine, api
        self.came: list[Any] = []

    def wait_for(self, holds: Callable[[Any], bool]) -> Any:
        """Wait for something to come out, and take it and all before it."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            self.came += self.engine.take()
            found = next((number for number, one in enumerate(self.came) if holds(one)), None)
            if found is not None:
                one = self.came[found]
                del self.came[: found + 1]
                return one
            time.sleep(0.005)
        raise AssertionError(f"it did not come; what came: {self.came}")

    def ended(self, job: str) -> Ended:
        return self.wait_for(lambda one: isinstance(one, Ended) and one.job == job)


@contextmanager
def lab(tmp_path: Path, *script: Scripted, **options: Any) -> Generator[Lab]:
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    environ = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(tmp_path),
        "CLAUDE_CONFIG_DIR": str(tmp_path / "config"),
        "ANTHROPIC_API_KEY": "test-key",
    }
    with StandIn(script, strict=True) as api:
        request = RunRequest(work, base_url=api.url, is_interactive=True, **options)
        engine = Engine(request, version="0", wake=lambda: None, environ=environ)
        engine.start()
        try:
            yield Lab(engine, api)
        finally:
            assert engine.close(20)
    assert not [one for one in threading.enumerate() if one.name == "clew-chat"]
    assert not api.refusals


def sent(api: StandIn, number: int) -> str:
    return str(api.requests[number].body["messages"])


def ticks(call_id: str = "toolu_1") -> Reply:
    return Reply((tool_use("Bash", {"command": "echo tick; sleep 0.4"}, call_id=call_id),))


def test_a_session_is_opened_talks_and_is_closed(tmp_path: Path) -> None:
    with lab(tmp_path, Reply((text("Hello."),))) as one:
        assert one.ended("open").error is None
        one.engine.say("hi")
        assert one.ended("say").value.text == "Hello."


def test_what_was_said_meanwhile_is_heard_behind_the_calls(tmp_path: Path) -> None:
    with lab(tmp_path, ticks(), Reply((text("Yes."),)), allow=("Bash(*)",)) as one:
        one.engine.say("go")
        one.wait_for(lambda it: isinstance(it, CallBegan))
        one.engine.queue("first")
        one.engine.queue("second")
        one.wait_for(lambda it: it == Heard("first"))
        one.wait_for(lambda it: it == Heard("second"))
        one.ended("say")
        assert one.engine.queued == []
        assert "tick" in sent(one.api, 1)
        assert sent(one.api, 1).index("first") < sent(one.api, 1).index("second")


def test_what_was_said_while_an_answer_came_is_heard_at_its_end(tmp_path: Path) -> None:
    slow = Reply((text("one two three four"),), pace=Pace(between=0.05, piece=4))
    with lab(tmp_path, slow, Reply((text("Yes."),))) as one:
        one.engine.say("go")
        one.wait_for(lambda it: isinstance(it, Said))
        one.engine.queue("more")
        one.wait_for(lambda it: it == Heard("more"))
        one.ended("say")
        assert len(one.api.requests) == 2


def test_what_the_model_did_not_hear_can_be_taken_back_after_a_stop(tmp_path: Path) -> None:
    with lab(tmp_path, ticks(), Reply((text("Yes."),)), allow=("Bash(*)",)) as one:
        one.engine.say("go")
        one.wait_for(lambda it: isinstance(it, CallBegan))
        one.engine.queue("not heard")
        one.engine.stop()
        assert one.ended("say").value.is_interrupted
        assert one.engine.take_queued() == ["not heard"]
        one.engine.say("again")
        one.ended("say")
        assert "not heard" not in sent(one.api, -1)


def test_a_command_of_ours_waits_for_the_end_of_the_turn_with_all_behind_it(tmp_path: Path) -> None:
    with lab(tmp_path, ticks(), Reply((text("Yes."),)), allow=("Bash(*)",)) as one:
        one.engine.say("go")
        one.wait_for(lambda it: isinstance(it, CallBegan))
        for words in ("now", "/compact", "then"):
            one.engine.queue(words)
        one.ended("say")
        assert one.engine.take_queued() == ["/compact", "then"]


def test_a_question_waits_for_its_answer_and_a_stop_is_a_no(tmp_path: Path) -> None:
    call = Reply((tool_use("Bash", {"command": "touch x"}, call_id="toolu_1"),))
    again = Reply((tool_use("Bash", {"command": "touch y"}, call_id="toolu_2"),))
    with lab(tmp_path, call, again, sandbox=False) as one:
        one.engine.say("go")
        asked = one.wait_for(lambda it: isinstance(it, Asked))
        assert isinstance(asked.question, Question)
        assert asked.question.what == "touch x"
        assert (asked.question.call_id, asked.question.given) == ("toolu_1", {"command": "touch x"})
        asked.answer(Answer("once"))
        asked = one.wait_for(lambda it: isinstance(it, Asked))
        assert (tmp_path / "work" / "x").exists()
        one.engine.stop()
        assert one.ended("say").value.is_interrupted
        assert asked.answered == Answer("no")
        assert not (tmp_path / "work" / "y").exists()


def test_a_new_session_takes_the_place_of_the_old(tmp_path: Path) -> None:
    with lab(tmp_path) as one:
        before = one.ended("open").value.session_id
        one.engine.clear()
        assert one.ended("clear").value.session_id != before


def test_a_session_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    with lab(tmp_path, resume="nothing") as one:
        failed = one.ended("open")
        assert failed.error is not None
        talk = Talk(one.engine, width=80, folder="/", state=tmp_path / "state")
        talk.happened(failed, 0.0)
        assert talk.is_over
        assert talk.error is failed.error


def test_a_job_that_fails_is_told_and_the_next_is_done(tmp_path: Path) -> None:
    with lab(tmp_path, Reply((text("Hello."),))) as one:
        one.engine.do("compact", lambda running: running.compact())
        failed = one.ended("compact")
        talk = Talk(one.engine, width=80, folder="/", state=tmp_path / "state")
        talk.happened(failed, 0.0)
        assert [text_of(row) for row in talk.stays] == ["! there is nothing to sum up yet"]
        assert not talk.is_busy
        one.engine.say("hi")
        assert one.ended("say").value.text == "Hello."
