"""`clew chat` in a real terminal, as a person uses it: after each story the file says what is sent next."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.agent.standin import Failure, Pace, Reply, text, thinking, tool_use
from tests.faces.cli.chat.paced import Paced, Seat
from tests.faces.cli.chat.tmux_lab import Lab, last_said

if TYPE_CHECKING:
    from clew.agent.standin import Answer, Request

pytestmark = [
    pytest.mark.acceptance,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux"),
]

MARKDOWN = """## A heading

Some **bold** words and `code`, 漢字 too.

- one
- two

```python
def f() -> int:
    return 1
```

| name | n |
|---|---|
| alpha | 1 |

The end of it."""


def bash(command: str, *, call_id: str = "toolu_1") -> Reply:
    return Reply((text("I look."), tool_use("Bash", {"command": command}, call_id=call_id)))


def answer(request: Request) -> Answer:
    """Answer by what was said last."""
    said = last_said(request)
    call_id = f"toolu_{request.number}"
    if "tool_result" in said:
        return Reply((text("That was it."),))
    if "MARKDOWN" in said:
        return Reply((thinking("Let me think."), text(MARKDOWN)), pace=Pace(between=0.01, piece=7))
    if "SLOWLY" in said:
        return Reply((text("word " * 200 + "END"),), pace=Pace(between=0.05, piece=5))
    if "COUNT" in said:
        return bash("seq 10000", call_id=call_id)
    if "TICKS" in said:
        return bash("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo tick $i; sleep 0.5; done", call_id=call_id)
    if "WRITE" in said:
        made = {"file_path": "note.txt", "content": "first line\nsecond line\n"}
        return Reply((tool_use("Write", made, call_id=call_id),))
    if "BUSY" in said:
        return Failure(401, "authentication_error", "invalid x-api-key")
    return Reply((text(f"answer {request.number}"),))


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
        lab.keys("C-l")
        lab.chat("--resume", "@1")
        assert "› the first prompt\n\nanswer 0\n" in lab.screen
        lab.agree()
        assert len(lab.files) == 1


def test_a_terminal_that_changes_its_size_is_drawn_anew(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.enter("SLOWLY")
        lab.wait_for("word word word")
        for columns in (60, 100, 45, 90):
            lab.tmux("resize-window", "-x", str(columns), "-y", "26")
            rule = "─" * columns
            lab.wait_until(lambda rule=rule: f"{rule}\n" in lab.screen, f"rule of {len(rule)}")
            time.sleep(0.1)
        lab.keys("Escape")
        lab.idle()
        shown = lab.everything
        assert sum(row.startswith("─" * 20) for row in shown.split("\n")) == 1, shown
        assert shown.count("Esc stops") == 0, shown
        assert shown.count("› SLOWLY") == 1, shown
        assert "word word word" in shown
        lab.agree()


def test_escape_in_the_midst_of_an_answer_keeps_what_came(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.enter("SLOWLY")
        lab.wait_for("word word word")
        lab.write("typed meanwhile")
        lab.keys("Enter")
        lab.wait_for("queued › typed meanwhile")
        lab.keys("Escape")
        lab.wait_for("interrupted")
        lab.idle()
        assert lab.box == ["› typed meanwhile"]
        assert "END" not in lab.everything
        lab.keys("C-u")
        lab.agree()
        assert any("word word" in json.dumps(message) for message in lab.sent())


def test_ctrl_c_in_the_midst_of_a_call_kills_it_and_the_prompt_returns(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat("--allow", "'Bash(*)'")
        lab.enter("TICKS")
        lab.wait_for("tick 2")
        lab.keys("C-c")
        lab.wait_for("interrupted")
        lab.idle()
        assert "done · interrupted" in lab.everything
        lab.agree()
        assert not _children_named(lab, "tick")
        lab.keys("C-c")
        lab.wait_for("Ctrl-C again ends")
        lab.keys("C-c")
        lab.shell_is_back()


def _children_named(lab: Lab, words: str) -> list[str]:
    found = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    return [row for row in found.splitlines() if words in row and str(lab.work) in row]


def test_ctrl_z_leaves_for_the_shell_and_fg_comes_back(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat("--allow", "'Bash(*)'")
        lab.write("half a prompt")
        lab.wait_until(lambda: lab.box == ["› half a prompt"], "draft")
        lab.keys("C-z")
        lab.wait_for("Stopped")
        lab.shell_is_back()
        lab.write("fg")
        lab.keys("Enter")
        lab.wait_until(lambda: "fg\n" in lab.everything and lab.box == ["› half a prompt"], "chat")
        lab.keys("C-u")
        lab.enter("TICKS")
        lab.wait_for("tick 1")
        lab.keys("C-z")
        lab.wait_until(lambda: lab.everything.count("Stopped") == 2, "second stop")
        lab.write("fg")
        lab.keys("Enter")
        lab.wait_for("That was it.")
        lab.idle()
        assert "✓ Bash for i in" in lab.everything
        lab.agree()


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
        time.sleep(0.5)
        lab.keys("t")
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
        time.sleep(0.5)
        lab.keys("y")
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


def test_a_long_paste_is_a_label_and_is_sent_whole(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        pasted = "\n".join(f"row {number}" for number in range(50))
        lab.write("see ")
        lab.paste(pasted)
        lab.wait_until(lambda: lab.box == ["› see [pasted 50 lines, 339 characters]"], "label")
        lab.keys("Enter")
        lab.wait_for("answer 0")
        lab.idle()
        assert lab.sent()[-1]["content"][-1]["text"] == f"see {pasted}"
        lab.paste("two\nlines")
        lab.wait_until(lambda: lab.box == ["› two", "  lines"], "short paste")
        lab.write("\\")
        lab.keys("Enter")
        lab.write("three")
        lab.keys("M-Enter")
        lab.write("four")
        lab.wait_until(lambda: lab.box == ["› two", "  lines", "  three", "  four"], "four lines")
        lab.keys("Enter")
        lab.wait_for("answer 1")
        lab.idle()
        assert lab.sent()[-1]["content"][-1]["text"] == "two\nlines\nthree\nfour"
        lab.agree()


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
        time.sleep(0.5)
        lab.keys("n")
        lab.wait_for("/help tells")
        lab.idle()
        lab.enter("WRITE")
        lab.wait_for("May Write do this?")
        lab.keys("Escape")
        lab.idle()
        lab.leave()
        lab.keys("C-l")
        lab.start()
        lab.wait_for("This project brings settings of its own")
        time.sleep(0.5)
        lab.keys("y")
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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_chat_in_good_order(tmp_path: Path, number: signal.Signals) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.enter("SLOWLY")
        lab.wait_for("word word")
        os.kill(_process_of(lab), number)
        lab.shell_is_back()
        lab.is_valid()
        lab.keys("C-l")
        lab.chat("--resume", "@1")
        lab.agree(is_resumed=True)


def _process_of(lab: Lab) -> int:
    found = subprocess.run(["pgrep", "-f", "clew chat", "-a"], capture_output=True, text=True, check=False)
    mine = [int(row.split()[0]) for row in found.stdout.splitlines() if _folder_of(row) == str(lab.work)]
    assert len(mine) == 1, found.stdout
    return mine[0]


def _folder_of(row: str) -> str:
    try:
        return str(Path("/proc", row.partition(" ")[0], "cwd").readlink())
    except OSError:
        return ""


def test_a_chat_that_was_stopped_unasked_takes_the_terminal_again(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        os.kill(_process_of(lab), signal.SIGSTOP)
        lab.wait_for("Stopped")
        lab.write("stty sane; fg")
        lab.keys("Enter")
        lab.wait_until(lambda: "stty sane; fg\n" in lab.everything and lab.box == ["›"], "chat")
        lab.write("typed")
        lab.wait_until(lambda: lab.box == ["› typed"], "draft")
        lab.keys("C-u")
        lab.say("hello")
        lab.agree()
        lab.leave()


def test_what_is_typed_while_the_session_opens_is_kept(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.start()
        lab.wait_for("starting")
        lab.write("early")
        lab.keys("Enter")
        lab.wait_for("answer 0")
        lab.idle()
        assert lab.everything.count("› early") == 1
        lab.agree()


def test_a_terminal_that_goes_away_leaves_a_valid_session(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.tmux("set-option", "-g", "remain-on-exit", "on")
        lab.chat()
        lab.enter("SLOWLY")
        lab.wait_for("word word")
        lab.tmux("respawn-pane", "-k", "sleep 30")
        lab.wait_until(lambda: b"interrupted by user" in lab.file.read_bytes(), "end of the session")
        lab.is_valid()


def test_without_a_key_the_terminal_is_given_back_and_the_error_is_told(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.write("unset ANTHROPIC_API_KEY")
        lab.keys("Enter")
        lab.start()
        lab.wait_for("error:")
        assert "ANTHROPIC_API_KEY" in lab.screen
        lab.shell_is_back()


def test_without_a_terminal_the_error_names_clew_run(tmp_path: Path) -> None:
    environ = {
        **os.environ,
        "HOME": str(tmp_path),
        "CLAUDE_CONFIG_DIR": str(tmp_path),
        "ANTHROPIC_API_KEY": "x",
    }
    command = [sys.executable, "-P", "-m", "clew", "chat"]
    done = subprocess.run(
        command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "needs a terminal" in done.stderr
    assert "clew run" in done.stderr
    with Lab(tmp_path / "lab", answer) as lab:
        lab.write("TERM=dumb ")
        lab.start()
        lab.wait_for("clew run")


def test_a_word_is_drawn_within_fifty_milliseconds_of_its_arrival(tmp_path: Path) -> None:
    """From the moment it leaves the API to the moment it is written to the terminal; and so is a key."""
    with Paced(words=30, pause=0.1) as api, Seat(tmp_path, api.url) as seat:
        seat.wait_for("/help tells")
        seat.wait_for("sonnet")
        seat.write(b"hello\r")
        took = [seat.wait_for(f"word{number:03}") - api.sent[f"word{number:03}"] for number in range(30)]
        seat.wait_for("<$0.01")
        pressed: list[float] = []
        for letter in b"QXZJVQXZJV":
            time.sleep(0.05)
            seat.forget()
            before = time.monotonic()
            seat.write(bytes([letter]))
            pressed.append(seat.wait_for(chr(letter)) - before)
    first, median = took[0], statistics.median(took)
    print(f"first word {first * 1000:.1f} ms, median {median * 1000:.1f}, worst {max(took) * 1000:.1f}")
    print(f"a key: median {statistics.median(pressed) * 1000:.1f} ms, worst {max(pressed) * 1000:.1f}")
    assert median < 0.05
    assert statistics.median(pressed) < 0.05
    # The machine may be busy with something else for a moment.
    assert first < 0.25
