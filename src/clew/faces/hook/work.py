"""`clew hook work`: the worker's process. A hook starts it; nobody is meant to type it."""

from __future__ import annotations

import os
import sys

from clew.actions import hook_spool as spools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

HARD_LIMIT = 29
"""Seconds after which the system ends it, whatever it hangs in."""


def run(arguments: Sequence[str]) -> NoReturn:
    """Be the worker, and end the process."""
    code = 1
    spool = spools.spool_of(os.environ)
    try:
        _settle_in()
        lock = _held(spool, arguments[0] if arguments else "")
        if lock is not None:
            _work(spool, lock)
        code = 0
    except BaseException as error:  # there is nobody to tell but the log
        spools.log(spool, f"worker: {type(error).__name__}: {error}")
    finally:
        os._exit(code)


def _settle_in() -> None:
    os.umask(0o077)
    if sys.platform != "win32":
        import signal

        # Not a handler of ours: that would not be heard inside of a call that hangs.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(HARD_LIMIT)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        os.nice(5)


def _held(spool: spools.Spool, argument: str) -> int | None:
    """Return the lock that the hook handed on, or take it; None if there is a worker already."""
    if argument.isdecimal():
        lock = int(argument)
        try:
            told, there = os.fstat(lock), os.stat(spool.lock)  # noqa: PTH116
            if (told.st_dev, told.st_ino) == (there.st_dev, there.st_ino):
                os.set_inheritable(lock, False)
                return lock
        except OSError:
            pass
    return spools.try_lock(spool)


def _work(spool: spools.Spool, lock: int) -> None:
    from clew.actions.hook_work import Worker
    from clew.faces.hook.run import start_worker

    Worker(spool, os.environ, lock=lock, again=lambda lock: start_worker(lock, os.environ)).run()
