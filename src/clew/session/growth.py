"""What appended lines add to what is known of a file's usage, without the lines before them.

A file's messages are kept outside, one `Held` each, as in a table. `Folder.more` folds the new lines alone;
`Growth.onto` then needs only those messages that they touch, and returns what is to be written in their
place. Between two growths a few bytes say where the reading stands (`Growth.state`).
Law: cut a file after any of its lines; growing by the parts is reading it in one go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.session.usage import Row

COUNTED: Final = 1
"""The message is a row. One of the client's own or an API error is none, but may become one."""

USED: Final = 2
"""A line of the message told its usage."""

TIMED: Final = 4
"""A line of the message told its time, though perhaps not one that can be read."""

_ID: Final = 8


class Held(NamedTuple):
    """One message as some lines of a file tell it: its row, and what is needed beside it to go on."""

    row: Row
    """A table may keep its time as milliseconds: whether one was written is among the marks."""

    marks: int
    """`COUNTED`, `USED` and `TIMED`, added up; all of them for nearly every message."""

    call_ids: bytes
    """For each of the row's calls eight bytes, the hash of its id; 0 for a call without one."""

    @property
    def is_counted(self) -> bool:
        """Whether the message is a row of the file."""
        return bool(self.marks & COUNTED)

    def joined(self, after: Held) -> Held:
        """Return what both tell, where `after` is told by later lines."""
        is_better = after.marks & USED and (not self.marks & USED or after.row[1] >= self.row[1])
        best = after if is_better else self
        time = self.row[0] if self.marks & TIMED else after.row[0]
        calls, ids = self.row[9], self.call_ids
        if after.row[9]:
            # A line that was written twice has the same call again.
            known = set(_cut(ids))
            for name, call in zip(after.row[9], _cut(after.call_ids), strict=True):
                if call == bytes(_ID) or call not in known:
                    calls, ids = (*calls, name), ids + call
        marks = best.marks & (COUNTED | USED) | (self.marks | after.marks) & TIMED
        return Held((time, *best.row[1:8], self.row[8], calls), marks, ids)


class Growth(Struct, frozen=True):
    """What some more lines of a file tell."""

    messages: Mapping[str, Held]
    """The messages these lines touch, by id or what stands for it, as these lines alone tell them."""

    cwd: str | None
    client_cost: float | None
    damaged: int
    """As in `FileUsage`, and like those of the whole file so far."""

    state: bytes
    """To go on from the end of these lines. The last of them must have its newline."""

    def onto(self, before: Mapping[str, Held]) -> dict[str, Held]:
        """Return every message these lines touch as the whole file so far tells it.

        `before` must hold those of `messages` that were known before; others in it are passed over.
        """
        return {
            key: held if (old := before.get(key)) is None else old.joined(held)
            for key, held in self.messages.items()
        }


def rows(messages: Mapping[str, Held]) -> dict[str, Row]:
    """Return the rows among messages, as in `FileUsage`."""
    return {key: held.row for key, held in messages.items() if held.is_counted}


def _cut(ids: bytes) -> Iterable[bytes]:
    return (ids[at : at + _ID] for at in range(0, len(ids), _ID))
