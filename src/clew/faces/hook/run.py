"""`clew hook run [EVENT]`: note that a session has something new, see that a worker comes, and be gone.

The client waits for this, and what it prints or answers would steer the conversation. So it prints nothing,
exits with 0 whatever happens, and has a limit of its own for everything. Standard library only.
"""

from __future__ import annotations

import os
import sys
import time

from clew.actions import hook_spool as spools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

STDIN_LIMIT = 0.5
"""Seconds for which the client may take to say what it has to say."""

STDIN_MOST = 1 << 20
LONGEST = 4.0
"""Seconds after which it ends, wherever it is. It takes a tenth of one, unless a disk hangs."""

_STARTING = 0.25
"""Seconds to wait until the worker is one of its own, out of reach of a client that ends its children."""

_PIECE = 1 << 16
_TEXTS = {
    "session_id": 200,
    "transcript_path": 4096,
    "agent_transcript_path": 4096,
    "source": 40,
    "reason": 80,
}
"""What is kept of what the client says, and how much of it."""


def run(arguments: Sequence[str]) -> NoReturn:
    """Do all that, and end the process."""
    try:
        _be_silent()
        _limit(LONGEST)
        hand_over(os.environ, arguments[0] if arguments else None)
    except BaseException:  # noqa: S110  # whatever it is, the client must not hear of it
        pass
    finally:
        os._exit(0)


def _be_silent() -> None:
    """Let nothing that is written from here on reach the client."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    if nowhere > 2:
        os.close(nowhere)


def _limit(seconds: float) -> None:
    if sys.platform != "win32":
        import signal

        signal.signal(signal.SIGALRM, lambda _number, _frame: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, seconds)


def hand_over(environ: Mapping[str, str], event: str | None) -> None:
    """Read what the client says, leave an intent and see that a worker comes."""
    spool = spools.spool_of(environ)
    try:
        line = _intent(read_limited(0, limit=STDIN_LIMIT, most=STDIN_MOST), event)
        if isinstance(line, str):
            spools.log(spool, f"hook {event or ''}: {line}")
            return
        spools.append(spool, line)
        lock = spools.try_lock(spool)
        if lock is not None:
            start_worker(lock, environ)
    except Exception as error:  # told where it can be told
        spools.log(spool, f"hook {event or ''}: {type(error).__name__}: {error}")


def read_limited(descriptor: int, *, limit: float, most: int) -> bytes:
    """Return what can be read within the limits. What is too much is read too, and dropped."""
    import select

    data = bytearray()
    end = time.monotonic() + limit
    while (left := end - time.monotonic()) > 0:
        if sys.platform != "win32" and not select.select([descriptor], [], [], left)[0]:
            break
        piece = os.read(descriptor, _PIECE)
        if not piece:
            break
        data += piece[: most - len(data)]
    return bytes(data)


def _intent(data: bytes, event: str | None) -> bytes | str:
    """Make an intent of what the client said, or say what is wrong with it."""
    import json

    if not data.strip():
        return "the client said nothing"
    try:
        said: object = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return f"what the client said is no JSON ({len(data)} bytes)"
    if not isinstance(said, dict):
        return "what the client said is no object"
    kept: dict[str, object] = {}
    for name, most in _TEXTS.items():
        value: object = said.get(name)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # as decoded
        if isinstance(value, str) and value and len(value) <= most:
            kept[name] = value
    if "transcript_path" not in kept:
        return "the client named no transcript"
    named: object = said.get("hook_event_name")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # as decoded
    kept["event"] = (named if isinstance(named, str) and named else event or "")[:40]
    answer: object = said.get("last_assistant_message")  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]  # as decoded
    if isinstance(answer, str) and answer.strip():
        kept["last"] = spools.digest(answer)
    kept["ms"] = int(time.time() * 1000)
    line = json.dumps(kept, separators=(",", ":")).encode()
    return line if len(line) <= spools.LONGEST_LINE else "what the client said is too long"


def start_worker(lock: int, environ: Mapping[str, str]) -> None:
    """Start a worker that holds the lock, in a session of its own, and wait until it is that."""
    try:
        command = [sys.executable, "-P", "-m", "clew", "hook", "work"]
        if sys.platform == "win32":
            _start_on_windows(command)
            return
        begun, ended = os.pipe()  # closed by the start of the program
        try:
            if os.fork() == 0:
                _become(command, lock, ended, environ)
        finally:
            os.close(ended)
        import select

        select.select([begun], [], [], _STARTING)
        os.close(begun)
    finally:
        os.close(lock)  # the worker has it now, or nobody


def _become(command: Sequence[str], lock: int, ended: int, environ: Mapping[str, str]) -> NoReturn:
    """Turn into the worker. It holds nothing of the client's: not its terminal, its pipes or its folder."""
    try:
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(nowhere, descriptor)
        for descriptor in _open_descriptors():
            if descriptor > 2 and descriptor not in (lock, ended):
                try:
                    os.close(descriptor)
                except OSError:
                    continue
        os.set_inheritable(lock, True)
        os.chdir("/")
        os.execve(command[0], [*command, str(lock)], dict(environ))  # noqa: S606
    finally:
        os._exit(127)


def _open_descriptors() -> list[int]:
    for folder in ("/proc/self/fd", "/dev/fd"):
        try:
            return [int(name) for name in os.listdir(folder)]  # noqa: PTH208
        except (OSError, ValueError):
            continue
    return list(range(3, 1024))


def _start_on_windows(command: Sequence[str]) -> None:
    """Start one there; it takes the lock itself, as that is not inherited."""
    import subprocess

    flags = getattr(subprocess, "DETACHED_PROCESS", 0) | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        creationflags=flags,
    )
