"""A glance at a session file: what its first and last lines tell, without reading it whole.

The lines looked at are fed to the same fold that a full read feeds with all of them, so a title, a time or a
branch is found by the same rules. Counts are not to be taken from a glance. What a title in the middle of a
long file says is not seen; the client writes its titles again at the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.errors import ChangedOnDiskError, ClewError
from clew.format.lines import BytesSource
from clew.format.records import Record, scan
from clew.format.skim import skim
from clew.session.fold import Summary
from clew.session.prompts import is_human
from clew.session.titles import Told
from clew.store.files import Skipped
from clew.store.source import FileSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from clew.session.fold import Facts
    from clew.store.files import Listing, SessionFile

_ENOUGH: Final = 20
"""Lines after which a file that holds messages is known, though no prompt was among them."""

_MOST_LINES: Final = 500
_MOST_BYTES: Final = 4 << 20
"""How far the search for a message goes, as behind a long list of summaries."""

_BUFFER: Final = 16 << 10
_REACHES: Final = (32 << 10, 256 << 10, 2 << 20)
"""How far back from the end the last message is looked for, further each time."""

_TAIL_LINES: Final = 10
_ROLES: Final = frozenset({"user", "assistant"})
_TITLES: Final = (b'"custom-title"', b'"ai-title"', b'"agent-name"')


@dataclass(frozen=True, slots=True)
class Glance:
    """What was seen of one file."""

    file: SessionFile
    seen: Summary
    alone: Facts
    """What was seen, without what other files tell."""

    def facts(self, summaries: Told) -> Facts:
        """Return what was seen; `summaries` are those of all files, by the uuid they describe."""
        if self.alone.title_source in {"custom", "ai", "agent"} or not self.seen.is_told(summaries):
            return self.alone
        return self.seen.result(summaries=summaries)


def glance(file: SessionFile) -> Glance | Skipped:
    """Look at the first and last lines of a file; one that cannot be read is a `Skipped`."""
    seen = Summary()
    try:
        with FileSource(file.path) as source:
            end = _first(seen, source)
            if end < source.size:
                _last(seen, source, end)
    except ClewError as error:
        return Skipped(file.path, error.message)
    return Glance(file, seen, seen.result())


def glances(files: Iterable[SessionFile]) -> Iterator[Glance | Skipped]:
    """Look at one file after the other."""
    return map(glance, files)


def titles_of(listing: Listing) -> Callable[[SessionFile], str | None]:
    """Return what gives the title of a session; the files are looked at when it is first called."""
    known: dict[str, str | None] = {}

    def title(file: SessionFile) -> str | None:
        if not known:
            found = [one for one in glances(listing.sessions) if isinstance(one, Glance)]
            told = told_elsewhere(found)
            known.update((one.file.path, one.facts(told).title) for one in found)
        return known.get(file.path)

    return title


def told_elsewhere(found: Sequence[Glance]) -> Told:
    """Gather the summaries of all files: one may describe a conversation in another file."""
    told: dict[str, str] = {}
    for one in found:
        told.update(one.alone.summaries)
    return Told(told)


def _first(seen: Summary, source: FileSource) -> int:
    """Take in the first lines, up to the first prompt where there is one; return where they end."""
    readline = source.readline(buffer=_BUFFER, end=_MOST_BYTES)
    at = number = 0
    has_main = False
    while number < _MOST_LINES and (number < _ENOUGH or not has_main):
        raw = readline(_MOST_BYTES)
        if not raw:
            break
        for record in _records(raw, at):
            seen.add(record)
            facts = record.facts
            if facts.role in _ROLES and not facts.is_sidechain:
                has_main = True
                if facts.cwd is not None and is_human(facts):
                    return at + len(raw)
        at += len(raw)
        number += 1
    if not number or (at < source.size and at >= _MOST_BYTES and not has_main):
        return _past_giant(seen, source)
    return at


def _past_giant(seen: Summary, source: FileSource) -> int:
    """A line of many megabytes at the very start: read past it rather than call the file empty."""
    for item in scan(source):
        seen.add(item)
        return item.offset + item.length
    return source.size


def _last(seen: Summary, source: FileSource, start: int) -> None:
    """Take in the last lines after `start`, up to the last message; from further up those with a title."""
    taken: list[Record] = []
    for reach in _REACHES:
        at = max(start, source.size - reach)
        try:
            data = source.read(at, source.size - at)
        except ChangedOnDiskError:  # cut just now: the first lines have to do
            return
        taken = _from_the_end(data, is_cut=at > start)
        # Attachments of tens of kilobytes may stand behind the last message.
        if at == start or any(record.facts.role in _ROLES for record in taken):
            break
    for record in reversed(taken):
        seen.add(record)


def _from_the_end(data: bytes, *, is_cut: bool) -> list[Record]:
    """Return records from the last one up: some lines, those up to the last message, those with a title."""
    lines = data.split(b"\n")
    if is_cut:
        del lines[0]
    taken: list[Record] = []
    has_message = False
    has_titles = any(mark in data for mark in _TITLES)
    for above, raw in enumerate(reversed(lines)):
        if above >= _TAIL_LINES and has_message:
            if not has_titles:
                break
            if not any(mark in raw for mark in _TITLES):
                continue
        for record in reversed(list(_records(raw, 0))):
            taken.append(record)
            has_message = has_message or record.facts.role in _ROLES
    return taken


def _records(raw: bytes, offset: int) -> Iterator[Record]:
    facts = skim(raw)
    if facts is not None:
        yield Record(0, offset, len(raw), raw, facts)
    elif raw and not raw.isspace():
        yield from (item for item in scan(BytesSource(raw)) if isinstance(item, Record))
