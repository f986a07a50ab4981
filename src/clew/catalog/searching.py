# ruff: noqa: S608
"""Ask the index which lines hold some words: the newest first, or the best.

Given are lines, not texts: no text is kept in the index. Whoever asks reads each line where it stands and
looks for the words in it, so that what is shown is what the file has now.
"""

from __future__ import annotations

import heapq
import json
import os
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import msgspec

from clew.catalog.place import SHARDS, path_value
from clew.catalog.schema import IS_ABRIDGED, NEWEST, TALK, TOOLS
from clew.catalog.sources import SPILLED
from clew.session.layout import Runs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.catalog.database import Database
    from clew.catalog.query import Query
    from clew.session.layout import Place

FEW: Final = 600
"""Up to so many lines all are fetched and sorted; with more, files are gone through, the newest first."""

COUNTED: Final = 2_000
"""How many lines of one shard and table are counted at most."""

VISITED: Final = 100
"""Files gone through one by one, before it is asked at once which of the others hold the words at all."""

RANKED: Final = 5_000
"""How many of the best lines of a shard are sorted."""

LOOKED_AT: Final = 20_000
"""Words of one table that are compared with one that was not found, at most."""

ALIKE: Final = 0.75
"""How like a word must be to be named; 1 is the same."""

TableName = Literal["talk", "tools"]
_COLUMNS: Final[dict[TableName, tuple[str, ...]]] = {"talk": TALK, "tools": TOOLS}


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the index."""

    query: Query
    fields: frozenset[str] | None = None
    """Where to look; None for everywhere."""

    role: Literal["user", "assistant"] | None = None
    owners: frozenset[str] | None = None
    """The sessions meant, by the paths of their own files; sub-agents and outputs belong to them."""

    since_ms: int | None = None
    until_ms: int | None = None
    by_rank: bool = False

    @property
    def narrows(self) -> bool:
        """Whether lines are left out for something else than their words."""
        return any(one is not None for one in (self.role, self.owners, self.since_ms, self.until_ms))


class Source(NamedTuple):
    """The file of a line."""

    shard: int
    id: int
    path: str
    kind: int
    """SESSION, AGENT or SPILLED of `sources`."""

    session: str
    owner: str
    """The path of the session's own file."""

    name: str
    stamp: tuple[int, ...]
    """Device, inode, size and time of the file that was read; another may have come to its place."""


class Line(NamedTuple):
    """A line that holds the words, as the index says."""

    ms: int
    """What it is ordered by: its time, or where it has none that of its file's newest line."""

    source: Source
    id: int
    table: TableName
    number: int
    """From 1; 0 for a piece of an output, which has no lines."""

    offset: int
    length: int
    time_ms: int | None
    flags: int
    rank: float = 0.0

    @property
    def is_output(self) -> bool:
        """Whether it is a piece of a tool's output in a file of its own."""
        return self.source.kind == SPILLED

    @property
    def is_abridged(self) -> bool:
        """Whether the line is too long to be held."""
        return bool(self.flags & IS_ABRIDGED)


_MS: Final = (
    "coalesce(e.time_ms, (SELECT coalesce(f.newest_ms, f.mtime_ns / 1000000) FROM {s}.source f "
    "WHERE f.id = e.source))"
)
_ENTRY: Final = f"e.id, e.source, e.line, e.offset, e.length, e.time_ms, e.flags, {_MS}"


class Search:
    """One question to the index. `database` is that of `Catalog.reading`."""

    def __init__(self, database: Database, asked: Asked) -> None:
        self._database = database
        self._asked = asked
        self._sources: dict[tuple[int, int], Source] = {}
        self._tables: list[tuple[TableName, str]] = [
            (name, asked.query.fts(chosen if len(chosen) < len(columns) else ()))
            for name, columns in _COLUMNS.items()
            if (chosen := [one for one in columns if asked.fields is None or one in asked.fields])
        ]
        self._conditions = [self._condition(shard) for shard in range(SHARDS)]
        self._counted: tuple[int, bool] | None = None

    # --- statements -----------------------------------------------------------------------------------------

    def _condition(self, shard: int) -> tuple[str, tuple[object, ...]]:
        """Return what a line of a shard must fulfil beside holding the words, with its values."""
        asked = self._asked
        terms: list[str] = []
        values: list[object] = []
        if asked.role is not None:
            # An output in a file of its own is a result, and results stand under the user's role.
            terms.append(f"e.sort IN (SELECT id FROM s{shard}.sort WHERE role = ? OR kind = ?)")
            values += [asked.role, "tool-results" if asked.role == "user" else ""]
        if asked.owners is not None:
            terms.append("e.source IN (SELECT value FROM json_each(?))")
            values.append(json.dumps(self._owned(shard, asked.owners)))
        ms = _MS.replace("{s}", f"s{shard}")
        if asked.since_ms is not None:
            terms.append(f"{ms} >= ?")
            values.append(asked.since_ms)
        if asked.until_ms is not None:
            terms.append(f"{ms} < ?")
            values.append(asked.until_ms)
        return "".join(f" AND {term}" for term in terms), tuple(values)

    def _owned(self, shard: int, owners: frozenset[str]) -> list[int]:
        query = f"SELECT id FROM s{shard}.source WHERE owner = ? OR path = ?"
        return [
            source
            for owner in owners
            for (source,) in self._database.execute(query, (path_value(owner),) * 2)
        ]

    def _rows(
        self, shard: int, name: TableName, match: str, *, more: str = "", values: tuple[object, ...] = ()
    ) -> Iterator[Line]:
        """Give the lines of a table; `more` are further conditions and what comes after them."""
        condition, given = self._conditions[shard]
        query = (
            f"SELECT {_ENTRY.replace('{s}', f's{shard}')}, t.rank FROM s{shard}.{name} t "
            f"CROSS JOIN s{shard}.entry e ON e.id = t.rowid WHERE t.{name} MATCH ?{condition}{more}"
        )
        if not self._asked.by_rank:
            query = query.replace(", t.rank FROM", ", 0.0 FROM")
        for number, source, line, offset, length, time_ms, flags, ms, rank in self._database.execute(
            query, (match, *given, *values)
        ):
            found = self._source(shard, source)
            if found is not None:
                yield Line(ms or 0, found, number, name, line, offset, length, time_ms, flags, rank)

    def _source(self, shard: int, source: int) -> Source | None:
        key = shard, source
        found = self._sources.get(key)
        if found is None:
            row = self._database.execute(
                "SELECT path, kind, session, owner, name, device, inode, size, mtime_ns "
                f"FROM s{shard}.source WHERE id = ?",
                (source,),
            ).fetchone()
            if row is None:
                return None
            path, kind, session, owner, name, *stamp = row
            paths = os.fsdecode(path), os.fsdecode(owner), os.fsdecode(name)
            found = self._sources[key] = Source(
                shard, source, paths[0], kind, session, paths[1], paths[2], tuple(stamp)
            )
        return found

    # --- counting -------------------------------------------------------------------------------------------

    def count(self) -> tuple[int, bool]:
        """Return how many lines there are, of each table, and whether that is all of them."""
        if self._counted is None:
            many = [
                self._many(shard, table, COUNTED + 1) for shard in range(SHARDS) for table in self._tables
            ]
            self._counted = sum(min(one, COUNTED) for one in many), max(many, default=0) <= COUNTED
        return self._counted

    def _is_few(self) -> bool:
        """Say whether there are so few lines that all can be fetched; it takes no long count to know."""
        if self._counted is None:
            many = 0
            for shard in range(SHARDS):
                for table in self._tables:
                    many += self._many(shard, table, FEW + 1 - many)
                    if many > FEW:
                        return False
            self._counted = many, True
        return self._counted[1] and self._counted[0] <= FEW

    def _many(self, shard: int, table: tuple[TableName, str], most: int) -> int:
        name, match = table
        condition, given = self._conditions[shard]
        join = f"CROSS JOIN s{shard}.entry e ON e.id = t.rowid" if self._asked.narrows else ""
        ((many,),) = self._database.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM s{shard}.{name} t {join} "
            f"WHERE t.{name} MATCH ?{condition} LIMIT {most})",
            (match, *given),
        ).fetchall()
        return many

    # --- lines ----------------------------------------------------------------------------------------------

    def lines(self) -> Iterator[Line]:
        """Give the lines, the newest first or the best; no more is fetched than is taken."""
        if self._asked.by_rank:
            yield from self._best()
        elif self._is_few():
            yield from sorted(self._all(), key=newest_first)
        else:
            yield from self._by_file()

    def _all(self) -> Iterator[Line]:
        for shard in range(SHARDS):
            for name, match in self._tables:
                yield from self._rows(shard, name, match)

    def _best(self) -> Iterator[Line]:
        found: list[Line] = []
        for shard in range(SHARDS):
            for name, match in self._tables:
                found += self._rows(shard, name, match, more=f" ORDER BY t.rank LIMIT {RANKED}")
        yield from sorted(found, key=lambda line: (line.rank, *newest_first(line)))

    def _by_file(self) -> Iterator[Line]:
        """Go through the files, the one with the newest line first."""
        waiting: list[tuple[tuple[int, str, int], int, Line]] = []
        taken = 0
        holding: set[tuple[int, int]] | None = None
        for visited, (newest, shard, source) in enumerate(self._files()):
            while waiting and waiting[0][2].ms > newest:
                yield heapq.heappop(waiting)[2]
            if visited == VISITED:
                # The words are rare after all, or only in old files.
                holding = self._holding()
            if holding is None or (shard, source) in holding:
                for line in self._in_file(shard, source):
                    taken += 1
                    heapq.heappush(waiting, (newest_first(line), taken, line))
        while waiting:
            yield heapq.heappop(waiting)[2]

    def _files(self) -> Iterator[tuple[int, int, int]]:
        """Give the files in question, the one with the newest line first: that line's time, shard, source."""
        return heapq.merge(*map(self._files_of, range(SHARDS)), reverse=True)

    def _files_of(self, shard: int) -> Iterator[tuple[int, int, int]]:
        owners = self._asked.owners
        own = None if owners is None else set(self._owned(shard, owners))
        # There is an index of just this, so that no more are fetched than are looked at.
        rows = self._database.execute(
            f"SELECT {NEWEST}, id FROM s{shard}.source ORDER BY {NEWEST} DESC, id DESC"
        )
        return ((ms, shard, source) for ms, source in rows if own is None or source in own)

    def _in_file(self, shard: int, source: int) -> Iterator[Line]:
        spans = self._database.execute(
            f"SELECT first, last FROM s{shard}.span WHERE source = ?",
            (source,),
        ).fetchall()
        for span in spans:
            for name, match in self._tables:
                yield from self._rows(shard, name, match, more=" AND t.rowid BETWEEN ? AND ?", values=span)

    def _holding(self) -> set[tuple[int, int]]:
        """Return the files that hold the words at all."""
        found: set[tuple[int, int]] = set()
        for shard in range(SHARDS):
            spans = self._database.execute(
                f"SELECT first, source FROM s{shard}.span ORDER BY first"
            ).fetchall()
            firsts = [first for first, _ in spans]
            for name, match in self._tables:
                query = f"SELECT rowid FROM s{shard}.{name} WHERE {name} MATCH ? ORDER BY rowid"
                for (number,) in self._database.execute(query, (match,)):
                    at = bisect_right(firsts, number) - 1
                    if at >= 0:
                        found.add((shard, spans[at][1]))
        return found


def newest_first(line: Line) -> tuple[int, str, int]:
    """Order lines: the newest first, and of one time the last in its file."""
    return -line.ms, line.source.path, -line.offset


# --- words like those asked for -----------------------------------------------------------------------------


def similar(database: Database, word: str, *, many: int = 3) -> list[str]:
    """Return words of the index that one may have meant, the likeliest first; none if it has the word itself.

    Looked at are those that begin alike: a slip in the first letters is rare, and the words are millions.
    """
    from difflib import SequenceMatcher

    weights: dict[str, int] = {}
    for shard in range(SHARDS):
        for name in _COLUMNS:
            vocabulary = _vocabulary(database, shard, name)
            for start in _starts(word, is_wide=name == "talk"):
                rows = database.execute(
                    f"SELECT term, doc FROM {vocabulary} WHERE term >= ? AND term < ? "
                    f"AND length(term) BETWEEN ? AND ? LIMIT {LOOKED_AT}",
                    (start, start + "\U0010ffff", len(word) - 2, len(word) + 2),
                )
                for term, documents in rows:
                    weights[term] = weights.get(term, 0) + documents
    if word in weights:
        return []
    matcher = SequenceMatcher(b=word, autojunk=False)
    scored: list[tuple[float, int, str]] = []
    for term, weight in weights.items():
        matcher.set_seq1(term)
        if matcher.real_quick_ratio() > ALIKE and matcher.quick_ratio() > ALIKE:
            ratio = matcher.ratio()
            if ratio > ALIKE:
                scored.append((-ratio, -weight, term))
    return [term for _, _, term in sorted(scored)[:many]]


def _starts(word: str, *, is_wide: bool) -> list[str]:
    if is_wide:
        return [word[:1], word[1:2]] if word[:1] != word[1:2] else [word[:1]]
    return list(dict.fromkeys((word[:2], word[1::-1], word[:1] + word[2:3])))


def _vocabulary(database: Database, shard: int, name: TableName) -> str:
    """Return the name of the table of all words of a full-text table, made when first asked for."""
    made = f"words_{name}_{shard}"
    exists = "SELECT 1 FROM temp.sqlite_schema WHERE name = ?"
    if database.execute(exists, (made,)).fetchone() is None:
        # Nothing is written but the name of a table into this connection's own memory.
        database.pragma("query_only", False)
        try:
            database.execute(f"CREATE VIRTUAL TABLE temp.{made} USING fts5vocab(s{shard}, {name}, row)")
        finally:
            database.pragma("query_only", True)
    return f"temp.{made}"


# --- what is told of sessions -------------------------------------------------------------------------------


class About(NamedTuple):
    """What a session is called, and where it was."""

    path: str
    session: str
    title: str | None
    project: str
    folder: str
    ended_ms: int | None


_ABOUT: Final = (
    "SELECT f.path, f.session, x.title, coalesce(nullif(x.cwd, ''), f.folder), f.folder, "
    "coalesce(x.ended_ms, f.newest_ms, f.mtime_ns / 1000000) "
    "FROM {s}.source f LEFT JOIN {s}.session x ON x.source = f.id"
)


def about(database: Database, path: str) -> About | None:
    """Return what is known of the session in a file."""
    for shard in range(SHARDS):
        query = f"{_ABOUT.replace('{s}', f's{shard}')} WHERE f.path = ?"
        for row in database.execute(query, (path_value(path),)):
            return _about(row)
    return None


def all_about(database: Database) -> list[About]:
    """Return what is known of every session."""
    return [
        _about(row)
        for shard in range(SHARDS)
        for row in database.execute(f"{_ABOUT.replace('{s}', f's{shard}')} WHERE f.kind = 0")
    ]


def count_sessions(database: Database) -> int:
    """Return how many sessions there are."""
    ((many,),) = database.execute("SELECT count(*) FROM all_source WHERE kind = 0").fetchall()
    return many


def count_files(database: Database) -> int:
    """Return of how many sessions and sub-agents there are lines, or were looked for."""
    ((many,),) = database.execute("SELECT count(*) FROM all_source WHERE cursor IS NOT NULL").fetchall()
    return many


def _about(row: Sequence[object]) -> About:
    path, session, title, project, folder, ended = row
    text = [os.fsdecode(one) if isinstance(one, bytes | str) else "" for one in (path, project, folder)]
    return About(
        text[0],
        session if isinstance(session, str) else "",
        title if isinstance(title, str) else None,
        text[1],
        text[2],
        ended if isinstance(ended, int) else None,
    )


# --- where a line stands ------------------------------------------------------------------------------------


class Layouts:
    """Where lines of sessions stand; each file is asked about once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[tuple[int, int], tuple[Runs, int] | None] = {}

    def stands(self, line: Line) -> tuple[Place, int | None] | None:
        """Return where a line stands, and in which turn; None where that was not worked out."""
        key = line.source.shard, line.source.id
        if key not in self._known:
            self._known[key] = self._layout(*key)
        known = self._known[key]
        return None if known is None else known[0].at(line.id - known[1])

    def _layout(self, shard: int, source: int) -> tuple[Runs, int] | None:
        rows = self._database.execute(
            "SELECT l.runs, (SELECT min(first) FROM {s}.span p WHERE p.source = f.id) "
            "FROM {s}.layout l JOIN {s}.source f ON f.id = l.source AND f.cursor = l.cursor "
            "WHERE l.source = ?".replace("{s}", f"s{shard}"),
            (source,),
        )
        row = rows.fetchone()
        # Plain lists, which are made a few times as quickly as anything with a name.
        return None if row is None else (Runs(msgspec.msgpack.decode(row[0])), row[1])


# --- lines near a line --------------------------------------------------------------------------------------


def before(database: Database, line: Line, *, many: int) -> list[tuple[int, int]]:
    """Return where the lines stand that lead to a line, its parent first: offset and length.

    Given up where a parent is not among the lines of the same reading.
    """
    found: list[tuple[int, int]] = []
    shard, number = line.source.shard, line.id
    query = f"SELECT source, offset, length, parent FROM s{shard}.entry WHERE id = ?"
    for step in range(many + 1):
        row = database.execute(query, (number,)).fetchone()
        if row is None or row[0] != line.source.id:
            break
        if step:
            found.append((row[1], row[2]))
        if not isinstance(row[3], int):
            break
        number -= row[3]
    return found
