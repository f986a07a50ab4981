"""Commands do not outlive clew, also when it is killed without a chance to end them."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from clew.agent.cancel import Cancel
from clew.agent.sandbox import Sandbox
from clew.agent.shell_guard import Guard
from clew.agent.shell_run import run
from tests.agent.running.bench import are_gone, environ, is_alive

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CLEW = """
import sys
from clew.agent.cancel import Cancel
from clew.agent.shell_output import Captured
from clew.agent.shells import Shells
folder, environ = sys.argv[1], {"PATH": sys.argv[2], "HOME": sys.argv[1]}
line = "sleep 300 & echo $$ $! > {0}.tmp; mv {0}.tmp {0}; exec sleep 300"
shells = Shells(environ=environ)
shells.start(line.format("behind"), cwd=folder, folder=folder, call_id="toolu_1")
shells.run(line.format("before"), Captured(folder, "out.txt"), cwd=folder, cancel=Cancel(), timeout=None)
"""


def _wait_for(path: Path) -> str:
    until = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < until, path
        time.sleep(0.01)
    return path.read_text()


def test_nothing_is_left_of_commands_when_clew_is_killed(tmp_path: Path) -> None:
    path = environ(tmp_path)["PATH"]
    with subprocess.Popen([sys.executable, "-c", _CLEW, str(tmp_path), path]) as clew:
        found = [_wait_for(tmp_path / name).split() for name in ("behind", "before")]
        clew.kill()
    pids = {pid for group in found for pid in group}
    assert len(pids) == 4
    assert are_gone(pids)


@pytest.fixture
def guard() -> Iterator[Guard]:
    made = Guard()
    yield made
    made.close()


def _sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen(["sleep", "300"], start_new_session=True)


def test_what_has_ended_is_forgotten_and_the_rest_is_killed(guard: Guard) -> None:
    with _sleeper() as one, _sleeper() as other, _sleeper() as third:
        for sleeper in (one, other, third):
            guard.watch(sleeper.pid)
        guard.forget(other.pid)
        guard.forget(other.pid)
        guard.forget(1)
        guard.close()
        assert are_gone([one.pid, third.pid])
        assert is_alive(other.pid)
        other.kill()


def test_a_guard_that_was_killed_is_replaced_and_told_everything(guard: Guard) -> None:
    with _sleeper() as one, _sleeper() as other:
        guard.watch(one.pid)
        process = guard._process  # pyright: ignore[reportPrivateUsage]  # to be killed
        assert process is not None
        process.kill()
        process.wait()
        guard.watch(other.pid)
        guard.close()
        assert are_gone([one.pid, other.pid])


def test_a_command_waits_until_it_is_watched_and_has_no_input(tmp_path: Path) -> None:
    made = tmp_path / "made"

    class Slow(Guard):
        def watch(self, group: int) -> None:
            time.sleep(0.2)
            assert not made.exists()
            super().watch(group)

    slow, said = Slow(), bytearray()
    try:
        ended = run(
            "touch made; wc -c",
            said.extend,
            cwd=str(tmp_path),
            environ=environ(tmp_path),
            sandbox=Sandbox.off(),
            cancel=Cancel(),
            guard=slow,
        )
    finally:
        slow.close()
    assert (ended.code, said.strip()) == (0, b"0")
    assert made.exists()
