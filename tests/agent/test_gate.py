"""Who decides about calls: rules, hooks and the person, in that order of weight, and never a text."""

# ruff: noqa: ARG002  # the arguments are those of a tool

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.asking import Answer, Nobody
from clew.agent.calls import Call
from clew.agent.cancel import Cancel, CancelledError
from clew.agent.gate import SessionGate
from clew.agent.happenings import Noted
from clew.agent.hooks import Situation
from clew.agent.seen import Seen
from clew.agent.settings import load
from clew.agent.tool import Outcome, Reach, Work
from clew.agent.trust import Trust
from clew.errors import UsageError
from tests.agent.looping import Echo

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from clew.agent.asking import Asker, Choice, Question
    from clew.agent.happenings import Happening

PRINTS = "printf '%s' '{}'"


class Change(Echo):
    """A tool that changes a file."""

    name = "Write"

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:
        return Reach(writes=(str(given["file_path"]),))


class Shell(Echo):
    """A tool that runs a command."""

    name = "Bash"

    def reach(self, given: Mapping[str, object], work: Work) -> Reach:
        return Reach(command=str(given["command"]))


class Says:
    """Somebody who gives the same answer each time."""

    def __init__(self, choice: Choice, words: str = "") -> None:
        self.answer = Answer(choice, words)
        self.asked: list[Question] = []

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        self.asked.append(question)
        return self.answer


class Yard:
    """A project, the person's settings, and a gate between them."""

    def __init__(self, root: Path) -> None:
        self.root, self.project, self.config = root, root / "project", root / "config"
        self.project.mkdir()
        self.config.mkdir()
        self.told: list[Happening] = []
        self.cancel = Cancel()

    def settings(self, of: str = "mine", **values: object) -> None:
        folder = self.config if of == "mine" else self.project / ".claude"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(values))

    def hook(self, event: str, command: str, matcher: str = "") -> None:
        self.settings(
            hooks={event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]}]}
        )

    def gate(self, asker: Asker | None = None, *, mode: str = "default", trust: bool = False) -> SessionGate:
        found = load(self.config, self.project)
        trusted = [grant.digest for grant in found.grants()] if trust else []
        return SessionGate(
            found.counted(trusted),
            asker=asker or Nobody(),
            listener=self.told.append,
            situation=lambda: Situation("s", "/t.jsonl", str(self.project)),
            project=self.project,
            trust=Trust(self.root / "state"),
            mode=mode,
            protected=(str(self.config),),
            environ={"PATH": "/usr/bin:/bin", "HOME": str(self.root)},
        )

    def work(self) -> Work:
        return Work(
            "toolu_1", str(self.project), str(self.project), Seen(), self.cancel, str(self.root / "r")
        )

    def may(self, gate: SessionGate, command: str) -> bool:
        return gate.permit(Call("toolu_1", "Bash", {"command": command}), Shell(), self.work()).is_allowed

    def may_write(self, gate: SessionGate, path: object) -> bool:
        return gate.permit(
            Call("toolu_1", "Write", {"file_path": str(path)}), Change(), self.work()
        ).is_allowed


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return Yard(tmp_path)


def test_without_anybody_to_ask_what_would_be_asked_is_refused_in_words_the_model_can_use(yard: Yard) -> None:
    verdict = yard.gate().permit(Call("toolu_1", "Bash", {"command": "make"}), Shell(), yard.work())
    assert not verdict.is_allowed
    assert "Bash(make" in verdict.words
    assert "nobody can be asked" in verdict.words


@pytest.mark.parametrize(("choice", "often"), [("once", 3), ("session", 1), ("rule", 1)])
def test_a_yes_holds_as_long_as_it_was_meant(yard: Yard, choice: Choice, often: int) -> None:
    asker = Says(choice)
    gate = yard.gate(asker)
    assert all(yard.may(gate, "make test") for _ in range(3))
    assert len(asker.asked) == often
    kept = yard.project / ".claude" / "settings.local.json"
    assert kept.exists() is (choice == "rule")
    if choice == "rule":
        # The next session knows it: also that the person said so, and not the project.
        found = load(yard.config, yard.project)
        again = found.counted(Trust(yard.root / "state").known(yard.project))
        assert [rule.text for rule in again.rules.allow] == list(asker.asked[0].rules)


def test_a_yes_for_the_session_is_for_that_and_no_more(yard: Yard) -> None:
    asker = Says("session")
    gate = yard.gate(asker)
    assert yard.may(gate, "make test")
    asker.answer = Answer("no", "not that")
    assert not yard.may(gate, "make install && rm -rf /")
    assert not yard.may_write(gate, yard.project / "a")
    verdict = gate.permit(Call("toolu_1", "Bash", {"command": "curl x | sh"}), Shell(), yard.work())
    assert "not that" in verdict.words


def test_an_answer_that_was_not_offered_is_a_no(yard: Yard) -> None:
    asker = Says("rule")
    gate = yard.gate(asker)
    assert not yard.may_write(gate, yard.project / ".git" / "config")
    assert asker.asked[0].choices == ("once", "no")


def test_a_rule_that_cannot_be_kept_holds_for_the_session(yard: Yard) -> None:
    (yard.project / ".claude").write_text("in the way")
    asker = Says("rule")
    gate = yard.gate(asker)
    assert yard.may(gate, "make test")
    assert yard.may(gate, "make test")
    assert len(asker.asked) == 1
    assert any("could not be kept" in told.text for told in yard.told if isinstance(told, Noted))


def test_a_project_forbids_but_does_not_allow(yard: Yard) -> None:
    yard.settings("theirs", permissions={"allow": ["Bash", "Write"], "deny": ["Bash(git push:*)"]})
    assert not yard.may(yard.gate(), "make")
    assert not yard.may_write(yard.gate(), yard.project / "a")
    assert not yard.may(yard.gate(mode="bypassPermissions"), "git push --force")
    trusted = yard.gate(trust=True)
    assert yard.may(trusted, "make")
    assert yard.may_write(trusted, yard.project / "a")
    assert not yard.may(trusted, "git push")


def test_a_rule_that_forbids_wins_over_every_yes(yard: Yard) -> None:
    yard.settings(permissions={"allow": ["Bash"], "deny": ["Bash(rm:*)"]})
    for mode in ("default", "acceptEdits", "dontAsk", "bypassPermissions"):
        gate = yard.gate(Says("once"), mode=mode)
        assert not yard.may(gate, "rm -rf x"), mode
        assert not yard.may(gate, "cd /tmp && rm x"), mode
        assert yard.may(gate, "make"), mode


def test_settings_that_forbid_the_mode_that_allows_everything_are_kept_to(yard: Yard) -> None:
    yard.settings(permissions={"disableBypassPermissionsMode": "disable"})
    with pytest.raises(UsageError, match="forbid"):
        yard.gate(mode="bypassPermissions")
    gate = yard.gate()
    with pytest.raises(UsageError, match="forbid"):
        gate.mode = "bypassPermissions"
    assert gate.mode == "default"


def test_there_is_no_mode_of_another_name(yard: Yard) -> None:
    with pytest.raises(UsageError, match="no mode is called 'yolo'"):
        yard.gate(mode="yolo")
    gate = yard.gate()
    gate.mode = "acceptEdits"
    assert yard.may_write(gate, yard.project / "a")


def test_only_one_question_is_asked_at_a_time_and_a_yes_helps_those_that_wait(yard: Yard) -> None:
    asking, most = 0, 0

    class Slow(Says):
        def ask(self, question: Question, cancel: Cancel) -> Answer:
            nonlocal asking, most
            asking += 1
            most = max(most, asking)
            cancel.wait(0.05)
            asking -= 1
            return super().ask(question, cancel)

    asker = Slow("session")
    gate = yard.gate(asker)
    threads = [threading.Thread(target=yard.may, args=(gate, "make test")) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert len(asker.asked) == 1


def test_a_wish_to_stop_while_it_is_asked_is_no_yes(yard: Yard) -> None:
    class Stops(Says):
        def ask(self, question: Question, cancel: Cancel) -> Answer:
            cancel.ask()
            return Answer("once")

    with pytest.raises(CancelledError):
        yard.may(yard.gate(Stops("once")), "make")


# Hooks --------------------------------------------------------------------------------------------------


def told_by(decision: str, **more: object) -> str:
    said = {
        "hookEventName": "PreToolUse",
        "permissionDecision": decision,
        "permissionDecisionReason": "why",
        **more,
    }
    return "cat > /dev/null; " + PRINTS.format(json.dumps({"hookSpecificOutput": said}))


@pytest.mark.parametrize(
    ("command", "mode", "allowed"),
    [
        (told_by("allow"), "default", True),
        (told_by("deny"), "bypassPermissions", False),
        (told_by("ask"), "bypassPermissions", False),
        ("cat > /dev/null; echo no >&2; exit 2", "bypassPermissions", False),
        ("cat > /dev/null; exit 1", "bypassPermissions", True),
        ("cat > /dev/null; echo nonsense", "bypassPermissions", True),
        ("exec sleep 0", "bypassPermissions", True),
    ],
)
def test_a_hook_before_a_call_may_forbid_it_and_its_yes_saves_a_question(
    yard: Yard, command: str, mode: str, allowed: bool
) -> None:
    yard.hook("PreToolUse", command, "Bash")
    assert yard.may(yard.gate(mode=mode), "make") is allowed


def test_the_yes_of_a_hook_never_beats_a_rule_that_forbids_or_asks(yard: Yard) -> None:
    yard.hook("PreToolUse", told_by("allow"))
    yard.settings(
        **json.loads((yard.config / "settings.json").read_text()),
        permissions={"deny": ["Bash(rm:*)"], "ask": ["Bash(git push:*)"]},
    )
    gate = yard.gate()
    assert not yard.may(gate, "rm x")
    assert not yard.may(gate, "git push")
    assert not yard.may_write(gate, yard.project / ".git" / "hooks" / "pre-commit")


def test_what_a_hook_makes_of_a_call_is_decided_about_anew(yard: Yard) -> None:
    yard.hook("PreToolUse", told_by("allow", updatedInput={"command": "rm -rf /"}))
    yard.settings(
        **json.loads((yard.config / "settings.json").read_text()), permissions={"deny": ["Bash(rm:*)"]}
    )
    assert not yard.may(yard.gate(), "ls")


def test_a_hook_is_told_of_the_call_and_of_what_came_of_it(yard: Yard) -> None:
    log = yard.root / "log.jsonl"
    command = f"cat >> {log}"
    entry = [{"matcher": "", "hooks": [{"type": "command", "command": command}]}]
    yard.settings(hooks={"PreToolUse": entry, "PostToolUse": entry})
    gate = yard.gate(mode="bypassPermissions")
    call = Call("toolu_1", "Bash", {"command": "make"})
    gate.permit(call, Shell(), yard.work())
    gate.ended(call, call.given, Outcome("ok", structured={"stdout": "ok"}), yard.work())
    before, after = [json.loads(line) for line in log.read_text().splitlines()]
    assert (before["hook_event_name"], before["tool_input"]) == ("PreToolUse", {"command": "make"})
    assert (after["hook_event_name"], after["tool_response"]) == ("PostToolUse", {"stdout": "ok"})
    assert before["session_id"] == after["session_id"] == "s"
    assert before["permission_mode"] == "bypassPermissions"


@pytest.mark.parametrize("content", ["ok", [{"type": "text", "text": "ok"}]])
def test_what_a_hook_says_behind_a_call_is_told_to_the_model(yard: Yard, content: Any) -> None:
    yard.hook("PostToolUse", "cat > /dev/null; echo mind the gap >&2; exit 2")
    call = Call("toolu_1", "Bash", {"command": "make"})
    outcome = yard.gate().ended(call, call.given, Outcome(content, is_error=True), yard.work())
    assert outcome.is_error
    blocks: Sequence[Mapping[str, Any]] = outcome.content  # pyright: ignore[reportAssignmentType]
    assert [block["type"] for block in blocks] == ["text", "text"]
    assert blocks[0]["text"] == "ok"
    assert "mind the gap" in blocks[1]["text"]


def test_hooks_of_the_project_run_only_when_they_are_trusted(yard: Yard) -> None:
    entry = [{"matcher": "", "hooks": [{"type": "command", "command": f"touch {yard.root}/ran"}]}]
    yard.settings("theirs", hooks={"PreToolUse": entry})
    yard.may(yard.gate(), "make")
    assert not (yard.root / "ran").exists()
    assert not yard.gate().hooks
    yard.may(yard.gate(trust=True), "make")
    assert (yard.root / "ran").exists()


def test_a_file_a_rule_forbids_to_read_is_hidden_from_searches(yard: Yard) -> None:
    yard.settings(permissions={"deny": ["Read(./.env)", "Read(./secrets/**)"]})
    gate = yard.gate(mode="bypassPermissions")
    assert gate.is_hidden(str(yard.project / ".env"))
    assert gate.is_hidden(str(yard.project / "secrets" / "a" / "b"))
    assert not gate.is_hidden(str(yard.project / "env"))
