"""Hooks: run within their time, heard together, and never in the way of the session."""

from __future__ import annotations

import json
import os
import shlex
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.cancel import Cancel
from clew.agent.hook_answers import Output, read, together
from clew.agent.hooks import Situation, matching, run
from clew.agent.setting_files import EVENTS, Hook

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.agent.hook_answers import Answer

_CALL: Mapping[str, object] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1"}


def _run(
    folder: Path,
    *commands: str,
    event: str = "PreToolUse",
    more: Mapping[str, object] = _CALL,
    timeout: float = 20,
    cancel: Cancel | None = None,
) -> Answer:
    hooks = [Hook(event, command, timeout=timeout) for command in commands]
    situation = Situation("sid", "/t.jsonl", str(folder), "default")
    environ = {"PATH": os.environ["PATH"]}
    return run(hooks, event, situation, more, project=str(folder), environ=environ, cancel=cancel or Cancel())


def _says(value: object) -> str:
    return f"printf %s {shlex.quote(json.dumps(value))}"


def _is_gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.02)
    return False


def test_a_hook_is_told_what_happens(tmp_path: Path) -> None:
    _run(tmp_path, 'cat > told; printf %s "$CLAUDE_PROJECT_DIR" > where')
    assert json.loads((tmp_path / "told").read_text()) == {
        "session_id": "sid",
        "transcript_path": "/t.jsonl",
        "cwd": str(tmp_path),
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
        **_CALL,
    }
    assert (tmp_path / "where").read_text() == str(tmp_path)


def test_the_time_a_hook_takes_is_taken_once_for_all(tmp_path: Path) -> None:
    start = time.monotonic()
    _run(tmp_path, *(f"sleep 0.5; : {number}" for number in range(4)))
    assert time.monotonic() - start < 1.9


def test_exit_code_two_blocks_with_the_words_on_standard_error(tmp_path: Path) -> None:
    answer = _run(tmp_path, "echo not that >&2; exit 2", "exit 0")
    assert answer.blocked == "not that"
    assert answer.permission == "deny"
    assert answer.permission_reason == "not that"


def test_any_other_code_blocks_nothing_and_is_told(tmp_path: Path) -> None:
    answer = _run(tmp_path, "echo oh >&2; exit 1", "no-such-program-anywhere")
    assert answer.blocked is None
    assert answer.permission is None
    assert len(answer.notes) == 2


def test_a_hook_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    start = time.monotonic()
    answer = _run(tmp_path, "sleep 60 & echo $! > child; echo $$ > own; wait", timeout=0.5)
    assert time.monotonic() - start < 10
    assert "ended after 0.5 seconds" in answer.notes[0]
    assert answer.permission is None
    assert _is_gone(int((tmp_path / "child").read_text()))
    assert _is_gone(int((tmp_path / "own").read_text()))


def test_a_hook_that_ignores_the_wish_to_end_is_ended_all_the_same(tmp_path: Path) -> None:
    start = time.monotonic()
    _run(tmp_path, "trap '' TERM INT HUP; while :; do sleep 1; done", timeout=0.3)
    assert time.monotonic() - start < 10


def test_what_a_hook_leaves_running_is_not_waited_for(tmp_path: Path) -> None:
    start = time.monotonic()
    answer = _run(tmp_path, "sleep 60 & echo $! > child; exit 2")
    assert time.monotonic() - start < 10
    assert answer.permission == "deny"
    os.kill(int((tmp_path / "child").read_text()), 9)


def test_a_wish_to_stop_ends_hooks_at_once(tmp_path: Path) -> None:
    cancel = Cancel()
    timer = threading.Timer(0.3, cancel.ask)
    timer.start()
    start = time.monotonic()
    answer = _run(tmp_path, "sleep 60", cancel=cancel)
    timer.join()
    assert time.monotonic() - start < 10
    assert "asked to stop" in answer.notes[0]


def test_floods_and_large_inputs_are_survived(tmp_path: Path) -> None:
    flood = _run(
        tmp_path, "yes | head -c 30000000", event="UserPromptSubmit", more={"prompt": "x" * 3_000_000}
    )
    assert len("".join(flood.context)) < 20_000
    heard = _run(tmp_path, "wc -c", event="UserPromptSubmit", more={"prompt": "x" * 3_000_000})
    assert int(heard.context[0]) > 3_000_000


def test_a_hook_that_does_not_listen_and_one_that_closes_everything_are_fine(tmp_path: Path) -> None:
    answer = _run(
        tmp_path, "exec <&-; exit 0", "exec >&- 2>&- <&-; sleep 0.2; exit 2", more={"x": "y" * 1_000_000}
    )
    assert answer.permission == "deny"


def test_a_folder_that_is_gone_and_odd_values_do_not_matter(tmp_path: Path) -> None:
    situation = Situation("sid", "/t", str(tmp_path / "gone"))
    odd: dict[str, object] = {"tool_name": "\ud800", "x": object(), "y": b"z"}
    found = run(
        [Hook("PreToolUse", "exit 2")], "PreToolUse", situation, odd, project="/", environ={}, cancel=Cancel()
    )
    assert found.permission == "deny"


@pytest.mark.parametrize(
    ("matcher", "name", "is_meant"),
    [
        ("", "Bash", True), ("*", "Bash", True), ("Bash", "Bash", True), ("Bash", "BashOutput", False),
        ("Edit|Write", "Write", True), ("Edit | Write", "Write", True), ("bash", "Bash", False),
        ("mcp__.*", "mcp__a__b", True), ("Notebook.*", "NotebookEdit", True), ("^Ba", "Bash", True),
    ],
)  # fmt: skip
def test_a_matcher_is_a_name_or_a_pattern(matcher: str, name: str, is_meant: bool) -> None:
    found, notes = matching([Hook("PreToolUse", "x", matcher)], "PreToolUse", {"tool_name": name})
    assert bool(found) is is_meant
    assert notes == ()


def test_a_matcher_that_is_no_pattern_is_told_and_the_same_command_runs_once() -> None:
    hooks = [
        Hook("Stop", "x"),
        Hook("Stop", "x", "y"),
        Hook("PreToolUse", "x", "("),
        Hook("SessionStart", "x", "resume"),
    ]
    assert len(matching(hooks, "Stop", {})[0]) == 1
    found, notes = matching(hooks, "PreToolUse", {"tool_name": "Bash"})
    assert (found, len(notes)) == ([], 1)
    assert matching(hooks, "SessionStart", {"source": "startup"})[0] == []
    assert len(matching(hooks, "SessionStart", {"source": "resume"})[0]) == 1


def test_output_as_json_decides(tmp_path: Path) -> None:
    own = {"hookEventName": "PreToolUse", "permissionDecision": "ask", "permissionDecisionReason": "sure?"}
    own |= {"additionalContext": "mind the gap"}
    value = {"hookSpecificOutput": {**own, "updatedInput": {"command": "ls -l"}}, "systemMessage": "hello"}
    answer = _run(tmp_path, _says(value))
    assert (answer.permission, answer.permission_reason) == ("ask", "sure?")
    assert answer.updated_input == {"command": "ls -l"}
    assert answer.context == ("mind the gap",)
    assert answer.messages == ("hello",)
    assert answer.blocked is None


def _output(value: object, *, event: str = "PreToolUse", code: int = 0, err: str = "") -> Answer:
    text = value if isinstance(value, str) else json.dumps(value)
    return read(event, Output("x", code, text, err))


def test_who_forbids_wins_then_who_asks() -> None:
    def one(decision: str) -> Answer:
        return _output(
            {"hookSpecificOutput": {"permissionDecision": decision, "permissionDecisionReason": decision}}
        )

    assert together([one("allow"), one("ask"), one("deny"), one("allow")]).permission == "deny"
    assert together([one("allow"), one("ask")]).permission == "ask"
    assert together([one("allow"), _output("")]).permission == "allow"
    assert together([one("deny"), one("allow")]).permission_reason == "deny"
    assert together([]).permission is None


def test_the_older_form_is_understood() -> None:
    assert _output({"decision": "block", "reason": "no"}).permission == "deny"
    assert _output({"decision": "block", "reason": "no"}).blocked == "no"
    assert _output({"decision": "approve"}).permission == "allow"


def test_each_event_takes_only_what_is_meant_for_it() -> None:
    block = {"decision": "block", "reason": "go on"}
    for event in ("Stop", "SubagentStop", "UserPromptSubmit", "PostToolUse"):
        assert _output(block, event=event).blocked == "go on"
        assert _output(block, event=event).permission is None
        assert _output("", event=event, code=2, err="why").blocked == "why"
    for event in ("SessionStart", "SessionEnd"):
        assert _output(block, event=event).blocked is None
        assert _output("", event=event, code=2, err="why").blocked is None
        assert _output("", event=event, code=2, err="why").notes == ("why",)
    other = {"hookSpecificOutput": {"hookEventName": "PostToolUse", "permissionDecision": "allow"}}
    assert _output(other).permission is None


def test_plain_output_is_told_to_the_model_only_where_it_is_meant_to_be() -> None:
    for event in EVENTS:
        answer = _output("plain words\n", event=event)
        assert answer.context == (("plain words",) if event in {"SessionStart", "UserPromptSubmit"} else ())


def test_a_hook_can_stop_everything() -> None:
    assert _output({"continue": False, "stopReason": "enough"}).stopped == "enough"
    assert _output({"continue": False}).stopped
    assert _output({"continue": True}).stopped is None


_JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)
_KEYS = st.sampled_from(
    ["decision", "reason", "continue", "stopReason", "hookSpecificOutput", "systemMessage"]
)
_OWN = st.sampled_from(
    ["permissionDecision", "permissionDecisionReason", "additionalContext", "updatedInput"]
)


@given(
    st.sampled_from(EVENTS),
    st.dictionaries(_KEYS, _JSON | st.dictionaries(_OWN, _JSON)),
    st.text(),
    st.integers(-15, 255),
)
def test_no_output_is_an_error(event: str, value: object, text: str, code: int) -> None:
    found = [_output(value, event=event, code=code, err=text), _output(text, event=event, code=code)]
    found.append(_output("{" * 20_000 + text, event=event))
    together(found)
