"""What the messages of a store used, as the catalog has it added up: by quarter of an hour, model, file…

A message that stands in several files is in the sums of each of them. `copies` tells of those, one by one, so
that whoever adds up can count each once. Nothing here knows groups or prices.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from clew.catalog.place import SHARDS
from clew.catalog.tariff import LIMITS
from clew.session.pricing import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from clew.catalog.database import Database
    from clew.session.usage import Terms

QUARTER_MS: Final = 900_000
"""A quarter of an hour: every zone's days begin at one."""

_QUARTERS: Final = 96
DAYS: Final = f"(quarter - ((quarter % {_QUARTERS}) + {_QUARTERS}) % {_QUARTERS}) / {_QUARTERS}"
"""The UTC day of a quarter, in SQL."""

Beside = Literal["source", "agent", "branch"]
"""What sums may be told apart by, beside time, model, terms and tier."""

_COUNTED: Final = 1
_PROMPT: Final = "input + cache_read + cache_5m + cache_1h"
_TIER: Final = " + ".join(["0", *(f"({_PROMPT} > {limit})" for limit in LIMITS)])
_SUMS: Final = "sum(messages), sum(output), sum(input), sum(cache_read), sum(cache_5m), sum(cache_1h)"
_FLOOR: Final = "({0} - (({0} % {1}) + {1}) % {1}) / {1}"
_DAY: Final = _FLOOR.format("time_ms", 86_400_000)
ADVISER: Final = (
    "input_tokens", "output_tokens", "cache_read_tokens", "cache_write_5m_tokens", "cache_write_1h_tokens",
)  # fmt: skip


_ALIKE: Final = "time_ms, model, terms, output, input, cache_read, cache_5m, cache_1h"
_EACH: Final = " UNION ALL ".join(
    f"SELECT x.key, x.time_ms, m.text AS model, t.text AS terms, x.output, x.input, x.cache_read, "  # noqa: S608
    f"x.cache_5m, x.cache_1h FROM s{number}.message x JOIN s{number}.name t ON t.id = x.terms "
    f"LEFT JOIN s{number}.name m ON m.id = x.model WHERE x.shared AND x.marks & {_COUNTED}"
    for number in range(SHARDS)
)
_COPIED: Final = f"SELECT key, {_ALIKE}, count(*) FROM ({_EACH}) GROUP BY key, {_ALIKE} ORDER BY key"  # noqa: S608


class Rolled(NamedTuple):
    """What some messages used together."""

    when: int | None
    """A quarter, which may stand for others; None where the time is not known."""

    model: str | None
    terms: str
    """As text; `terms_of` reads it."""

    tier: int
    beside: int | str | None
    """A text, or of a source its place among `sources`."""

    messages: int
    output: int
    input: int
    cache_read: int
    cache_5m: int
    cache_1h: int


class Said(NamedTuple):
    """One message as one file has it."""

    key: str
    source: int
    time_ms: int | None
    output: int
    input: int
    cache_read: int
    cache_5m: int
    cache_1h: int
    model: str | None
    terms: str
    agent: str | None
    branch: str | None
    calls: str | None
    """The tools called, a JSON list."""

    @property
    def tier(self) -> int:
        """How many of the limits its prompt exceeds."""
        prompt = self.input + self.cache_read + self.cache_5m + self.cache_1h
        return sum(prompt > limit for limit in LIMITS)


class Source(NamedTuple):
    """One file, as far as it says whose a message is."""

    number: int
    """Its place among all of them: the same in `Rolled` and `Said`."""

    path: str
    kind: int
    folder: str
    session: str
    cwd: str | None
    oldest_ms: int | None
    client_cost: float | None


class Rollups:
    """Asks a catalog for sums."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names: list[dict[int | None, str | None]] = []

    def _texts(self, shard: int) -> dict[int | None, str | None]:
        while len(self._names) <= shard:
            rows = self._database.execute(f"SELECT id, text FROM s{len(self._names)}.name")  # noqa: S608
            self._names.append({None: None, **dict(rows)})
        return self._names[shard]

    def sums(
        self,
        *,
        together: str = "quarter",
        beside: Beside | None = None,
        first: int | None = None,
        end: int | None = None,
    ) -> Iterator[Rolled]:
        """Give the sums of the quarters from `first` on and before `end`.

        `together` tells in SQL which quarters are added up; each sum names one of its own, to stand for all.
        """
        where, values = _between("quarter", first, end)
        for shard in range(SHARDS):
            texts = self._texts(shard)
            rows = self._database.execute(
                f"SELECT min(quarter), model, terms, tier, {beside or 'NULL'}, {_SUMS} FROM s{shard}.rollup "  # noqa: S608
                f"WHERE {where} GROUP BY {together}, model, terms, tier, {beside or 'NULL'}",
                values,
            )
            for time, model, terms, tier, place, *counts in rows:
                place = place * SHARDS + shard if beside == "source" else texts[place]
                yield Rolled(time, texts[model], texts[terms] or "", tier, place, *counts)

    def range(self) -> tuple[int, int]:
        """Return the first and the last quarter in which something was said."""
        each = (f"SELECT min(quarter) AS first, max(quarter) AS last FROM s{n}.rollup" for n in range(SHARDS))  # noqa: S608
        rows = self._database.execute(f"SELECT min(first), max(last) FROM ({' UNION ALL '.join(each)})")  # noqa: S608
        first, last = rows.fetchall()[0]
        return first or 0, last or 0

    def copies(self, keys: Iterable[str] | None = None) -> dict[str, list[Said]]:
        """Return the messages that several files have, all or some, with what each of the files tells."""
        found: dict[str, list[Said]] = {}
        where, values = f"shared AND marks & {_COUNTED}", list[object]()
        if keys is not None:
            where, values = f"{where} AND key IN (SELECT value FROM json_each(?))", [json.dumps(list(keys))]  # noqa: S608
        for shard in range(SHARDS):
            for said in self._said(shard, where, values):
                found.setdefault(said.key, []).append(said)
        return found

    def copied(self) -> tuple[list[Rolled], list[str]]:
        """Return what has to be added to the sums for messages that several files have: numbers below zero.

        Of those whose copies are alike in time, model and all counts: as often as there are more than one. Of
        the others the keys: those have to be looked at.
        """
        found: list[Rolled] = []
        odd: list[str] = []
        last = ""
        for key, ms, model, terms, *counts, many in self._database.execute(_COPIED):
            if key == last:
                if not odd or odd[-1] != key:
                    odd.append(key)
                    found.pop()
                continue
            last = key
            output, given, cached, short, long = counts
            prompt = given + cached + short + long
            tier = sum(prompt > limit for limit in LIMITS)
            quarter = None if ms is None else ms // QUARTER_MS
            less = 1 - many
            sums = (less * output, less * given, less * cached, less * short, less * long)
            found.append(Rolled(quarter, model, terms, tier, None, less, *sums))
        return found, odd

    def said_between(self, first: int, end: int) -> Iterator[Said]:
        """Give the messages from one moment to another that one file alone has."""
        quarter, last = first // QUARTER_MS, (end - 1) // QUARTER_MS
        for shard in range(SHARDS):
            sources = self._database.execute(
                f"SELECT DISTINCT source FROM s{shard}.rollup WHERE quarter BETWEEN ? AND ?",  # noqa: S608
                (quarter, last),
            ).fetchall()
            where = f"source = ? AND time_ms >= ? AND time_ms < ? AND NOT shared AND marks & {_COUNTED}"
            for (source,) in sources:
                yield from self._said(shard, where, (source, first, end))

    def _said(self, shard: int, where: str, values: Sequence[object]) -> Iterator[Said]:
        texts = self._texts(shard)
        columns = "key, source, time_ms, output, input, cache_read, cache_5m, cache_1h"
        rows = self._database.execute(
            f"SELECT {columns}, model, terms, agent, branch, calls FROM s{shard}.message WHERE {where}",  # noqa: S608
            values,
        )
        for key, source, *counts, model, terms, agent, branch, calls in rows:
            named = (texts[model], texts[terms] or "", texts[agent], texts[branch], texts[calls])
            yield Said._make((key, source * SHARDS + shard, *counts, *named))

    def by_calls(self, first: int | None, end: int | None) -> Iterator[tuple[str | None, Rolled]]:
        """Give the sums by UTC day (not quarter) and by what was called, of messages in one file alone.

        Those that called one tool or none are added up; of the others each comes alone, as its tokens are
        shared out among the calls.
        """
        where, values = _between("time_ms", first, end)
        for shard in range(SHARDS):
            texts = self._texts(shard)
            several = [number for number, text in texts.items() if text and text[0] == "[" and '","' in text]
            listed = ", ".join(map(str, several))
            rows = self._database.execute(
                f"SELECT {_DAY}, model, terms, {_TIER}, calls, count(*), sum(output), sum(input), "  # noqa: S608
                f"sum(cache_read), sum(cache_5m), sum(cache_1h) FROM s{shard}.message "
                f"WHERE NOT shared AND marks & {_COUNTED} AND {where} "
                f"GROUP BY 1, 2, 3, 4, 5, CASE WHEN calls IN ({listed}) THEN hash END",
                values,
            )
            for day, model, terms, tier, calls, *counts in rows:
                yield texts[calls], Rolled(day, texts[model], texts[terms] or "", tier, None, *counts)

    def sources(self) -> list[Source]:
        """Return all files, in the order of their paths."""
        found: list[Source] = []
        for shard in range(SHARDS):
            rows = self._database.execute(
                f"SELECT f.id, f.path, f.kind, f.folder, f.session, x.cwd, x.oldest_ms, f.client_cost "  # noqa: S608
                f"FROM s{shard}.source f LEFT JOIN s{shard}.session x ON x.source = f.id WHERE f.kind < 2"
            )
            for source, path, kind, folder, *rest in rows:
                found.append(Source(source * SHARDS + shard, _path(path), kind, _path(folder), *rest))
        found.sort(key=lambda one: one.path)
        return found

    def damaged(self) -> int:
        """Count the finished lines that are not exactly one record, among those that may tell of usage."""
        each = " UNION ALL ".join(f"SELECT total(damaged) AS n FROM s{n}.source" for n in range(SHARDS))  # noqa: S608
        return int(self._database.execute(f"SELECT total(n) FROM ({each})").fetchall()[0][0])  # noqa: S608

    def unfinished(self) -> list[str]:
        """Return the files whose last line has no end and is no record."""
        each = " UNION ALL ".join(
            f"SELECT f.path FROM s{shard}.session x JOIN s{shard}.source f ON f.id = x.source "  # noqa: S608
            "WHERE x.is_unfinished"
            for shard in range(SHARDS)
        )
        return [_path(path) for (path,) in self._database.execute(each)]


def _between(column: str, first: int | None, end: int | None) -> tuple[str, list[int]]:
    tests: list[str] = []
    values: list[int] = []
    for test, value in ((">=", first), ("<", end)):
        if value is not None:
            tests.append(f"{column} {test} ?")
            values.append(value)
    return " AND ".join(tests) or "1", values


def _path(value: str | bytes) -> str:
    return os.fsdecode(value) if isinstance(value, bytes) else value


def terms_of(text: str) -> Terms:
    """Return the terms that were kept as text."""
    tier, speed, geo, searches, fetches, told = json.loads(text)
    advisers = tuple((one["model"], Tokens(*(one[name] for name in ADVISER))) for one in told)
    return (tier, speed, geo, searches, fetches, advisers)
