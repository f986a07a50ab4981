"""Commands before the model's eyes: what is told of them, and that nothing of them is left."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.agent.sandbox import Sandbox
from clew.agent.shell_run import environment
from clew.agent.shells import Shells
from clew.agent.tools.bash import Bash
from clew.format.results_work import Bash as BashView
from tests.agent.running.bench import are_gone, environ, work_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.agent.tool import Work

CORPUS = Path(__file__).parents[2] / "data" / "corpus"


@pytest.fixture
def shells(tmp_path: Path) -> Iterator[Shells]:
    with Shells(environ=environ(tmp_path)) as found:
        yield found


@pytest.fixture
def bash(shells: Shells) -> Bash:
    return Bash(shells)


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return work_in(tmp_path)


def ran(command: str, stdout: str, stderr: str = "", **more: object) -> dict[str, object]:
    base = {"stdout": stdout, "stderr": stderr, "interrupted": False, "isImage": False}
    return base | more | {"noOutputExpected": more.get("noOutputExpected", False)}


@pytest.mark.parametrize(
    ("command", "text", "structured"),
    [
        # Each as 2.1.325 answered when it was asked the same.
        ("echo out; echo err >&2", "out\nerr", ran("", "out\nerr")),
        ("true", "(Bash completed with no output)", ran("", "")),
        ("mkdir s; cd s", "(Bash completed with no output)", ran("", "", noOutputExpected=True)),
        ("rm -f zz", "(Bash completed with no output)", ran("", "", noOutputExpected=True)),
        (
            "grep nothing /dev/null",
            "(Bash completed with no output)",
            ran("", "", returnCodeInterpretation="No matches found"),
        ),
        ("", "(Bash completed with no output)", ran("", "")),
        ("printf '\\n\\n  x  \\n\\ny\\n\\n'", "  x  \n\ny", ran("", "  x  \n\ny")),
        # And some of our own.
        ("printf '\\033[31mred\\033[0m\\0!'", "red!", ran("", "red!")),
        ("cat <<END\nhere $1\nEND", "here", ran("", "here")),
        ("diff <(echo a) <(echo b) >/dev/null", "(Bash completed with no output)",
         ran("", "", returnCodeInterpretation="Files differ")),
        ("printf '\\xff\\xfe'", "��", ran("", "��")),
    ],
)  # fmt: skip
def test_a_command_is_told_as_the_client_tells_it(
    bash: Bash, work: Work, command: str, text: str, structured: dict[str, object]
) -> None:
    outcome = bash.run({"command": command}, work)
    assert outcome.content == text
    assert outcome.structured == structured
    assert not outcome.is_error
    assert outcome.extra == {"sandboxed": False}


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("echo oops >&2; exit 3", "Exit code 3\noops"),
        ("echo out; echo err >&2; exit 4", "Exit code 4\nout\nerr"),
        ("kill -9 $$", "Exit code 137"),
        ("grep nothing /nowhere 2>/dev/null", "Exit code 2"),
        ("false", "Exit code 1"),
    ],
)
def test_a_failing_command_is_an_error_with_its_code(bash: Bash, work: Work, command: str, text: str) -> None:
    outcome = bash.run({"command": command}, work)
    assert (outcome.content, outcome.structured, outcome.is_error) == (text, f"Error: {text}", True)


def test_results_have_the_fields_the_client_writes(bash: Bash, work: Work) -> None:
    """For each shape recorded of 2.1.325 a call of ours has it too, and the typed view reads it."""
    recorded = set[tuple[str, ...]]()
    for file in (CORPUS / "2.1.325").rglob("*.jsonl"):
        for line in file.read_bytes().splitlines():
            if b'"noOutputExpected"' in line:
                result = json.loads(line).get("toolUseResult")
                if isinstance(result, dict):
                    recorded.add(tuple(sorted(result)))  # pyright: ignore[reportUnknownArgumentType]
    assert len(recorded) >= 3
    ours = set[tuple[str, ...]]()
    for given in (
        {"command": "echo hi"},
        {"command": "yes | head -c 100000"},
        {"command": "sleep 9", "run_in_background": True},
    ):
        structured = bash.run(given, work).structured
        assert isinstance(structured, dict)
        ours.add(tuple(sorted(structured)))  # pyright: ignore[reportUnknownArgumentType]
    assert recorded <= ours


def test_a_long_output_is_saved_and_its_beginning_told(bash: Bash, work: Work) -> None:
    outcome = bash.run({"command": "for n in {1..9000}; do echo line $n; done"}, work)
    path = Path(work.results_folder) / "toolu_01.txt"
    assert path.read_text() == "".join(f"line {n}\n" for n in range(1, 9001))
    view = BashView(outcome.structured)
    assert view.persisted_output_path == str(path)
    assert view.persisted_output_size == path.stat().st_size
    assert len(view.stdout) <= 30_000
    assert str(outcome.content).startswith("<persisted-output>\nOutput too large (86.8KB).")
    assert len(str(outcome.content)) < 2500


def test_a_long_output_of_a_failing_command_is_saved_too(bash: Bash, work: Work) -> None:
    outcome = bash.run({"command": "yes | head -c 100000; exit 5"}, work)
    assert outcome.is_error
    assert str(outcome.content).startswith("Exit code 5\n<persisted-output>\n")
    assert (Path(work.results_folder) / "toolu_01.txt").stat().st_size == 100_000


def test_the_folder_is_kept_within_the_project_only(bash: Bash, work: Work, tmp_path: Path) -> None:
    project = work.project
    (tmp_path / "outside").mkdir()
    (Path(project) / "link").symlink_to(tmp_path / "outside")
    bash.run({"command": "mkdir -p 'a b/c\nd' && cd 'a b/c\nd'"}, work)
    assert work.cwd == f"{project}/a b/c\nd"
    assert bash.run({"command": "pwd"}, work).content == work.cwd
    outcome = bash.run({"command": f"cd {tmp_path}/outside && pwd"}, work)
    assert outcome.content == f"{tmp_path}/outside\nShell cwd was reset to {project}"
    assert BashView(outcome.structured).stderr == f"\nShell cwd was reset to {project}"
    assert work.cwd == project
    assert "was reset" in str(bash.run({"command": "cd link"}, work).content)
    assert work.cwd == project
    # A folder whose name begins like the project's is outside.
    (tmp_path / "project-2").mkdir()
    assert "was reset" in str(bash.run({"command": "cd ../project-2"}, work).content)


def test_a_folder_that_is_gone_is_not_where_the_next_command_runs(bash: Bash, work: Work) -> None:
    bash.run({"command": "mkdir gone && cd gone"}, work)
    bash.run({"command": "rmdir ../gone"}, work)
    work.cwd = f"{work.project}/gone"
    assert bash.run({"command": "pwd"}, work).content == work.project


def test_lines_are_reported_as_they_come(tmp_path: Path, bash: Bash) -> None:
    heard: list[str] = []
    work = work_in(tmp_path, heard=heard)
    thread = threading.Thread(
        target=bash.run,
        args=({"command": "echo first; while [ ! -e go ]; do sleep 0.01; done; echo last"}, work),
    )
    thread.start()
    try:
        until = time.monotonic() + 10
        while heard != ["first"] and time.monotonic() < until:
            time.sleep(0.01)
        assert heard == ["first"]
    finally:
        (Path(work.project) / "go").touch()
        thread.join()
    assert heard == ["first", "last"]


def test_what_hears_and_fails_leaves_nothing_running(bash: Bash, work: Work) -> None:
    def fail(line: str) -> None:
        raise RuntimeError(line)

    work.report = fail
    with pytest.raises(RuntimeError, match=r"[0-9]+"):
        bash.run({"command": "echo $$; sleep 100"}, work)
    assert threading.active_count() == 1


def _pids(work: Work) -> list[int]:
    return [int(pid) for pid in (Path(work.project) / "pids").read_text().split()]


def test_when_the_time_is_up_everything_it_started_is_gone(bash: Bash, work: Work) -> None:
    command = "(sleep 100 & echo $! >> pids; wait) & echo $$ >> pids; echo before; sleep 100"
    before = time.monotonic()
    outcome = bash.run({"command": command, "timeout": 400}, work)
    assert time.monotonic() - before < 5
    assert outcome.content == "Exit code 143\nCommand timed out after 0.4s\nbefore"
    assert outcome.is_error
    assert len(_pids(work)) == 2
    assert are_gone(_pids(work))


def test_one_that_will_not_be_asked_is_killed(bash: Bash, work: Work) -> None:
    outcome = bash.run(
        {"command": "trap '' TERM; echo $$ > pids; while :; do sleep 0.05; done", "timeout": 300}, work
    )
    assert str(outcome.content).startswith("Exit code 143\nCommand timed out")
    assert are_gone(_pids(work))


def test_one_may_clean_up_when_its_time_is_up(bash: Bash, work: Work) -> None:
    outcome = bash.run({"command": "trap 'echo cleaned; exit' TERM; sleep 100 & wait", "timeout": 300}, work)
    assert outcome.content == "Exit code 143\nCommand timed out after 0.3s\ncleaned"


def test_a_wish_to_stop_is_heard_at_once(bash: Bash, work: Work) -> None:
    timer = threading.Timer(0.3, work.cancel.ask)
    timer.start()
    before = time.monotonic()
    outcome = bash.run({"command": "echo $$ > pids; echo so far; sleep 100"}, work)
    timer.join()
    assert time.monotonic() - before < 3
    assert outcome.content == "Exit code 137\nso far\n[Request interrupted by user for tool use]"
    assert outcome.is_error
    assert are_gone(_pids(work))


def test_a_wish_made_before_runs_nothing_for_long(bash: Bash, work: Work) -> None:
    work.cancel.ask()
    before = time.monotonic()
    assert bash.run({"command": "sleep 100"}, work).is_error
    assert time.monotonic() - before < 3


def test_what_is_left_running_is_stopped_and_told(bash: Bash, work: Work) -> None:
    before = time.monotonic()
    outcome = bash.run({"command": "sleep 100 >/dev/null 2>&1 & echo $! > pids; echo started"}, work)
    assert time.monotonic() - before < 5
    assert str(outcome.content).startswith("started\nWhat the command left running was stopped")
    assert are_gone(_pids(work))


def test_a_shell_that_closes_its_output_is_waited_for(bash: Bash, work: Work) -> None:
    outcome = bash.run({"command": "exec >&- 2>&-; sleep 0.3; touch done"}, work)
    assert not outcome.is_error
    assert (Path(work.project) / "done").exists()


def test_a_daemon_that_holds_the_pipe_does_not_hold_the_call(bash: Bash, work: Work) -> None:
    before = time.monotonic()
    bash.run({"command": "setsid sleep 2 & echo $! > pids"}, work)
    assert time.monotonic() - before < 2
    assert are_gone(_pids(work))


def test_there_is_nothing_to_read_and_no_terminal(bash: Bash, work: Work) -> None:
    outcome = bash.run(
        {"command": 'read line; echo "$?"; [ -t 1 ] || echo none; (: < /dev/tty) 2>/dev/null || echo none'},
        work,
    )
    assert outcome.content == "1\nnone\nnone"


def test_the_environment_is_without_the_secrets_of_clew() -> None:
    secret = dict.fromkeys(
        (
            *(
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "ANTHROPIC_CUSTOM_HEADERS",
                "CLAUDE_CODE_OAUTH_TOKEN",
            ),
            *("LANGFUSE_SECRET_KEY", "OTEL_EXPORTER_OTLP_HEADERS", "CLEW_REDACTION_KEY"),
        ),
        "secret",
    )
    found = environment({**secret, "PATH": "/bin", "CLEW_COLOR": "never", "GITHUB_TOKEN": "theirs"})
    assert found == {
        "PATH": "/bin",
        "CLEW_COLOR": "never",
        "GITHUB_TOKEN": "theirs",
        "CLAUDECODE": "1",
        "GIT_EDITOR": "true",
    }


def test_a_command_does_not_see_the_key(tmp_path: Path, work: Work) -> None:
    with Shells(environ={**environ(tmp_path), "ANTHROPIC_API_KEY": "sk-very-secret"}) as shells:
        said = str(Bash(shells).run({"command": "env; set; echo $ANTHROPIC_API_KEY"}, work).content)
    assert "PATH=" in said
    assert "very-secret" not in said


def test_no_file_of_clew_is_open_to_a_command(bash: Bash, work: Work) -> None:
    said = bash.run({"command": "ls /proc/self/fd"}, work).content
    assert str(said).split() == ["0", "1", "2", "3"]  # the last is the folder that is being listed


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "The required parameter `command` is missing"),
        ({"command": 3}, "type is expected as `string` but provided as `number`"),
        ({"command": "true", "timeout": "soon"}, "`timeout` type is expected as `number`"),
        (
            {"command": "true", "run_in_background": "perhaps"},
            "`run_in_background` type is expected as `boolean`",
        ),
    ],
)
def test_wrong_input_is_told(bash: Bash, work: Work, given: dict[str, object], words: str) -> None:
    outcome = bash.run(given, work)
    assert outcome.is_error
    assert words in str(outcome.content)
    assert bash.reach(given, work).command is not None


@pytest.mark.parametrize("command", ["echo \0", "echo " + "x" * 300_000, "echo \ud800"])
def test_what_no_shell_takes_is_told(bash: Bash, work: Work, command: str) -> None:
    outcome = bash.run({"command": command}, work)
    assert outcome.is_error
    assert "could not be started" in str(outcome.content)


def test_a_project_that_is_gone_is_told(bash: Bash, work: Work) -> None:
    Path(work.project).rmdir()
    assert "could not be started" in str(bash.run({"command": "true"}, work).content)


def test_the_time_is_never_longer_than_the_longest(
    bash: Bash, work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float | None] = []
    original = Shells.run

    def spy(self: Shells, command: str, output: object, **options: object) -> object:
        asked.append(options["timeout"])  # pyright: ignore[reportArgumentType]
        return original(self, command, output, **options)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(Shells, "run", spy)
    for timeout in (None, 0, 5000, 10**9, 10**400):
        bash.run({"command": "true", "timeout": timeout}, work)
    assert asked == [120, 120, 5, 600, 600]


def test_without_bash_a_plain_shell_does(tmp_path: Path, work: Work) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "sh").symlink_to("/bin/sh")
    with Shells(environ={"PATH": str(tmp_path / "bin")}) as shells:
        assert Bash(shells).run({"command": "echo $((6 * 7))"}, work).content == "42"
    with Shells(environ={"PATH": str(tmp_path)}) as shells:
        assert "neither bash nor sh" in str(Bash(shells).run({"command": "true"}, work).content)


def test_the_model_is_told_of_the_sandbox_only_when_there_is_one(tmp_path: Path) -> None:
    missing = Sandbox.find(str(tmp_path), environ={"PATH": str(tmp_path), "HOME": str(tmp_path)})
    assert missing.state.kind == "missing"
    assert "not installed" in missing.state.words
    assert "sandbox" not in Bash(Shells(environ={}, sandbox=missing)).description


def test_descriptors_are_given_back(bash: Bash, work: Work) -> None:
    bash.run({"command": "true"}, work)
    before = len(list(Path("/proc/self/fd").iterdir()))
    for command in ("true", "false", "yes | head -c 100000", "sleep 5"):
        bash.run({"command": command, "timeout": 200}, work)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
