"""Start one program, wait for it, and print its cost as JSON. Run by `measure`, by itself and not imported.

A child's peak memory as the kernel reports it is never below that of the process it was started from (Linux
carries it over `exec`), so the process that starts it has to be a small one: no imports beyond the bare need.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time


def _terminal() -> int:
    """Open a terminal of 120 columns that somebody reads, and return the end to write to."""
    import fcntl
    import struct
    import termios
    import threading

    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def read() -> None:
        try:
            while os.read(ours, 1 << 16):
                pass
        except OSError:  # the other end is closed
            return

    threading.Thread(target=read, daemon=True).start()
    return theirs


def main() -> None:
    """Read `{"argv", "env", "stdout", "stderr", "timeout", "terminal"}` from standard input."""
    spec = json.loads(sys.stdin.read())
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    files: list[tuple[object, ...]] = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, spec["stdout"], write, 0o600),
        (os.POSIX_SPAWN_OPEN, 2, spec["stderr"], write, 0o600),
    ]
    if spec["terminal"]:
        files[1] = (os.POSIX_SPAWN_DUP2, _terminal(), 1)
    started = time.perf_counter()
    pid = os.posix_spawnp(spec["argv"][0], spec["argv"], spec["env"], file_actions=files)
    late: list[bool] = []

    def end(_signal: int, _frame: object) -> None:
        late.append(True)
        os.kill(pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, end)
    signal.alarm(spec["timeout"])
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - started
    signal.alarm(0)
    # ru_maxrss is in kilobytes on Linux and in bytes on macOS.
    rss = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    result = {"code": os.waitstatus_to_exitcode(status), "late": bool(late), "wall": wall, "rss": rss}
    print(json.dumps(result | {"cpu": usage.ru_utime + usage.ru_stime}))


if __name__ == "__main__":
    main()
