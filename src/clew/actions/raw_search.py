"""Look through session files for a literal or a pattern, in this process.

Lines that cannot hold what is looked for are passed over as bytes; the others are decoded and looked through
text by text (`tables.texts`), so that every hit is a true one. `scanning` deals the files out to processes.
"""

from __future__ import annotations

import io
import re
import time
import warnings
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.actions.raw_lines import LineFinder, long_strings
from clew.catalog.needles import Needle, for_literal, for_pattern
from clew.errors import ClewError, UsageError
from clew.format.entry import Entry
from clew.format.lines import LONG
from clew.format.records import Record, read, scan
from clew.format.skim import Skim, skim
from clew.format.times import milliseconds
from clew.store.files import Skipped
from clew.store.source import FileSource, reason
from clew.tables.texts import quick_texts, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from clew.actions.raw_lines import RawLine
    from clew.catalog.query import Query
    from clew.store.files import SessionFile
    from clew.tables.texts import Field, Text

LIMIT: Final = 50

EXCERPT: Final = 4000
"""Characters of a text that a hit keeps."""

_BEFORE: Final = 1000
"""How many of them stand before the first place."""

_MOST: Final = 500
"""Places in one text that are kept."""

_OVERLAP: Final = 1 << 16
"""Characters of a string in pieces that are looked at twice: the longest thing that is found across two."""

_ABRIDGED: Final = 4 << 10
_CALLS: Final = Needle((b'tool_use"',))

Range = tuple[int, int]
"""From and to, in characters."""


class Spot(NamedTuple):
    """A text that holds what is looked for, as a filter is asked about it."""

    file: SessionFile
    facts: Skim
    text: Text
    tool: str | None
    """The tool called; of a result only where the question says that the filter looks at it."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is looked for."""

    text: str
    query: Query | None = None
    """What is looked for in words, where there is no index to ask: then every line is decoded."""

    is_pattern: bool = False
    ignore_case: bool = False
    keep: Callable[[Spot], bool] | None = None
    """Says whether a hit counts. Where processes are spawned it must be something that can be pickled."""

    filters_tools: bool = False
    """The filter looks at the tools of results, which have to be found out."""

    limit: int = LIMIT
    """How many hits are given, the newest ones; all are counted."""


@dataclass(frozen=True, slots=True)
class Found:
    """One text that holds what is looked for."""

    path: str
    session: str | None
    line: int
    """The number of the line, from 1."""

    offset: int
    length: int
    """The bytes of the record."""

    uuid: str | None
    time: str | None
    """As written."""

    field: Field
    tool: str | None
    is_error: bool
    block: int
    text: str
    """The text; where it is long, what is around the first places."""

    ranges: tuple[Range, ...]
    """Where in `text` it is."""

    ms: int
    """Its time, or where it has none the file's: what hits are ordered by."""

    call: str | None = None
    """For a result the id of its call."""


@dataclass(slots=True)
class Scanned:
    """What was found, the newest first."""

    found: list[Found] = field(default_factory=list[Found])
    total: int = 0
    """How many texts hold it."""

    by_field: dict[Field, int] = field(default_factory=dict["Field", int])
    files: int = 0
    """How many files were searched."""

    skipped: list[Skipped] = field(default_factory=list[Skipped])
    is_partial: bool = False
    """The time was up before all files were searched."""


def newest_first(found: Found) -> tuple[int, str, int, int]:
    """Order hits: the newest first, and of one time the last in its file."""
    return -found.ms, found.path, -found.offset, -found.block


# --- what is looked for -------------------------------------------------------------------------------------


class Matcher:
    """A literal or a pattern, ready to be looked for."""

    def __init__(self, question: Question) -> None:
        self._literal = question.text
        self._pattern: re.Pattern[str] | None = None
        self.needle: Needle | None
        """What the bytes of a line must hold; None if that cannot be told."""
        self._query = question.query
        if question.query is not None:
            self.needle = None
        elif question.is_pattern:
            self._pattern = _compiled(question)
            self.needle = for_pattern(self._pattern)
        else:
            self.needle = for_literal(question.text, ignore_case=question.ignore_case)
            if question.ignore_case:
                self._pattern = re.compile(re.escape(question.text), re.IGNORECASE)

    def all(self, line: Sequence[str]) -> list[list[Range]]:
        """Return for each text of a line the places, as many as are kept. Words may be in different ones."""
        if self._query is None:
            return [[*islice(self.places(text), _MOST)] for text in line]
        return [places[:_MOST] for places in self._query.match_all(line) or ()]

    def places(self, text: str) -> Iterator[Range]:
        """Give the places of a literal or a pattern in a text, one after the other."""
        if self._pattern is not None:
            for match in self._pattern.finditer(text):
                if match.end() > match.start():  # what is empty, as of `x*`, is nowhere to be seen
                    yield match.span()
            return
        at = text.find(self._literal)
        while at >= 0:
            end = at + len(self._literal)
            yield at, end
            at = text.find(self._literal, end)


def _compiled(question: Question) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they tell what a pattern may mean to a later Python
            return re.compile(question.text, re.IGNORECASE if question.ignore_case else 0)
    except re.error as error:
        place = "" if error.pos is None else f" at character {error.pos + 1}"
        raise UsageError(
            f"{question.text!r} is not a pattern: {error.msg}{place}", hint="--literal takes it as it is"
        ) from None
    except (RecursionError, OverflowError) as error:
        raise UsageError(f"{question.text[:60]!r}… is not a pattern: {error}") from None


# --- looking ------------------------------------------------------------------------------------------------


class Beat:
    """Where a process notes what it is at, for the one that watches over it."""

    def __init__(self, cells: list[int] | None = None) -> None:
        self.cells = [0, 0, 0] if cells is None else cells
        """How many texts were begun and ended; which file it is, and at which byte."""

    def begin(self, file: int, offset: int) -> None:
        """Note that a text is being looked through."""
        self.cells[1], self.cells[2] = file, offset
        self.cells[0] += 1

    def end(self) -> None:
        """Note that it is done."""
        self.cells[0] += 1


class Search:
    """One process's part of a search. It holds no more than the newest hits, each with a part of its text."""

    def __init__(self, question: Question, *, seconds: float | None = None, beat: Beat | None = None) -> None:
        self._question = question
        self._matcher = Matcher(question)
        self._finder = LineFinder(self._matcher.needle)
        self._until = None if seconds is None else time.monotonic() + seconds
        self._beat = beat or Beat()
        self._oldest: int | None = None
        """The time of the oldest hit that is still given."""
        self._file = 0
        self._tools: dict[str, str] | None = None
        self.result = Scanned()

    def all(self, files: Sequence[SessionFile], advance: Callable[[int], object] | None = None) -> Scanned:
        """Look through files and return what was found."""
        result = self.result
        for number, file in enumerate(files):
            if self._is_over():
                break
            self._file, self._tools = number, None
            try:
                self._look_into(file)
            except ClewError as error:
                result.skipped.append(Skipped(file.path, error.message))
            except OSError as error:
                result.skipped.append(Skipped(file.path, reason(error)))
            else:
                result.files += not result.is_partial
            if advance is not None:
                advance(1)
        self._forget()
        return result

    def _is_over(self) -> bool:
        if self._until is not None and time.monotonic() > self._until:
            self.result.is_partial = True
        return self.result.is_partial

    def _look_into(self, file: SessionFile) -> None:
        for line in self._finder.lines(file.path):
            if line.raw is None:
                self._long_line(file, line)
            else:
                self._line(file, line.offset, line.raw)
            if self._is_over():
                return

    def _line(self, file: SessionFile, offset: int, raw: bytes) -> None:
        found = quick_texts(raw)
        if found is None and len(raw) > LONG:
            found = texts(Entry(raw.rstrip(b" \t\r\n"), offset=offset))
        if found is not None:
            self._texts(file, raw, found, offset, len(raw))
            return
        for item in read(io.BytesIO(raw).readline, start=offset):
            if isinstance(item, Record):
                self._texts(file, item.facts, texts(item.decoded()), item.offset, item.length)

    def _texts(
        self, file: SessionFile, facts: Skim | bytes, found: list[Text], offset: int, length: int
    ) -> list[Text]:
        """Look through the texts of a line and return those that hold nothing. Its facts may be still raw."""
        rest: list[Text] = []
        for text, places in zip(found, self._places([text.text for text in found], offset), strict=False):
            if places:
                if isinstance(facts, bytes):
                    facts = skim(facts) or Skim()
                self._take(file, facts, text, places, offset, length)
            else:
                rest.append(text)
        return rest

    def _long_line(self, file: SessionFile, line: RawLine) -> None:
        """Look through a line too long to hold: its short strings as usual, its long ones piece by piece."""
        with FileSource(file.path) as source:
            end = line.offset + line.length
            for item in scan(_Part(source, end), start=line.offset):
                if not isinstance(item, Record) or item.offset >= end:
                    break
                rest = self._texts(file, item.facts, texts(item.decoded()), item.offset, item.length)
                for string in long_strings(source, line, longer_than=_ABRIDGED):
                    # Known by its beginning, which the abridged text has.
                    text = next((text for text in rest if string.head and string.head in text.text), None)
                    hit = None if text is None else self._in_pieces(string.pieces, line.offset)
                    if text is not None and hit is not None:
                        rest.remove(text)
                        window, places = hit
                        whole = text._replace(text=window)
                        self._take(file, item.facts, whole, places, item.offset, item.length)

    def _in_pieces(self, pieces: Iterator[str], offset: int) -> tuple[str, list[Range]] | None:
        held = ""
        for piece in pieces:
            window = held + piece
            if (places := self._places([window], offset)) and places[0]:
                return window, places[0]
            held = window[-_OVERLAP:]
        return None

    def _places(self, line: list[str], offset: int) -> list[list[Range]]:
        self._beat.begin(self._file, offset)
        places = self._matcher.all(line)
        self._beat.end()
        return places

    def _take(
        self, file: SessionFile, facts: Skim, text: Text, places: list[Range], offset: int, length: int
    ) -> None:
        question, result = self._question, self.result
        call = _call(facts, text)
        tool = text.tool
        if question.filters_tools and tool is None and call is not None:
            if self._tools is None:
                self._tools = tools_in(file.path)
            tool = self._tools.get(call)
        if question.keep is not None and not question.keep(Spot(file, facts, text, tool)):
            return
        result.total += 1
        result.by_field[text.field] = result.by_field.get(text.field, 0) + 1
        ms = milliseconds(facts.time)
        if ms is None:
            ms = file.mtime_ns // 1_000_000
        if self._oldest is not None and ms < self._oldest:
            return
        cut, ranges = _excerpt(text.text, places)
        session = file.session if file.is_agent else file.id
        found = Found(
            file.path,
            session or facts.session_id,
            0,
            offset,
            length,
            facts.uuid,
            facts.time,
            text.field,
            tool,
            text.is_error,
            text.block,
            cut,
            ranges,
            ms,
            call,
        )
        result.found.append(found)
        if len(result.found) >= 2 * question.limit + 100:
            self._forget()

    def _forget(self) -> None:
        """Keep only the newest hits."""
        result = self.result
        result.found.sort(key=newest_first)
        del result.found[self._question.limit :]
        if result.found:
            self._oldest = result.found[-1].ms


@dataclass(frozen=True, slots=True)
class _Part:
    """A file up to the end of one line."""

    source: FileSource
    size: int

    def read(self, offset: int, length: int) -> bytes:
        return self.source.read(offset, min(length, self.size - offset))


def _excerpt(text: str, places: Sequence[Range]) -> tuple[str, tuple[Range, ...]]:
    if len(text) <= EXCERPT:
        return text, tuple(places)
    start = max(0, min(places[0][0] - _BEFORE, len(text) - EXCERPT))
    end = start + EXCERPT
    return text[start:end], tuple(
        (first - start, min(last, end) - start) for first, last in places if first < end
    )


def _call(facts: Skim, text: Text) -> str | None:
    """Return the id of the call that a result belongs to."""
    body = facts.body
    if text.field != "tool_result" or not isinstance(body, list) or text.block >= len(body):
        return None
    return body[text.block].tool_use_id


def tools_in(path: str) -> dict[str, str]:
    """Return by the id of each call in a file the name of its tool."""
    names: dict[str, str] = {}
    for line in LineFinder(_CALLS).lines(path):
        facts = None if line.raw is None else skim(line.raw)
        body = None if facts is None else facts.body
        if isinstance(body, list):
            names |= {block.id: block.name for block in body if block.id and block.name}
    return names
