"""Read the lines that an index names, and see what they really hold.

Each line is read where it stands and decoded; whether it holds the words, and where, its texts tell.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clew.actions.raw_lines import LineFinder
from clew.actions.raw_search import tools_in
from clew.catalog.needles import Needle
from clew.catalog.schema import TALK
from clew.catalog.searching import before
from clew.catalog.sources import fit
from clew.errors import ChangedOnDiskError, ClewError
from clew.format.lines import BytesSource
from clew.format.records import Record, scan
from clew.format.skim import Skim, skim
from clew.store.source import FileSource
from clew.tables.texts import Text, quick_texts, texts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from clew.catalog.database import Database
    from clew.catalog.query import Query
    from clew.catalog.searching import Line

_OPEN: Final = 32
"""How many files are held open."""

_STEPS: Final = 8
"""How far up from a result its call is looked for before the whole file is."""

_WORDS: Final = frozenset(TALK)

Range = tuple[int, int]


Doubt = Literal["rewritten", "replaced"]
"""Why lines may be at other places than the index says: the end of their file was cut off and written anew
since it was read, or another file came to its place."""


class Match(NamedTuple):
    """A text that holds the words."""

    text: Text
    ranges: Sequence[Range]
    facts: Skim
    call: str | None
    """For a result the id of its call."""


class Lines:
    """Reads lines of many files."""

    def __init__(self) -> None:
        self._files: OrderedDict[str, FileSource] = OrderedDict()
        self._tools: dict[str, dict[str, str]] = {}
        self.doubt: Doubt | None = None

    def close(self) -> None:
        """Let go of the files."""
        while self._files:
            self._files.popitem()[1].close()

    def matches(self, line: Line, query: Query, fields: Collection[str] | None) -> list[Match]:
        """Return the texts of a line that hold the words; none where the file no longer has them there."""
        try:
            found, facts = self._texts(line)
        except ChangedOnDiskError:
            return self._none(line)
        except ClewError:  # gone, and another may come to its place
            self.doubt = "replaced"
            return []
        is_talk = line.table == "talk"
        chosen = [
            text
            for text in found
            if (text.field in _WORDS) == is_talk and (fields is None or text.field in fields)
        ]
        places = query.match_all([text.text for text in chosen])
        if places is None:
            return self._none(line)
        return [
            Match(text, ranges, facts, call_of(facts, text))
            for text, ranges in zip(chosen, places, strict=True)
            if ranges
        ]

    def _none(self, line: Line) -> list[Match]:
        """Return that there is nothing where the index named a line: has the file changed since?"""
        file = self._file(line.source.path)
        if (file.device, fit(file.inode), file.size, file.mtime_ns) != line.source.stamp:
            self.doubt = self.doubt or "rewritten"
        return []

    def _texts(self, line: Line) -> tuple[list[Text], Skim]:
        file = self._file(line.source.path)
        if (file.device, fit(file.inode)) != line.source.stamp[:2]:
            self.doubt = "replaced"
        if line.is_output:
            said = file.read(line.offset, line.length).decode("utf-8", "replace")
            return [Text("tool_result", said, None, 0, False)], Skim()
        if line.is_abridged:
            return _first(scan(file, start=line.offset))
        raw = file.read(line.offset, line.length)
        found, facts = quick_texts(raw), skim(raw)
        if found is not None and facts is not None:
            return found, facts
        return _first(scan(BytesSource(raw)))

    def _file(self, path: str) -> FileSource:
        file = self._files.get(path)
        if file is None:
            file = self._files[path] = FileSource(path)
            if len(self._files) > _OPEN:
                self._files.popitem(last=False)[1].close()
        else:
            self._files.move_to_end(path)
        return file

    # --- whose result it is ---------------------------------------------------------------------------------

    def tool_of(self, database: Database, line: Line, call: str, *, surely: bool) -> str | None:
        """Return the tool of a call whose result a line has: from the lines it follows, else from any."""
        try:
            for offset, length in before(database, line, many=_STEPS):
                facts = skim(self._file(line.source.path).read(offset, length))
                name = None if facts is None else _called(facts, call)
                if name is not None:
                    return name
        except ClewError:
            return None
        return self.tool_in(line.source.path, call) if surely else None

    def tool_of_output(self, line: Line) -> str | None:
        """Return the tool whose output was put into a file of its own."""
        note = note_of(line.source.owner, line.source.name)
        return self.tool_in(line.source.owner, note.call) if note is not None and note.call else None

    def tool_in(self, path: str, call: str) -> str | None:
        """Return the tool of a call that is somewhere in a file."""
        if path not in self._tools:
            try:
                self._tools[path] = tools_in(path)
            except (ClewError, OSError):
                self._tools[path] = {}
        return self._tools[path].get(call)


def _first(items: Iterator[object]) -> tuple[list[Text], Skim]:
    item = next(items, None)
    return (texts(item.decoded()), item.facts) if isinstance(item, Record) else ([], Skim())


def call_of(facts: Skim, text: Text) -> str | None:
    """Return the id of the call that a result belongs to."""
    body = facts.body
    if text.field != "tool_result" or not isinstance(body, list) or text.block >= len(body):
        return None
    return body[text.block].tool_use_id


def _called(facts: Skim, call: str) -> str | None:
    body = facts.body
    blocks = body if isinstance(body, list) else []
    return next((block.name for block in blocks if block.id == call), None)


class Note(NamedTuple):
    """The line of a session that says where a tool's output was put."""

    offset: int
    facts: Skim
    call: str | None


def note_of(path: str, name: str) -> Note | None:
    """Find the line of a session file that names the file of an output."""
    spellings = tuple(
        dict.fromkeys(one.encode() for one in (name, name.partition(".")[0]) if one.isascii() and one)
    )
    for spelling in spellings:
        try:
            for line in LineFinder(Needle((spelling,))).lines(path):
                facts = None if line.raw is None else skim(line.raw)
                body = None if facts is None else facts.body
                if facts is None or facts.role != "user" or not isinstance(body, list):
                    continue
                calls = [block.tool_use_id for block in body if block.tool_use_id]
                if calls:
                    return Note(line.offset, facts, calls[0])
        except (ClewError, OSError):
            return None
    return None
