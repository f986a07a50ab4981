"""What can happen in a session, told by `clew run` itself: twelve stories, each a file that must resume.

One is typed in `clew chat`: a run cannot be asked to sum up.
"""

from __future__ import annotations

import base64
import json
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from clew.agent.standin import Pace, Reply, text, thinking, tool_use
from clew.format.decode import encode
from tests.acceptance.run_lab import SESSION, api, kill, wait_for
from tests.agent.told import PICTURE
from tests.conformance.client import MODEL
from tests.faces.cli.chat.tmux_lab import Lab

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from clew.agent.standin import Block, Scripted
    from tests.acceptance.run_lab import Place, Ran

FREE = ("--model", MODEL, "--mode", "bypassPermissions")
NEW = (*FREE, "--session-id", SESSION)
WAITS = "touch started; for i in $(seq 1200); do [ -e started ] || break; sleep 0.05; done"
"""A command that runs until somebody takes its file away, or ends it."""


def bash(name: str, command: str) -> Block:
    """A command."""
    return tool_use("Bash", {"command": command, "description": "A command"}, call_id=f"toolu_{name}")


def read(name: str, path: object) -> Block:
    """A look into a file."""
    return tool_use("Read", {"file_path": str(path)}, call_id=f"toolu_{name}")


def agent(name: str, prompt: str) -> Block:
    """A task for a sub-agent."""
    return tool_use("Agent", {"description": "A small task", "prompt": prompt}, call_id=f"toolu_{name}")


def ask(place: Place, script: Sequence[Scripted], *arguments: str, code: int = 0) -> Ran:
    """Run once, with the answers that are given; none is left over."""
    with api(script) as there:
        ran = place.run(there.url, *arguments)
        assert ran.code == code, f"{ran.code}: {ran.err}"
        assert not there.refusals, there.refusals[0].refusal
        assert len([request for request in there.requests if request.is_messages]) == len(script)
    return ran


def plain(place: Place) -> None:
    """Two questions in two runs, the first in an odd script."""
    ask(
        place,
        [Reply((text("Forty metres. \U0001f3ee"), text("In all.")))],
        *NEW,
        "How high is the tower, ä 塔?",
    )
    ask(place, [Reply((text("Two more."),))], *FREE, "--resume", SESSION, "And the lamp?")


def parallel_calls(place: Place) -> None:
    """Files read and commands run, some at once, some one after the other."""
    (place.work / "one.txt").write_text("one\n")
    (place.work / "two.txt").write_text("two\n")
    script = [
        Reply((text("At once."), read("1", place.work / "one.txt"), read("2", place.work / "two.txt"))),
        Reply(
            (bash("3", "echo three"), bash("4", "printf 'a\\nb\\n' >&2"), read("5", place.work / "one.txt"))
        ),
        Reply(
            (
                tool_use(
                    "Write", {"file_path": str(place.work / "new.txt"), "content": "x\n"}, call_id="toolu_6"
                ),
            )
        ),
        Reply((text("There you are."),)),
    ]
    ask(place, script, *NEW, "Read both.")


def failing_calls(place: Place) -> None:
    """Calls that go wrong, each in another way."""
    script = [
        Reply((bash("1", "echo oops >&2; exit 3"), read("2", place.work / "nowhere"))),
        Reply((tool_use("NoSuchTool", {"x": 1}, call_id="toolu_3"),)),
        Reply(
            (tool_use("Edit", {"file_path": 7}, call_id="toolu_4"), tool_use("Bash", {}, call_id="toolu_5"))
        ),
        Reply((bash("6", "rm forbidden"),)),
        Reply((text("It all fails."),)),
    ]
    ask(place, script, *NEW, "--deny", "Bash(rm:*)", "Try it.")


def thoughts(place: Place) -> None:
    """Thinking before calls and answers, and some that nobody may read."""
    secret: dict[str, Any] = {"type": "redacted_thinking", "data": base64.b64encode(b"secret").decode()}
    script = [
        Reply((thinking("First, a look."), bash("1", "true"))),
        Reply((secret, text("Now then."), bash("2", "echo ok"))),
        Reply((thinking("Last."), text("Thought."))),
    ]
    ask(place, script, *NEW, "Think.")
    ask(place, [Reply((thinking("Kind."), text("Welcome.")))], *FREE, "--resume", SESSION, "Thank you.")


def sub_agent(place: Place) -> None:
    """A sub-agent that runs a command."""
    script = [
        Reply((text("I send somebody."), agent("1", "Count the files."))),
        Reply((bash("inner", "ls | wc -l"),)),
        Reply((thinking("None."), text("There are none."))),
        Reply((text("None, I am told."),)),
    ]
    ask(place, script, *NEW, "Delegate.")


def nested_sub_agents(place: Place) -> None:
    """A sub-agent that sends another."""
    script = [
        Reply((agent("1", "Count the files."),)),
        Reply((agent("deep", "Count them for me."),)),
        Reply((bash("deepest", "ls"),)),
        Reply((text("None here."),)),
        Reply((text("None, it says."),)),
        Reply((text("None, it says that it says."),)),
    ]
    ask(place, script, *NEW, "Delegate twice over.")


def stopped_while_talking(place: Place) -> None:
    """Ctrl-C in the midst of a sentence, and another prompt behind it."""
    pace = Pace(piece=8, cut_after=8, then="hang")
    words = text("It all began when the first lamp was lit on the rock, and then")
    with (
        api([Reply((thinking("Long."), words), pace=pace)]) as there,
        place.starting(there.url, *NEW, "--output", "stream-json", "Tell me all.") as run,
    ):
        assert run.stdout is not None
        for line in run.stdout:
            if "text_delta" in line:
                break
        run.send_signal(signal.SIGINT)
        run.communicate()
        assert run.returncode == 130
    ask(place, [Reply((text("No."),))], *FREE, "--resume", SESSION, "Shorter.")


def stopped_in_a_call(place: Place) -> None:
    """Ctrl-C while a command runs, of two; the session ends there."""
    script = [Reply((text("Waiting."), bash("1", "echo done"), bash("2", WAITS)))]
    with (
        api(script) as there,
        place.starting(there.url, *NEW, "Wait for it.") as run,
    ):
        wait_for((place.work / "started").exists)
        run.send_signal(signal.SIGINT)
        run.communicate()
        assert run.returncode == 130


def killed(place: Place) -> None:
    """A process that is killed while it writes what came of a call."""
    script = [
        Reply((text("One moment."), bash("1", "echo first"))),
        Reply((text("Now the long one."), bash("2", WAITS))),
    ]
    with (
        api(script) as there,
        place.starting(there.url, *NEW, "Do it.") as run,
    ):
        wait_for((place.work / "started").exists)
        kill(run)
        run.communicate()
    (place.work / "started").unlink()
    # No kill falls into the midst of a short write: half of the next line is put there by hand.
    before = [json.loads(raw) for raw in place.file.read_bytes().splitlines()]
    result = next(line for line in before if "toolUseResult" in line)
    whole = encode({**result, "parentUuid": before[-1]["uuid"]})
    with place.file.open("ab") as file:
        file.write(whole[: whole.index(b"stdout") + 4])


def compacted_by_hand(place: Place) -> None:
    """The person has the session summed up in a chat, as they type it, and goes on there."""
    script = [
        Reply((thinking("Work."), bash("1", "echo ok"))),
        Reply((text("Done."),)),
        Reply((text("<summary>They did much work.</summary>"),)),
        Reply((text("More was done."),)),
    ]
    answers = (replace(reply, message_id=f"msg_{uuid4().hex}") for reply in script)
    with Lab(place.root, lambda _: next(answers), config=place.config) as lab:
        lab.chat(*NEW, "--no-sandbox")
        lab.say("Much work.")
        lab.say("/compact")
        lab.wait_for("summed up:")
        lab.say("More.")
        lab.leave()
        assert not lab.api.refusals, lab.api.refusals[0].refusal
        assert len([request for request in lab.api.requests if request.is_messages]) == len(script)


def compacted_by_itself(place: Place) -> None:
    """A session that becomes too long in the midst of a turn."""
    much = {"input_tokens": 19_000, "output_tokens": 20}
    script = [
        Reply((text("First."), bash("1", "echo ok")), usage=much),
        Reply((text("<summary>They worked much, and go on now.</summary>"),)),
        Reply((bash("2", "echo more"),)),
        Reply((text("Done at last."),)),
    ]
    ask(place, script, *NEW, "--context-window", "20000", "Much work.")


def pictured(place: Place) -> None:
    """A picture that is looked at."""
    picture = place.work / "point.png"
    picture.write_bytes(base64.b64decode(PICTURE))
    ask(place, [Reply((read("1", picture),)), Reply((text("A point."),))], *NEW, "What is in point.png?")


STORIES: dict[str, Callable[[Place], None]] = {
    story.__name__: story
    for story in (
        plain,
        parallel_calls,
        failing_calls,
        thoughts,
        sub_agent,
        nested_sub_agents,
        stopped_while_talking,
        stopped_in_a_call,
        killed,
        compacted_by_hand,
        compacted_by_itself,
        pictured,
    )
}
