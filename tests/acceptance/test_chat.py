"""`clew chat` in a real terminal, as a person talks in it: the file then says what is sent next."""

from __future__ import annotations

import json
import re
import time
from typing import TYPE_CHECKING

from clew.agent.standin import Reply, text, tool_use
from tests.acceptance.chat_script import answer
from tests.faces.cli.chat.tmux_lab import IN_A_TERMINAL, Lab, last_said

if TYPE_CHECKING:
    from pathlib import Path

    from clew.agent.standin import Answer, Request

pytestmark = IN_A_TERMINAL


def test_a_person_talks_and_what_was_said_scrolls_by(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.say("MARKDOWN please")
        shown = lab.everything
        for row in (
            "A heading",
            "Some bold words and code, 漢字 too.",
            "- one",
            "── python",
            "│ def f() -> int:",
        ):
            assert shown.count(f"{row}\n") == 1, row
        assert "thought: Let me think." in shown
        assert "name   n\n─────  ─\nalpha  1\n" in shown
        painted = lab.tmux("capture-pane", "-p", "-e")
        assert re.search(r"\x1b\[(?:0;)?1m(?:\x1b\[[0-9;]*m)*A heading", painted), painted
        assert re.search(r"\x1b\[36m(?:\x1b\[[0-9;]*m)*code", painted), painted
        assert "200k · <$0.01" in lab.status
        lab.say("and more")
        lab.keys("Up")
        lab.wait_until(lambda: lab.box == ["› and more"], "what was said before")
        lab.keys("Up", "Up")
        lab.wait_until(lambda: lab.box == ["› MARKDOWN please"], "what was said before that")
        lab.keys("C-u")
        lab.agree()
        lab.leave()
        assert "goes on" in lab.everything
        history = lab.state / "clew" / "chat-history.jsonl"
        assert [json.loads(line) for line in history.read_text().splitlines()][:2] == [
            "MARKDOWN please",
            "and more",
        ]
        assert history.stat().st_mode & 0o777 == 0o600


def test_a_session_is_gone_on_with_and_shows_where_it_stood(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.say("the first prompt")
        lab.leave()
        lab.clear()
        lab.chat("--resume", "@1")
        assert "› the first prompt\n\nanswer 0\n" in lab.screen
        lab.agree()
        assert len(lab.files) == 1


def test_ten_thousand_lines_are_a_few_and_a_count(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.say("COUNT")
        shown = lab.everything
        assert (
            "✓ Bash seq 10000 · 10,000 lines\n  │ 9,997 lines before\n  │ 9998\n  │ 9999\n  │ 10000\n"
            in shown
        )
        assert len(shown.split("\n")) < 60
        lab.agree()


def test_what_is_typed_while_the_model_works_is_queued_shown_and_heard(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat("--allow", "'Bash(*)'")
        lab.enter("TICKS")
        lab.wait_for("tick 1")
        lab.write("hear this")
        lab.keys("Enter")
        lab.wait_for("queued › hear this")
        lab.wait_for("That was it.")
        lab.idle()
        shown = lab.everything
        assert shown.count("› hear this") == 1, shown
        assert shown.index("✓ Bash") < shown.index("› hear this") < shown.index("That was it.")
        assert "hear this" in json.dumps(lab.sent(1)[-1])
        lab.agree()


def test_a_call_is_asked_about_and_each_answer_is_heard(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.enter("WRITE a")
        lab.wait_for("May Write do this?")
        assert str(lab.work / "note.txt") in lab.screen.replace("\n  │ ", "")
        assert "+ first line" in lab.screen
        assert "yes, once" in lab.screen
        lab.reply("t")
        lab.wait_for("What shall be done instead")
        lab.write("hunter2 is no place for it")
        lab.keys("Enter")
        lab.wait_for("That was it.")
        lab.idle()
        assert "✗ Write note.txt · refused" in lab.everything
        assert "hunter2 is no place" in json.dumps(lab.sent())
        assert not (lab.work / "note.txt").exists()
        lab.enter("WRITE b")
        lab.wait_until(lambda: lab.everything.count("May Write do this?") == 2, "second question")
        lab.reply("y")
        lab.wait_until(lambda: "✓ Write note.txt" in lab.everything, "written file")
        lab.idle()
        assert (lab.work / "note.txt").read_text() == "first line\nsecond line\n"
        lab.enter("WRITE c")
        lab.wait_until(lambda: lab.everything.count("May Write do this?") == 3, "third question")
        lab.keys("Escape")
        lab.wait_for("interrupted")
        lab.idle()
        assert "hunter2" not in (lab.state / "clew" / "chat-history.jsonl").read_text()
        lab.agree()


def test_a_key_typed_before_a_question_could_be_read_is_no_answer(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.enter("WRITE")
        lab.write("yyyyyyyy")
        lab.wait_for("May Write do this?")
        time.sleep(0.6)
        assert "y  yes, once" in lab.screen
        assert not (lab.work / "note.txt").exists()
        lab.keys("n")
        lab.wait_for("That was it.")
        lab.idle()
        assert set(lab.box[0].removeprefix("› ")) <= {"y"}


def test_commands_of_the_chat(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        (lab.work / ".claude" / "commands").mkdir(parents=True)
        (lab.work / ".claude" / "commands" / "greet.md").write_text("Greet $ARGUMENTS warmly.")
        lab.chat()
        lab.say("first")
        lab.say("second")
        lab.enter("/undo")
        lab.wait_until(lambda: lab.box == ["› second"], "the prompt again")
        lab.keys("C-u")
        lab.agree()
        assert "second" not in json.dumps(lab.sent())
        lab.enter("/hlep")
        lab.wait_for("did you mean /help?")
        lab.keys("C-u")
        lab.write("/co")
        lab.keys("Tab", "Tab")
        lab.wait_for("compact  context  cost")
        lab.keys("C-u")
        lab.say("/greet Ada")
        assert "Greet Ada warmly." in json.dumps(lab.sent())
        lab.enter("/compact the names")
        lab.wait_for("summed up:")
        lab.idle()
        assert "The person adds: the names" in json.dumps(lab.sent())
        lab.agree()
        lab.enter("/mode plan")
        lab.wait_until(lambda: "· plan ·" in lab.status, "mode")
        lab.enter("/model claude-other-1")
        lab.wait_until(lambda: lab.status.startswith("claude-other-1"), "model")
        lab.enter("/cost")
        lab.wait_for("since it was opened here")
        lab.enter("/context")
        lab.wait_for("what you said")
        lab.enter("/clear")
        lab.wait_for("a new session")
        lab.idle()
        lab.say("anew")
        assert len(lab.sent()) == 1
        assert len(lab.files) == 2
        lab.agree()


def test_to_go_back_to_before_the_first_prompt_begins_anew(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.say("the only one")
        lab.enter("/undo")
        lab.wait_for("a new session")
        lab.wait_until(lambda: lab.box == ["› the only one"], "the prompt again")
        lab.keys("C-u")
        lab.say("another")
        assert len(lab.sent()) == 1


def test_a_project_is_asked_about_before_its_own_rules_count(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        (lab.work / ".claude").mkdir()
        rules = {"permissions": {"allow": ["Write"]}}
        (lab.work / ".claude" / "settings.json").write_text(json.dumps(rules))
        lab.start()
        lab.wait_for("This project brings settings of its own")
        assert "Write" in lab.screen
        lab.reply("n")
        lab.wait_for("/help tells")
        lab.idle()
        lab.enter("WRITE")
        lab.wait_for("May Write do this?")
        lab.keys("Escape")
        lab.idle()
        lab.leave()
        lab.clear()
        lab.start()
        lab.wait_for("This project brings settings of its own")
        lab.reply("y")
        lab.wait_for("/help tells")
        lab.idle()
        lab.say("WRITE")
        assert (lab.work / "note.txt").exists()


def test_a_sub_agent_is_shown_with_its_calls_below_it(tmp_path: Path) -> None:
    def crew(request: Request) -> Answer:
        first = json.dumps(request.body.get("messages"))
        said = last_said(request)
        if "SUBTASK" in first and "DELEGATE" not in first:
            if "tool_result" in said:
                return Reply((text("I saw it."),))
            call = tool_use("Bash", {"command": "echo seen"}, call_id=f"toolu_{request.number}")
            return Reply((text("Looking."), call))
        if "tool_result" in said:
            return Reply((text("They looked."),))
        task = {"description": "look around", "prompt": "SUBTASK", "subagent_type": "general-purpose"}
        return Reply((tool_use("Agent", task, call_id=f"toolu_{request.number}"),))

    with Lab(tmp_path, crew) as lab:
        lab.chat()
        lab.say("DELEGATE")
        shown = lab.everything
        assert "✓ Agent general-purpose: look around · 1 call" in shown
        assert "  └ ✓ Bash echo seen · 1 line" in shown
        lab.is_valid()


def test_a_failure_of_the_api_is_told_and_the_session_stays(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.say("BUSY")
        assert "! the API" in lab.everything, lab.everything
        lab.agree("api-error-last")
