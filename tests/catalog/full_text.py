"""A full-text table as the catalog has it, to ask what FTS5 itself says."""

from __future__ import annotations

from typing import Any, cast

import apsw

from clew.catalog.tokens import TOKENIZER, prepare


class Index:
    """One table of two columns, in memory."""

    def __init__(self) -> None:
        self._database = cast("Any", apsw.Connection(":memory:"))
        options = f"content='', contentless_delete=1, tokenize='{TOKENIZER}'"
        self._database.execute(f"CREATE VIRTUAL TABLE words USING fts5(one, other, {options})")
        self._database.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, instance)")

    def put(self, *rows: tuple[str, str]) -> None:
        """Replace what is in the table by these rows, numbered from 1."""
        self._database.execute("DELETE FROM words")
        for number, (one, other) in enumerate(rows, 1):
            values = (number, prepare(one), prepare(other))
            self._database.execute("INSERT INTO words(rowid, one, other) VALUES (?, ?, ?)", values)

    def words(self, text: str) -> list[str]:
        """Return the words FTS5 keeps of a text, in their order."""
        self.put((text, ""))
        rows: list[tuple[Any, int]]
        rows = self._database.execute("SELECT term, offset FROM vocabulary ORDER BY offset").fetchall()
        assert [offset for _, offset in rows] == [*range(len(rows))]
        return [str(term) for term, _ in rows]

    def find(self, expression: str) -> list[int]:
        """Return the numbers of the rows that FTS5 finds."""
        rows = self._database.execute(
            "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid", (expression,)
        )
        return [int(number) for (number,) in rows]
