"""Stories told to a transcript, as the loop would tell them: sessions that the client must take up."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from clew.agent.side import SideTranscript, Start
from clew.agent.transcript import Transcript
from clew.store.writer import NotWrittenError
from tests.store.faults.disks import CountingDisk

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.agent.writing import Ids, Writing
    from clew.store.disk import Disk

MODEL = "claude-sonnet-4-5-20250929"
CWD = "/home/ada/lighthouse"
START_MS = 1_772_614_800_000
USAGE = {
    "input_tokens": 12,
    "cache_creation_input_tokens": 3,
    "cache_read_input_tokens": 5,
    "output_tokens": 7,
}

# A picture of one point.
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="


def ids(start: int = 1) -> Ids:
    """Ids that are the same in every run."""
    numbers = count(start)
    return lambda: str(UUID(int=(next(numbers) << 64) | 0x8000_0000_0000_0000 | 0x4000 << 64))


def clock(start: int = START_MS) -> Callable[[], int]:
    """A clock that stands still now and then, as a quick one does."""
    ticks = count()
    return lambda: start + (next(ticks) // 3) * 250


def begin(root: Path, *, disk: Disk | None = None, **options: Any) -> Transcript:
    """Begin a session below `root`."""
    return Transcript.begin(
        root / "config",
        CWD,
        ids=ids(),
        clock=clock(),
        git_branch="main",
        state=root / "state",
        disk=disk or CountingDisk(),
        **options,
    )


def resume(transcript: Transcript, root: Path, **options: Any) -> Transcript:
    """Take up a session again, as another process does."""
    given: dict[str, Any] = {"cwd": CWD, "git_branch": "main", "disk": CountingDisk(), **options}
    later = clock(START_MS + 3_600_000)
    # Other ids each time: it is longer each time.
    fresh = ids(100_000 + Path(transcript.path).stat().st_size)
    return Transcript.resume(transcript.path, ids=fresh, clock=later, state=root / "state", **given)


def ask(transcript: Transcript, words: Any, mode: str = "default") -> str:
    """A prompt."""
    return transcript.prompt(words, permission_mode=mode)


class Talk:
    """The model's side: messages one after the other, a block at a time."""

    def __init__(self, transcript: Writing, name: str = "m") -> None:
        self.transcript = transcript
        self._name = name
        self._number = 0

    def say(self, *blocks: dict[str, Any], stop: str | None = "end_turn") -> None:
        """A message of these blocks."""
        self._number += 1
        for block in blocks:
            self.transcript.block(
                block,
                message_id=f"msg_{self._name}{self._number}",
                model=MODEL,
                request_id=f"req_{self._name}{self._number}",
                usage=USAGE,
                stop_reason=stop,
            )

    def call(self, *blocks: dict[str, Any]) -> None:
        """A message that ends in calls."""
        self.say(*blocks, stop="tool_use")


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def thought(words: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": words, "signature": f"sig-{words}"}


def call(name: str, tool: str = "Bash", **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{name}", "name": tool, "input": given or {"command": "ls"}}


def picture() -> dict[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}}


ALLOWED = {"permissionDecision": {"decision": "accept", "source": "config", "reasonType": "mode"}}
BASH = {"stdout": "a", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}


def plain(root: Path) -> Transcript:
    """Two questions and two answers."""
    session = begin(root)
    talk = Talk(session)
    session.queue("enqueue", "How high is the tower?")
    session.queue("dequeue")
    ask(session, "How high is the tower?")
    talk.say(text("Forty metres."))
    session.turn_duration(1200)
    session.last_prompt()
    session.title("The tower")
    session.mode("acceptEdits")
    ask(session, "And the lamp?", "acceptEdits")
    talk.say(text("Two more."), text("Or three."))
    session.turn_duration(900)
    session.last_prompt()
    return session


def parallel(root: Path) -> Transcript:
    """Two calls at once, and more after them."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "List and read.")
    talk.call(thought("Both at once."), text("At once."), call("1"), call("2", "Read", file_path="/a"))
    session.result("toolu_1", "a\nb", structured=BASH)
    session.result("toolu_2", "1\tone")
    session.progress("toolu_3", {"type": "bash_progress", "output": "x"})
    talk.call(call("3"))
    session.progress("toolu_3", {"type": "bash_progress", "output": "x"})
    session.result("toolu_3", [text("done"), picture()], structured=BASH, extra={"sandboxed": False})
    talk.say(thought("All there."), text("There you are."))
    return session


def failing(root: Path) -> Transcript:
    """A call that fails, and an API that fails after it."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "Try it.")
    talk.call(call("1"))
    session.result("toolu_1", "Exit code 3\noops", structured="Error: Exit code 3\noops", is_error=True)
    session.api_error("API Error: 529 overloaded")
    ask(session, "Again.")
    talk.say(text("It fails."))
    return session


def thinking(root: Path) -> Transcript:
    """Thoughts before calls and answers, and one that nobody may read."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "Think.")
    talk.call(thought("First."), call("1"))
    session.result("toolu_1", "ok")
    talk.call({"type": "redacted_thinking", "data": "c2VjcmV0"}, text("Now then."), call("2"))
    session.result("toolu_2", "ok")
    talk.say(thought("Last."), text("Thought."))
    ask(session, "Thank you.")
    talk.say(text("Welcome."))
    return session


def subagent(root: Path) -> Transcript:
    """A sub-agent that lists files."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "Delegate.")
    given = {"description": "Count", "prompt": "Count the files.", "subagent_type": "general-purpose"}
    talk.call(call("1", "Task", **given))
    agent = _delegated(session, "toolu_1", "Count the files.", "s")
    session.result(
        "toolu_1",
        [text("Three."), text(f"agentId: {agent}")],
        structured={"status": "completed", "agentId": agent, "content": [text("Three.")]},
    )
    talk.say(text("There are three."))
    return session


def _delegated(above: Writing, call_id: str, words: str, name: str, *, deeper: bool = False) -> str:
    side = SideTranscript.begin(above, Start("general-purpose", "Count", call_id, model=MODEL))
    talk = Talk(side, name)
    side.prompt(words)
    talk.call(text("Looking."), call(f"{name}1"))
    side.result(f"toolu_{name}1", "3", extra=ALLOWED)
    if deeper:
        given = {"description": "Count", "prompt": "Count again.", "subagent_type": "general-purpose"}
        talk.call(call(f"{name}2", "Task", **given))
        inner = _delegated(side, f"toolu_{name}2", "Count again.", f"{name}x")
        structured = {"status": "completed", "agentId": inner, "content": [text("Three.")]}
        side.result(f"toolu_{name}2", [text("Three.")], structured=structured, extra=ALLOWED)
    talk.say(thought("Sure."), text("Three."))
    side.finish()
    return side.agent_id


def nested(root: Path) -> Transcript:
    """A sub-agent that starts another."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "Delegate twice over.")
    given = {"description": "Count", "prompt": "Count the files.", "subagent_type": "general-purpose"}
    talk.call(call("1", "Task", **given))
    agent = _delegated(session, "toolu_1", "Count the files.", "s", deeper=True)
    structured = {"status": "completed", "agentId": agent, "content": [text("Three.")]}
    session.result("toolu_1", [text("Three.")], structured=structured)
    talk.say(text("Three, I am told."))
    return session


def stopped_while_talking(root: Path) -> Transcript:
    """The person stops the model in the midst of a sentence, and goes on."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "Tell me all.")
    talk.say(text("It all began"), stop=None)
    session.interrupted(in_tool=False)
    session.last_prompt()
    ask(session, "Shorter.")
    talk.say(text("No."))
    return session


def stopped_in_a_tool(root: Path) -> Transcript:
    """The person stops two calls, of which one was done; the session ends there."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "Wait for it.")
    talk.call(text("Waiting."), call("1"), call("2"))
    session.result("toolu_1", "ok")
    session.interrupted(in_tool=True)
    return session


class _HalfDisk(CountingDisk):
    """Writes half of what it is given, and then nothing any more: a machine that stops."""

    def __init__(self, at: int) -> None:
        super().__init__()
        self.at = at

    def write(self, descriptor: int, data: bytes) -> None:
        self.at -= b'"uuid"' in data
        if self.at:
            super().write(descriptor, data)
            return
        super().write(descriptor, data[: len(data) // 2])
        raise OSError(5, "gone")

    def truncate(self, descriptor: int, size: int) -> None:  # noqa: ARG002  # it does nothing any more
        raise OSError(5, "gone")


def torn(root: Path, *, lines: int = 5) -> Transcript:
    """A process that ends while it writes its last line."""
    session = begin(root, disk=_HalfDisk(lines), keeps_files=False)
    talk = Talk(session)
    with suppress(NotWrittenError):
        ask(session, "Look around.")
        talk.call(text("Looking."), call("1"))
        session.result("toolu_1", "nothing")
        talk.say(text("There is nothing."))
    return session


def crashed(root: Path) -> Transcript:
    """A process that ended in the midst of a call, and one that goes on behind it."""
    session = torn(root, lines=4)
    session.close()
    again = resume(session, root)
    ask(again, "Go on.")
    Talk(again, "later").say(text("Where was I?"))
    return again


def compacted(root: Path) -> Transcript:
    """A person has the session summed up."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "Much work.")
    talk.call(call("1"))
    session.result("toolu_1", "ok")
    talk.say(thought("Done."), text("Done."))
    session.compact(trigger="manual", pre_tokens=1000, summary="They worked much.")
    ask(session, "More.")
    talk.say(text("More was done."))
    return session


def compacted_in_the_midst(root: Path) -> Transcript:
    """The session is summed up because it is too long, in the midst of a turn."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "Much work.")
    talk.call(call("1"))
    session.result("toolu_1", "ok")
    session.compact(trigger="auto", pre_tokens=180_000, summary="They worked much, and go on now.")
    talk.call(call("2"))
    session.result("toolu_2", "ok")
    talk.say(text("Done at last."))
    return session


def pictured(root: Path) -> Transcript:
    """Pictures from the person and from a tool."""
    session = begin(root)
    talk = Talk(session)
    ask(session, [text("What is this?"), picture()])
    talk.call(call("1", "Read", file_path="/p.png"))
    session.result("toolu_1", [picture()])
    talk.say(text("A point."))
    return session


def rewound(root: Path) -> Transcript:
    """The person goes back and asks something else."""
    session = begin(root)
    talk = Talk(session)
    ask(session, "One.")
    talk.say(text("First."))
    back = session.leaf
    session.last_prompt()
    ask(session, "Two.")
    talk.say(text("Second."))
    session.last_prompt()
    assert back is not None
    session.rewind(back)
    ask(session, "Three.")
    talk.say(text("Third."))
    return session


STORIES: dict[str, Callable[[Path], Transcript]] = {
    story.__name__: story
    for story in (
        plain,
        parallel,
        failing,
        thinking,
        subagent,
        nested,
        stopped_while_talking,
        stopped_in_a_tool,
        torn,
        crashed,
        compacted,
        compacted_in_the_midst,
        pictured,
        rewound,
    )
}


def told(name: str, root: Path) -> bytes:
    """Return the file of a story."""
    session = STORIES[name](root)
    session.close()
    return Path(session.path).read_bytes()
