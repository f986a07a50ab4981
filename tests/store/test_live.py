"""Who may be writing a session."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.store import live
from clew.store.files import SessionFile, Store, at_path
from clew.store.live import Live, liveness, running
from tests.store.lines import CORPUS, ONE, TWO, lines, put

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG_AGO = 1_000_000.0


@pytest.fixture
def file(tmp_path: Path) -> SessionFile:
    path = put(tmp_path / "projects" / "-p" / f"{ONE}.jsonl", lines(2))
    os.utime(path, (LONG_AGO, LONG_AGO))
    return Store.at([str(tmp_path)]).listing().sessions[0]


def _start(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]


def _name(file: SessionFile, name: str = "1.json", **fields: object) -> None:
    assert file.root is not None
    put(Path(file.root) / "sessions" / name, json.dumps({"sessionId": ONE, **fields}).encode())


@pytest.fixture
def child() -> Iterator[subprocess.Popen[str]]:
    """Run another process that opens what it is told to."""
    code = "import sys\nfor line in sys.stdin:\n f = open(*line.split()); print('open', flush=True)"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield process
        assert process.stdin
        process.stdin.close()


def _open(child: subprocess.Popen[str], path: str, mode: str) -> None:
    assert child.stdin
    assert child.stdout
    child.stdin.write(f"{path} {mode}\n")
    child.stdin.flush()
    assert child.stdout.readline() == "open\n"


def test_a_file_no_one_touches_is_quiet(file: SessionFile) -> None:
    assert liveness(file, now=LONG_AGO + 601) == Live(False, "quiet")


def test_a_file_written_within_ten_minutes_is_live(file: SessionFile) -> None:
    assert liveness(file, now=LONG_AGO + 599) == Live(True, "recent")
    assert liveness(file, now=LONG_AGO - 599) == Live(True, "recent")
    assert liveness(file, now=LONG_AGO - 601) == Live(False, "quiet")


def test_the_time_is_that_of_the_file_now(file: SessionFile) -> None:
    os.utime(file.path, (LONG_AGO + 5_000, LONG_AGO + 5_000))
    assert liveness(file, now=LONG_AGO + 5_001).is_live


def test_a_running_client_makes_its_session_live(file: SessionFile, child: subprocess.Popen[str]) -> None:
    _name(file, f"{child.pid}.json", pid=child.pid, procStart=_start(child.pid))
    assert liveness(file, now=LONG_AGO + 1e6) == Live(True, "process", child.pid)
    assert running([str(file.root)]) == {ONE: child.pid}
    assert liveness(file, now=LONG_AGO + 1e6, processes={}) == Live(False, "quiet")


def test_a_sub_agent_lives_with_its_session(file: SessionFile, child: subprocess.Popen[str]) -> None:
    agent = at_path(put(Path(file.path).parent / ONE / "subagents" / "agent-a1.jsonl", lines(1)))
    assert isinstance(agent, SessionFile)
    _name(file, f"{child.pid}.json", pid=child.pid, procStart=_start(child.pid))
    assert liveness(agent, now=LONG_AGO) == Live(True, "process", child.pid)


@pytest.mark.parametrize(
    "start", ["1", 1, "nonsense", ""], ids=["another start", "a number", "nonsense", "nothing"]
)
def test_a_process_id_given_again_is_not_the_client(
    file: SessionFile, child: subprocess.Popen[str], start: object
) -> None:
    _name(file, f"{child.pid}.json", pid=child.pid, procStart=start)
    assert running([str(file.root)]) == {}


def test_a_start_time_may_be_a_number_or_missing(file: SessionFile, child: subprocess.Popen[str]) -> None:
    for start in (int(_start(child.pid)), None):
        _name(file, f"{child.pid}.json", pid=child.pid, procStart=start)
        assert running([str(file.root)]) == {ONE: child.pid}


def test_a_client_that_crashed_is_not_running() -> None:
    assert running([str(CORPUS / "2.1.325" / "crash")]) == {}


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"pid": 1}',
        b'{"sessionId": 5, "pid": 1}',
        b'{"sessionId": "x", "pid": "1"}',
    ]
    + [json.dumps({"sessionId": ONE, "pid": pid}).encode() for pid in (0, -1, 2**70, 999_999_999)],
)
def test_an_odd_process_file_is_no_sign(file: SessionFile, data: bytes) -> None:
    assert file.root is not None
    put(Path(file.root) / "sessions" / "7.json", data)
    assert running([file.root]) == {}


def test_only_process_files_are_opened(file: SessionFile) -> None:
    assert file.root is not None
    folder = Path(file.root) / "sessions"
    good = json.dumps({"sessionId": ONE, "pid": os.getpid(), "procStart": _start(os.getpid())}).encode()
    for name in ("12.abc.key", "x.json", "١.json", "12.txt"):
        put(folder / name, good)
    os.mkfifo(folder / "13.json")
    (folder / "14.json").mkdir()
    assert running([file.root, "/nowhere"]) == {}


def test_a_process_that_writes_the_file_is_found(file: SessionFile, child: subprocess.Popen[str]) -> None:
    _open(child, file.path, "ab")
    assert liveness(file, now=LONG_AGO + 1e6) == Live(True, "open", child.pid)
    assert liveness(file, now=LONG_AGO + 1e6, look_for_open=False) == Live(False, "quiet")


def test_a_process_that_only_reads_the_file_does_not_count(
    file: SessionFile, child: subprocess.Popen[str]
) -> None:
    _open(child, file.path, "rb")
    assert liveness(file, now=LONG_AGO + 1e6) == Live(False, "quiet")
    _open(child, file.path, "rb+")
    assert liveness(file, now=LONG_AGO + 1e6).why == "open"


def test_this_process_does_not_count(file: SessionFile) -> None:
    with Path(file.path).open("ab"):
        assert liveness(file, now=LONG_AGO + 1e6) == Live(False, "quiet")


def test_a_descriptor_that_cannot_be_looked_at_counts(file: SessionFile, tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    (proc / "77" / "fd").mkdir(parents=True)
    (proc / "77" / "fd" / "3").symlink_to(file.path)
    (proc / "77" / "fd" / "4").symlink_to("nothing")
    assert liveness(file, now=LONG_AGO + 1e6, proc=str(proc)) == Live(True, "open", 77)
    put(proc / "77" / "fdinfo" / "3", b"pos:\t0\nflags:\t0100000\n")
    assert not liveness(file, now=LONG_AGO + 1e6, proc=str(proc)).is_live
    put(proc / "77" / "fdinfo" / "3", b"pos:\t0\n")
    assert liveness(file, now=LONG_AGO + 1e6, proc=str(proc)).is_live


def test_where_there_is_no_proc_the_process_is_asked_for(
    file: SessionFile, tmp_path: Path, child: subprocess.Popen[str]
) -> None:
    proc = str(tmp_path / "none")
    _name(file, f"{child.pid}.json", pid=child.pid, procStart="1")
    assert liveness(file, now=LONG_AGO + 1e6, proc=proc) == Live(True, "process", child.pid)
    _name(file, f"{child.pid}.json", pid=99_999_999)
    assert liveness(file, now=LONG_AGO + 1e6, proc=proc) == Live(False, "quiet")
    _name(file, f"{child.pid}.json", pid=2**40)
    assert liveness(file, now=LONG_AGO + 1e6, proc=proc) == Live(False, "quiet")


def test_another_user_s_process_runs_too(file: SessionFile, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(pid: int, signal: int) -> None:
        raise PermissionError(pid, signal)

    _name(file, "5.json", pid=5)
    monkeypatch.setattr(os, "kill", forbidden)
    assert running([str(file.root)], proc="/nowhere") == {ONE: 5}


def test_no_process_is_ever_signalled_on_windows(
    file: SessionFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deadly(pid: int, signal: int) -> None:
        raise AssertionError("os.kill() ends a process there")

    _name(file, "5.json", pid=5)
    monkeypatch.setattr(os, "kill", deadly)
    with monkeypatch.context() as windows:
        windows.setattr(live.os, "name", "nt")
        found = live._exists(5)  # pyright: ignore[reportPrivateUsage] # the rest of Path breaks under that name
    assert found


def test_a_short_stat_line_still_says_that_the_process_runs(file: SessionFile, tmp_path: Path) -> None:
    proc = tmp_path / "proc"
    put(proc / "5" / "stat", b"5 (a ) b) S 1")
    (proc / "self").mkdir()
    _name(file, "5.json", pid=5, procStart="1")
    assert liveness(file, now=LONG_AGO + 1e6, proc=str(proc)) == Live(True, "process", 5)
    put(proc / "5" / "stat", b"5 (a ) b) S " + b"1 " * 18 + b"321 0 0")
    assert not liveness(file, now=LONG_AGO + 1e6, proc=str(proc)).is_live
    _name(file, "5.json", pid=5, procStart="321")
    assert liveness(file, now=LONG_AGO + 1e6, proc=str(proc)).is_live


def test_a_file_that_is_gone_is_not_live(file: SessionFile) -> None:
    Path(file.path).unlink()
    assert liveness(file, now=LONG_AGO) == Live(False, "gone")


def test_a_file_outside_a_store_is_judged_by_itself(tmp_path: Path) -> None:
    outside = at_path(put(tmp_path / f"{TWO}.jsonl", b""))
    assert isinstance(outside, SessionFile)
    assert liveness(outside, now=Path(outside.path).stat().st_mtime) == Live(True, "recent")
