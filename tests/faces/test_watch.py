"""`clew watch`: what a person sees while sessions are written."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from clew.actions.watching import Changed, Gone, Said, Stream
from clew.faces.cli.live import View
from clew.faces.cli.reader import Choice
from clew.format.lines import BytesSource
from clew.format.records import scan
from tests.builder import Builder, call, text, thinking
from tests.faces import console as consoles
from tests.faces.stage import Stage, stage, widest
from tests.store.lines import ONE, TWO, put

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console

STREAM = Stream("/x/a.jsonl", ONE, None, "Light the lamp", "/home/ada/lighthouse")
AGENT = Stream("/x/b.jsonl", ONE, "a1b2c3d4e5", "Find the oil", "/home/ada/lighthouse")


class Show:
    """A view on a stage, fed with the lines of builders."""

    def __init__(
        self, width: int | None = 60, choice: Choice | None = None, *, ascii_only: bool = False
    ) -> None:
        self.stage: Stage = stage(width, ascii_only=ascii_only)
        self.now = 0.0
        self.view = View(self.stage.screen, choice or Choice(), clock=lambda: self.now)
        self._done: dict[str, int] = {}

    def feed(self, made: Builder, stream: Stream = STREAM) -> None:
        """Show the lines that a builder has got since last time."""
        items = list(scan(BytesSource(made.data())))
        for item in items[self._done.get(stream.path, 0) :]:
            self.view.said(Said(stream, item))
        self._done[stream.path] = len(items)
        self.view.pause()

    @property
    def lines(self) -> list[str]:
        return self.stage.out.splitlines()


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from consoles.console(monkeypatch)


@pytest.fixture(autouse=True)
def _zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]  # used by pytest
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_prompts_answers_and_calls_read_as_in_show() -> None:
    show = Show()
    made = Builder(ONE).prompt("Is there oil?").answer("Let me look.", call("t1", "Bash", {"command": "dip"}))
    show.feed(made)
    show.feed(made.result("t1", "Exit code 2\nthe stick broke", is_error=True))
    show.feed(made.answer(call("t2", "Read", {"file_path": "/home/ada/lighthouse/oil.txt"})))
    show.feed(made.result("t2", "full\n").answer("There is."))
    assert show.lines == [
        "● Light the lamp · lighthouse · 11111111",
        "── 09:00 ───────────────────────────────────────────────────",
        "› Is there oil?",
        "",
        "Let me look.",
        "",
        "✗ Bash    dip · exit 2 · 1.0s",
        "    Exit code 2",
        "    the stick broke",
        "✓ Read    oil.txt · 1 line · 1.0s",
        "",
        "There is.",
    ]


def test_a_slow_call_is_told_when_it_runs_and_when_it_is_done() -> None:
    show = Show()
    made = Builder(ONE).answer(
        call("t1", "Bash", {"command": "sleep 60"}), call("t2", "Bash", {"command": "ls"})
    )
    show.feed(made)
    show.feed(made.result("t2", "a\nb\n"))
    assert show.lines[1:] == ["✓ Bash    ls · 2 lines · 1.0s"]
    show.now = 3
    show.view.pause()
    show.view.pause()
    assert show.lines[2:] == ["· Bash    sleep 60 · running"]
    show.feed(made.wait(60).result("t1", ""))
    assert show.lines[3:] == ["✓ Bash    sleep 60 · 1m 03s"]
    show.feed(made.answer(call("t3", "Bash", {"command": "x" * 99})))
    show.view.pause(everything=True)
    assert show.lines[4:] == [f"· Bash    {'x' * 39}… · running"]
    assert widest(show.lines) == 60


def test_results_of_calls_from_before_and_copies_of_calls_are_not_a_riddle() -> None:
    show = Show()
    made = Builder(ONE).result("t0", "a\nb").result("t00", "no", is_error=True)
    made.answer(call("t1", "Bash", {"command": "ls"})).answer(call("t1", "Bash", {"command": "ls"}))
    made.result("t1", "x").result("t1", "x").answer(call("t1", "Bash", {"command": "ls"}))
    made.answer({"type": "tool_use", "name": "Odd", "input": {}})
    show.feed(made)
    show.view.pause(everything=True)
    assert show.lines[1:] == [
        "✓ an earlier call · 2 lines",
        "✗ an earlier call · failed",
        "✓ Bash    ls · 1 line · 2.0s",
        "? Odd      · no result",
    ]


def test_sub_agents_speak_with_a_margin_under_a_heading_of_their_own() -> None:
    show = Show()
    show.feed(Builder(ONE).answer("I'll send someone."))
    agent = Builder(ONE).prompt("Find the oil.", isSidechain=True).answer("Found it.", isSidechain=True)
    show.feed(agent, AGENT)
    show.view.changed(Changed(STREAM, "rewritten", 1234))
    show.view.gone(Gone(AGENT, "no such file or directory"))
    assert show.lines == [
        "● Light the lamp · lighthouse · 11111111",
        "I'll send someone.",
        "",
        "  └ sub-agent a1b2c3d4 · Find the oil",
        "  │ ── 09:00 ───────────────────────────────────────────────",
        "  │ › Find the oil.",
        "  │",
        "  │ Found it.",
        "",
        "● Light the lamp · lighthouse · 11111111",
        "~ the file was rewritten; going on from line 1,234",
        "",
        "  └ sub-agent a1b2c3d4 · Find the oil",
        "  │ ~ the file cannot be read now: no such file or directory",
    ]


def test_a_sub_agent_in_the_sessions_own_file_has_the_margin_too() -> None:
    show = Show()
    show.feed(
        Builder(ONE).answer("Go.").prompt("Find it.", isSidechain=True).answer("Found.", isSidechain=True)
    )
    assert show.lines[3:] == [
        "  └ sub-agent",
        "  │ ── 09:00 ───────────────────────────────────────────────",
        "  │ › Find it.",
        "  │",
        "  │ Found.",
    ]


def test_everything_else_that_is_written_is_told_in_a_line_or_left_out() -> None:
    show = Show()
    made = Builder(ONE).meta("a reminder").compact()
    made.line({"type": "queue-operation", "operation": "enqueue", "content": "and the wick?"})
    made.line({"type": "queue-operation", "operation": "remove"})
    made.answer("Trimmed.").line({"type": "novelty", "uuid": "n1"}).line({"type": "novelty", "uuid": "n2"})
    made.line({"type": "file-history-snapshot", "messageId": "m"}).line(
        {"type": "summary", "summary": "Lamps"}
    )
    glue = b'{"type":"summary","uuid":"g","sessionId":"s","summary":"Glue"}'
    made.raw(glue + glue + b"\n\0\0\0\n[]\n")
    made.answer(thinking("Hm."), text("Done."))
    show.feed(made)
    show.view.changed(Changed(STREAM, "left out", 3))
    assert show.lines[1:] == [
        "── compacted ───────────────────────────────────────────────",
        "",
        "· summary of what came before, 1 line (21 B): --full",
        "",
        "› and the wick?",
        "",
        "Trimmed.",
        "",
        "· a line of a type clew does not know: novelty",
        "· summary: Lamps",
        "",
        "! recovered from line 11, which the client skips",
        "· summary: Glue",
        "",
        "· summary: Glue",
        "",
        "! 3 B could not be read (line 12, byte 1,765): a run of NULs",
        "! 2 B could not be read (line 13, byte 1,769): JSON, but no",
        "  record",
        "",
        "thinking  Hm.",
        "",
        "Done.",
        "",
        "~ 2 earlier lines not shown: clew show 11111111",
    ]
    assert show.view.is_damaged
    thoughts = Show(choice=Choice(thinking=True, full=True))
    thoughts.feed(
        Builder(ONE).answer(thinking("Hm."), call("t", "Bash", {"command": "ls"})).result("t", "a\nb")
    )
    assert thoughts.lines[1:] == [
        "thinking  Hm.",
        "",
        "✓ Bash    ls · 2 lines · 1.0s",
        "    a",
        "    b",
    ]


_EVIL = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\r[link=x]\ud800"


@pytest.mark.parametrize("width", [None, 60, 80])
def test_nothing_in_a_session_acts_on_the_terminal(width: int | None) -> None:
    show = Show(width)
    evil = Stream(f"/x/{_EVIL}", _EVIL, _EVIL, _EVIL, _EVIL)
    tool = "\x1b[2J\u202e"
    made = Builder(ONE).prompt(_EVIL).answer(_EVIL, call(_EVIL, tool, {_EVIL: _EVIL, "command": _EVIL}))
    made.answer(call("slow", tool, {"command": _EVIL}))
    made.result(_EVIL, _EVIL, is_error=True).line({"type": _EVIL}).line({"type": "summary", "summary": _EVIL})
    made.system("informational", content=_EVIL).line({"type": "pr-link", "prUrl": _EVIL, "prNumber": _EVIL})
    for stream in (evil, STREAM):
        show.feed(made, stream)
        show.view.gone(Gone(stream, _EVIL))
    show.view.pause(everything=True)
    wrong = {char for char in show.stage.out if char != "\n" and not char.isprintable()}
    assert wrong == set()
    assert "␛" in show.stage.out
    if width is not None:
        assert [line for line in show.lines if widest([line]) > width] == []


def test_plain_letters_where_there_is_no_unicode() -> None:
    show = Show(ascii_only=True)
    show.feed(Builder(ONE).prompt("Oil?").answer(call("t", "Bash", {"command": "ls"})).result("t", "x"))
    show.feed(Builder(ONE).answer("Yes."), AGENT)
    assert show.stage.out.isascii()
    assert "> Oil?" in show.lines
    assert "  | Yes." in show.lines


def test_a_view_of_very_many_files_forgets_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.faces.cli.live._MOST", 3)
    show = Show()
    for number in range(9):
        stream = Stream(f"/x/{number}", ONE, None, f"Lamp {number}", "/p")
        show.feed(
            Builder(ONE).answer(*(call(f"t{one}", "Bash", {"command": "ls"}) for one in range(4))), stream
        )
    # The fourth call of each is not waited for.
    assert show.stage.out.count("? Bash    ls · no result") == 9
    show.view.pause(everything=True)
    assert show.stage.out.count("running") == 9


# The command -----------------------------------------------------------------------------------------


def _session(root: Path, name: str, made: Builder) -> Path:
    return put(root / "projects" / "-home-ada-lighthouse" / f"{name}.jsonl", made.data())


def test_the_command_shows_what_there_is_and_ends_when_idle(tmp_path: Path, run: Console) -> None:
    _session(tmp_path, ONE, Builder(ONE).prompt("Is there oil?").answer("There is."))
    done = run("watch", "1111", "--root", tmp_path, "--exit-when-idle", "0", width=80)
    assert (done.code, done.err) == (0, "")
    assert done.lines == [
        "● Is there oil? · lighthouse · 11111111",
        "── 09:00 ───────────────────────────────────────────────────────────────────────",
        "› Is there oil?",
        "",
        "There is.",
    ]
    short = run("watch", "--lines", 1, "--root", tmp_path, "--exit-when-idle", "0")
    assert short.lines[1:] == ["There is."]
    assert run("watch", "--lines", 0, "--root", tmp_path, "--exit-when-idle", "0").out == ""


def test_records_as_json_lines_and_the_notes_apart(tmp_path: Path, run: Console) -> None:
    path = _session(tmp_path, ONE, Builder(ONE).prompt("Oil\u202e?").answer("There \ud800 is."))
    with path.open("ab") as file:
        file.write(b'\0\n{"type":"user"')
    done = run("watch", "--root", tmp_path, "--exit-when-idle", "0", "--jsonl", "--from-start")
    assert done.code == 3
    rows = [json.loads(row) for row in done.lines]
    assert [row["kind"] for row in rows] == ["user", "assistant", "damaged"]
    assert [row["line"] for row in rows] == [1, 2, 3]
    assert rows[0]["parts"] == [{"type": "text", "text": "Oil\u202e?"}]
    assert "\u202e" not in done.out
    assert done.err == f"note: the last line of {path} is being written: 14 bytes so far\n"
    quiet = run("watch", "--root", tmp_path, "--exit-when-idle", "0", "--jsonl", "-q")
    assert quiet.err == ""


def test_with_no_one_writing_it_says_where_it_looked(tmp_path: Path, run: Console) -> None:
    (tmp_path / "projects").mkdir()
    done = run("watch", "--root", tmp_path, "--exit-when-idle", "0")
    assert done.out == ""
    assert done.err == f"No session is being written in {tmp_path}; waiting for one.\n"


def test_wrong_use_is_told(tmp_path: Path, run: Console) -> None:
    _session(tmp_path, ONE, Builder(ONE).prompt("Oil?"))
    assert "clew watch --jsonl" in run("watch", "--root", tmp_path, "--json").err
    unknown = run("watch", "9999", "--root", tmp_path)
    assert (unknown.code, "no session is called" in unknown.err) == (1, True)


class Watching:
    """A watch in a process of its own."""

    def __init__(self, root: Path, *arguments: str) -> None:
        environ = {**os.environ, "CLAUDE_CONFIG_DIR": str(root), "HOME": str(root)}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "clew", "watch", *arguments],
            env=environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> subprocess.Popen[str]:
        return self.process

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_each_record_is_written_out_at_once_and_an_interrupt_ends_it_quietly(tmp_path: Path) -> None:
    made = Builder(ONE).prompt("Oil?")
    path = _session(tmp_path, ONE, made)
    with Watching(tmp_path, "--jsonl") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert json.loads(process.stdout.readline())["uuid"] == "u1"
        path.write_bytes(made.answer("Yes.").data())
        assert json.loads(process.stdout.readline())["uuid"] == "u2"
        _session(tmp_path, TWO, Builder(TWO).prompt("And wicks?"))
        assert json.loads(process.stdout.readline())["session"] == TWO
        path.write_bytes(Builder(ONE).prompt("Oil?").data())
        time.sleep(0.6)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        assert process.stdout.read() == ""
        assert process.stderr.read() == f"note: {path} was cut; going on from line 2\n"


def test_it_ends_quietly_when_no_one_reads_any_more(tmp_path: Path) -> None:
    made = Builder(ONE).prompt("Oil?")
    path = _session(tmp_path, ONE, made)
    with Watching(tmp_path) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        path.write_bytes(made.answer("Yes.").answer("Yes.").data())
        assert process.wait(10) == 0
        assert process.stderr.read() == ""
        process.stdout = None
