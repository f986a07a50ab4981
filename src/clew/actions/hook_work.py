"""What the worker does: take what hooks left, wait for the last lines, send, and be gone.

It runs in the background, one at a time for an environment, and ends by itself within half a minute. What it
does not get done stays where it is, for the one that the next hook starts. How anything is sent is `tracing`.
"""

from __future__ import annotations

import json
import os
import stat
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from clew.actions import hook_intents as intents
from clew.actions import hook_spool as spools
from clew.actions.hook_settling import LONGEST as SETTLING
from clew.actions.hook_settling import settle
from clew.actions.tracing import Sending, send_transcripts
from clew.store.files import SessionFile, at_path
from clew.store.heads import Head, head
from clew.store.roots import find_roots

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clew.actions.hook_intents import Job
    from clew.actions.hook_spool import Spool

LIMIT: Final = 25.0
"""Seconds for a worker. One more may follow it, for hooks that came too late: both end within a minute."""

_LEAST: Final = 1.0
"""Seconds below which nothing is begun any more."""

_EARLIER: Final = 0.4
"""The share of the time that sessions from before may take, so that there is some for the one now."""

_AGAIN: Final = (2.0, 5.0)
"""Seconds after which a file is looked at again whose last line did not come."""

_MISSING_MS: Final = 7 * 86_400_000
"""A transcript that is not there by then will not come: some clients are told not to keep any."""

_CHAIN: Final = 8


class Send(Protocol):
    """What sends transcripts; see `tracing.send_transcripts`."""

    def __call__(
        self,
        paths: Sequence[tuple[str, str | None]],
        *,
        environ: Mapping[str, str],
        state: Path,
        now_ms: int,
        deadline: float,
        settle: Callable[[str], object] | None = None,
    ) -> Sending:
        """Send what is new in them before the deadline."""
        ...


class Worker:
    """One run. `lock` is the lock it holds; `again` starts the one that follows it, handing on a lock."""

    def __init__(
        self,
        spool: Spool,
        environ: Mapping[str, str],
        *,
        lock: int,
        again: Callable[[int], None],
        send: Send = send_transcripts,
        limit: float = LIMIT,
    ) -> None:
        self._spool, self._environ = spool, environ
        self._lock, self._again, self._send = lock, again, send
        self._end = time.monotonic() + limit
        self._projects = _projects(environ)
        self._tried: dict[str, int] = {}
        self._unsettled: set[str] = set()
        self._told: list[Sending] = []
        self._errors: list[str] = []
        self._seen: set[str] = set()
        self._started = _now_ms()

    def run(self) -> None:
        """Work until there is nothing left to do, or no time."""
        while True:
            self._rounds()
            self._tell()
            os.close(self._lock)
            # A hook that found the lock held has left its intent before that, so it is seen here; one that
            # comes from now on finds it free and starts a worker itself.
            if not spools.has_new(self._spool):
                return
            lock = spools.try_lock(self._spool)
            if lock is None:
                return
            if self._left() < _LEAST:
                self._again(lock)
                return
            self._lock = lock

    def _left(self) -> float:
        return self._end - time.monotonic()

    def _rounds(self) -> None:
        """Do what there is, and what comes meanwhile."""
        jobs: dict[str, Job] = {}
        while self._left() >= _LEAST:
            jobs, fresh = intents.take(self._spool)
            for path in fresh:
                self._tried.pop(path, None)
            todo = {path: job for path, job in jobs.items() if self._is_due(path)}
            if todo:
                done = self._do(todo)
                jobs = {path: self._after(job) for path, job in jobs.items() if path not in done}
                if not intents.keep(self._spool, jobs):
                    self._errors.append("what is left to do could not be written down")
            if not spools.has_new(self._spool) and not self._wait_for_lines(jobs):
                return

    def _is_due(self, path: str) -> bool:
        return path not in self._tried or path in self._unsettled

    def _after(self, job: Job) -> Job:
        return replace(job, tries=job.tries + 1) if job.path in self._tried else job

    def _wait_for_lines(self, jobs: Mapping[str, Job]) -> bool:
        """Wait a little for lines that did not come, or for a hook; say whether to look again."""
        waits = [self._tried.get(path, 0) for path in self._unsettled if path in jobs]
        waits = [times for times in waits if times <= len(_AGAIN)]
        if not waits:
            return False
        until = min(time.monotonic() + _AGAIN[min(waits) - 1], self._end - _LEAST)
        while time.monotonic() < until and not spools.has_new(self._spool):
            time.sleep(0.05)
        return self._left() >= _LEAST

    def _do(self, jobs: Mapping[str, Job]) -> set[str]:
        """Do some jobs, sessions from before first; return the paths that are done."""
        done: set[str] = set()
        ready: list[Job] = []
        for path, job in jobs.items():
            self._seen.add(path)
            why = self._refusal(path)
            if why == "" and _now_ms() - job.ms > intents.LONGEST_MS:
                why = "it could not be sent for too long"
            if why == "":
                ready.append(job)
            elif why is not None:
                self._errors.append(f"{path}: {why}")
                spools.log(self._spool, f"worker: not sent, {why}: {path}")
                done.add(path)
            elif _now_ms() - job.ms > _MISSING_MS:  # it is not there
                spools.log(self._spool, f"worker: there is no {path}")
                done.add(path)
            else:
                self._tried[path] = self._tried.get(path, 0) + 1
        newest = max((job.ms for job in ready), default=0)
        before = [job for job in ready if newest - job.ms > 60_000 or job.tries]
        now = [job for job in ready if job not in before]
        earlier = self._earlier(ready)
        if before or earlier:
            share = _EARLIER if now else 1.0
            first = [*earlier, *((job.path, job.session) for job in before)]
            is_sent = self._sent(first, jobs, time.monotonic() + self._left() * share)
            done |= {job.path for job in before if self._is_done(job) and is_sent}
        for job in now:
            if self._left() < _LEAST:
                break
            is_sent = self._sent([(job.path, job.session)], jobs, self._end)
            if self._is_done(job) and is_sent:
                done.add(job.path)
        return done

    def _is_done(self, job: Job) -> bool:
        """Note that a job was tried; say whether all that hooks spoke of was there to be sent."""
        self._tried[job.path] = self._tried.get(job.path, 0) + 1
        return job.path not in self._unsettled or self._tried[job.path] > len(_AGAIN)

    def _refusal(self, path: str) -> str | None:
        """Say why a file is not a transcript to send; None if it is not there, empty if all is well."""
        if not os.path.isabs(path) or "\0" in path or not path.endswith(".jsonl"):  # noqa: PTH117
            return "it is no transcript"
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            return None
        except OSError as error:
            return error.strerror or "it cannot be looked at"
        if stat.S_ISLNK(status.st_mode):
            return "it is a link"
        if not stat.S_ISREG(status.st_mode):
            return "it is no file"
        real = os.path.realpath(path)
        if not any(real.startswith(place) for place in self._projects):
            return "it is outside of the projects"
        return ""

    def _earlier(self, jobs: Iterable[Job]) -> list[tuple[str, str | None]]:
        """Return the sessions that these go on from, the oldest first. What was sent of them is not again."""
        found: dict[str, str] = {}
        known = {job.path for job in jobs}
        for job in jobs:
            path = job.path
            chain: list[tuple[str, str]] = []
            for _ in range(_CHAIN):
                file = at_path(path)
                seen = head(file, tail=False) if isinstance(file, SessionFile) else None
                previous = seen.previous if isinstance(seen, Head) else None
                if previous is None or os.path.basename(previous) != previous:  # noqa: PTH119
                    break
                path = os.path.join(os.path.dirname(path), f"{previous}.jsonl")  # noqa: PTH118, PTH120
                if path in known or path in found or self._refusal(path) != "":
                    break
                chain.append((path, previous))
                found[path] = previous
            for path, previous in chain:  # the one furthest back to the front
                found = {path: previous, **{name: of for name, of in found.items() if name != path}}
        return [*found.items()]

    def _sent(
        self, paths: Sequence[tuple[str, str | None]], jobs: Mapping[str, Job], deadline: float
    ) -> bool:
        """Send some transcripts; say whether nothing went wrong. Whatever goes wrong stops nothing else."""

        def wait(path: str) -> bool:
            return self._settle(jobs.get(path), deadline)

        try:
            told = self._send(
                paths,
                environ=self._environ,
                state=Path(self._spool.folder).parent,
                now_ms=_now_ms(),
                deadline=deadline,
                settle=wait,
            )
        except Exception as error:  # it says that it raises nothing; then this is to be told
            self._errors.append(f"{type(error).__name__}: {error}")
            spools.log(self._spool, f"worker: {type(error).__name__}: {error}")
            return False
        self._told.append(told)
        for failure in told.failed:
            spools.log(self._spool, f"worker: {failure.where}: {failure.reason}")
        return not told.failed

    def _settle(self, job: Job | None, deadline: float) -> bool:
        """Wait until all that hooks spoke of is in the files."""
        if job is None:
            return True
        end = min(time.monotonic() + SETTLING, deadline)
        is_settled = settle(job.path, job.last, said_ms=job.last_ms, longest=end - time.monotonic())
        for path, last in job.agents.items():
            if last is not None and self._refusal(path) == "":
                settle(path, last, longest=end - time.monotonic())
        if is_settled:
            self._unsettled.discard(job.path)
        else:
            self._unsettled.add(job.path)
        return is_settled

    def _tell(self) -> None:
        """Write down how it went, for `clew hook status`."""
        told = self._told
        failed = {(each.where, each.reason) for sending in told for each in sending.failed}
        facts = {
            "started_ms": self._started,
            "ended_ms": _now_ms(),
            "transcripts": len(self._seen),
            "turns_sent": sum(sending.turns_sent for sending in told),
            "spans_sent": sum(sending.spans_sent for sending in told),
            "endpoints": max((sending.endpoints for sending in told), default=0),
            "failed": [f"{where}: {reason}" for where, reason in sorted(failed)][:20],
            "errors": self._errors[-20:],
        }
        intents.put(self._spool.last, json.dumps(facts).encode())


def _projects(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the folders in which transcripts may lie, each with a separator at its end."""
    roots = find_roots(environ=environ, home=environ.get("HOME")).looked_in
    return tuple(os.path.join(os.path.realpath(os.path.join(root, "projects")), "") for root in roots)  # noqa: PTH118


def _now_ms() -> int:
    return int(time.time() * 1000)
