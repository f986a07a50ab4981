"""What was said while the model worked.

From 2.1.150 on it has a line of its own where it was sent. Before, the queue's log alone tells: what is
removed from the queue was sent along with a tool's result, what is dequeued becomes a prompt.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.entry import as_mapping
from clew.view.notes import as_it_came, news_words
from clew.view.parts import Note, Prompt, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.format.entry import Entry
    from clew.session.session import Session

KINDS: Final = frozenset({"attachment/queued_command", "queue-operation/remove"})
"""The kinds of lines that may bring a message."""

_LOG: Final = frozenset({"queue-operation/enqueue", "queue-operation/dequeue", "queue-operation/remove"})


def removed(session: Session) -> Mapping[int, int]:
    """Return for each line that takes a message out of the queue the row that has its words."""
    table = session.table
    codes = {code for code, kind in enumerate(table.kinds) if kind in _LOG}
    found: dict[int, int] = {}
    queue = _Queue()
    for row in range(len(table)) if codes else ():
        if table.kind[row] not in codes:
            continue
        words = said(session.entry(row))
        match table.kind_of(row):
            case "queue-operation/enqueue":
                if words is not None:
                    queue.add(row, words)
            case "queue-operation/dequeue":
                queue.take_first()
            case _:
                first = queue.first() if words is None else (row, hash(words))
                if first is not None:
                    found[row] = first[0]
                    queue.take_all(first[1])
    return found


class _Queue:
    """The rows of messages that wait, in order, and by a hash of their words."""

    def __init__(self) -> None:
        self._order: deque[tuple[int, int]] = deque()
        self._alike: dict[int, list[int]] = {}
        self._gone: set[int] = set()

    def add(self, row: int, words: str) -> None:
        self._order.append((row, hash(words)))
        self._alike.setdefault(hash(words), []).append(row)

    def first(self) -> tuple[int, int] | None:
        while self._order and self._order[0][0] in self._gone:
            self._gone.discard(self._order.popleft()[0])
        return self._order[0] if self._order else None

    def take_first(self) -> None:
        if self.first() is not None:
            self._order.popleft()

    def take_all(self, key: int) -> None:
        """Take every message with the same words; the client writes one line for all."""
        self._gone.update(self._alike.pop(key, ()))


def said(entry: Entry) -> str | None:
    """Return the words that a queued command or a line of the queue's log carries."""
    kept = as_mapping(entry.data.get("attachment"))
    words = fields.string(kept, "prompt") if kept else entry.text("content")
    return words or None


def part(session: Session, row: int) -> Prompt | Note | None:
    """Return the message that stands in a row; news of tasks go the same way as words of a person."""
    entry = session.entry(row)
    words = said(entry)
    if words is None:
        return None
    mode = fields.string(as_mapping(entry.data.get("attachment")), "commandMode")
    time = session.table.time_of(row)
    if words.lstrip().startswith("<task-notification") or mode not in {None, "prompt"}:
        came = as_it_came(Text(words, is_muted=True))
        return Note(news_words(words), came, uuid=entry.uuid, time=time)
    return Prompt((Text(words),), uuid=entry.uuid, time=time, is_queued=True)
