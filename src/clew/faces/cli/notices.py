"""What a person is told beside the data: how far it is, what was passed over, what changed meanwhile."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from clew.faces.cli.terminal import Screen, span

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

    from clew.store.files import Skipped

_MOST: Final = 3
_HARMLESS: Final = ("a link to a file that is listed already", "a folder that was listed already")
"""Nothing is missing for it, so it is told only on request."""


@contextmanager
def counting(screen: Screen, label: str = "Reading") -> Generator[Callable[[int], Callable[[], None]]]:
    """Show how many files are done; an action is given what this gives, and says how many there will be."""
    with screen.progress(None, label, "files") as progress:

        def start(files: int) -> Callable[[], None]:
            progress.total = files
            return progress.advance

        yield start


@contextmanager
def stepping(screen: Screen, label: str, what: str) -> Generator[Callable[[int], Callable[[], None]]]:
    """Show how many steps of one piece of work are done, as `counting` does for files."""
    with screen.progress(None, label, what) as progress:

        def start(steps: int) -> Callable[[], None]:
            progress.total = steps
            return progress.advance

        yield start


@contextmanager
def measuring(screen: Screen, label: str) -> Generator[Callable[[int], Callable[[int], None]]]:
    """Do so for bytes, in megabytes."""
    with screen.progress(None, label, "MB") as progress:
        done = 0

        def start(total: int) -> Callable[[int], None]:
            progress.total = max(1, round(total / 1e6))
            return advance

        def advance(bytes_: int) -> None:
            nonlocal done
            done += bytes_
            progress.advance(min(round(done / 1e6), progress.total or 0) - progress.done)

        yield start


def tell_left(screen: Screen, left: int) -> None:
    """Say how many secrets stay in what was redacted, if any do."""
    if left:
        many = "1 secret stays" if left == 1 else f"{left:,} secrets stay"
        why = "a name or an id that holds" if left == 1 else "names or ids that hold"
        screen.note(span("note: ", "yellow"), f"{many} in it, as {why} the session together")


def tell_skipped(
    screen: Screen, skipped: Sequence[Skipped], *, cut: Sequence[str] = (), verbose: bool = False
) -> None:
    """Say what was passed over, a line each; without `verbose` only the first few that matter."""
    for path in cut:
        screen.note(span("note: ", "yellow"), f"{path} got shorter while it was read")
    told = [note for note in skipped if verbose or note.reason not in _HARMLESS]
    most = len(told) if verbose else _MOST
    for note in told[:most]:
        # Some reasons name the path themselves.
        text = note.reason if note.path in note.reason else f"{note.path}: {note.reason}"
        screen.note(span("skipped: ", "yellow"), text)
    if len(told) > most:
        screen.note(span("skipped: ", "yellow"), f"{len(told) - most:,} more; -v lists them")
