"""How the context window filled over a session: what the model was sent, turn by turn, and of what kind.

How much it was is measured: each answer tells what its request held. Of what kind it was is estimated from
the words on the way to where the session stands, and what the file does not hold (the client's own prompt and
the descriptions of its tools) is taken to be what the first request held beyond that. The parts are scaled to
what was measured. One pass, in which little is held for each turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from clew.format.blocks import Document, RedactedThinking, Thinking, ToolResult, ToolUse, blocks
from clew.format.entry import as_mapping
from clew.format.kinds.system import CompactBoundary
from clew.session.context import IMAGE_TOKENS, estimate_tokens
from clew.session.graph import BOUNDARY
from clew.session.pricing import read_usage
from clew.session.session import COMPACT_SUMMARY, HUMAN, META, SYNTHETIC

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clew.format.blocks import Block
    from clew.format.entry import Entry
    from clew.session.session import Session

SYSTEM: Final = "system"
"""What the client adds: its own prompt, tools, reminders and attachments."""

RESULT: Final = "result:"
"""What results of a tool are told as, before its name."""

_TOOLS: Final = 20
_OTHERS: Final = f"{RESULT}others"
_LONGEST: Final = 80


@dataclass(frozen=True, slots=True)
class Fill:
    """What the last request of a turn held."""

    turn: int
    time: int | None
    """Milliseconds since 1970."""

    tokens: int | None
    """As measured; None where no answer of the turn told."""

    by_kind: Mapping[str, int]
    """Estimated; together they are `tokens` where that is known."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """Where what had been said was put into fewer words."""

    turn: int
    time: int | None
    before: int
    after: int
    trigger: str | None
    is_estimated: bool
    """Whether a size was not measured."""


@dataclass(frozen=True, slots=True)
class Share:
    """One kind of what the last request held."""

    kind: str
    blocks: int
    tokens: int
    share: float
    """From 0 to 1."""


@dataclass(frozen=True, slots=True)
class Window:
    """The window from the first turn to the last."""

    fills: tuple[Fill, ...]
    compactions: tuple[Compaction, ...]
    table: tuple[Share, ...]
    """Of the last fill, the greatest first."""


def window(session: Session, rows: Iterable[int], turn_of: Callable[[int], int]) -> Window:
    """Go along `rows`, the way to where the session stands; `turn_of` gives the number of a row's turn."""
    filling = _Filling(session)
    turn: int | None = None
    for row in rows:
        here = turn_of(row)
        if here != turn:
            filling.end_turn()
            turn = here
            filling.begin_turn(here)
        filling.add(row)
    filling.end_turn()
    return filling.window()


@dataclass(slots=True)
class _Held:
    """What is in the window, by kind."""

    tokens: dict[str, int]
    blocks: dict[str, int]

    def copy(self) -> _Held:
        return _Held(dict(self.tokens), dict(self.blocks))

    def add(self, kind: str, tokens: int) -> None:
        self.tokens[kind] = self.tokens.get(kind, 0) + tokens
        self.blocks[kind] = self.blocks.get(kind, 0) + 1

    @property
    def total(self) -> int:
        return sum(self.tokens.values())


@dataclass(slots=True)
class _Request:
    """A request as its answer tells of it."""

    held: _Held
    tokens: int
    time: int | None


class _Filling:
    """The window while it fills."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._held = _Held({}, {})
        self._names: dict[str, str] = {}
        """The tools of calls that wait for their results."""
        self._tools: set[str] = set()
        self._unseen: int | None = None
        """What requests hold that no line tells; None until one was measured."""
        self._turn = 0
        self._time: int | None = None
        self._request: _Request | None = None
        self._message = 0
        self._last: _Request | None = None
        self._fills: list[Fill] = []
        self._compactions: list[Compaction] = []
        self._is_waiting = False
        """Whether the last compaction is still to be told how much it left."""
        self._is_guessed = False
        """Whether nobody told how much there was before it."""

    # Line by line ---------------------------------------------------------------------------------------

    def begin_turn(self, number: int) -> None:
        self._turn = number
        self._request = None
        self._time = None

    def end_turn(self) -> None:
        if not self._turn and not self._held.tokens:
            return
        found = self._request or _Request(self._held.copy(), 0, self._time)
        if found.held.tokens or found.tokens:
            self._last = found
            self._fills.append(Fill(self._turn, found.time, found.tokens or None, found.held.tokens))

    def add(self, row: int) -> None:
        table = self._session.table
        kind, flags = table.kind_of(row), table.flags[row]
        time = table.time_of(row)
        self._time = self._time if time is None else time
        if kind == BOUNDARY:
            self._compact(row)
            return
        if kind == "assistant" and not flags & SYNTHETIC:
            self._ask(row)
        self._hold(row)

    def _hold(self, row: int) -> None:
        """Put what a line says into the window."""
        table = self._session.table
        kind, flags = table.kind_of(row), table.flags[row]
        if kind == "assistant":
            self._say(self._session.entry(row), "text")
        elif kind == "user":
            entry = self._session.entry(row)
            if flags & (META | COMPACT_SUMMARY):
                self._say(entry, "summary" if flags & COMPACT_SUMMARY else SYSTEM)
            else:
                self._say(entry, "prompts" if flags & HUMAN else SYSTEM)
        elif kind.startswith("attachment"):
            given = dict(as_mapping(self._session.entry(row).data.get("attachment")))
            # By another name: of what kind it is does not tell how it is sent.
            self._held.add(SYSTEM, estimate_tokens({**given, "type": "attachment"}))
        elif kind == "system/local_command":
            self._held.add(SYSTEM, estimate_tokens(self._session.entry(row).text("content") or ""))

    def _ask(self, row: int) -> None:
        """Take note of the request that a line of an answer tells of; its other lines tell the same."""
        message = self._session.table.message[row]
        measured = read_usage(self._session.entry(row).usage).tokens.prompt
        is_same = message != 0 and message == self._message and self._request is not None
        self._message = message
        if measured and not is_same:
            self._measure(measured)
        elif self._request is not None:
            self._request.tokens = max(self._request.tokens, measured)

    def _measure(self, tokens: int) -> None:
        """Take note of a request: what it held is all there was before its answer."""
        self._request = _Request(self._held.copy(), tokens, self._time)
        if self._unseen is None:
            self._unseen = max(0, tokens - self._held.total)
        if self._is_waiting:
            self._is_waiting = False
            last = self._compactions[-1]
            self._compactions[-1] = replace(last, after=tokens, is_estimated=self._is_guessed)

    def _say(self, entry: Entry, kind: str) -> None:
        for block in blocks(entry.content):
            self._take(block, kind)

    def _take(self, block: Block, kind: str) -> None:
        match block:
            case ToolUse():
                if block.id:
                    self._names[block.id] = block.name or ""
                kind = "calls"
            case ToolResult():
                kind = self._result_kind(self._names.pop(block.tool_use_id or "", ""))
                pictures = sum(isinstance(inner, Document) for inner in block.content)
                for _ in range(pictures):
                    self._held.add("images", IMAGE_TOKENS)
                self._held.add(kind, max(0, estimate_tokens(block.raw) - pictures * IMAGE_TOKENS))
                return
            case Thinking() | RedactedThinking():
                kind = "thinking"
            case Document():
                kind = "images"
            case _:
                pass
        self._held.add(kind, estimate_tokens(block.raw))

    def _result_kind(self, tool: str) -> str:
        name = tool[:_LONGEST]
        if not name:
            return _OTHERS
        if name not in self._tools and len(self._tools) >= _TOOLS:
            return _OTHERS
        self._tools.add(name)
        return f"{RESULT}{name}"

    def _compact(self, row: int) -> None:
        boundary = CompactBoundary(self._session.entry(row).data)
        before, after = boundary.pre_tokens, boundary.post_tokens
        size = self._held.total + (self._unseen or 0)
        kept = self._preserved(boundary)
        self._held = _Held({}, {})
        self._message = 0
        for one in kept:
            self._hold(one)
        self._is_waiting = after is None
        self._is_guessed = before is None
        self._compactions.append(
            Compaction(
                self._turn,
                self._session.table.time_of(row),
                size if before is None else before,
                self._held.total + (self._unseen or 0) if after is None else after,
                boundary.trigger,
                before is None or after is None,
            )
        )

    def _preserved(self, boundary: CompactBoundary) -> list[int]:
        """Return the rows from before that a compaction kept, as it names them."""
        session = self._session
        named = [session.row(uuid) for uuid in boundary.preserved_uuids]
        if not named and boundary.preserved_ends is not None:
            first, last = (session.row(uuid) if uuid else None for uuid in boundary.preserved_ends)
            if first is not None and last is not None and first <= last:
                table = session.table
                return [
                    row for row in range(first, last + 1) if table.uuid[row] and not _is_cut(session, row)
                ]
        return [row for row in named if row is not None and not _is_cut(session, row)]

    # What came of it --------------------------------------------------------------------------------------

    def window(self) -> Window:
        unseen = self._unseen or 0
        fills = tuple(
            replace(fill, by_kind=scaled(_with(fill.by_kind, unseen), fill.tokens)) for fill in self._fills
        )
        return Window(fills, tuple(self._compactions), tuple(self._table(unseen)))

    def _table(self, unseen: int) -> list[Share]:
        if self._last is None:
            return []
        tokens = scaled(_with(self._last.held.tokens, unseen), self._last.tokens or None)
        total = sum(tokens.values()) or 1
        rows = [
            Share(kind, self._last.held.blocks.get(kind, 0), many, many / total)
            for kind, many in tokens.items()
        ]
        return sorted(rows, key=lambda one: (-one.tokens, one.kind))


def _is_cut(session: Session, row: int) -> bool:
    return session.table.kind_of(row) == BOUNDARY


def _with(tokens: Mapping[str, int], unseen: int) -> Mapping[str, int]:
    return {**tokens, SYSTEM: tokens.get(SYSTEM, 0) + unseen} if unseen else tokens


def scaled(parts: Mapping[str, int], whole: int | None) -> Mapping[str, int]:
    """Return the parts so that together they are the whole; as they are where that is not known."""
    total = sum(parts.values())
    if whole is None or total == whole:
        return parts
    if not total:
        return {SYSTEM: whole}
    found = {kind: many * whole // total for kind, many in parts.items()}
    greatest = max(found, key=lambda kind: (found[kind], kind))
    found[greatest] += whole - sum(found.values())
    return found


def thinned(fills: Sequence[Fill], most: int) -> Sequence[Fill]:
    """Return at most so many of the fills, the first and the last among them."""
    if len(fills) <= most:
        return fills
    if most == 1:
        return fills[-1:]
    steps = [round(at * (len(fills) - 1) / (most - 1)) for at in range(most)]
    return [fills[at] for at in dict.fromkeys(steps)]
