"""What many rows have in common, held once in a shard and known by a small number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import orjson

from clew.tables.cells import clean

if TYPE_CHECKING:
    from clew.catalog.database import Database

_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}").fullmatch

Sort = tuple[str, str | None, str | None, str | None, bool, bool]
"""What lines have in common: kind, type, role, agent id, whether of a sidechain, whether the client's own."""


def pack_uuid(text: str | None) -> str | bytes | None:
    """Return an id as it is kept: one of the usual form as its 16 bytes."""
    if text is None or _UUID(text) is None:
        return clean(text)
    return bytes.fromhex(text.replace("-", ""))


class Interning:
    """The names and sorts of one shard; each is looked up once."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._names: dict[str, int] = {}
        self._texts: dict[int, str] = {}
        self._sorts: dict[Sort, int] = {}

    def name(self, text: str) -> int:
        """Return the number of a text, which is given one if it has none."""
        number = self._names.get(text)
        if number is None:
            kept = clean(text)
            execute = self._database.execute
            row = execute("SELECT id FROM name WHERE text = ?", (kept,)).fetchone()
            if row is None:
                row = execute("INSERT INTO name (text) VALUES (?) RETURNING id", (kept,)).fetchall()[0]
            number = self._names[text] = int(row[0])
        return number

    def name_or_none(self, text: str | None) -> int | None:
        """Return the number of a text, None for none."""
        return None if text is None else self.name(text)

    def text(self, number: int | None) -> str | None:
        """Return the text that has a number."""
        if number is None:
            return None
        text = self._texts.get(number)
        if text is None:
            row = self._database.execute("SELECT text FROM name WHERE id = ?", (number,)).fetchone()
            text = self._texts[number] = "" if row is None else row[0]
        return text

    def sort(self, sort: Sort) -> int:
        """Return the number of a sort."""
        number = self._sorts.get(sort)
        if number is None:
            key = orjson.dumps(sort).decode()
            execute = self._database.execute
            row = execute("SELECT id FROM sort WHERE key = ?", (key,)).fetchone()
            if row is None:
                row = execute(
                    "INSERT INTO sort (kind, type, role, agent_id, is_sidechain, is_meta, key) "
                    "VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id",
                    (*sort, key),
                ).fetchall()[0]
            number = self._sorts[sort] = int(row[0])
        return number
