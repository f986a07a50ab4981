"""`clew chat` and the terminal it has: keys that stop, other sizes, signals, and how soon a word is drawn."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.acceptance.chat_script import answer
from tests.faces.cli.chat.paced import Paced, Seat
from tests.faces.cli.chat.tmux_lab import IN_A_TERMINAL, Lab

pytestmark = IN_A_TERMINAL


def test_what_stood_on_the_screen_is_gone_before_anything_else_is_looked_for(tmp_path: Path) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.write("echo old words; sleep 1")  # a shell that is busy hears of nothing meanwhile
        lab.keys("Enter")
        lab.wait_for("\nold words")
        lab.clear()
        assert "old words" not in lab.screen


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


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_chat_in_good_order(tmp_path: Path, number: signal.Signals) -> None:
    with Lab(tmp_path, answer) as lab:
        lab.chat()
        lab.enter("SLOWLY")
        lab.wait_for("word word")
        os.kill(_process_of(lab), number)
        lab.shell_is_back()
        lab.is_valid()
        lab.clear()
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
