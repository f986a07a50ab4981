"""Rows without secrets: what is found once, in any file of a session, is looked for in all that is written.

Turns, titles and paths are made from the session without its secrets, so that none can be cut in half by a
cell that holds only the beginning of a text. Rows that tell where things stand in the file are made from the
file as it is, and what is text in them is cleaned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.edit.known_secrets import Secrets
from clew.edit.overlay import Overlay
from clew.edit.redact import gather, redact
from clew.edit.secret_cleaner import Cleaner
from clew.edit.side_texts import gather_text
from clew.session.session import Session
from clew.tables.schema import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_KEPT: Final = frozenset(
    {
        *("session_id", "agent_id", "message_id", "call_id", "uuid", "parent_uuid", "result_uuid"),
        *(
            "subagent_id",
            "day",
            "round",
            "input_kind",
            "status",
            "severity",
            "code",
            "action",
            "title_source",
        ),
        *("role", "path", "folder", "client_versions", "session_ids"),
    }
)
"""Columns that are never cleaned: ids and fixed words hold tables together, the path names the file."""

_CLEANED: Final[Mapping[str, tuple[int, ...]]] = {
    name: tuple(
        at
        for at, column in enumerate(table.columns)
        # In `files` the path is what a tool was told to write, not what the session's own file is called.
        if column.type == "text" and (column.name not in _KEPT or (name, column.name) == ("files", "path"))
    )
    for name, table in TABLES.items()
}


class Redaction:
    """Takes the secrets of one session out of its rows."""

    def __init__(self, key: bytes) -> None:
        """`key` makes the placeholders: with the same one a secret has the same wherever it stood."""
        self._key = key
        self._secrets = Secrets()
        self._cleaner: Cleaner | None = None
        self.found = 0
        """How many secrets were found."""

    def gather(self, session: Session) -> None:
        """Take note of the secrets of a session file."""
        self._secrets |= gather(session)

    def gather_side(self, pieces: Iterable[bytes]) -> None:
        """Take note of the secrets of a file beside it."""
        self._secrets |= gather_text(pieces)

    def ready(self) -> bool:
        """Say, when all were gathered, whether there is anything to take out."""
        self.found = self._secrets.seen
        if self.found:
            self._cleaner = Cleaner(self._secrets, self._key, None)
        return self.found > 0

    def session(self, session: Session) -> Session:
        """Return a session without its secrets, to be read."""
        changes = redact(session, key=self._key, known=self._secrets, keep_thinking=True)
        return Session.read(Overlay(changes.plan("")), name=session.name) if changes else session

    def row(self, table: str, row: tuple[object, ...]) -> tuple[object, ...]:
        """Return a row without secrets."""
        cells: list[object] | None = None
        for at in _CLEANED[table]:
            value = row[at]
            if isinstance(value, str) and value and (clean := self._clean(value)) != value:
                cells = cells if cells is not None else [*row]
                cells[at] = clean
        return row if cells is None else tuple(cells)

    def _clean(self, text: str) -> str:
        if self._cleaner is None:
            return text
        found = self._cleaner.find((), text)
        return self._cleaner.clean((), text, found) if found else text
