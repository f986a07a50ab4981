"""Streams that fail, as people and pipes have them."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from clew.errors import ClewError
from clew.faces.cli.terminal import (
    ReaderGone,
    Screen,
    span,
)
from tests.faces.terminal_lab import Terminal


class Failing(Terminal):
    """A stream whose other end is in trouble."""

    def __init__(self, error: OSError) -> None:
        super().__init__(tty=False)
        self.error = error

    def write(self, text: str, /) -> int:
        del text
        raise self.error

    def flush(self) -> None:
        raise self.error


def test_a_reader_that_went_away_ends_the_program_quietly() -> None:
    screen = Screen(Failing(BrokenPipeError(errno.EPIPE, "Broken pipe")), Terminal(), env={})
    with pytest.raises(ReaderGone) as gone:
        screen.print("text")
    assert gone.value.code == 0


def test_a_full_disk_is_an_error_that_says_so() -> None:
    screen = Screen(Failing(OSError(errno.ENOSPC, "No space left on device")), Terminal(), env={})
    with pytest.raises(ClewError, match="No space left on device"):
        screen.flush()


PROGRAM = """
from clew.errors import ClewError
from clew.faces.cli.terminal import Screen
try:
    screen = Screen()
    for n in range(200_000):
        screen.print(f"line {n}")
    screen.flush()
except ClewError as error:
    raise SystemExit(str(error))
"""


def _run(stdout: int) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM], env=environment, stdout=stdout, stderr=subprocess.PIPE
    )


def test_a_closed_pipe_leaves_no_traceback() -> None:
    process = _run(subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"line 0\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=30) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_device_is_reported_once() -> None:
    with Path("/dev/full").open("wb") as full:
        process = _run(full.fileno())
        _, said = process.communicate(timeout=30)
    assert said == b"the output cannot be written: No space left on device\n"
    assert process.returncode == 1


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a pseudo-terminal")
def test_on_a_real_terminal_there_is_colour_and_a_width() -> None:
    main, side = os.openpty()
    with os.fdopen(side, "w", encoding="utf-8") as stream:
        screen = Screen(stream, stream, env={"TERM": "xterm"})
        screen.print(span("●", "green"), f" {screen.width}")
        screen.flush()
        written = os.read(main, 1000).decode()
    os.close(main)
    assert written.startswith("\x1b[32m●\x1b[0m ")
    assert written.split()[-1].isdigit()
