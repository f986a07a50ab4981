"""The model's messages, put together from the lines they were streamed to.

The client writes one line for each block, all with the same `message.id`; other lines may stand between them.
What a message holds is read when asked for: a `Message` has the rows of its lines, not their content.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import Struct, field

from clew.format.blocks import Block, Text, Thinking, ToolUse, blocks
from clew.session.ids import id_hash
from clew.session.pricing import count
from clew.session.session import META, SIDECHAIN, SYNTHETIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from clew.format.entry import Entry
    from clew.session.session import Session

SYNTHETIC_MODEL: Final = "<synthetic>"


class Message(Struct, frozen=True):
    """One answer of the model, or of the client in its place."""

    id: str | None
    rows: tuple[int, ...]
    """Its lines in order, each once; of several copies of a line the last."""

    row: int
    """Where it begins: the first copy of its first line."""

    model: str | None
    stop_reason: str | None
    """The last one given; None when no line has one, as up to 2.1.45."""

    request_id: str | None
    usage_row: int | None
    """The line whose usage counts: the one with the most output tokens, the later on a tie."""

    started: int | None
    ended: int | None
    is_api_error: bool = False
    is_meta: bool = False
    is_sidechain: bool = False
    agent_id: str | None = None

    @property
    def is_synthetic(self) -> bool:
        """Whether the client wrote it itself; it cost nothing."""
        return self.model == SYNTHETIC_MODEL


class Keys:
    """Tells which message each assistant line belongs to, line by line in file order."""

    __slots__ = ("_hash_of", "loose", "number", "place")

    def __init__(self, hash_of: Callable[[str], int] = id_hash) -> None:
        """`hash_of` makes the keys of ids: one that lasts where they are to be kept."""
        self._hash_of = hash_of
        self.loose = 0
        """The key of the message without an id that the next line may belong to."""
        self.number = 0
        """How many messages have no id."""
        self.place: tuple[object, ...] = ()

    def assistant(self, message_id: str | None, request_id: str | None, *place: object) -> int:
        """Return the key of a line's message. Lines without any id belong together while they are adjacent.

        `place` is what must be equal for two of those to be adjacent, such as the sub-agent.
        """
        if message_id or request_id:
            self.loose = 0
            # Apart from each other: a request's id is no message's, even if the two were spelled the same.
            return self._hash_of(message_id or f"request {request_id}")
        if not self.loose or self.place != place:
            self.number += 1
            self.loose = self._hash_of(f"\0{self.number}")
            self.place = place
        return self.loose

    def user(self) -> None:
        """Take note of a user's line, which ends a message without id."""
        self.loose = 0


class _Draft(Struct):
    """A message while its lines are being gathered."""

    row: int
    is_meta: bool
    is_sidechain: bool
    agent_id: str | None
    rows: dict[int, int] = field(default_factory=dict[int, int])
    """Row of each line by its uuid's hash, or by the row itself, which is no hash, when it has none."""

    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None
    request_id: str | None = None
    usage_row: int | None = None
    output_tokens: int = -1
    started: int | None = None
    ended: int | None = None
    is_api_error: bool = False

    def add(self, row: int, key: int, time: int | None, entry: Entry) -> None:
        self.rows[key or -1 - row] = row
        message = entry.message
        self.id = self.id or entry.message_id
        self.model = self.model or entry.model
        stop_reason = message.get("stop_reason")
        if isinstance(stop_reason, str):
            self.stop_reason = stop_reason
        self.request_id = self.request_id or entry.request_id
        if isinstance(message.get("usage"), dict):
            tokens = count(entry.usage.get("output_tokens"))
            if tokens >= self.output_tokens:
                self.usage_row, self.output_tokens = row, tokens
        if time is not None:
            self.started = time if self.started is None else self.started
            self.ended = time if self.ended is None else max(self.ended, time)
        self.is_api_error = self.is_api_error or entry.is_api_error

    def finish(self) -> Message:
        return Message(
            self.id,
            tuple(self.rows.values()),
            self.row,
            self.model,
            self.stop_reason,
            self.request_id,
            self.usage_row,
            self.started,
            self.ended,
            self.is_api_error,
            self.is_meta,
            self.is_sidechain,
            self.agent_id,
        )


class Gathering:
    """Puts messages together, line by line; each line is asked for once."""

    def __init__(self, session: Session) -> None:
        self._table = session.table
        self._keys = Keys()
        self._drafts: dict[int, _Draft] = {}

    def wants(self, row: int) -> bool:
        """Say whether a row is the model's; a person's ends a message without an id."""
        table = self._table
        kind = table.kinds[table.kind[row]]
        if kind == "user" and not table.flags[row] & META:
            self._keys.user()
        return kind == "assistant"

    def add(self, row: int, entry: Entry) -> None:
        """Add a row that is wanted to its message."""
        table = self._table
        flags = table.flags[row] & (SIDECHAIN | META | SYNTHETIC)
        agent_id = entry.agent_id
        key = self._keys.assistant(entry.message_id, entry.request_id, flags, agent_id)
        draft = self._drafts.get(key)
        if draft is None:
            # Not the entry itself: with a thousand messages it would keep their content in memory.
            draft = _Draft(row, bool(flags & META), bool(flags & SIDECHAIN), agent_id)
            self._drafts[key] = draft
        draft.add(row, table.uuid[row], table.time_of(row), entry)

    def finish(self) -> tuple[Message, ...]:
        """Return the messages in the order they begin."""
        return tuple(draft.finish() for draft in self._drafts.values())


def messages(session: Session, rows: Iterable[int] | None = None) -> tuple[Message, ...]:
    """Put the messages of a session together, or those on `rows`, in the order they begin."""
    gathering = Gathering(session)
    for row in range(len(session)) if rows is None else rows:
        if gathering.wants(row):
            gathering.add(row, session.entry(row))
    return gathering.finish()


def blocks_of(session: Session, message: Message) -> tuple[tuple[int, Block], ...]:
    """Return the blocks of a message with their rows, in order, each once."""
    found: list[tuple[int, Block]] = []
    seen: set[tuple[str, ...]] = set()
    for row in message.rows:
        for block in blocks(session.entry(row).content):
            mark = _identity(block)
            if mark is not None:
                if mark in seen:
                    continue
                seen.add(mark)
            found.append((row, block))
    return tuple(found)


def text_of(session: Session, message: Message) -> str:
    """Return the words of a message, its texts one after the other."""
    return "\n\n".join(
        block.text for _, block in blocks_of(session, message) if isinstance(block, Text) and block.text
    )


def _identity(block: Block) -> tuple[str, ...] | None:
    """What makes two blocks of one message the same one; two equal texts may both have been said."""
    if isinstance(block, ToolUse) and block.id:
        return ("call", block.id)
    if isinstance(block, Thinking) and block.signature:
        return ("thinking", block.signature, block.text)
    return None
