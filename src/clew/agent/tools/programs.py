"""Run a program to its end, with limits: on time, on what it prints, and until somebody asks to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.agent.cancel import Cancel

_PIECE: Final = 1 << 16
_MOST_ERRORS: Final = 1 << 16
_KEPT: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP")


class ProgramError(Exception):
    """The program could not be started."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a program printed until it ended or was ended."""

    output: bytes
    errors: bytes
    code: int
    is_late: bool
    """Whether its time ran out."""

    is_cut: bool
    """Whether it printed more than was wanted, and was stopped for that."""


def run(
    command: Sequence[str],
    *,
    cwd: str,
    seconds: float,
    most: int,
    cancel: Cancel,
    given: bytes = b"",
    environ: Mapping[str, str] | None = None,
) -> Done:
    """Run a program; it and what it started are killed when a limit is reached or somebody asks to stop.

    Raise `CancelledError` in the latter case. The program gets no more of the environment than it needs.
    """
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    try:
        process = subprocess.Popen(  # noqa: S603  # the command is ours; what the model wrote is an argument
            list(command),
            cwd=cwd,
            env={**kept, **(environ or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
    except (OSError, ValueError) as error:
        raise ProgramError(str(error)) from None
    with process:
        output, errors = _Reader(process.stdout, most), _Reader(process.stderr, _MOST_ERRORS)
        output.when_full = errors.when_full = lambda: _kill(process)
        forget = cancel.on_ask(lambda: _kill(process))
        is_late = False
        try:
            output.start()
            errors.start()
            feeder = threading.Thread(target=_feed, args=(process.stdin, given), daemon=True)
            feeder.start()
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                is_late = True
        finally:
            forget()
            _kill(process)
        for thread in (feeder, output, errors):
            thread.join()
        cancel.check()
        return Done(bytes(output.data), bytes(errors.data), process.returncode or 0, is_late, output.is_full)


def _feed(pipe: IO[bytes] | None, data: bytes) -> None:
    if pipe is not None:
        with suppress(OSError, ValueError):
            pipe.write(data)
        with suppress(OSError, ValueError):
            pipe.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program with everything it started."""
    with suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        elif process.poll() is None:
            process.kill()
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)


class _Reader(threading.Thread):
    """Reads a pipe to its end, and keeps so much of it."""

    def __init__(self, pipe: IO[bytes] | None, most: int) -> None:
        super().__init__(daemon=True)
        self._pipe = pipe
        self._most = most
        self.data = bytearray()
        self.is_full = False
        self.when_full = lambda: None

    def run(self) -> None:
        """Read."""
        if self._pipe is None:
            return
        with suppress(OSError, ValueError):
            while piece := os.read(self._pipe.fileno(), _PIECE):
                if self.is_full:
                    continue
                self.data += piece[: self._most - len(self.data)]
                if len(self.data) >= self._most:
                    self.is_full = True
                    self.when_full()
