"""End the commands of a session when clew itself was killed, and can no longer do so.

A small shell of its own waits at the other end of a pipe and is told which groups of processes run. The pipe
ends with clew, however that ends: the groups that are still there are killed then. A sandbox needs none, as
its processes end with their parent. A program that leaves its group on purpose (`setsid`) is not caught.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from typing import Final

_SHELL: Final = "/bin/sh"
_SCRIPT: Final = """\
groups=' '
while read -r sign group; do
    case $sign in
        +) groups="$groups$group " ;;
        -) groups="${groups%%" $group "*} ${groups#*" $group "}" ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group"; done
"""


class Guard:
    """Watches over groups of processes. Close it: it is a process itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()

    def watch(self, group: int) -> None:
        """Kill a group when clew is gone."""
        with self._lock:
            self._groups.add(group)
            if self._process is not None and self._process.poll() is None:
                self._tell("+", group)
                return
            # The first, or the one before was killed: a new one is told everything.
            self._end()
            self._start()
            for one in sorted(self._groups):
                self._tell("+", one)

    def forget(self, group: int) -> None:
        """Do so no longer: it has ended, and by and by its number is somebody else's."""
        with self._lock:
            if group in self._groups:
                self._groups.remove(group)
                self._tell("-", group)

    def close(self) -> None:
        """End the process that watches; what it still watches over ends with it."""
        with self._lock:
            self._end()

    def _start(self) -> None:
        # Where no further process can be started, the command that is there already runs unwatched.
        with contextlib.suppress(OSError):
            self._process = subprocess.Popen(  # noqa: S603
                [_SHELL, "-c", _SCRIPT],
                cwd="/",
                env={},
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # what a person types in the terminal is not meant for it
            )

    def _tell(self, sign: str, group: int) -> None:
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                os.write(self._process.stdin.fileno(), f"{sign} {group}\n".encode("ascii"))

    def _end(self) -> None:
        if self._process is not None:
            assert self._process.stdin is not None  # it was asked for
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            self._process.wait()
            self._process = None
