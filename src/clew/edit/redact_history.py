"""Take the secrets of one session out of the client's list of prompts, which has a line for each of them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from clew.edit.changes import Changes
from clew.edit.joined_texts import read_row
from clew.edit.known_secrets import Secrets
from clew.edit.secret_cleaner import Cleaner
from clew.format.patch import map_strings

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from clew.edit.secret_forms import Spans
    from clew.session.session import Session


def gather_history(history: Session, id_: str, *, own: Spans | None = None) -> Secrets:
    """Return the secrets in the prompts of a session."""
    secrets = Secrets()
    cleaner = Cleaner(None, b"", own)
    for row in _rows(history, id_):
        map_strings(read_row(history, row), partial(cleaner.note, secrets))
    return secrets


def redact_history(
    history: Session, id_: str, secrets: Secrets, key: bytes, *, own: Spans | None, tally: Counter[str]
) -> Changes:
    """Plan to take secrets out of the prompts of a session; those of others stay as they are."""
    changes = Changes(history)
    cleaner = Cleaner(secrets, key, own)
    for row in _rows(history, id_):
        raw = read_row(history, row)
        if cleaner.clean_bytes(raw, tally) != raw:
            changes.change(row, cleaner.clean_bytes, "it holds a secret")
    return changes


def _rows(history: Session, id_: str) -> Iterator[int]:
    for row in range(len(history)):
        if history.entry(row).session_id == id_:
            yield row
