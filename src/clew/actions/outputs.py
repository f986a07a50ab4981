"""Look for a literal, a pattern or words in the outputs that the client put into files of their own.

A pattern runs in a process of its own that can be ended, as in `scanning`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from clew.actions.raw_search import Found, Matcher, Spot
from clew.actions.search_lines import Lines, note_of
from clew.catalog.sources import spilled
from clew.errors import ClewError, UsageError
from clew.format.skim import Skim
from clew.store.source import FileSource
from clew.tables.texts import Text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection

    from clew.actions.raw_search import Question
    from clew.catalog.sources import Wanted
    from clew.store.files import SessionFile

SECONDS: Final = 60.0
PER_FILE: Final = 5.0
"""Seconds that a pattern may take for one output."""

_PIECE: Final = 16 << 20
_BEFORE: Final = 1_000
_EXCERPT: Final = 4_000


@dataclass(slots=True)
class Outputs:
    """What was found, each with the session it belongs to."""

    found: list[tuple[Found, SessionFile]] = field(default_factory=list["tuple[Found, SessionFile]"])
    total: int = 0
    is_partial: bool = False


def scan_outputs(sessions: Sequence[SessionFile], question: Question, *, seconds: float = SECONDS) -> Outputs:
    """Search the outputs of some sessions."""
    owners = {(file.root or "", file.folder, file.id): file for file in sessions}
    files = spilled(sessions)
    if not files:
        return Outputs()
    found = _watched(files, question, seconds) if question.is_pattern else _search(files, question, seconds)
    result = Outputs(is_partial=len(found) < len(files))
    lines = Lines()
    for one, hit in zip(files, found, strict=False):
        owner = owners.get((one.root, one.folder, one.placed or ""))
        if hit is None or owner is None:
            continue
        text = Text("tool_result", hit.text, None, 0, False)
        tool = None
        if question.filters_tools:
            note = note_of(owner.path, one.name)
            tool = lines.tool_in(owner.path, note.call) if note is not None and note.call else None
        if question.keep is None or question.keep(Spot(owner, Skim(type="user"), text, tool)):
            result.total += 1
            result.found.append((hit, owner))
    return result


def _search(files: Sequence[Wanted], question: Question, seconds: float) -> list[Found | None]:
    until = time.monotonic() + seconds
    matcher = Matcher(question)
    found: list[Found | None] = []
    for one in files:
        if time.monotonic() > until:
            break
        found.append(_in_file(one, matcher))
    return found


def _in_file(one: Wanted, matcher: Matcher) -> Found | None:
    """Return the first piece of an output that holds it."""
    try:
        with FileSource(one.path) as source:
            at = 0
            while at < source.size:
                text = source.read(at, _PIECE).decode("utf-8", "replace")
                found = matcher.all([text])
                if found and found[0]:
                    places = found[0]
                    start = max(0, places[0][0] - _BEFORE)
                    ranges = tuple(
                        (first - start, min(last, start + _EXCERPT) - start)
                        for first, last in places
                        if first < start + _EXCERPT
                    )
                    return Found(
                        one.path,
                        one.placed,
                        0,
                        at,
                        min(_PIECE, source.size - at),
                        None,
                        None,
                        "tool_result",
                        None,
                        False,
                        0,
                        text[start : start + _EXCERPT],
                        ranges,
                        one.stamp[3] // 1_000_000,
                    )
                at += _PIECE
    except ClewError:
        return None
    return None


# --- a pattern ----------------------------------------------------------------------------------------------


def _watched(files: Sequence[Wanted], question: Question, seconds: float) -> list[Found | None]:
    import multiprocessing

    pipe, other = multiprocessing.Pipe(duplex=False)
    process = multiprocessing.Process(target=_work, args=(list(files), question, other), daemon=True)
    process.start()
    other.close()
    found: list[Found | None] = []
    until = time.monotonic() + seconds
    try:
        while len(found) < len(files):
            left = until - time.monotonic()
            if left <= 0:
                break
            if not pipe.poll(min(left, PER_FILE)):
                if left <= PER_FILE:
                    break
                raise UsageError(
                    f"the pattern {question.text!r} took longer than {PER_FILE:g} s "
                    f"for {files[len(found)].path}",
                    hint="a pattern without repeats inside repeats, as in (a+)+",
                )
            found.append(pipe.recv())
    except EOFError:
        pass
    finally:
        process.kill()
        process.join()
        pipe.close()
    return found


def _work(files: list[Wanted], question: Question, pipe: Connection) -> None:
    matcher = Matcher(question)
    for one in files:
        pipe.send(_in_file(one, matcher))
