"""The terminal is given back as it was, whatever happens."""

from __future__ import annotations

import os
import pty
import signal
import sys
import termios
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from clew.errors import UsageError
from clew.faces.cli.chat.device import Device, check_terminal

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def seated(monkeypatch: pytest.MonkeyPatch) -> Generator[tuple[int, int]]:
    """Sit at a pseudo-terminal: its other end, and our own."""
    master, slave = pty.openpty()
    with open(slave, encoding="utf-8", closefd=False) as stdin, open(slave, "w", closefd=False) as stdout:
        monkeypatch.setattr(sys, "stdin", stdin)
        monkeypatch.setattr(sys, "stdout", stdout)
        try:
            yield master, slave
        finally:
            monkeypatch.undo()
    os.close(slave)
    with suppress(OSError):  # a test may have hung up
        os.close(master)


def written(master: int) -> bytes:
    """All that was written until the terminal was given back."""
    data = b""
    while not data.endswith(b"\x1b[?25h"):
        data += os.read(master, 100)
    return data


def failing(device: Device, slave: int) -> None:
    assert not termios.tcgetattr(slave)[3] & (termios.ICANON | termios.ECHO | termios.ISIG)
    device.write("x")
    raise ZeroDivisionError


def test_the_terminal_is_as_it_was_though_something_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = (signal.SIGWINCH, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP, signal.SIGCONT, signal.SIGINT)
    with seated(monkeypatch) as (master, slave):
        before, handlers = termios.tcgetattr(slave), [signal.getsignal(number) for number in numbers]
        with pytest.raises(ZeroDivisionError), Device(encoding="utf-8") as device:
            failing(device, slave)
        assert termios.tcgetattr(slave) == before
        assert [signal.getsignal(number) for number in numbers] == handlers
        assert written(master) == b"\x1b[?2004hx\x1b[?2004l\x1b[?7h\x1b[?25h"


def test_signals_wake_and_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with seated(monkeypatch), Device(encoding="utf-8") as device:
        assert device.heard() == []
        os.kill(os.getpid(), signal.SIGWINCH)
        device.wake()
        assert device.heard() == [signal.SIGWINCH]
        assert device.heard() == []


def test_a_terminal_that_is_gone_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with seated(monkeypatch) as (master, _), Device(encoding="utf-8") as device:
        os.close(master)
        device.write("x" * 100)
        assert device.is_gone
        assert device.read() == b""


def test_letters_the_terminal_has_not_are_spelled_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with seated(monkeypatch) as (master, _):
        with Device(encoding="ascii") as device:
            device.write("é")
        assert b"\\xe9" in written(master)


@pytest.mark.parametrize("term", ["dumb", "", "unknown"])
def test_a_terminal_that_cannot_be_drawn_on_is_refused(monkeypatch: pytest.MonkeyPatch, term: str) -> None:
    with seated(monkeypatch):
        check_terminal({"TERM": "xterm"})
        with pytest.raises(UsageError) as raised:
            check_terminal({"TERM": term})
    assert "clew run" in (raised.value.hint or "")


def test_without_a_terminal_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UsageError, match="standard input is none"):
        check_terminal({"TERM": "xterm"})
