"""Run one command line in a shell of its own, and see to it that nothing of it is left.

The command and all it starts are one process group. When the shell ends, when the time is up or when somebody
asks to stop, what is left of the group is killed. A program that leaves the group on purpose (`setsid`) is
caught only by the sandbox, whose processes all end with it. When clew itself is killed, the sandbox ends too;
without one a guard (`shell_guard`) kills the group.

Standard output and standard error are one stream, so that lines stay in the order in which they were written;
2.1.325 keeps them so too.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import shlex
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.agent.cancel import Cancel
    from clew.agent.sandbox import Sandbox
    from clew.agent.shell_guard import Guard

_GRACE: Final = 1.0
"""Seconds between asking a group to end and ending it."""

_GONE: Final = 0.2
"""Seconds to wait for what was killed; where nobody waits for the dead, they seem to stay."""

_LINGER: Final = 0.1
"""Seconds for the last output, when the shell has ended and something still holds its pipe."""

_LOOK: Final = 0.05
_PIECE: Final = 1 << 16
_LONGEST_PATH: Final = 1 << 14

_SECRETS: Final = frozenset(
    {
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "ANTHROPIC_CUSTOM_HEADERS",
        "CLAUDE_CODE_OAUTH_TOKEN",
        "LANGFUSE_PUBLIC_KEY",
        "LANGFUSE_SECRET_KEY",
        "OTEL_EXPORTER_OTLP_HEADERS",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
        "PHOENIX_API_KEY",
        "PHOENIX_CLIENT_HEADERS",
    }
)
"""What clew itself is trusted with; a person's other secrets may be what their commands need."""


class NoShellError(Exception):
    """The command could not be started: the words say why."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    """Its exit code; 128 and the number of the signal when one ended it."""

    why: Literal["ended", "late", "cancelled"]
    cwd: str | None
    """The folder the shell was in at its end; None when it ended before it could say."""

    left_running: bool
    """Whether it left processes behind, which were killed."""


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a command: the person's, without what is clew's own secret."""
    found = {name: value for name, value in environ.items() if name not in _SECRETS and not _is_own(name)}
    # Set by the client too: programs can tell that no person sits before them, and no editor opens.
    return {**found, "CLAUDECODE": "1", "GIT_EDITOR": "true"}


def _is_own(name: str) -> bool:
    return name.startswith("CLEW_") and name.endswith(("KEY", "TOKEN", "SECRET", "HEADERS"))


def run(
    command: str,
    feed: Callable[[bytes], None],
    *,
    cwd: str,
    environ: Mapping[str, str],
    sandbox: Sandbox,
    cancel: Cancel,
    timeout: float | None = None,
    started: Callable[[], None] | None = None,
    guard: Guard | None = None,
) -> Ended:
    """Run a command to its end, feeding what it prints as it comes; `timeout` is in seconds.

    `started` is called once it runs; `guard` sees to it that without a sandbox, too, the command does not
    outlive this process. Raises `NoShellError` when it cannot be started.
    """
    with contextlib.ExitStack() as stack:
        said, saying = _pipe(stack)
        told, telling = _pipe(stack)
        waked, waking = _pipe(stack)
        waits, going = _pipe(stack)
        os.set_blocking(waits.number, True)
        gate = waits.number if guard is not None and not sandbox.state.is_on else None
        process = _start(
            command, telling.number, saying.number, gate, cwd=cwd, environ=environ, sandbox=sandbox
        )
        group = _Group(process)
        if guard is not None and gate is not None:
            stack.callback(guard.forget, process.pid)
        # Whatever happens from here on, also a fault in what is called, the group does not outlive it.
        stack.callback(group.end)
        saying.close()
        telling.close()
        waits.close()
        if guard is not None and gate is not None:
            # It waits until it is watched over: it cannot slip away in between.
            guard.watch(process.pid)
            with contextlib.suppress(BrokenPipeError):
                os.write(going.number, b"\n")
        going.close()
        stack.callback(cancel.on_ask(waking.wake))
        if started is not None:
            started()
        why = _watch(group, said.number, waked.number, feed, cancel=cancel, timeout=timeout)
        # A sandbox ends a moment after its command, so that something is left of it proves nothing.
        left_running = group.end() and not sandbox.state.is_on
        _drain(said.number, feed)
        has_jobs, folder = _last_words(told.number)
        return Ended(group.code, why, folder, why == "ended" and (has_jobs or left_running))


class _Group:
    """A process and all that it starts."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._is_ended = False

    @property
    def code(self) -> int:
        code = self.process.wait()
        return code if code >= 0 else 128 - code

    def signal(self, number: signal.Signals) -> bool:
        try:
            os.killpg(self.process.pid, number)
        except (ProcessLookupError, PermissionError):
            # macOS says that it is not permitted when nothing but dead processes are left.
            return False
        return True

    def end(self) -> bool:
        """Kill what is left; return whether the first process had ended and others had not."""
        if self._is_ended:  # by now the number may be somebody else's
            return False
        self._is_ended = True
        is_over = self.process.poll() is not None
        found = self.signal(signal.SIGKILL)
        self.process.wait()
        # A killed process may take a moment to be gone, in which it could still be in the way of the next.
        until = time.monotonic() + _GONE
        while found and time.monotonic() < until and self.signal(signal.SIGKILL):
            time.sleep(0.005)
        return is_over and found


class _End:
    """One end of a pipe, closed once."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._lock = threading.Lock()
        self._is_open = True

    def close(self) -> None:
        with self._lock:
            if self._is_open:
                self._is_open = False
                os.close(self.number)

    def wake(self) -> None:
        # Under the lock: once closed, the number may be that of another file, perhaps of a transcript.
        with self._lock:
            if self._is_open:
                os.write(self.number, b"!")


def _pipe(stack: contextlib.ExitStack) -> tuple[_End, _End]:
    reading, writing = (_End(number) for number in os.pipe())
    stack.callback(reading.close)
    stack.callback(writing.close)
    os.set_blocking(reading.number, False)  # its own signature
    return reading, writing


def _start(
    command: str,
    telling: int,
    saying: int,
    gate: int | None,
    *,
    cwd: str,
    environ: Mapping[str, str],
    sandbox: Sandbox,
) -> subprocess.Popen[bytes]:
    if os.name != "posix":
        raise NoShellError("commands can be run on POSIX systems only")
    program = shutil.which("bash", path=environ.get("PATH")) or shutil.which("sh", path=environ.get("PATH"))
    if program is None:
        raise NoShellError("there is neither bash nor sh")
    if program.endswith("bash"):
        # The braces keep the command in this shell, so that in the end it can tell its jobs and its folder;
        # what the command starts does not see the pipe they are told by.
        line = (
            f"{{ eval {shlex.quote(command)}\n}} {telling}>&-; code=$?; "
            f"{{ jobs -pr; printf '\\0'; pwd -P; }} >&{telling} 2>/dev/null; exit $code"
        )
    else:
        line = command
    if gate is not None:
        line = f"read -r _ || exit 1; exec </dev/null\n{line}"
    argv: Sequence[str] = [program, "-c", line]
    try:
        return subprocess.Popen(  # noqa: S603  # to run what the model asks for is what this is for
            sandbox.wrap(argv, cwd=cwd),
            cwd=cwd,
            env=dict(environ) | {"SHELL": program},
            stdin=subprocess.DEVNULL if gate is None else gate,
            stdout=saying,
            stderr=saying,
            pass_fds=(telling,),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # too long, a NUL in it, a folder that is gone
        words = error.strerror if isinstance(error, OSError) else str(error)
        raise NoShellError(f"the command could not be started: {words or error}") from None


def _watch(
    group: _Group,
    said: int,
    waked: int,
    feed: Callable[[bytes], None],
    *,
    cancel: Cancel,
    timeout: float | None,
) -> Literal["ended", "late", "cancelled"]:
    """Hand on what is printed until the shell ends, the time is up or somebody asks."""
    deadline = None if timeout is None else time.monotonic() + timeout
    with contextlib.ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        selector.register(said, selectors.EVENT_READ)
        selector.register(waked, selectors.EVENT_READ)
        is_told = _tell_of_end(group, selector, stack)
        while True:
            if cancel.is_asked:
                return "cancelled"
            if group.process.poll() is not None:
                return "ended"
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                _ask_to_end(group, said, feed)
                return "late"
            look = left if is_told else _LOOK if left is None else min(_LOOK, left)
            for key, _ in selector.select(look):
                # The end of the output is not the end of the command, nor the other way round.
                if key.fd == said and not _take(said, feed):
                    selector.unregister(said)


def _tell_of_end(group: _Group, selector: selectors.BaseSelector, stack: contextlib.ExitStack) -> bool:
    """Let the selector hear of the end of the shell, where the system can tell."""
    try:
        number = os.pidfd_open(group.process.pid)
    except (AttributeError, OSError):  # only Linux has it; without it one has to look now and then
        return False
    stack.callback(os.close, number)
    selector.register(number, selectors.EVENT_READ)
    return True


def _take(said: int, feed: Callable[[bytes], None]) -> bool:
    """Hand on what is there; return whether more can come."""
    try:
        data = os.read(said, _PIECE)
    except BlockingIOError:
        return True
    if data:
        feed(data)
    return bool(data)


def _drain(said: int, feed: Callable[[bytes], None]) -> None:
    """Hand on what was printed last. What left the group may hold the pipe for ever, so not to its end."""
    until = time.monotonic() + _LINGER
    while time.monotonic() < until:
        try:
            data = os.read(said, _PIECE)
        except BlockingIOError:
            return
        if not data:
            return
        feed(data)


def _ask_to_end(group: _Group, said: int, feed: Callable[[bytes], None]) -> None:
    """Let the group clean up after itself, for a moment."""
    group.signal(signal.SIGTERM)
    until = time.monotonic() + _GRACE
    while group.process.poll() is None and time.monotonic() < until:
        _take(said, feed)
        time.sleep(0.01)


def _last_words(told: int) -> tuple[bool, str | None]:
    """Read whether the shell left jobs, and in which folder it ended."""
    try:
        data = os.read(told, _LONGEST_PATH)
    except BlockingIOError:
        return False, None
    jobs, _, folder = data.partition(b"\0")
    path = os.fsdecode(folder.removesuffix(b"\n"))
    return bool(jobs.strip()), path if path.startswith("/") else None
