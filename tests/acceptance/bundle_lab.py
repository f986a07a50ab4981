"""A session written by the real client with all that can lie beside one, and the client again elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from clew.agent.standin import Reply, StandIn, text, tool_use
from tests.acceptance.places import Place
from tests.conformance.client import MODEL, PROMPT, environment, is_conversation, run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.agent.standin import Block, Request
    from tests.conformance.client import Client

SECRET = "AKIA2E0A8F3B244C9986"
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class Machine(Place):
    """A machine with the client on it."""

    project = "my_work"

    def environment(self, url: str = "") -> dict[str, str]:
        """All that a program gets to see of the environment."""
        return environment(self.home, self.config, url, keeps_copies=True)

    def client(self, client: Client, api: StandIn, *words: str) -> str:
        """Run the client in the project; return what it said."""
        command = [*client.command, *words, "--model", MODEL]
        ended = run(command, self.work, self.environment(api.url), _LONGEST)
        return f"TIMEOUT {ended.said}" if ended.code is None else ended.said

    def resumed(self, client: Client, session: str) -> Sequence[Mapping[str, object]]:
        """Let the client resume a session here; return the messages that it sends."""
        with StandIn() as api:
            said = self.client(client, api, "-p", PROMPT, "--resume", session)
            asked = [request for request in api.requests if is_conversation(request)]
        assert asked, f"{client.version} did not resume it: {said}"
        return cast("Sequence[Mapping[str, object]]", asked[0].body["messages"])


def _call(name: str, tool: str, arguments: Mapping[str, object]) -> Reply:
    return _named(name, tool_use(tool, arguments, call_id=f"toolu_{name}"))


def _named(name: str, block: Block) -> Reply:
    return Reply((block,), message_id=f"msg_{name}")


def write_session(machine: Machine, client: Client) -> None:
    """Have the client write a session: files made and changed, a long result, a sub-agent, a secret."""
    notes = machine.work / "notes.txt"
    notes.write_text(f"key = {SECRET}\none\n")
    edit = {"file_path": str(notes), "old_string": "one", "new_string": "two"}
    errand = {"description": "look", "prompt": f"find {SECRET}", "subagent_type": "general-purpose"}
    script = [
        _call("a1", "Read", {"file_path": str(notes)}),
        _call("a2", "Edit", edit),
        _call("a3", "Bash", {"command": "seq 1 30000", "description": "count"}),
        _call("a4", "Agent", errand),
        _named("seen", text("The helper has seen it.")),
        _named("done", text("All done.")),
    ]

    def takes(request: Request) -> bool:
        return request.is_messages and bool(request.body.get("tools"))

    with StandIn(script, takes_script=takes) as api:
        said = machine.client(
            client,
            api,
            *("-p", f"begin with {SECRET}", "--permission-mode", "acceptEdits"),
            *("--allowedTools", "Read,Edit,Bash,Task,Agent"),
        )
    assert "TIMEOUT" not in said, said
