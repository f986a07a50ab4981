"""A process that has all of clew loaded, and gives birth to commands.

    python -m tests.acceptance.faults.nursery

To start Python and load clew takes ten times as long as most commands; here it is done once. Each command is
a process of its own from then on: it waits until somebody watches it, runs as `clew` does, and ends, or is
ended, as the system has it. Only the wait for others who may be writing goes by a clock that does not take
time, so that the same calls are made in every run.

Each line of the input is an order in JSON, and each is answered.
"""

from __future__ import annotations

import ctypes
import importlib
import itertools
import json
import os
import pkgutil
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

_LET_ANYBODY_TRACE = 0x59616D61
_CLOCK_STEP = 0.3
_LONGEST = 60.0
"""Seconds after which a command is taken to hang, and ended."""

ROOT = Path(__file__).resolve().parent.parent.parent.parent


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def said(self) -> str:
        """Everything it printed."""
        return self.stdout + self.stderr


class Nursery:
    """The other side: asks for commands."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.acceptance.faults.nursery"],
            # The same order of sets in every run.
            env={**os.environ, "PYTHONHASHSEED": "0"},
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        with self._process as process:
            if process.stdin is not None:
                process.stdin.close()

    def run(
        self,
        words: Sequence[str],
        environ: Mapping[str, str],
        *,
        watch: Callable[[int], None] | None = None,
        bug: str | None = None,
        largest: int | None = None,
        stdout: str | None = None,
    ) -> Ended:
        """Run clew. `watch` is told the process id before anything is done.

        `bug` breaks the program in a way of `seeded`, `largest` is the size no file may exceed.
        """
        order = {
            "words": [*words],
            "environ": dict(environ),
            "bug": bug,
            "largest": largest,
            "stdout": stdout,
        }
        pid = self._ask(order)
        if watch is not None:
            watch(pid)
        too_long = threading.Timer(_LONGEST, os.kill, (pid, signal.SIGKILL))
        too_long.start()
        try:
            return Ended(*self._ask(None))
        finally:
            too_long.cancel()

    def _ask(self, order: object) -> Any:
        given, told = self._process.stdin, self._process.stdout
        assert given is not None
        assert told is not None
        given.write(json.dumps(order) + "\n")
        given.flush()
        answer = told.readline()
        assert answer, "the nursery is gone"
        return json.loads(answer)


def main() -> None:
    _load()
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    while line := sys.stdin.readline():
        order: Any = json.loads(line)
        # Pipes and not files: a disk that is full, or a limit, must not keep it from saying so.
        (waits, go), (out, to_out), (errors, to_errors) = os.pipe(), os.pipe(), os.pipe()
        pid = os.fork()
        if not pid:
            os.close(go)
            _be(order, waits, to_out, to_errors)
        for descriptor in (waits, to_out, to_errors):
            os.close(descriptor)
        print(json.dumps(pid), file=told, flush=True)
        sys.stdin.readline()
        os.write(go, b"!")
        os.close(go)
        said = _read(out), _read(errors)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print(json.dumps([code, *said]), file=told, flush=True)


def _load() -> None:
    from clew.store import carrying, live

    # To look for whoever has a file open takes more calls or fewer, as other programs come and go.
    live._writer = _nobody  # pyright: ignore[reportPrivateUsage]  # it has no other name
    ticks = itertools.count()
    # Before the others are loaded, which take it for a default.
    carrying.PATIENCE = carrying.Patience(  # pyright: ignore[reportConstantRedefinition]  # just that is meant
        sleep=_no_time, clock=lambda: next(ticks) * _CLOCK_STEP
    )
    import clew

    for module in pkgutil.walk_packages(clew.__path__, "clew."):
        if module.name != "clew.__main__":
            importlib.import_module(module.name)


def _no_time(_seconds: float) -> None:
    return


def _nobody(*_place: object, **_proc: object) -> None:
    return


def _be(order: Any, waits: int, out: int, errors: int) -> None:
    """Be the command, in the child process."""
    try:
        ctypes.CDLL(None).prctl(_LET_ANYBODY_TRACE, ctypes.c_long(-1), 0, 0, 0)
        os.environ.clear()
        os.environ.update(order["environ"])
        os.chdir("/")
        null = os.open("/dev/null", os.O_RDONLY)
        stdout = out if order["stdout"] is None else os.open(order["stdout"], os.O_WRONLY)
        for descriptor, place in ((null, 0), (stdout, 1), (errors, 2)):
            os.dup2(descriptor, place)
        os.read(waits, 1)
        for descriptor in range(3, 64):  # as if it had just been started
            try:
                os.close(descriptor)
            except OSError:
                continue
        if order["bug"] is not None:
            from tests.acceptance.faults import seeded

            seeded.plant(order["bug"])
        if order["largest"] is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (order["largest"], order["largest"]))
        sys.argv = ["clew", *order["words"]]
        from clew.__main__ import start

        start()
    except BaseException:
        import traceback

        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(70)


def _read(pipe: int) -> str:
    with os.fdopen(pipe, "rb") as file:
        return file.read().decode("utf-8", "replace")


if __name__ == "__main__":
    main()
