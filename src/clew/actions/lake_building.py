"""Build a lake, and tidy it up: `clew lake build` and `clew lake vacuum`."""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clew.errors import UsageError
from clew.lake.building import Report, Wish, build, compact
from clew.lake.builds import last, needed, visible
from clew.lake.delta import LakeTable
from clew.lake.engines import LocalEngine
from clew.lake.libraries import leave_pandas_out
from clew.lake.places import Place
from clew.lake.schemas import COLUMNS
from clew.store.redaction_key import placeholder_key

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from clew.lake.building import Tell
    from clew.lake.engines import Engine

LONGEST_LIST = 1000
"""How many sessions a report names; of a million damaged ones nobody reads all."""


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did."""

    lake: str
    engine: str
    report: Report
    seconds: float
    is_redacted: bool

    @property
    def is_flawed(self) -> bool:
        """Whether something could not be read."""
        return bool(self.report.unread or self.report.damaged)

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of the JSON document."""
        report = self.report
        return {
            "lake": self.lake,
            "engine": self.engine,
            "checkpoint": report.checkpoint,
            "redacted": self.is_redacted,
            "resumed": report.resumed,
            "sessions": report.sessions,
            "built": report.mapped,
            "unchanged": report.sessions - report.mapped - len(report.unread),
            "removed": report.removed,
            "bytes_read": report.bytes,
            "bytes_written": report.written_bytes,
            "secrets": report.secrets,
            "damaged": [{"session": name, "lines": lines} for name, lines in report.damaged[:LONGEST_LIST]],
            "unread": [{"path": path, "reason": why} for path, why in report.unread[:LONGEST_LIST]],
            "skipped": [{"path": one.path, "reason": one.reason} for one in report.skipped[:LONGEST_LIST]],
            "task_seconds": round(report.task_seconds, 3),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be built."""

    src: str
    dst: str
    engine: str = "local"
    options: Sequence[str] = ()
    redact: bool = True
    prune: bool = False
    commit_every: int | None = None
    jobs: int | None = None


def build_lake(request: Request, *, state: Path, tell: Tell, is_alone: bool = False) -> Built:
    """Bring a lake up to date with a source; `state` is where the key of the placeholders is kept.

    `is_alone` says that this process does nothing else, and needs no libraries for anything else.
    """
    if is_alone and request.engine == "local":
        leave_pandas_out()
    src, dst = Place.parse(request.src, request.options), Place.parse(request.dst, request.options)
    if dst.url == src.url or f"{dst.url}/".startswith(f"{src.url}/projects/"):
        raise UsageError("the lake would lie among the sessions", hint="give it a folder of its own")
    key = placeholder_key(state, draw=secrets.token_bytes) if request.redact else None
    wish = Wish(key, prune=request.prune, commit_every=request.commit_every)
    start = time.monotonic()
    with opened_engine(request.engine, request.jobs) as engine:
        report = build(src, dst, engine, wish, tell=tell)
    return Built(dst.url, request.engine, report, time.monotonic() - start, request.redact)


@contextmanager
def opened_engine(name: str, jobs: int | None) -> Generator[Engine]:
    """Give the engine of a name: `local`, or the address of a cluster."""
    engine: Any
    if name == "local":
        engine = LocalEngine(jobs)
    elif name.startswith("sc://"):
        from clew.lake.spark import SparkEngine

        engine = SparkEngine(name)
    else:
        raise UsageError(f"there is no engine {name!r}", hint="--engine local, or --engine sc://host:15002")
    try:
        yield engine
    finally:
        engine.close()


@dataclass(frozen=True, slots=True)
class Tidied:
    """What a vacuum did."""

    lake: str
    merged: int
    deleted: Sequence[str]
    is_dry: bool

    def as_dict(self) -> dict[str, object]:
        """Return it in the shape of the JSON document."""
        return {
            "lake": self.lake,
            "files_merged": self.merged,
            "files_deleted": len(self.deleted),
            "dry_run": self.is_dry,
        }


def tidy_lake(
    place: str,
    *,
    options: Sequence[str] = (),
    hours: float = 168.0,
    dry_run: bool = False,
    jobs: int | None = None,
) -> Tidied:
    """Put small files together, and delete those that nobody needs and that are older than so many hours.

    Readers that began before must be done by then: their files go.
    """
    lake = Place.parse(place, options)
    visible(lake)
    merged = 0
    unfinished = last(lake, is_done=False)
    if not dry_run and unfinished is not None and unfinished.state == "done":
        with opened_engine("local", jobs) as engine:
            merged = compact(lake, engine)
    keep = needed(lake)
    deleted: list[str] = []
    for name in COLUMNS:
        found = LakeTable(lake, name).vacuum(hours=hours, keep=keep.get(name, ()), dry_run=dry_run)
        deleted += (f"tables/{name}/{path}" for path in found)
    return Tidied(lake.url, merged, deleted, dry_run)
