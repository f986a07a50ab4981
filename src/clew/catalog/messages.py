"""The messages of the files of one shard: what each file tells of each, and sums by quarter of an hour.

What changes is noted in `dirty`, for `settling` to look at: a message may stand in several files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import msgspec
import orjson

from clew.catalog.rollups import ADVISER, QUARTER_MS, terms_of
from clew.catalog.tariff import LIMITS
from clew.format.times import iso, milliseconds
from clew.session.growth import COUNTED, Held
from clew.session.states import lasting_hash
from clew.tables.cells import clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.catalog.database import Database
    from clew.catalog.interning import Interning
    from clew.session.usage import Row, Terms

COLUMNS: Final = (
    "source, hash, key, time_ms, output, input, cache_read, cache_5m, cache_1h, model, terms, agent, branch, "
    "calls, marks, call_ids"
)
_WRITE: Final = f"INSERT OR REPLACE INTO message ({COLUMNS}) VALUES ({', '.join('?' * 16)})"  # noqa: S608
_READ: Final = f"SELECT {COLUMNS} FROM message WHERE source = ? AND hash = ?"  # noqa: S608

TIER: Final = " + ".join(
    ["0", *(f"(input + cache_read + cache_5m + cache_1h > {limit})" for limit in LIMITS)]
)

_ROLL_UP: Final = f"""
INSERT INTO rollup SELECT source,
  (time_ms - ((time_ms % {QUARTER_MS}) + {QUARTER_MS}) % {QUARTER_MS}) / {QUARTER_MS},
  model, terms, {TIER}, agent, branch, count(*), sum(output), sum(input), sum(cache_read), sum(cache_5m),
  sum(cache_1h) FROM message WHERE source = ? AND marks & {COUNTED} GROUP BY 2, 3, 4, 5, 6, 7
"""  # noqa: S608

Physical = tuple[object, ...]


def terms_text(terms: Terms) -> str:
    """Return terms as they are kept; the advisers in the shape of the documented column."""
    tier, speed, geo, searches, fetches, advisers = terms
    told = [
        {
            "model": clean(model),
            **dict(
                zip(
                    ADVISER,
                    (used.input, used.output, used.cache_read, used.cache_write_5m, used.cache_write_1h),
                    strict=True,
                )
            ),
        }
        for model, used in advisers
    ]
    return orjson.dumps([clean(tier), clean(speed), clean(geo), searches, fetches, told]).decode()


class Messages:
    """Reads and writes the messages of one shard."""

    def __init__(self, database: Database, names: Interning) -> None:
        self._database = database
        self._names = names
        self._terms: dict[int, Terms] = {}
        # A new shard is looked at as a whole once, so that nothing need be noted before.
        self._is_noting = database.execute("SELECT 1 FROM dirty WHERE kind = '*'").fetchone() is None

    def onto(self, source: int, path: str, told: Mapping[str, Held]) -> None:
        """Take in what more lines of a file tell of some messages."""
        if not told:
            return
        rows: list[Physical] = []
        is_known = self._database.execute("SELECT 1 FROM message WHERE source = ?", (source,)).fetchone()
        # In the order they are kept in: pages that are filled from one end stay full.
        for hashed, key, held in sorted((lasting_hash(key), key, held) for key, held in told.items()):
            row = is_known and self._database.execute(_READ, (source, hashed)).fetchone()
            before = None if row is None else self.held(row, path)
            rows.append(self._physical(source, hashed, key, held if before is None else before.joined(held)))
        self._write(rows)

    def onto_tail(self, source: int, path: str, told: Mapping[str, Held]) -> bytes | None:
        """Take in what an unfinished line tells; return what `undo` needs to take it back."""
        if not told:
            return None
        before: list[list[object]] = []
        for key in told:
            hashed = lasting_hash(key)
            row = self._database.execute(_READ, (source, hashed)).fetchone()
            before.append([hashed, None if row is None else list(row)])
        self.onto(source, path, told)
        return msgspec.msgpack.encode(before)

    def undo(self, source: int, kept: bytes | None) -> None:
        """Take back what an unfinished line told: it may go on."""
        if kept is None:
            return
        found = msgspec.msgpack.decode(kept, type=list[tuple[int, list[object] | None]])
        for hashed, row in found:
            self._database.execute("DELETE FROM message WHERE source = ? AND hash = ?", (source, hashed))
            if row is not None:
                self._database.execute(_WRITE, tuple(row))
        self._note(hashed for hashed, _ in found)

    def roll_up(self, source: int) -> None:
        """Add up the messages of a file anew."""
        self._database.execute("DELETE FROM rollup WHERE source = ?", (source,))
        self._database.execute(_ROLL_UP, (source,))

    def _write(self, rows: list[Physical]) -> None:
        self._database.executemany(_WRITE, rows)
        self._note(cast("int", row[1]) for row in rows)

    # --- what others may have to know -----------------------------------------------------------------------

    def note_gone(self, source: int) -> None:
        """Note that all messages of a file go."""
        if self._is_noting:
            self._database.execute(
                "INSERT OR IGNORE INTO dirty SELECT 'message', hash FROM message WHERE source = ?", (source,)
            )

    def note_owner(self, source: int, *, is_older: bool = True) -> None:
        """Note that something about a file changed which its session's row tells.

        `is_older` says that it may be whose a file is, or how old: then a message that others have too may
        now be another's.
        """
        if self._is_noting:
            self._database.execute(
                "INSERT OR IGNORE INTO dirty SELECT ?, owner FROM source WHERE id = ?",
                ("owner" if is_older else "own", source),
            )

    def _note(self, hashes: Iterable[int]) -> None:
        if self._is_noting:
            self._database.executemany(
                "INSERT OR IGNORE INTO dirty VALUES ('message', ?)", [(one,) for one in hashes]
            )

    # --- rows and tuples ------------------------------------------------------------------------------------

    def _physical(self, source: int, hashed: int, key: str, held: Held) -> Physical:
        time, output, given, cached, short, long, model, terms, (_, agent, branch), calls = held.row
        names = self._names
        return (
            source,
            hashed,
            clean(key),
            milliseconds(time),
            output,
            given,
            cached,
            short,
            long,
            names.name_or_none(model),
            names.name(terms_text(terms)),
            names.name_or_none(agent),
            names.name_or_none(branch),
            names.name(orjson.dumps([clean(call) for call in calls]).decode()) if calls else None,
            held.marks,
            held.call_ids or None,
        )

    def held(self, row: Physical, path: str) -> Held:
        """Return a message as `session.growth` knows it."""
        _, _, _, ms, output, given, cached, short, long, model, terms, agent, branch, calls, marks, ids = row
        text = self._names.text
        number = cast("int", terms)
        known = self._terms.get(number)
        if known is None:
            known = self._terms[number] = terms_of(text(number) or "")
        called = tuple(orjson.loads(text(cast("int", calls)) or "[]")) if calls is not None else ()
        place = (path, text(cast("int | None", agent)), text(cast("int | None", branch)))
        counts = cast("tuple[int, int, int, int, int]", (output, given, cached, short, long))
        made: Row = (
            iso(cast("int | None", ms)),
            *counts,
            text(cast("int | None", model)),
            known,
            place,
            called,
        )
        return Held(made, cast("int", marks), cast("bytes | None", ids) or b"")
