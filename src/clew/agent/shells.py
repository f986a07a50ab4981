"""The shells of a session: where commands run, before the model's eyes or in the background.

A command in the background has an id, writes its output to a file, and ends with the session at the latest,
also when clew is killed.
"""

from __future__ import annotations

import codecs
import os
import secrets
import string
import threading
from typing import TYPE_CHECKING, Final, Literal, Self

from clew.agent.cancel import Cancel
from clew.agent.sandbox import Sandbox
from clew.agent.shell_guard import Guard
from clew.agent.shell_output import MOST_INLINE, Captured, plain
from clew.agent.shell_run import Ended, NoShellError, environment, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Status = Literal["running", "completed", "failed", "killed"]

_SIGNS: Final = string.ascii_lowercase + string.digits
_MOST_SHELLS: Final = 32
"""Shells that may run at once: a model that forgets them would go on for ever."""

_END: Final = 10.0
"""Seconds to wait for a shell that was killed."""


class Shell:
    """A command in the background."""

    def __init__(self, id_: str, command: str, output: Captured, *, call_id: str, description: str) -> None:
        self.id = id_
        self.command = command
        self.call_id = call_id
        self.description = description
        self.output = output
        self.cancel = Cancel()
        self.ended: Ended | None = None
        self.trouble: str | None = None
        """Why it could not be started or watched."""
        self.thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._at = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @property
    def path(self) -> str | None:
        """The file its output goes to."""
        return self.output.path

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        return self.ended is None and self.trouble is None

    @property
    def status(self) -> Status:
        """What became of it."""
        if self.is_running:
            return "running"
        if self.ended is None:
            return "failed"
        if self.ended.why != "ended":
            return "killed"
        return "completed" if self.ended.code == 0 else "failed"

    @property
    def code(self) -> int | None:
        """Its exit code, once it ended by itself."""
        return self.ended.code if self.ended is not None and self.ended.why == "ended" else None

    def news(self) -> str:
        """Return what it printed since this was last asked for; of very much only the end."""
        with self._lock:
            path = self.path
            if path is None:
                return ""
            skipped, data, self._at = _new_bytes(path, self._at)
            if skipped:
                self._decoder.reset()
            # A character may be half written: its first half waits for the rest.
            text = plain(self._decoder.decode(data, final=not self.is_running))
        cut = len(text) > MOST_INLINE
        text = text[-MOST_INLINE:] if cut else text
        return f"[the beginning was left out; all of it is in {path}]\n{text}" if cut or skipped else text

    def notification(self) -> str:
        """Tell the model that it ended, in the form of 2.1.325."""
        name = (self.description or self.command).replace('"', "'")
        status = self.status
        how = {"completed": "completed", "failed": "failed", "killed": "was stopped", "running": "is running"}
        code = "" if self.code is None else f" (exit code {self.code})"
        return (
            f"<task-notification>\n<task-id>{self.id}</task-id>\n<tool-use-id>{self.call_id}</tool-use-id>\n"
            f"<output-file>{self.path or ''}</output-file>\n<status>{status}</status>\n"
            f'<summary>Background command "{name}" {how[status]}{code}</summary>\n</task-notification>'
        )


class Shells:
    """All commands of a session. Close it when the session ends: nothing of them is left then."""

    def __init__(
        self,
        *,
        environ: Mapping[str, str],
        sandbox: Sandbox | None = None,
        ended: Callable[[Shell], None] | None = None,
    ) -> None:
        self.sandbox = Sandbox.off() if sandbox is None else sandbox
        self._environ = environment(environ)
        self._on_end = ended
        self._guard = Guard()
        self._lock = threading.Lock()
        self._shells: dict[str, Shell] = {}
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self, command: str, output: Captured, *, cwd: str, cancel: Cancel, timeout: float | None
    ) -> Ended:
        """Run a command to its end. Raises `NoShellError`."""
        if self._is_closed:
            raise NoShellError("the session has ended")
        try:
            return run(
                command,
                output.feed,
                cwd=cwd,
                environ=self._environ,
                sandbox=self.sandbox,
                cancel=cancel,
                timeout=timeout,
                guard=self._guard,
            )
        finally:
            output.end()

    def start(self, command: str, *, cwd: str, folder: str, call_id: str, description: str = "") -> Shell:
        """Start a command in the background; its output goes to a file in `folder`. Raises `NoShellError`."""
        with self._lock:
            if self._is_closed:
                raise NoShellError("the session has ended")
            if sum(shell.is_running for shell in self._shells.values()) >= _MOST_SHELLS:
                raise NoShellError(
                    f"{_MOST_SHELLS} commands run in the background already; end one with KillShell"
                )
            id_ = self._new_id()
            output = Captured(folder, f"{id_}.txt", always_in_file=True)
            shell = Shell(id_, command, output, call_id=call_id, description=description)
            started = threading.Event()
            # The process must be started by the thread that watches it: to a sandbox that ends with its
            # parent, the parent is the thread.
            shell.thread = threading.Thread(
                target=self._watch, args=(shell, cwd, started), name=f"clew-shell-{id_}", daemon=True
            )
            self._shells[id_] = shell
            shell.thread.start()
        started.wait()
        if shell.trouble is not None:
            shell.thread.join()
            with self._lock:
                del self._shells[id_]
            if output.path is not None:
                os.unlink(output.path)  # noqa: PTH108  # it is empty
            raise NoShellError(shell.trouble)
        return shell

    def get(self, id_: str) -> Shell | None:
        """Find a command that was started in the background."""
        with self._lock:
            return self._shells.get(id_)

    def all(self) -> list[Shell]:
        """Return every command that was started in the background, in order."""
        with self._lock:
            return list(self._shells.values())

    def kill(self, shell: Shell) -> None:
        """End a command with all it started, and wait until it has ended."""
        shell.cancel.ask()
        if shell.thread is not None:
            shell.thread.join(_END)

    def close(self) -> None:
        """End everything, and throw away the temporary files of the sandbox."""
        with self._lock:
            self._is_closed = True
            shells = list(self._shells.values())
        for shell in shells:
            shell.cancel.ask()
        for shell in shells:
            self.kill(shell)
        self._guard.close()
        self.sandbox.close()

    def _watch(self, shell: Shell, cwd: str, started: threading.Event) -> None:
        trouble: str | None = None
        ended: Ended | None = None
        try:
            ended = run(
                shell.command,
                shell.output.feed,
                cwd=cwd,
                environ=self._environ,
                sandbox=self.sandbox,
                cancel=shell.cancel,
                started=started.set,
                guard=self._guard,
            )
        except NoShellError as error:
            trouble = str(error)
        except Exception as error:  # a thread has nobody above it to tell
            trouble = f"the command could not be watched: {error}"
        shell.output.end()
        shell.ended, shell.trouble = ended, trouble
        was_running = started.is_set()
        started.set()
        if self._on_end is not None and was_running and not self._is_closed:
            self._on_end(shell)

    def _new_id(self) -> str:
        while True:
            id_ = "b" + "".join(secrets.choice(_SIGNS) for _ in range(8))
            if id_ not in self._shells:
                return id_


def _new_bytes(path: str, at: int) -> tuple[bool, bytes, int]:
    """Read on in a file; say whether something was skipped, what was read, and where it ended."""
    most = MOST_INLINE * 4
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            end = file.seek(0, os.SEEK_END)
            start = max(at, end - most)
            file.seek(start)
            data = file.read(end - start)
    except OSError:
        return False, b"", at
    return start > at, data, start + len(data)
