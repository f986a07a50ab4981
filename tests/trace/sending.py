"""Sessions in files, and what sends them in tests: short waits, and a new sender for each run."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from clew.actions.tracing_runs import Run, Sending, send
from clew.actions.tracing_sources import Source, Wish
from clew.store.files import Skipped, at_path
from clew.trace.reach import Terms
from tests.builder import Builder, call, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.store.files import SessionFile
    from clew.trace.endpoints import Endpoint

SPACE = UUID(int=7)


def named(*key: object) -> str:
    """A uuid that is always the same."""
    return str(uuid5(SPACE, repr(key)))


def story(turns: int, *, session: str = "s1", start: int = 0, ends: bool = True) -> Builder:
    """A session of turns with one call each."""
    builder = Builder(session)
    for n in range(start, start + turns):
        builder.prompt(f"Go on, {n}.", uuid=named(session, "prompt", n))
        builder.answer(text("I look."), call(f"t{n}"), stop="tool_use", message_id=f"msg_{session}_{n}_a")
        builder.result(f"t{n}", f"seen {n}")
        if ends or n < start + turns - 1:
            builder.answer("Done.", message_id=f"msg_{session}_{n}_b")
    return builder


SPANS = 4
"""Spans of one turn of a story: the root, two answers and a call."""


def put(folder: Path, data: bytes, *, session: str = "s1", age: float = 60) -> Path:
    """Write a session into a store, written so many seconds ago."""
    path = folder / "projects" / "-home-ada" / f"{named(session)}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    when = time.time() - age
    os.utime(path, (when, when))
    return path


def file_of(path: Path) -> SessionFile:
    """The file as a store lists it."""
    found = at_path(path)
    assert not isinstance(found, Skipped), found.reason
    return found


@dataclass
class Sender:
    """Sends files to endpoints, as one process after the other would."""

    state: Path
    endpoints: tuple[Endpoint, ...]
    seconds: float = 5.0
    request: float = 0.3
    patience: float = 2.0
    waits: list[float] = field(default_factory=list[float])

    def run(
        self,
        *paths: Path,
        resend_unknown: bool = False,
        rate: float | None = None,
        waiting: Callable[[str], Source | None] | None = None,
        wish: Wish | None = None,
    ) -> Sending:
        terms = Terms(
            time.monotonic() + self.seconds,
            patience=self.patience,
            request=self.request,
            rate=rate,
            resend_unknown=resend_unknown,
            version="1.0",
            sleep=self._sleep,
        )
        run = Run(
            self.endpoints,
            wish or Wish(redact=False),
            self.state,
            terms,
            time.time_ns() // 1_000_000,
            {},
            waiting=waiting,
        )
        return send(run, [Source(file_of(path)) for path in paths])

    def _sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        time.sleep(min(seconds, 0.01))
