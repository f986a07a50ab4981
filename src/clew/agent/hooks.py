"""Run the person's hooks when something happens, all of an event at once, each within its time.

A hook is a command of the person's own, or one they trust. It is told what happens as JSON on its standard
input. One that hangs is ended, with all it started; whatever goes wrong with hooks, the session goes on.
What their output means is for `hook_answers`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.agent.hook_answers import Answer, Output, read, together

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

    from clew.agent.cancel import Cancel
    from clew.agent.setting_files import Hook

MOST_OUTPUT: Final = 1 << 20
_NAMES: Final = re.compile(r"[A-Za-z0-9_|\- ]+")
_STEP: Final = 0.05
_GRACE: Final = 0.3
"""Seconds for which output is still waited for when the hook is over: what it started may hold it open."""

_MATCHED_BY: Final = {
    "PreToolUse": "tool_name",
    "PostToolUse": "tool_name",
    "SessionStart": "source",
    "SessionEnd": "reason",
    "SubagentStop": "agent_type",
}


@dataclass(frozen=True, slots=True)
class Situation:
    """What every hook is told."""

    session_id: str
    transcript_path: str
    cwd: str
    permission_mode: str | None = None

    def described(self, event: str, more: Mapping[str, object]) -> dict[str, object]:
        """Return what a hook for an event is told; `more` is what belongs to the event alone."""
        told: dict[str, object] = {
            "session_id": self.session_id,
            "transcript_path": self.transcript_path,
            "cwd": self.cwd,
            "hook_event_name": event,
        }
        if self.permission_mode is not None and event not in {"SessionStart", "SessionEnd"}:
            told["permission_mode"] = self.permission_mode
        return told | dict(more)


def run(
    hooks: Sequence[Hook],
    event: str,
    situation: Situation,
    more: Mapping[str, object],
    *,
    project: str,
    environ: Mapping[str, str],
    cancel: Cancel,
) -> Answer:
    """Run the hooks of an event, wait for them, and return what they say together."""
    told = situation.described(event, more)
    chosen, notes = matching(hooks, event, told)
    if not chosen:
        return together([Answer(notes=notes)])
    from concurrent.futures import ThreadPoolExecutor

    given = json.dumps(told, default=repr).encode() + b"\n"
    variables = {**environ, "CLAUDE_PROJECT_DIR": project}

    def do(hook: Hook) -> Output:
        return run_one(hook, given, situation.cwd, variables, cancel)

    with ThreadPoolExecutor(len(chosen), thread_name_prefix="hook") as pool:
        outputs = [*pool.map(do, chosen)]
    return together([Answer(notes=notes), *(read(event, output) for output in outputs)])


def matching(
    hooks: Sequence[Hook], event: str, told: Mapping[str, object]
) -> tuple[list[Hook], tuple[str, ...]]:
    """Return the hooks for what happens, the same command only once, and what is wrong with matchers."""
    subject = str(told.get(_MATCHED_BY.get(event, ""), ""))
    chosen: dict[str, Hook] = {}
    notes: list[str] = []
    for hook in hooks:
        if hook.event != event or hook.command in chosen:
            continue
        try:
            is_meant = event not in _MATCHED_BY or _matches(hook.matcher, subject)
        except (re.error, RecursionError):
            notes.append(f"a hook for {event} has a matcher that is no pattern: {hook.matcher[:80]!r}")
            continue
        if is_meant:
            chosen[hook.command] = hook
    return [*chosen.values()], tuple(notes)


def _matches(matcher: str, subject: str) -> bool:
    if matcher in {"", "*"}:
        return True
    if _NAMES.fullmatch(matcher):
        return subject in [name.strip() for name in matcher.split("|")]
    return re.search(matcher, subject) is not None


def run_one(hook: Hook, given: bytes, cwd: str, environ: Mapping[str, str], cancel: Cancel) -> Output:
    """Run one hook to its end, to the end of its time, or until somebody asks to stop."""
    import subprocess

    try:
        process = subprocess.Popen(  # noqa: S603  # the person's own command
            ["/bin/sh", "-c", hook.command],
            cwd=cwd if os.path.isdir(cwd) else None,  # noqa: PTH112
            env=dict(environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Output(hook.command, None, problem=f"could not be started: {error}")
    with contextlib.ExitStack() as stack:
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                stack.callback(_close, pipe.fileno(), pipe)
        taken: dict[int, bytearray] = {}
        problem = ""
        try:
            problem = _converse(process, given, time.monotonic() + hook.timeout, cancel, taken)
        finally:
            if process.returncode is None:
                _kill(process)
        out, err = (bytes(one).decode("utf-8", "replace") for one in taken.values())
    if problem:
        return Output(hook.command, None, problem=problem.format(seconds=f"{hook.timeout:g}"))
    return Output(hook.command, process.returncode, out, err)


def _close(descriptor: int, pipe: object) -> None:
    with contextlib.suppress(OSError, ValueError):
        getattr(pipe, "close", lambda: os.close(descriptor))()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a hook and all it started, but what left its group on purpose."""
    import signal

    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _converse(
    process: subprocess.Popen[bytes],
    given: bytes,
    deadline: float,
    cancel: Cancel,
    taken: dict[int, bytearray],
) -> str:
    """Write the input and take the output until the hook is over; return why it was not waited for."""
    import selectors

    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    waiting = memoryview(given)
    with selectors.DefaultSelector() as selector:
        for pipe in (process.stdout, process.stderr):
            os.set_blocking(pipe.fileno(), False)
            taken[pipe.fileno()] = bytearray()
            selector.register(pipe, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        over_at: float | None = None
        while True:
            now = time.monotonic()
            if over_at is None and process.poll() is not None:
                over_at = now
            open_ones = [key for key in selector.get_map().values() if key.fd in taken]
            if over_at is not None and (not open_ones or now > over_at + _GRACE):
                return ""
            if cancel.is_asked:
                return "was ended, because the person asked to stop"
            if over_at is None and now > deadline:
                return "was ended after {seconds} seconds"
            for key, _ in selector.select(_STEP) if selector.get_map() else _pause():
                if key.fd in taken:
                    if not _take(key.fd, taken[key.fd]):
                        selector.unregister(key.fileobj)
                    continue
                waiting = _give(key.fd, waiting)
                if not waiting:
                    selector.unregister(process.stdin)
                    _close(key.fd, process.stdin)


def _pause() -> tuple[()]:
    time.sleep(_STEP)
    return ()


def _take(descriptor: int, into: bytearray) -> bool:
    """Take what there is; say whether more may come. What is too much is read and forgotten."""
    try:
        data = os.read(descriptor, 1 << 16)
    except BlockingIOError:
        return True
    except OSError:
        return False
    into += data[: max(0, MOST_OUTPUT - len(into))]
    return bool(data)


def _give(descriptor: int, waiting: memoryview) -> memoryview:
    """Give what is taken now, and return the rest; nothing if nobody listens any more."""
    try:
        return waiting[os.write(descriptor, waiting[: 1 << 16]) :]
    except BlockingIOError:
        return waiting
    except OSError:
        return waiting[:0]
