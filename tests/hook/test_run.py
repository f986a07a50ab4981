"""A hook is silent, quick and never fails, whatever the client says and however the machine is."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clew.actions import hook_spool as spools
from clew.store.state import state_folder
from tests.hook.place import CLEW, Place, make

QUICK = 2.0
"""Seconds: the limit is one, and this machine may be busy."""


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make(tmp_path)


def silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_an_intent_is_left_and_a_worker_takes_it(place: Place) -> None:
    path = place.transcript("s1", "All done.")
    done = place.hook(place.said(path, last_assistant_message="All done."), "Stop")
    assert silent(done)
    place.wait()
    (call,) = place.calls
    assert call["paths"] == [[str(path), "s1", path.stat().st_size]]
    assert not Path(place.spool.pending).exists()
    assert place.log == ""


def test_the_event_may_be_left_to_the_client_to_say(place: Place) -> None:
    assert silent(place.hook(place.said(place.transcript("s1", "ok"))))
    place.wait()
    assert len(place.calls) == 1


def test_an_intent_is_small_private_and_holds_nothing_that_was_said(place: Place) -> None:
    spool = place.spool
    spools.make_folder(spool.folder)
    lock = spools.try_lock(spool)  # so that no worker takes it
    assert lock is not None
    answer = "the secret plan " * 10_000
    old = os.umask(0)
    try:
        place.hook(place.said(place.transcript("s1", "x"), last_assistant_message=answer, prompt="more"))
    finally:
        os.umask(old)
        os.close(lock)
    data = Path(spool.intents).read_bytes()
    assert len(data) < 600
    assert b"secret" not in data
    assert json.loads(data)["last"] == spools.digest(answer)
    assert stat.S_IMODE(Path(spool.intents).stat().st_mode) == 0o600
    assert stat.S_IMODE(Path(spool.folder).stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "said nothing"),
        (b"  \n", "said nothing"),
        (b"{'no': json", "no JSON"),
        (b"\xff\xfe\x00", "no JSON"),
        (b"[" * 200_000, "no JSON"),
        (b"[1, 2]", "no object"),
        (b"{}", "no transcript"),
        (b'{"transcript_path": 7}', "no transcript"),
        (b'{"transcript_path": ""}', "no transcript"),
        (json.dumps({"transcript_path": "/" + "x" * 5000}).encode(), "no transcript"),
        (b'{"transcript_path": "/x.jsonl", "long": "' + b"x" * (5 << 20) + b'"}', "no JSON"),
    ],
)
def test_nonsense_costs_a_line_in_the_log(place: Place, data: bytes, told: str) -> None:
    start = time.monotonic()
    assert silent(place.hook(data, "Stop"))
    assert time.monotonic() - start < QUICK
    assert told in place.log
    assert place.log.count("\n") == 1
    assert stat.S_IMODE(Path(place.spool.log).stat().st_mode) == 0o600
    assert not Path(place.spool.intents).exists()


def test_a_hundred_megabytes_are_not_read_for_ever(place: Place) -> None:
    start = time.monotonic()
    with subprocess.Popen(
        [*CLEW, "hook", "run", "Stop"], env=place.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as hook:
        assert hook.stdin is not None
        try:
            for _ in range(100):
                hook.stdin.write(b'{"transcript_path": "' + b"x" * (1 << 20))
            hook.stdin.close()
        except BrokenPipeError:
            pass
        assert hook.wait(10) == 0
    assert time.monotonic() - start < QUICK
    assert "no JSON" in place.log


def test_a_client_that_never_closes_is_not_waited_for(place: Place) -> None:
    path = place.transcript("s1", "ok")
    for data in (b"", place.said(path)):
        start = time.monotonic()
        with subprocess.Popen(
            [*CLEW, "hook", "run", "Stop"],
            env=place.environ,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as hook:
            assert hook.stdin is not None
            assert hook.stdout is not None
            hook.stdin.write(data)
            hook.stdin.flush()
            assert hook.wait(10) == 0
            assert time.monotonic() - start < QUICK
            assert hook.stdout.read() == b""
    assert "said nothing" in place.log
    place.wait()
    assert len(place.calls) == 1  # what it had said was heard


def test_what_is_no_transcript_is_not_sent(place: Place, tmp_path: Path) -> None:
    good = place.transcript("s1", "ok")
    outside = tmp_path / "outside.jsonl"
    outside.write_text("{}\n")
    link = place.project / "link.jsonl"
    link.symlink_to(outside)
    folder = place.project / "folder.jsonl"
    folder.mkdir()
    pipe = place.project / "pipe.jsonl"
    os.mkfifo(pipe)
    words = place.project / "words.txt"
    words.write_text("x")
    climbing = f"{place.project}/../../../../outside.jsonl"
    for path in (outside, link, folder, pipe, words, climbing, "relative.jsonl", "/nul\0.jsonl", good):
        start = time.monotonic()
        assert silent(place.hook(place.said(path), "Stop"))
        assert time.monotonic() - start < QUICK
    place.wait()
    assert {path for call in place.calls for path, *_ in call["paths"]} == {str(good)}
    for why in ("outside of the projects", "is a link", "is no file", "is no transcript"):
        assert why in place.log
    assert not Path(place.spool.pending).exists()


def test_a_transcript_that_is_not_there_yet_is_kept(place: Place) -> None:
    path = place.project / "later.jsonl"
    assert silent(place.hook(place.said(path, "SessionStart", source="startup"), "SessionStart"))
    place.wait()
    assert place.calls == []
    assert str(path) in Path(place.spool.pending).read_text()
    place.transcript("later", "ok")
    other = place.transcript("s2", "ok")
    place.hook(place.said(other), "Stop")
    place.wait()
    assert {path for call in place.calls for path, *_ in call["paths"]} == {str(path), str(other)}
    assert not Path(place.spool.pending).exists()


BROKEN = ("home is a file", "state is a file", "spool is a folder", "spool is a pipe", "spool is a link",
          "lock is a folder", "log is a folder", "no home")  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_state_folder_is_not_the_clients_business(place: Place, broken: str) -> None:
    home, spool = Path(place.environ["HOME"]), place.spool
    path = place.transcript("s1", "ok")
    data = place.said(path)
    match broken:
        case "home is a file":
            (home.parent / "file").write_text("")
            place.environ["HOME"] = str(home.parent / "file")
        case "no home":
            place.environ["HOME"] = "/nonexistent/at/all"
        case "state is a file":
            (home / ".local").write_text("")
        case "log is a folder":
            Path(spool.log).mkdir(parents=True)
            data = b"nonsense"
        case _:
            victim = Path(spool.lock if "lock" in broken else spool.intents)
            victim.parent.mkdir(parents=True)
            if "folder" in broken:
                victim.mkdir()
            elif "pipe" in broken:
                os.mkfifo(victim)
            else:
                (home / "precious").write_text("precious")
                victim.symlink_to(home / "precious")
    start = time.monotonic()
    assert silent(place.hook(data, "Stop"))
    assert time.monotonic() - start < QUICK
    if broken == "spool is a link":
        assert (home / "precious").read_text() == "precious"


def test_a_full_disk_is_not_the_clients_business(place: Place) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = place.hook(place.said(place.transcript("s1", "ok")), "Stop", preexec_fn=full)
    assert silent(done)


@pytest.mark.parametrize("name", ["fork", "pipe", "setsid", "execve"])
def test_a_worker_that_cannot_start_leaves_the_intent(place: Place, name: str) -> None:
    path = place.transcript("s1", "ok")
    program = f"""
import os, sys
def refuse(*_): raise OSError(11, "no more processes")
os.{name} = refuse
from clew.faces.hook.run import run
run(["Stop"])
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        input=place.said(path),
        env=place.environ,
        capture_output=True,
        check=False,
    )
    assert silent(done)
    assert spools.has_new(place.spool)
    place.hook(place.said(path), "Stop")
    place.wait()
    assert len(place.calls) == 1


def test_an_interpreter_without_the_package_parts_says_nothing(place: Place) -> None:
    program = """
import sys
sys.modules["clew.faces.hook.run"] = None
sys.argv = ["clew", "hook", "run", "Stop"]
import clew.__main__
clew.__main__.start()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], env=place.environ, capture_output=True, check=False
    )
    assert silent(done)


def test_closed_descriptors_do_no_harm(place: Place) -> None:
    path = place.transcript("s1", "ok")
    data = place.folder / "said"
    data.write_bytes(place.said(path))
    command = f'"$@" hook run Stop <"{data}" >&- 2>&-'
    done = subprocess.run(["sh", "-c", command, "sh", *CLEW], env=place.environ, check=False)
    assert done.returncode == 0
    place.wait()
    assert len(place.calls) == 1
    done = subprocess.run(
        ["sh", "-c", '"$@" hook run Stop <&- >&- 2>&-', "sh", *CLEW], env=place.environ, check=False
    )
    assert done.returncode == 0


def test_the_worker_is_out_of_reach_of_the_client(tmp_path: Path) -> None:
    """It holds no pipe, no folder and no group of the client, and lives on when that is killed."""
    place = make(tmp_path, mode="hang")
    path = place.transcript("s1", "ok")
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    with subprocess.Popen(
        [*CLEW, "hook", "run", "Stop"],
        env=place.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=[writing],
        start_new_session=True,
        cwd=place.project,
    ) as hook:
        os.close(writing)
        out, err = hook.communicate(place.said(path), timeout=10)  # ends only when all pipes are closed
        assert (hook.returncode, out, err) == (0, b"", b"")
        with contextlib.suppress(ProcessLookupError):
            os.killpg(hook.pid, signal.SIGKILL)
    assert os.read(reading, 1) == b""
    os.close(reading)
    end = time.monotonic() + 10
    while not place.calls and time.monotonic() < end:
        time.sleep(0.02)
    (call,) = place.calls
    try:
        assert call["sid"] == call["group"] == call["pid"] != hook.pid
        assert call["folder"] == "/"
        held = {name for name in call["open"] if "/proc" not in name and "sink.jsonl" not in name}
        assert held == {"/dev/null", place.spool.lock}
        os.kill(call["pid"], 0)
    finally:
        os.kill(call["pid"], signal.SIGKILL)
    place.wait()


def test_the_log_stays_small(place: Place) -> None:
    spools.make_folder(place.spool.folder)
    for _ in range(3):
        Path(place.spool.log).write_bytes(b"x" * (spools.LARGEST_LOG + 1))
        place.hook(b"nonsense", "Stop")
    sizes = sum(path.stat().st_size for path in Path(place.spool.folder).iterdir())
    assert sizes < 3 * spools.LARGEST_LOG


def test_a_spool_that_nobody_takes_stays_small(place: Place) -> None:
    spools.make_folder(place.spool.folder)
    Path(place.spool.intents).write_bytes(b"\n" * (spools.LARGEST_SPOOL + 1))
    assert silent(place.hook(place.said(place.transcript("s1", "ok")), "Stop"))
    assert "too many intents" in place.log


def test_only_the_standard_library_is_imported_while_the_client_waits(place: Place) -> None:
    program = """
import os, sys
kept = os.dup(2)
def end(code):
    os.write(kept, "\\n".join(sys.modules).encode())
    real(code)
real, os._exit = os._exit, end
os.fork = lambda: 1
sys.argv = ["clew", "hook", "run", "Stop"]
import clew.__main__
clew.__main__.start()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],
        input=place.said(place.transcript("s1", "ok"), last_assistant_message="ok"),
        env={**place.environ, "PYTHONPATH": ""},
        capture_output=True,
        check=False,
    )
    names = set(done.stderr.decode().split())
    assert "clew.faces.hook.run" in names
    bare = subprocess.run(
        [sys.executable, "-P", "-c", "import sys; print(*sys.modules)"],
        env={**place.environ, "PYTHONPATH": ""},
        capture_output=True,
        check=True,
    )
    top = {name.partition(".")[0] for name in names - set(bare.stdout.decode().split())}
    assert top - set(sys.stdlib_module_names) == {"clew"}
    heavy = {"pathlib", "dataclasses", "subprocess", "typing", "inspect", "asyncio", "logging", "tempfile"}
    assert names & heavy == set()


@pytest.mark.parametrize(
    "environ",
    [
        {"HOME": "/home/ada"},
        {"HOME": "/home/ada", "XDG_STATE_HOME": "/var/state"},
        {"HOME": "/home/ada", "XDG_STATE_HOME": "relative"},
    ],
)
def test_the_state_is_where_the_rest_of_clew_has_it(environ: dict[str, str]) -> None:
    assert spools.state_folder(environ) == str(state_folder(environ))


def test_projects_that_send_elsewhere_have_a_spool_of_their_own() -> None:
    home = {"HOME": "/home/ada", "PATH": "/bin", "CLEW_COLOR": "never"}
    assert spools.mark(home) == ""
    marks = {
        spools.mark({**home, **more})
        for more in (
            {"LANGFUSE_SECRET_KEY": "sk-1"},
            {"LANGFUSE_SECRET_KEY": "sk-2"},
            {"CLAUDE_CONFIG_DIR": "/x"},
        )
    }
    assert len(marks) == 3
    assert all("sk-" not in mark for mark in marks)
