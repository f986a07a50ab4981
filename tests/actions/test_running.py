"""A session put together from its parts: what it begins with, what it brings back, that it ends clean."""

from __future__ import annotations

import json
import os
import stat
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.run_requests import RunRequest
from clew.actions.running import Running
from clew.agent.asking import Nobody
from clew.agent.happenings import CallEnded, Compacted, InAgent, Noted, Said
from clew.agent.keys import NoKeyError
from clew.agent.past import messages_to_send
from clew.agent.standin import Pace, Reply, StandIn, text, tool_use
from clew.errors import RefusedError, UnknownSessionError, UsageError
from clew.session.check import check
from clew.store.growing import Growing
from clew.store.reader import open_session
from clew.store.writer import NotWrittenError
from tests.agent.test_loop import sent
from tests.agent.told import MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from clew.agent.happenings import Happening
    from clew.agent.standin import Block, Scripted

KEY = "sk-ant-api03-not-for-anybody"


class House:
    """A person's home with a config folder and a project."""

    def __init__(self, root: Path) -> None:
        self.root, self.home, self.work = root, root / "home", root / "work"
        self.config = self.home / ".claude"
        for folder in (self.config, self.work):
            folder.mkdir(parents=True)
        self.told: list[Happening] = []
        self.heard: Callable[[Happening], None] = lambda _: None

    def hear(self, happening: Happening) -> None:
        self.told.append(happening)
        self.heard(happening)

    def settings(self, folder: Path | None = None, **values: object) -> None:
        (folder or self.config).mkdir(exist_ok=True)
        ((folder or self.config) / "settings.json").write_text(json.dumps(values))

    def hook(self, event: str, command: str) -> dict[str, object]:
        return {event: [{"matcher": "", "hooks": [{"type": "command", "command": command}]}]}

    def running(self, api: StandIn, *, environ: dict[str, str] | None = None, **options: Any) -> Running:
        given: dict[str, Any] = {"model": MODEL, "sandbox": False, "cwd": self.work, **options}
        variables = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": api.url,
            "CLAUDE_CONFIG_DIR": str(self.config),
        }
        return Running(
            RunRequest(**given),
            version="test",
            listener=self.hear,
            asker=Nobody(),
            environ=variables if environ is None else environ,
        )

    @contextmanager
    def session(self, *script: Scripted, **options: Any) -> Generator[tuple[Running, StandIn]]:
        """Run a session; at its end what would be sent is what the file says, and nothing was refused."""
        with StandIn(script, strict=True) as api, self.running(api, **options) as running:
            yield running, api
            assert not api.refusals, api.refusals[0].refusal
            path = running.transcript.path
            if Path(path).exists():
                assert list(running.crew.conversation.messages) == list(
                    messages_to_send(open_session(path), model=running.model)
                )
                assert not [one.code for one in check(Path(path).read_bytes()).problems]

    def notes(self) -> str:
        return "\n".join(told.text for told in self.told if isinstance(told, Noted))

    def results(self) -> list[str]:
        return [str(told.outcome.content) for told in self.told if isinstance(told, CallEnded)]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    house = House(tmp_path)
    monkeypatch.setenv("HOME", str(house.home))
    return house


def answer(words: str = "Yes.", name: str = "1") -> Reply:
    return Reply((text(words),), message_id=f"msg_{name}")


def calling(*blocks: Block, name: str = "c") -> Reply:
    return Reply(blocks, message_id=f"msg_{name}")


def bash(command: str, name: str = "1", **more: object) -> Block:
    return tool_use("Bash", {"command": command, **more}, call_id=f"toolu_{name}")


def lines(path: str) -> list[dict[str, Any]]:
    return [json.loads(raw) for raw in Path(path).read_bytes().splitlines()]


def test_a_session_is_kept_where_the_client_looks_for_it_and_for_nobody_else(house: House) -> None:
    with house.session(answer()) as (running, _):
        assert not Path(running.transcript.path).exists()
        ending = running.say("Are you there?")
        assert ending is not None
        assert ending.text == "Yes."
        path = Path(running.transcript.path)
        assert path.parent.parent == house.config / "projects"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        prompt = next(line for line in lines(str(path)) if line["type"] == "user")
        assert (prompt["cwd"], prompt["entrypoint"]) == (os.path.realpath(house.work), "sdk-cli")
        assert path.stem == running.session_id


def test_a_session_is_gone_on_with_by_its_id_with_its_model(house: House) -> None:
    with house.session(answer("One.")) as (running, _):
        running.say("First.")
        name = running.session_id
    with house.session(answer("Two.", "2"), resume=name[:8], model=None) as (running, api):
        assert running.model == MODEL
        running.say("Second.")
        assert [message["role"] for message in sent(api.requests[0])] == ["user", "assistant", "user"]
        assert running.session_id == name


@pytest.mark.parametrize(
    ("before", "after"),
    [("acceptEdits", "acceptEdits"), ("plan", "plan"), ("bypassPermissions", "default")],
)
def test_a_session_never_brings_back_the_mode_that_allows_everything(
    house: House, before: str, after: str
) -> None:
    with house.session(answer(), permission_mode=before) as (running, _):
        running.say("First.")
        name = running.session_id
    with house.session(resume=name) as (running, _):
        assert running.gate.mode == after


def test_a_mode_of_another_program_is_none_of_ours(house: House) -> None:
    with house.session(answer()) as (running, _):
        running.say("First.")
        path, name = Path(running.transcript.path), running.session_id
    path.write_text(path.read_text().replace('"permissionMode":"default"', '"permissionMode":"auto"'))
    with house.session(resume=name) as (running, _):
        assert running.gate.mode == "default"


def test_a_session_works_where_it_did_wherever_the_person_is(house: House) -> None:
    other = house.root / "other"
    other.mkdir()
    with house.session(answer()) as (running, _):
        running.say("First.")
        name = running.session_id
    with house.session(answer(name="2"), resume=name, cwd=other) as (running, _):
        running.say("Second.")
        assert running.transcript.cwd == os.path.realpath(house.work)
    with house.session(answer(name="3"), resume=name, cwd=other, fork=True) as (running, api):
        running.say("Third.")
        assert running.transcript.cwd == os.path.realpath(other)
        assert running.session_id != name
        assert len(sent(api.requests[0])) == 5
    house.work.rename(house.root / "moved")
    with StandIn() as api, pytest.raises(UsageError, match="is not there") as found:
        house.running(api, resume=name, cwd=other)
    assert "--fork" in (found.value.hint or "")


def test_going_on_from_an_earlier_line_leaves_what_came_later(house: House) -> None:
    with house.session(answer("One."), answer("Two.", "2")) as (running, _):
        running.say("First.")
        back = running.transcript.leaf
        running.say("Second.")
        name = running.session_id
    with house.session(answer("Three.", "3"), resume=name, at=back) as (running, api):
        running.say("Third.")
        assert "Second." not in str(api.requests[0].body["messages"])


def test_what_cannot_be_begun_leaves_nothing_behind(house: House) -> None:
    with StandIn() as api:
        with pytest.raises(UnknownSessionError):
            house.running(api, resume="nothing")
        with pytest.raises(NoKeyError):
            house.running(api, environ={"HOME": str(house.home), "PATH": ""})
        with pytest.raises(UsageError, match="is no rule"):
            house.running(api, allow=("Bash(",))
    with house.session(answer()) as (running, _):
        running.say("First.")
        name = running.session_id
        with StandIn() as api, pytest.raises(RefusedError):
            house.running(api, resume=name)
    with StandIn() as api, pytest.raises(UsageError):
        house.running(api, resume=name, deny=("(x)",))
    with house.session(resume=name):
        pass  # the lock of the one that failed is gone


def test_the_settings_of_the_person_forbid_also_what_an_option_asks_for(house: House) -> None:
    house.settings(permissions={"disableBypassPermissionsMode": "disable"})
    with StandIn() as api, pytest.raises(UsageError, match="forbid"):
        house.running(api, permission_mode="bypassPermissions")


# Hooks --------------------------------------------------------------------------------------------------


def test_what_hooks_say_at_the_beginning_and_to_a_prompt_is_told_to_the_model(house: House) -> None:
    hooks = house.hook("SessionStart", "echo begun") | house.hook("UserPromptSubmit", "echo heard")
    house.settings(hooks=hooks | house.hook("SessionEnd", f"cat > {house.root}/ended"))
    with house.session(answer(), answer(name="2")) as (running, api):
        running.say("First.")
        running.say("Second.")
        told = [json.dumps(request.body["messages"]) for request in api.requests]
        assert [(one.count("begun"), one.count("heard")) for one in told] == [(1, 1), (1, 2)]
        assert not (house.root / "ended").exists()
    assert json.loads((house.root / "ended").read_text())["hook_event_name"] == "SessionEnd"


def test_a_prompt_that_a_hook_blocks_is_neither_written_nor_sent(house: House) -> None:
    house.settings(hooks=house.hook("UserPromptSubmit", "echo never >&2; exit 2"))
    with house.session() as (running, api):
        assert running.say("My secret.") is None
        assert not api.requests
        assert not Path(running.transcript.path).exists()
    assert "never" in house.notes()


def test_a_hook_may_have_the_model_go_on_and_knows_when_it_has(house: House) -> None:
    asks = "python3 -c 'import json,sys; sys.exit(0 if json.load(sys.stdin)[\"stop_hook_active\"] else 2)'"
    house.settings(hooks=house.hook("Stop", f"{asks} || {{ echo more >&2; exit 2; }}"))
    with house.session(answer("One."), answer("Two.", "2")) as (running, api):
        ending = running.say("Go.")
        assert ending is not None
        assert ending.text == "Two."
        assert "more" in str(sent(api.requests[1])[-1])
        assert len(api.requests) == 2


def test_a_hook_may_send_a_sub_agent_back_and_is_told_which_one_it_was(house: House) -> None:
    asks = "python3 -c 'import json,sys; sys.exit(0 if json.load(sys.stdin)[\"stop_hook_active\"] else 2)'"
    command = f"cat > {house.root}/told; {asks} < {house.root}/told || {{ echo deeper >&2; exit 2; }}"
    house.settings(hooks=house.hook("SubagentStop", command))
    start = tool_use("Agent", {"description": "Look", "prompt": "Look around."}, call_id="toolu_agent")
    replies = (calling(start), answer("Sand.", "a"), answer("Rock.", "b"), answer("Rock, then.", "c2"))
    with house.session(*replies) as (running, api):
        ending = running.say("Send somebody.")
        assert ending is not None
        assert ending.text == "Rock, then."
        assert "deeper" in str(sent(api.requests[2])[-1])
    assert "Rock." in house.results()[-1]
    told = json.loads((house.root / "told").read_text())
    assert told["hook_event_name"] == "SubagentStop"
    assert told["agent_type"] == "general-purpose"
    assert Path(told["agent_transcript_path"]).name == f"agent-{told['agent_id']}.jsonl"


# While it works -----------------------------------------------------------------------------------------


def test_what_is_said_meanwhile_is_heard_behind_the_calls(house: House) -> None:
    with house.session(calling(bash("true")), answer(), permission_mode="bypassPermissions") as (
        running,
        api,
    ):
        running.queue("By the way.")
        running.say("Go.")
        last = sent(api.requests[1])[-1]["content"]
        assert [block["type"] for block in last] == ["tool_result", "text"]
        assert last[1]["text"] == "By the way."
        kinds = [line["operation"] for line in lines(running.transcript.path) if "operation" in line]
        assert kinds == ["enqueue", "dequeue"]


def test_a_stop_from_outside_ends_the_turn_and_the_next_one_is_not_stopped(house: House) -> None:
    slow = Reply((text("A long answer."),), message_id="msg_s", pace=Pace(piece=1, between=0.05))
    with house.session(slow, answer(name="2")) as (running, _):
        house.heard = lambda happening: running.stop() if isinstance(happening, Said) else None
        ending = running.say("Tell me.")
        assert ending is not None
        assert ending.is_interrupted
        house.heard = lambda _: None
        ending = running.say("Shorter.")
        assert ending is not None
        assert not ending.is_interrupted


def test_a_person_sums_up_goes_back_and_changes_the_model(house: House) -> None:
    script = (
        answer("One."),
        answer("<summary>S.</summary>", "2"),
        answer("Three.", "3"),
        answer("Four.", "4"),
    )
    with house.session(*script) as (running, api):
        running.say("First.")
        assert 0 < running.compact("short") < 200
        assert any(isinstance(told, Compacted) for told in house.told)
        back = running.transcript.leaf
        running.say("Second.")
        assert back is not None
        running.rewind(back)
        running.model = "claude-haiku-4-5"
        running.say("Third.")
        assert api.requests[-1].body["model"] == "claude-haiku-4-5"
        assert "Second." not in str(api.requests[-1].body["messages"])


def test_a_command_of_the_project_becomes_what_it_says(house: House) -> None:
    folder = house.work / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "greet.md").write_text("---\nallowed-tools: Bash\n---\nGreet $ARGUMENTS kindly. !`touch ran`")
    with house.session(calling(bash("touch ran")), answer()) as (running, api):
        running.say("/greet Ada")
        said = json.dumps(sent(api.requests[0]))
        assert "Greet Ada kindly." in said
        assert "/greet" in said
    assert "denied" in house.results()[0]  # its front matter grants nothing
    assert not (house.work / "ran").exists()


# What is kept from the model, and from the project ------------------------------------------------------


def _is_there(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_commands_see_no_key_and_end_with_the_session(house: House) -> None:
    begin = bash("echo $$ > pid; exec sleep 300", "2", run_in_background=True)
    script = (calling(bash("env; echo $ANTHROPIC_API_KEY")), calling(begin, name="d"), answer())
    with house.session(*script, permission_mode="bypassPermissions") as (running, _):
        running.say("Look around.")
        until = time.monotonic() + 10
        while not (house.work / "pid").exists() or not (house.work / "pid").read_text():
            assert time.monotonic() < until
            time.sleep(0.01)
        number = int((house.work / "pid").read_text())
        assert _is_there(number)
    assert KEY not in str(house.results())
    assert "PATH=" in house.results()[0]
    until = time.monotonic() + 10
    while _is_there(number):
        assert time.monotonic() < until
        time.sleep(0.02)


def test_a_project_brings_instructions_but_neither_rules_nor_hooks_nor_servers(house: House) -> None:
    (house.work / "CLAUDE.md").write_text("Speak of lighthouses.")
    house.settings(
        house.work / ".claude",
        permissions={"allow": ["Bash"], "defaultMode": "acceptEdits"},
        hooks=house.hook("UserPromptSubmit", "touch hooked"),
        env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "COLOUR": "red"},
    )
    server = {"mcpServers": {"evil": {"command": "touch", "args": [str(house.work / "served")]}}}
    (house.work / ".mcp.json").write_text(json.dumps(server))
    with house.session(calling(bash("touch ran")), answer()) as (running, api):
        running.say("Go.")
        assert "Speak of lighthouses." in json.dumps(api.requests[0].body["system"])
        assert running.gate.mode == "default"
    assert "denied" in house.results()[0]
    assert not {"ran", "hooked", "served"} & {path.name for path in house.work.iterdir()}
    assert "settings do not count" in house.notes()


def test_what_a_sub_agent_may_is_decided_as_for_the_session(house: House) -> None:
    task = tool_use("Agent", {"description": "x", "prompt": "Do it."}, call_id="toolu_a")
    with house.session(
        calling(task), calling(bash("touch ran", "2"), name="d"), answer("No."), answer(name="z")
    ) as (
        running,
        _,
    ):
        running.say("Go.")
    inner = [told.happening for told in house.told if isinstance(told, InAgent)]
    (ended,) = [told for told in inner if isinstance(told, CallEnded)]
    assert ended.outcome.is_error
    assert not (house.work / "ran").exists()


@pytest.mark.parametrize(
    ("fails_at", "hint"),
    [
        (b"", "nothing was changed"),
        (b'"type":"assistant"', "the session tells what came before, and can be gone on with"),
        (
            b'"tool_result"',
            "the session tells what came before, and can be gone on with; what its calls did stays done",
        ),
    ],
)
def test_of_a_full_disk_it_is_not_said_that_nothing_was_changed_when_something_was(
    house: House, monkeypatch: pytest.MonkeyPatch, fails_at: bytes, hint: str
) -> None:
    append = Growing.append

    def full(file: Growing, data: Sequence[bytes]) -> None:
        if any(fails_at in line for line in data):
            raise NotWrittenError(file.path, "No space left on device")
        append(file, data)

    monkeypatch.setattr(Growing, "append", full)
    script = [calling(bash("touch made")), answer()]
    with StandIn(script, strict=True) as api, house.running(api, allow=("Bash(*)",)) as running:
        with pytest.raises(NotWrittenError) as caught:
            running.say("Make it.")
        assert caught.value.hint == hint
    assert (house.work / "made").exists() == ("calls" in hint)
