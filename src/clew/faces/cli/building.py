"""How far the index is, on standard error, for every command that brings it up to date."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from clew.faces.cli import words

if TYPE_CHECKING:
    from collections.abc import Generator
    from contextlib import AbstractContextManager

    from clew.catalog.catalog import Progress as Step
    from clew.faces.cli.terminal import Progress, Screen

_MEGA: Final = 1_000_000
_STAGES: Final = {
    "dialogue": "what was said",
    "tools": "what tools said",
    "details": "turns, calls and problems",
    "settling": "sums",
}


@contextmanager
def building(screen: Screen) -> Generator[Teller]:
    """Show how far an update of the index has come: the stage, the files, the megabytes."""
    teller = Teller(screen)
    try:
        yield teller
    finally:
        teller.end()


class Teller:
    """Is told each step, and draws it."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._stage: str | None = None
        self._line: AbstractContextManager[Progress] | None = None
        self._progress: Progress | None = None

    def __call__(self, step: Step) -> None:
        """Draw a step, if it is time to."""
        if step.stage != self._stage or self._progress is None:
            self.end()
            self._stage = step.stage
            files = f" of {words.count(step.files_total, 'file')}" if step.files_total else ""
            label = f"Indexing {_STAGES.get(step.stage, step.stage)}{files}:"
            total = -(-step.bytes_total // _MEGA) if step.bytes_total else None
            self._line = self._screen.progress(total, label, "MB")
            self._progress = self._line.__enter__()
        self._progress.advance(step.bytes // _MEGA - self._progress.done)

    def end(self) -> None:
        """Take the line away."""
        line, self._line, self._progress = self._line, None, None
        if line is not None:
            line.__exit__(None, None, None)
