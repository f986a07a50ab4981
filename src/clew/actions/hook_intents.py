"""What hooks left, merged by transcript: taken, kept and written back by the worker, and by nobody else.

Nothing is lost on the way: what was taken lies in files of its own until it stands in `pending`, and stands
there until it is done. What is read twice is only merged with itself.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from clew.actions.hook_spool import LARGEST_SPOOL
from clew.store.disk import DISK
from clew.store.source import FileSource
from clew.store.writer import NotWrittenError, prepare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew.actions.hook_spool import Spool

MOST: Final = 5000
"""As many transcripts wait at most. Of what is dropped the sessions are still there, for a backfill."""

LONGEST_MS: Final = 30 * 86_400_000
"""As long the client keeps a session by default."""

_AGENTS: Final = 200
_OF_AGENT: Final = "SubagentStop"
_ENDS: Final = ("SessionStart", "SessionEnd")


@dataclass(frozen=True, slots=True)
class Job:
    """A transcript that has something new, as far as hooks have said."""

    path: str
    session: str | None = None
    last: str | None = None
    """The digest of the answer that was given last, if the client told."""

    last_ms: int = 0
    """When that was told."""

    agents: Mapping[str, str | None] = field(default_factory=dict[str, "str | None"])
    """Transcripts of sub-agents that ended, with the same of each."""

    first_ms: int = 0
    ms: int = 0
    """When the first and the last hook spoke of it."""

    tries: int = 0
    is_end: bool = False
    """Whether the last hook said that the session began or ended: then all of it is in the file."""

    def merged(self, later: Job) -> Job:
        """Return both as one; `later` knows more."""
        agents = {**self.agents, **later.agents}
        return replace(
            later,
            session=later.session or self.session,
            last=later.last if later.last or later.is_end else self.last,
            last_ms=later.last_ms if later.last or later.is_end else self.last_ms,
            agents=dict([*agents.items()][-_AGENTS:]),
            first_ms=min(self.first_ms, later.first_ms),
            tries=min(self.tries, later.tries),
        )

    def line(self) -> bytes:
        """Return it as a line of `pending`."""
        facts = {
            "transcript_path": self.path,
            "session_id": self.session,
            "last": self.last,
            "last_ms": self.last_ms,
            "agents": dict(self.agents),
            "first_ms": self.first_ms,
            "ms": self.ms,
            "tries": self.tries,
            "is_end": self.is_end,
        }
        return json.dumps(facts, separators=(",", ":")).encode() + b"\n"


def read_job(line: bytes) -> Job | None:
    """Read a line of `intents` or `pending`; None for what is no such line."""
    try:
        found: object = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    facts = cast("dict[str, object]", found)
    path, last = _text(facts.get("transcript_path")), _text(facts.get("last"))
    if path is None:
        return None
    listed = facts.get("agents")
    told = cast("dict[str, object]", listed) if isinstance(listed, dict) else {}
    agents = {name: _text(value) for name, value in told.items()}
    if facts.get("event") == _OF_AGENT:  # what it answered last stands in its own file
        agent = _text(facts.get("agent_transcript_path"))
        if agent is not None:
            agents[agent] = last
        last = None
    ms = _whole(facts.get("ms"))
    return Job(
        path,
        _text(facts.get("session_id")),
        last,
        _whole(facts.get("last_ms")) or ms,
        agents,
        _whole(facts.get("first_ms")) or ms,
        ms,
        _whole(facts.get("tries")),
        facts.get("event") in _ENDS or facts.get("is_end") is True,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


def merge(jobs: Iterable[Job]) -> dict[str, Job]:
    """Return one job a transcript, those spoken of first first."""
    found: dict[str, Job] = {}
    for job in jobs:
        before = found.get(job.path)
        found[job.path] = job if before is None else before.merged(job)
    return dict(sorted(found.items(), key=lambda item: item[1].first_ms))


def take(spool: Spool) -> tuple[dict[str, Job], set[str]]:
    """Take what hooks left and what is pending; return both as one, and the paths that hooks spoke of."""
    fresh: set[str] = set()
    with contextlib.suppress(FileNotFoundError):
        DISK.replace(spool.intents, f"{spool.intents}.{time.time_ns()}-{os.getpid()}")
    taken = _taken(spool)
    found = merge(_jobs(spool.pending))
    for path in taken:
        jobs = [*_jobs(path)]
        fresh.update(job.path for job in jobs)
        found = merge([*found.values(), *jobs])
    if taken and keep(spool, found):
        for path in taken:
            with contextlib.suppress(OSError):
                DISK.unlink(path)
    return found, fresh


def _taken(spool: Spool) -> list[str]:
    """Return the files that were taken from hooks and not let go of yet, by this worker or one that died."""
    beginning = os.path.basename(spool.intents) + "."  # noqa: PTH119
    try:
        names = os.listdir(spool.folder)  # noqa: PTH208
    except OSError:
        return []
    return [os.path.join(spool.folder, name) for name in sorted(names) if name.startswith(beginning)]  # noqa: PTH118


def _jobs(path: str) -> Iterator[Job]:
    from clew.errors import ClewError

    try:
        with FileSource(path) as source:
            data = source.read(0, 2 * LARGEST_SPOOL)
    except ClewError:  # not there, or no file
        return
    for line in data.split(b"\n"):
        job = read_job(line) if line else None
        if job is not None:
            yield job


def keep(spool: Spool, jobs: Mapping[str, Job]) -> bool:
    """Write down what is not done, whole or not at all; say whether that was possible."""
    if not jobs:
        with contextlib.suppress(FileNotFoundError):
            DISK.unlink(spool.pending)
        return True
    return put(spool.pending, b"".join(job.line() for job in [*jobs.values()][-MOST:]))


def waiting(spool: Spool) -> dict[str, Job]:
    """Return what waits, taking nothing."""
    found = [*_jobs(spool.pending)]
    for path in [*_taken(spool), spool.intents]:
        found += _jobs(path)
    return merge(found)


def put(path: str, data: bytes) -> bool:
    """Put a small file in the place of another, whole or not at all; say whether that was possible."""
    temporary = f"{path}.new"  # only one worker of a spool is at it
    try:
        with contextlib.suppress(FileNotFoundError):
            DISK.unlink(temporary)
        prepare(temporary, [data], target=path)
        DISK.replace(temporary, path)
    except (NotWrittenError, OSError):
        return False
    return True
