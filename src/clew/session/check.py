"""List every problem of a session by code, in one pass over its records; nothing is repaired.

A fold: a session of a gigabyte takes a few dozen bytes a line. What the codes mean is in
`clew.session.problems`; whether the client would resume is known to `clew.session.context` and comes in.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import orjson

from clew.format import blocks, known
from clew.format.decode import DecodeError, decode
from clew.format.entry import Entry
from clew.format.lines import BytesSource
from clew.format.records import Fragment, Record, scan
from clew.format.times import milliseconds
from clew.session.api_rules import MANY_IMAGES, MOST_IMAGE_BYTES, MOST_IMAGE_PIXELS, MOST_PIXELS_OF_MANY
from clew.session.graph import BOUNDARY, MISSING, NODE, Links
from clew.session.ids import IdIndex, id_hash
from clew.session.problems import Code, Problem, Severity, problem
from clew.session.session import TableBuilder
from clew.session.tallies import DamageTally

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.format.lines import Source
    from clew.format.salvage import Damage
    from clew.session.session import Table

_MOST: Final = 10_000
"""Problems of one code that are listed singly; the rest are counted."""
_MOST_NAMES: Final = 1000
_WHOLE: Final = 24 << 20
"""A line cut short in passing is looked at whole up to this length: the images are in such lines."""

_CODES: Final[Mapping[Damage, Code]] = {
    "torn": "torn-line",
    "spliced": "spliced",
    "nul": "nul-run",
    "garbage": "garbage",
    "not-a-record": "not-a-record",
    "too-deep": "too-deep",
    "too-long": "too-long",
}


DAMAGE: Final[frozenset[Code]] = frozenset({*_CODES.values(), "glued"})
"""What a line may have that is not exactly one record."""


@dataclass(frozen=True, slots=True)
class Report:
    """What a check found, in file order; what concerns the whole file comes last."""

    problems: tuple[Problem, ...]
    counts: Mapping[Code, int]
    """How many there are of each code, those included that are not listed singly."""

    resumable: bool
    damaged: int = 0
    """Lines that are not exactly one record: those with a problem of one of the codes in `DAMAGE`."""

    @property
    def worst(self) -> Severity | None:
        """The worst severity found."""
        found = {one.severity for one in self.problems}
        return next((one for one in ("error", "warning", "info") if one in found), None)


def check(
    source: Source | bytes, *, name: str | None = None, is_live: bool = False, refused: str | None = None
) -> Report:
    """Check a session in one go."""
    origin = BytesSource(source) if isinstance(source, bytes) else source
    checker = Checker(name=name, is_live=is_live, source=origin)
    for item in scan(origin):
        checker.add(item)
    return checker.finish(refused=refused)


class Checker:
    """Takes the records and fragments of one file in order, and tells at the end what is wrong."""

    def __init__(
        self,
        *,
        name: str | None = None,
        is_live: bool = False,
        source: Source | None = None,
        most: int = _MOST,
    ) -> None:
        self._name = name
        self._is_live = is_live
        self._source = source
        self._most = most
        self._problems: list[Problem] = []
        self._counts: Counter[Code] = Counter()
        self._builder = TableBuilder()
        self._digests: dict[int, int] = {}
        """Of lines that cannot be read again as they came."""
        self._superseded = bytearray()
        self._calls = _Ids()
        self._results = _Ids()
        self._leaves: list[tuple[int, int]] = []
        self._last_prompt: tuple[int, int] | None = None
        self._joins: list[tuple[int, int]] = []
        self._unknown: dict[str, tuple[int, int]] = {}
        self._session_ids: Counter[str] = Counter()
        self._images = 0
        self._large_images: list[tuple[int, str]] = []
        self._time: int | None = None
        self._late: tuple[int, int] | None = None
        self._before: Record | Fragment | None = None
        self._last_message: int | None = None
        self._is_error_last = False
        self._damage = DamageTally()

    @property
    def table(self) -> Table:
        """The line table of what was taken so far."""
        return self._builder.table

    def add(self, item: Record | Fragment) -> None:
        """Take the next record or fragment of the file."""
        self._damage.add(item)
        if isinstance(item, Fragment):
            self._fragment(item)
        else:
            self._record(item)
        self._before = item

    def finish(
        self,
        *,
        refused: str | None = None,
        reach: tuple[int, int] | None = None,
        links: Links | None = None,
    ) -> Report:
        """Return what was found.

        `refused` is why the client would not resume; `reach` how many lines of the conversation lie on the
        path to its end, and how many there are; `links` are those of the table, where they were made already.
        """
        if isinstance(self._before, Record) and not self._before.is_terminated:
            self._say("missing-newline", len(self.table) - 1)
        self._graph(links or Links(self.table))
        self._pairs()
        self._end()
        if reach is not None and reach[0] * 2 < reach[1]:
            self._file("unreachable", f"{reach[0]} of {reach[1]} lines are")
        if refused is not None:
            self._file("not-resumable", refused)
        for code, count in self._counts.items():
            if count > self._most:
                self._problems.append(problem(code, f"{count - self._most} more of these are not listed"))
        last = float("inf")
        found = sorted(self._problems, key=lambda one: last if one.offset is None else one.offset)
        # The unfinished end of a live session is being written, not damaged.
        damaged = self._damage.lines - (self._is_live and self._damage.is_unfinished)
        return Report(tuple(found), dict(self._counts), refused is None, damaged)

    # What is said ---------------------------------------------------------------------------------

    def _say(self, code: Code, row: int, detail: str = "", severity: Severity | None = None) -> None:
        self._counts[code] += 1
        if self._counts[code] <= self._most:
            table = self.table
            line, offset, length = table.number[row], table.offset[row], table.length[row]
            found = problem(code, detail, line=line, offset=offset, length=length, severity=severity)
            self._problems.append(found)

    def _file(self, code: Code, detail: str) -> None:
        self._counts[code] += 1
        self._problems.append(problem(code, detail))

    # In passing -----------------------------------------------------------------------------------

    def _fragment(self, item: Fragment) -> None:
        code = "being-written" if item.is_last and self._is_live else _CODES[item.damage]
        self._counts[code] += 1
        if self._counts[code] <= self._most:
            detail = "it ends in what may be a whole record" if item.is_probable else ""
            found = problem(code, detail, line=item.number, offset=item.offset, length=item.length)
            self._problems.append(found)

    def _record(self, record: Record) -> None:
        facts = record.facts
        row = self._builder.add(record)
        if facts.uuid is not None and (record.is_abridged or self._source is None):
            self._digests[row] = hash((record.raw.strip(), record.is_abridged and record.length))
        before = self._before
        if not record.is_whole and isinstance(before, Record) and before.number == record.number:
            self._say("glued", row)
        if record.is_abridged:
            self._say("large-record", row, f"{record.length / 1e6:.0f} MB")
        if record.has_bom:
            self._say("bom", row)
        elif record.raw.endswith(b"\r\n") and not self._counts["crlf"]:
            self._say("crlf", row)
        entry = self._whole(record) if record.is_abridged else record.decoded()
        self._text(entry, row)
        self._entry(entry, row)
        self._clock(record, row)
        if facts.session_id is not None and _has_room(self._session_ids, facts.session_id):
            self._session_ids[facts.session_id] += 1

    def _whole(self, record: Record) -> Entry:
        """Return a record decoded that was cut short in passing: read again, unless it is too long."""
        if self._source is None or record.length > _WHOLE:
            return record.decoded()
        raw = self._source.read(record.offset, record.length).rstrip()
        try:
            return Entry(raw, offset=record.offset, number=record.number, decoded=decode(raw))
        except DecodeError:  # the file changed while it was read
            return record.decoded()

    def _text(self, entry: Entry, row: int) -> None:
        quirks = entry.decoded.quirks
        for quirk in sorted(quirks) if quirks else ():
            is_sent = entry.type in {"user", "assistant"}
            mild = quirk == "lone-surrogate" and not is_sent
            self._say(quirk, row, severity="warning" if mild else None)
        if (
            not entry.is_abridged
            and not _is_as_written(entry)
            and (key := _repeated_key(entry.raw)) is not None
        ):
            self._say("duplicate-keys", row, repr(key[:80]))

    def _entry(self, entry: Entry, row: int) -> None:
        data = entry.data
        kind = known.kind_of(data)
        if not known.is_known_type(kind):
            first, count = self._unknown.get(kind, (row, 0))
            if count or len(self._unknown) < _MOST_NAMES:
                self._unknown[kind] = first, count + 1
        if kind in {"user", "assistant"}:
            self._message(entry, row)
        elif kind == BOUNDARY and (joined := id_hash(entry.logical_parent_uuid)):
            self._joins.append((joined, row))
        elif kind == "last-prompt" and (leaf := id_hash(entry.text("leafUuid"))):
            self._last_prompt = leaf, row
        elif (
            kind == "summary" and (leaf := id_hash(entry.text("leafUuid"))) and len(self._leaves) < self._most
        ):
            self._leaves.append((leaf, row))

    def _message(self, entry: Entry, row: int) -> None:
        if not entry.is_sidechain:
            self._last_message = row
            self._is_error_last = entry.is_api_error
        for block in blocks.blocks(entry.content):
            # The most frequent first: each question is asked of millions of blocks.
            match block:
                case blocks.Text():
                    if not block.text or block.text.isspace():
                        self._say("empty-text-block", row)
                case blocks.ServerToolUse() | blocks.ServerToolResult():
                    pass
                case blocks.ToolUse():
                    self._calls.add(id_hash(block.id), row)
                case blocks.ToolResult():
                    self._results.add(id_hash(block.tool_use_id), row)
                    self._pictures(block, row)
                case blocks.Thinking():
                    if not block.signature:
                        self._say("thinking-unsigned", row)
                    elif not block.text:
                        self._say("thinking-empty", row)
                case blocks.Image():
                    self._image(block, row)
                case _:
                    pass

    def _pictures(self, result: blocks.ToolResult, row: int) -> None:
        # Most results are one string.
        if not isinstance(result.data.get("content"), str):
            for inner in result.content:
                if isinstance(inner, blocks.Image):
                    self._image(inner, row)

    def _image(self, image: blocks.Image, row: int) -> None:
        self._images += 1
        size, pixels = len(image.base64 or ""), image.size or (0, 0)
        words = f"{pixels[0]} x {pixels[1]} pixels"
        if size > MOST_IMAGE_BYTES:
            self._say("oversized-image", row, f"{size / (1 << 20):.1f} MB in base64")
        elif max(pixels) > MOST_IMAGE_PIXELS:
            self._say("oversized-image", row, words)
        elif max(pixels) > MOST_PIXELS_OF_MANY and len(self._large_images) < self._most:
            self._large_images.append((row, words))

    def _clock(self, record: Record, row: int) -> None:
        text = record.facts.time
        if text is None:
            is_there = record.decoded().data.get("timestamp") is not None
            if is_there or record.facts.uuid is not None:
                self._say("bad-timestamp" if is_there else "missing-timestamp", row)
            return
        time = milliseconds(text)
        if time is None:
            self._say("bad-timestamp", row, repr(text[:80]))
        elif record.facts.uuid is not None and not record.facts.is_sidechain:
            if self._time is not None and time < self._time:
                first, count = self._late or (row, 0)
                self._late = first, count + 1
            self._time = time

    # At the end -----------------------------------------------------------------------------------

    def _graph(self, links: Links) -> None:
        ids, marks = links.ids, links.marks
        self._superseded = bytearray(
            bool(key) and not mark & NODE for key, mark in zip(self.table.uuid, marks, strict=True)
        )
        for row, mark in enumerate(marks):
            if mark & MISSING:
                self._say("missing-parent", row)
            if mark & NODE and ids.earlier[row] >= 0:
                self._copies(row, ids)
        for cycle in links.cycles:
            self._say("cycle", cycle[0], f"of {len(cycle)} lines")
        for key, row in self._joins:
            if ids.last(key) < 0:
                self._say("dangling-logical-parent", row)
        for key, row in self._leaves:
            if ids.last(key) < 0:
                self._say("dangling-leaf", row, "it may be in another file")
        if self._last_prompt is not None and ids.last(self._last_prompt[0]) < 0:
            self._say("dangling-leaf", self._last_prompt[1], severity="warning")

    def _copies(self, row: int, ids: IdIndex) -> None:
        count, is_same = 1, True
        other = ids.earlier[row]
        while other >= 0:
            count += 1
            is_same &= self._digest(other) == self._digest(row)
            other = ids.earlier[other]
        self._say("duplicate-uuid" if is_same else "conflicting-uuid", row, f"{count} times, here the last")

    def _digest(self, row: int) -> int:
        """Tell lines apart that say they are the same. Few do: those are read again, and no others kept."""
        found = self._digests.get(row)
        if found is None and self._source is not None:
            raw = self._source.read(self.table.offset[row], self.table.length[row])
            found = self._digests[row] = hash((raw.strip(), False))
        return found or 0

    def _pairs(self) -> None:
        superseded = self._superseded
        calls, results = self._calls.without(superseded), self._results.without(superseded)
        of_calls, of_results = IdIndex(calls.key), IdIndex(results.key)
        first = array("i", calls.row)
        for at, over in enumerate(of_calls.earlier):
            if over >= 0:
                first[at] = first[over]
            elif of_results.last(calls.key[at]) < 0:
                self._say("unpaired-call", calls.row[at])
        for at, row in enumerate(results.row):
            call = of_calls.last(results.key[at])
            if of_results.earlier[at] >= 0:
                self._say("duplicate-result", row)
            elif call < 0:
                self._say("unpaired-result", row)
            elif row < first[call]:
                self._say("result-order", row)

    def _end(self) -> None:
        for kind, (row, count) in self._unknown.items():
            self._say("unknown-type", row, f"{kind[:80]!r}, {_times(count)}, here the first")
        if self._late is not None:
            row, count = self._late
            self._say("time-out-of-order", row, f"{_times(count)}, here the first")
        if self._images > MANY_IMAGES:
            for row, words in self._large_images:
                self._say("oversized-image", row, f"{words}, among {self._images} images", "warning")
        if self._is_error_last and self._last_message is not None:
            self._say("api-error-last", self._last_message)
        names = [name for name, _ in self._session_ids.most_common()]
        if len(names) > 1:
            self._file("many-session-ids", ", ".join(one[:80] for one in names[:8]))
        # A sub-agent's file is named after the agent, and its lines after the session that started it.
        is_named = self._name is not None and not self._name.startswith("agent-")
        if self._name is not None and is_named and names and self._name not in names:
            self._file("name-differs", f"{self._name[:80]} holds {names[0][:80]}")


class _Ids:
    """Ids as hashes, and the rows they were met in."""

    def __init__(self) -> None:
        self.key = array("q")
        self.row = array("i")

    def add(self, key: int, row: int) -> None:
        self.key.append(key)
        self.row.append(row)

    def without(self, rows: bytearray) -> _Ids:
        """Return the ids but those of the rows marked."""
        kept = _Ids()
        for key, row in zip(self.key, self.row, strict=True):
            if not rows[row]:
                kept.add(key, row)
        return kept


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _has_room(names: Mapping[str, int], name: str) -> bool:
    """Say whether another name may be kept: a hostile file may have a new one on every line."""
    return name in names or (len(names) < _MOST_NAMES and len(name) <= 1000)


def _is_as_written(entry: Entry) -> bool:
    """Say whether writing the record anew gives the same bytes: then no key of it was lost."""
    try:
        return orjson.dumps(entry.data) == entry.raw
    except TypeError:  # half a character, or an integer of more than 64 bits
        return False


def _repeated_key(raw: bytes) -> str | None:
    """Return a key that stands twice in one object."""
    found: list[str] = []

    def collect(pairs: list[tuple[str, object]]) -> dict[str, object]:
        unique = dict(pairs)
        if len(unique) < len(pairs):
            seen: set[str] = set()
            found.append(next(key for key, _ in pairs if key in seen or seen.add(key)))
        return unique

    try:
        json.loads(raw.decode("utf-8", "replace"), object_pairs_hook=collect, parse_int=float)
    except (ValueError, RecursionError):
        return None
    return found[0] if found else None
