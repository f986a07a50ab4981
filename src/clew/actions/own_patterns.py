"""A person's own patterns, tried in a process that can be ended.

Python's matcher can take longer than anyone lives for a pattern such as `(a+)+$`, and cannot be told to stop.
What is said of a pattern never shows it: it may be the very secret that is to go.
"""

from __future__ import annotations

import contextlib
import re
import signal
from typing import TYPE_CHECKING, Final, cast

from clew.edit.secret_forms import by_patterns
from clew.errors import ClewError, UsageError

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from multiprocessing.connection import Connection

    from clew.edit.secret_forms import Spans

PER_TEXT: Final = 2.0
"""Seconds that the patterns may take for one text, and again for each further million of characters."""

_HINT: Final = "a pattern without repeats inside repeats, as in (a+)+"


def compiled(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    """Make the patterns that a person gave."""
    found: list[re.Pattern[str]] = []
    for number, pattern in enumerate(patterns, 1):
        which = "the pattern" if len(patterns) == 1 else f"pattern {number}"
        try:
            found.append(re.compile(pattern))
        except (re.error, OverflowError, RecursionError) as error:
            position = getattr(error, "pos", None)
            where = "" if position is None else f", at character {position + 1}"
            raise UsageError(f"{which} makes no sense{where}: {_reason(error)}") from None
        if found[-1].match(""):
            raise UsageError(f"{which} fits nothing at all, and so would everything")
    return found


def _reason(error: Exception) -> str:
    """Say what is wrong without what stands in the pattern itself."""
    message = getattr(error, "msg", None)
    return re.split(r" [\\'\"(?]|: ", message)[0] if isinstance(message, str) else "it is too long"


@contextlib.contextmanager
def watched(patterns: Sequence[re.Pattern[str]], *, per_text: float = PER_TEXT) -> Generator[Spans | None]:
    """Give what finds the matches of patterns in a text; None if there are no patterns.

    Patterns that take too long for one text are a `UsageError`.
    """
    if not patterns:
        yield None
        return
    import multiprocessing

    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=_match, args=(patterns, theirs, ours), daemon=True)
    process.start()
    # The process alone holds its end, so that its death is seen.
    theirs.close()

    def spans(text: str) -> list[tuple[int, int]]:
        try:
            ours.send(text)
            if not ours.poll(per_text * (1 + len(text) / 1e6)):
                what = "the pattern" if len(patterns) == 1 else "one of the patterns"
                raise UsageError(f"{what} took longer than {per_text:g} s for one text", hint=_HINT)
            return cast("list[tuple[int, int]]", ours.recv())
        except (EOFError, OSError):
            process.join(1)
            raise ClewError(f"the process of the patterns ended by itself ({process.exitcode})") from None

    try:
        yield spans
    finally:
        ours.close()
        process.kill()
        process.join()


def _match(patterns: Sequence[re.Pattern[str]], pipe: Connection, other: Connection) -> None:
    # The interrupt of a terminal goes to all; the first process ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    other.close()
    find = by_patterns(patterns)
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(find(pipe.recv()))
