"""Commands in the background: seen by their id, and gone with the session."""

from __future__ import annotations

import json
import re
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from clew.agent.shell_run import NoShellError
from clew.agent.shells import Shell, Shells
from clew.agent.tools.bash import Bash
from clew.agent.tools.bash_output import BashOutput
from clew.agent.tools.kill_shell import KillShell
from clew.agent.tools.web_fetch import WebFetch
from clew.agent.tools.web_search import WebSearch
from tests.agent.running.bench import are_gone, environ, work_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.agent.tool import Tool, Work

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)


@pytest.fixture
def shells(tmp_path: Path) -> Iterator[Shells]:
    with Shells(environ=environ(tmp_path)) as found:
        yield found
    assert threading.active_count() == 1


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return work_in(tmp_path)


def start(shells: Shells, work: Work, command: str) -> Shell:
    outcome = Bash(shells).run(
        {"command": command, "run_in_background": True, "description": "A thing"}, work
    )
    assert not outcome.is_error, outcome.content
    id_ = cast("dict[str, str]", outcome.structured)["backgroundTaskId"]
    assert re.fullmatch("b[a-z0-9]{8}", id_)
    shell = shells.get(id_)
    assert shell is not None
    assert str(outcome.content).startswith(
        f"Command running in background with ID: {id_}. Output is being written to: {shell.path}."
    )
    return shell


def wait(condition: Callable[[], object]) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def printed(shell: Shell, text: str) -> Callable[[], bool]:
    return lambda: text in Path(shell.path or "").read_text()


def test_its_output_is_told_as_the_client_told_it(shells: Shells, work: Work) -> None:
    """The texts are those 2.0.42 gave for the same calls."""
    shell = start(shells, work, "echo one; sleep 20; echo two")
    look = BashOutput(shells, now=lambda: NOW)
    wait(printed(shell, "one"))
    outcome = look.run({"bash_id": shell.id}, work)
    assert outcome.content == (
        "<status>running</status>\n\n<stdout>\none\n</stdout>\n\n<timestamp>2026-01-02T03:04:05.678Z</timestamp>"
    )
    assert outcome.structured == {
        "shellId": shell.id,
        "command": "echo one; sleep 20; echo two",
        "status": "running",
        "exitCode": None,
        "stdout": "one",
        "stderr": "",
        "stdoutLines": 1,
        "stderrLines": 1,
        "timestamp": "2026-01-02T03:04:05.678Z",
    }
    killed = KillShell(shells).run({"shell_id": shell.id}, work)
    message = f"Successfully killed shell: {shell.id} (echo one; sleep 20; echo two)"
    assert killed.structured == {"message": message, "shell_id": shell.id}
    assert json.loads(str(killed.content)) == killed.structured
    again = KillShell(shells).run({"shell_id": shell.id}, work)
    assert again.content == f"Shell {shell.id} is not running, so cannot be killed (status: killed)"
    assert again.is_error
    assert str(look.run({"bash_id": shell.id}, work).content).startswith("<status>killed</status>")


def test_only_what_is_new_is_told(shells: Shells, work: Work) -> None:
    shell = start(
        shells,
        work,
        "echo one; while [ ! -e go ]; do sleep 0.01; done; "
        "printf 'zw\\xc3'; sleep 0.2; printf '\\xb6lf'; exit 3",
    )
    look = BashOutput(shells)
    wait(printed(shell, "one"))
    assert "<stdout>\none\n</stdout>" in str(look.run({"bash_id": shell.id}, work).content)
    assert "<stdout>" not in str(look.run({"bash_id": shell.id}, work).content)
    (Path(work.project) / "go").touch()
    said = ""
    while shell.is_running:
        said += shell.news()
        time.sleep(0.01)
    assert said + shell.news() == "zwölf"
    last = str(look.run({"bash_id": shell.id}, work).content)
    assert last.startswith("<status>failed</status>\n\n<exit_code>3</exit_code>")


def test_of_very_much_the_end_is_told(shells: Shells, work: Work) -> None:
    shell = start(shells, work, "seq 1 100000; echo end")
    wait(lambda: not shell.is_running)
    said = shell.news()
    assert said.startswith(f"[the beginning was left out; all of it is in {shell.path}]\n")
    assert said.endswith("\n100000\nend\n")
    assert len(said) < 31_000
    assert Path(shell.path or "").read_text().startswith("1\n2\n3\n")


def test_the_end_is_made_known(tmp_path: Path, work: Work) -> None:
    heard: list[Shell] = []
    with Shells(environ=environ(tmp_path), ended=heard.append) as shells:
        shell = start(shells, work, "exit 0")
        wait(lambda: heard)
        assert heard == [shell]
        assert shell.notification() == (
            f"<task-notification>\n<task-id>{shell.id}</task-id>\n<tool-use-id>toolu_01</tool-use-id>\n"
            f"<output-file>{shell.path}</output-file>\n<status>completed</status>\n"
            '<summary>Background command "A thing" completed (exit code 0)</summary>\n</task-notification>'
        )


def test_all_are_gone_when_the_session_ends(tmp_path: Path, work: Work) -> None:
    heard: list[Shell] = []
    with Shells(environ=environ(tmp_path), ended=heard.append) as shells:
        for _ in range(3):
            start(shells, work, "sleep 100 & echo $! >> pids; echo $$ >> pids; sleep 100")
        pids = Path(work.project) / "pids"
        wait(lambda: pids.exists() and len(pids.read_text().split()) == 6)
        before = time.monotonic()
    assert time.monotonic() - before < 5
    assert are_gone(pids.read_text().split())
    assert threading.active_count() == 1
    assert [shell.status for shell in shells.all()] == ["killed"] * 3
    assert not heard
    assert "session has ended" in str(Bash(shells).run({"command": "true"}, work).content)
    assert Bash(shells).run({"command": "true", "run_in_background": True}, work).is_error


def test_the_wish_to_stop_a_call_does_not_end_what_it_started(shells: Shells, work: Work) -> None:
    shell = start(shells, work, "sleep 100")
    work.cancel.ask()
    time.sleep(0.1)
    assert shell.is_running


def test_one_started_by_a_thread_that_ended_runs_on(shells: Shells, work: Work) -> None:
    found: list[Shell] = []
    thread = threading.Thread(target=lambda: found.append(start(shells, work, "echo on; sleep 100")))
    thread.start()
    thread.join()
    time.sleep(0.2)
    assert found[0].is_running


def test_there_are_not_more_than_some(shells: Shells, work: Work) -> None:
    for _ in range(32):
        shells.start("sleep 100", cwd=work.project, folder=work.results_folder, call_id="x")
    with pytest.raises(NoShellError, match="already"):
        shells.start("sleep 100", cwd=work.project, folder=work.results_folder, call_id="x")


def test_one_that_cannot_be_started_leaves_nothing(shells: Shells, work: Work) -> None:
    outcome = Bash(shells).run({"command": "echo \0", "run_in_background": True}, work)
    assert outcome.is_error
    assert not shells.all()
    assert list(Path(work.results_folder).iterdir()) == []


def test_without_a_place_for_its_output_it_runs_all_the_same(
    tmp_path: Path, shells: Shells, work: Work
) -> None:
    (tmp_path / "file").touch()
    work.results_folder = str(tmp_path / "file" / "results")
    outcome = Bash(shells).run({"command": "echo hi > made", "run_in_background": True}, work)
    assert not outcome.is_error
    assert "written to" not in str(outcome.content)
    shell = shells.all()[0]
    wait(lambda: not shell.is_running)
    assert "could not be saved" in str(BashOutput(shells).run({"bash_id": shell.id}, work).content)
    assert (Path(work.project) / "made").exists()


@pytest.mark.parametrize(
    "given", [{"bash_id": "nope", "shell_id": "nope"}, {}, {"bash_id": 3, "shell_id": []}]
)
def test_an_unknown_id_is_told(shells: Shells, work: Work, given: dict[str, object]) -> None:
    for tool, name in ((BashOutput(shells), "bash_id"), (KillShell(shells), "shell_id")):
        outcome = tool.run({k: v for k, v in given.items() if k == name}, work)
        assert outcome.is_error
        if given.get(name) == "nope":
            assert outcome.content == "No shell found with ID: nope"


def test_all_of_them_are_tools(shells: Shells, work: Work) -> None:
    tools: list[Tool] = [Bash(shells), BashOutput(shells), KillShell(shells)]
    tools += [WebFetch(lambda prompt, _: prompt), WebSearch(lambda _request, _cancel: [])]
    for tool in tools:
        assert tool.description
        assert tool.schema["type"] == "object"
        assert isinstance(tool.is_parallel({}), bool)
        assert tool.run({"no such": 1}, work).is_error
