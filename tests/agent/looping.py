"""A whole session against the strict stand-in: what tests of the loop share."""

# ruff: noqa: ARG002  # the arguments are those of a tool and a gate

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from clew.agent.agent_kinds import BUILT_IN
from clew.agent.budget import Budget
from clew.agent.calls import Call, Verdict
from clew.agent.cancel import Cancel
from clew.agent.crew import Crew, Shared
from clew.agent.door import Door
from clew.agent.happenings import Happening
from clew.agent.keys import Key
from clew.agent.past import messages_to_send
from clew.agent.seen import Seen
from clew.agent.standin import Scripted, StandIn
from clew.agent.system_prompt import Surroundings
from clew.agent.tool import Outcome, Reach, Tool, Work
from clew.agent.transcript import Transcript
from clew.agent.trying import Patience
from clew.store.reader import open_session
from tests.agent.told import CWD, MODEL, clock, ids

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from pathlib import Path


class Echo:
    """A tool that says what it was given."""

    name = "Echo"
    description = "Says it again."
    schema: Mapping[str, object] = {"type": "object", "properties": {"words": {"type": "string"}}}

    def __init__(self, act: Callable[[Mapping[str, object], Work], Outcome] | None = None) -> None:
        self.act = act

    def is_parallel(self, given: Mapping[str, object]) -> bool:
        return True

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:
        return Reach()

    def run(self, given: Mapping[str, object], work: Work) -> Outcome:
        if self.act is not None:
            return self.act(given, work)
        return Outcome(f"{given.get('words')}", structured={"words": given.get("words")})


class Free:
    """A gate that lets everything through."""

    def permit(self, call: Call, tool: Tool, work: Work) -> Verdict:
        return Verdict(is_allowed=True)

    def ended(self, call: Call, given: Mapping[str, object], outcome: Outcome, work: Work) -> Outcome:
        return outcome


@dataclass
class Lab:
    """A session, its loop, and the API it talks to."""

    api: StandIn
    transcript: Transcript
    crew: Crew
    door: Door
    budget: Budget
    cancel: Cancel = field(default_factory=Cancel)
    told: list[Happening] = field(default_factory=list[Happening])
    hooks: list[Callable[[Happening], None]] = field(default_factory=list["Callable[[Happening], None]"])
    """Are told of each happening too."""

    def ask(self, words: str | list[dict[str, Any]]) -> Any:
        """Say something and let the model answer."""
        self.transcript.prompt(words, permission_mode="default")
        self.crew.conversation.say(words)
        return self.crew.loop.turn(cancel=self.cancel)

    def next_messages(self) -> Sequence[Mapping[str, Any]]:
        """What the real client would send of the file."""
        return messages_to_send(open_session(self.transcript.path), model=MODEL)

    def agree(self) -> None:
        """What the loop would send is what the file says, and nothing was refused."""
        assert list(self.crew.conversation.messages) == list(self.next_messages())
        assert not self.api.refusals, self.api.refusals[0].refusal


@contextmanager
def lab(
    root: Path,
    script: Sequence[Scripted],
    *,
    tools: Sequence[Tool] | None = None,
    budget: Budget | None = None,
    resume: str | None = None,
    window: int | None = None,
    start: int = 1,
) -> Generator[Lab]:
    """Run a session against a script."""
    told: list[Happening] = []
    hooks: list[Callable[[Happening], None]] = []

    def hear(happening: Happening) -> None:
        told.append(happening)
        for hook in hooks:
            hook(happening)

    now = clock(1_772_614_800_000 + start * 3_600_000)
    with StandIn(script, strict=True) as api:
        key = Key("test-key", "api-key", "a test")
        patience = Patience(tries=2, first_wait=0.01, longest_wait=0.02)
        if resume is None:
            transcript = Transcript.begin(
                root / "config", CWD, ids=ids(start), clock=now, state=root / "state", git_branch="main"
            )
        else:
            transcript = Transcript.resume(resume, cwd=CWD, ids=ids(start), clock=now, state=root / "state")
        with Door(api.url, key, user_agent="clew/test", environ={}, patience=patience) as door, transcript:
            chosen = [Echo()] if tools is None else tools
            spent = budget or Budget()
            stop = Cancel()
            shared = Shared(
                door,
                transcript,
                Free(),
                spent,
                hear,
                {tool.name: tool for tool in chosen},
                BUILT_IN,
                lambda: Surroundings(CWD, "linux", "2026-03-04"),
                (),
                CWD,
                window=window,
            )
            crew = Crew(shared, model=MODEL, seen=Seen(), cancel=lambda: stop)
            yield Lab(api, transcript, crew, door, spent, stop, told, hooks)
