"""What the messages of one session file used: one row a message, made in one pass over its raw lines.

Lines that share `message.id` (else `requestId`, else lines next to each other) are one message. Its usage is
that of the line with the greatest `output_tokens`, the later one on a tie. Synthetic messages and API errors
cost nothing and are no rows. Adding up over files is `session.ledger`'s work, money is `session.pricing`'s.

Most of a session file is tool output, so the pass leaves out what it need not decode. A line is left out only
if the first `type` in its first thousand bytes is one that never carries usage, stands in the outermost
object, and no answer follows on the same line. Everything else is decoded, in whatever order and spacing
its keys stand. Two things are not looked for: a key given twice, and a key or type spelled with `\\u` escapes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import msgspec

from clew.format.decode import DecodeError
from clew.format.entry import Entry, as_mapping
from clew.format.lines import LONG, Abridger
from clew.format.salvage import pieces
from clew.format.times import iso, milliseconds
from clew.session.pricing import Tokens, cache_writes, count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

Calls = tuple[str, ...]
"""The names of the tools a message called, one for each call."""

Advisors = tuple[tuple[str, Tokens], ...]

Terms = tuple[str | None, str | None, str | None, int, int, Advisors]
"""Service tier, speed, place of inference, web searches, web fetches, other models asked on the way."""

Place = tuple[str, str | None, str | None]
"""The file a message stands in, the sub-agent it is of, and the git branch of its first line."""

Row = tuple[int | None, str | None, int, int, int, int, int, str | None, Terms, Place, Calls]
"""One message as one file has it: a plain tuple, since there are a hundred thousand of them.

The time of its first line (ms); the time of its usage line as written, None for the same line; tokens: output,
input, read from the cache, written to it for 5 minutes, for 1 hour; model; terms; place; calls.
"""

SYNTHETIC: Final = "<synthetic>"
SIDECHAIN: Final = "sidechain"
"""The agent of a sidechain line that names none (up to 1.0.128)."""


@dataclass(slots=True)
class FileUsage:
    """What one session file tells of usage."""

    name: str
    rows: dict[str, Row]
    """By message: its id, or what stands for it."""

    session_id: str | None = None
    """The first session id in the file, if it was asked for."""

    cwd: str | None = None
    """The first folder the file names, if it was asked for."""

    client_cost: float | None = None
    """What the client itself says the session cost: the last `cost-state` (2.1.325)."""

    damaged: int = 0
    """Stretches of the lines looked at that are no record; those left out are not searched for damage."""


# --- what is decoded of a line ------------------------------------------------------------------------------

# A count outside of this is damage: the typed decoder refuses it, and the slow road makes it 0.
_Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]


class _Split(msgspec.Struct, gc=False):
    ephemeral_5m_input_tokens: _Count | None = None
    ephemeral_1h_input_tokens: _Count | None = None


class _Iteration(msgspec.Struct, gc=False):
    type: str | None = None
    model: str | None = None
    input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    cache_read_input_tokens: _Count | None = None
    cache_creation_input_tokens: _Count | None = None
    cache_creation: _Split | None = None


class _Requests(msgspec.Struct, gc=False):
    web_search_requests: _Count | None = None
    web_fetch_requests: _Count | None = None


class _Usage(msgspec.Struct, gc=False):
    input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    cache_read_input_tokens: _Count | None = None
    cache_creation_input_tokens: _Count | None = None
    cache_creation: _Split | None = None
    server_tool_use: _Requests | None = None
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    iterations: list[_Iteration] | None = None


class _Block(msgspec.Struct, gc=False):
    type: str | None = None
    id: str | None = None
    name: str | None = None


class _Message(msgspec.Struct, gc=False):
    id: str | None = None
    role: str | None = None
    model: str | None = None
    timestamp: str | None = None
    usage: _Usage | None = None


class _FullMessage(_Message, gc=False):
    content: str | list[_Block] | None = None


class _Line(msgspec.Struct, rename="camel", gc=False):
    type: str | None = None
    timestamp: str | None = None
    session_id: str | None = None
    request_id: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None
    is_api_error_message: bool | None = None
    message: _Message | None = None
    total_cost_usd: int | float | None = msgspec.field(default=None, name="totalCostUSD")


class _FullLine(_Line, rename="camel", gc=False):
    message: _FullMessage | None = None


_QUICK: Final = msgspec.json.Decoder(_Line)
_FULL: Final = msgspec.json.Decoder(_FullLine)


# --- the pass -----------------------------------------------------------------------------------------------

_OTHERS: Final = tuple(
    f'{name}"'.encode()
    for name in (
        "progress", "file-history-snapshot", "system", "attachment", "api-request-blob", "api-request",
        "api-request-shape", "queue-operation", "ai-title", "last-prompt", "summary", "custom-title",
        "permission-mode", "mode", "agent-name", "tools-used", "atis-latch", "file-history-delta", "pr-link",
        "tag", "agent-setting", "content-replacement", "attribution-snapshot", "worktree-state",
    )
)  # fmt: skip
"""Types that carry no usage, the frequent ones first."""

_LOOK: Final = 1000
"""How far into a line its type is looked for: 1,677 MB/s against 735 when every line is decoded."""

_ANSWER: Final = b'"assistant"'
_TAIL: Final = 800
"""How far from the end of a line an answer's own type stands, as the client writes it. That is where one shows
that was appended to a torn line; the whole of every tool result would take as long to search as all the rest."""

_HEAD: Final = 500
"""How many lines are searched for a file's session id and folder."""

_BOM: Final = b"\xef\xbb\xbf"


class Folder:
    """Folds session files into rows, one file after the other; what rows have in common is held once."""

    def __init__(self, *, with_calls: bool = False, with_head: bool = False) -> None:
        """`with_calls` reads the tools called, `with_head` each file's first session id and folder."""
        self._decode: Callable[[bytes], _Line] = _FULL.decode if with_calls else _QUICK.decode
        self._with_calls = with_calls
        self._with_head = with_head
        self._held: dict[Any, Any] = {}

    def file(self, name: str, lines: Iterable[bytes], *, agent: str | None = None) -> FileUsage:
        """Fold the raw lines of one file, each with its ending; `agent` is the sub-agent it is called after."""
        pull = iter(lines)
        first = next(pull, b"")
        pull = chain((first.removeprefix(_BOM),), pull)
        found = FileUsage(name, {})
        one = _File(found)
        if self._with_head:
            for raw in islice(pull, _HEAD):
                is_known = self._head(found, raw)
                self._fold(one, iter((raw,)))
                if is_known:
                    break
        self._fold(one, pull)
        hold = self._held.setdefault
        for key, line in one.lines.items():
            calls = tuple(one.calls[key].values()) if key in one.calls else ()
            found.rows[key] = _row(line, one.usages.get(key), (name, agent), calls, hold)
        return found

    def _fold(self, one: _File, lines: Iterator[bytes]) -> None:
        """Do the work that is done for every line; nothing else in clew runs as often."""
        decode_line = self._decode
        is_quick = not self._with_calls
        kept = one.lines
        usages = one.usages
        for raw in lines:
            if raw.startswith(b'{"type":"'):
                at = 9
            else:
                at = raw.find(b',"type":"', 1, _LOOK) + 9
                if at > 8 and raw.find(b"{", 1, at) >= 0:
                    at = 0
            if at > 8:
                if raw.startswith(b'user"', at):
                    if raw.find(_ANSWER, -_TAIL) < 0:
                        one.is_parted = True
                        continue
                elif raw.startswith(_OTHERS, at) and raw.find(_ANSWER, -_TAIL) < 0:
                    continue
            try:
                line = decode_line(raw)
            except (ValueError, RecursionError):  # msgspec's errors are ValueErrors; so is bad UTF-8
                one.add_slowly(raw)
                continue
            # The frequent case of `_File.add`, in place: a call would cost as much as the work.
            message = line.message
            if (
                is_quick
                and message is not None
                and line.type == "assistant"
                and not line.is_api_error_message
                and (key := message.id)
                and message.model != SYNTHETIC
            ):
                before = kept.get(key)
                if before is None:
                    kept[key] = line
                else:
                    one.add_to(key, before, line)
            else:
                one.add(line, raw)

    def _head(self, found: FileUsage, raw: bytes) -> bool:
        """Look for the file's session id and folder in one line, and say whether both are known."""
        try:
            line = self._decode(raw)
        except (ValueError, RecursionError):
            return False
        found.session_id = found.session_id or line.session_id
        found.cwd = found.cwd or line.cwd
        return bool(found.session_id and found.cwd)


class _File:
    """The messages of one file while it is gone through."""

    __slots__ = ("_unnamed", "calls", "found", "is_parted", "lines", "usages")

    def __init__(self, found: FileUsage) -> None:
        self.found = found
        self.lines: dict[str, _Line] = {}
        """The first line of each message."""
        self.usages: dict[str, _Line] = {}
        """The line whose usage counts, where that is not the first."""
        self.calls: dict[str, dict[str, str]] = {}
        """By message the tools it called, by the id of the call."""
        self.is_parted = False
        """Whether someone else spoke since the last answer without an id."""
        self._unnamed = ""

    def add(self, line: _Line, raw: bytes) -> None:
        """Take in one decoded line, whatever it is."""
        message = line.message
        role = line.type or (message.role if message else None)
        if role != "assistant" or message is None:
            self.is_parted |= role == "user"
            if role == "cost-state" and line.total_cost_usd is not None:
                self.found.client_cost = line.total_cost_usd
            return
        if line.is_api_error_message or message.model == SYNTHETIC:
            return
        key = message.id or (f"request {line.request_id}" if line.request_id else self._next_to(raw))
        if isinstance(message, _FullMessage) and isinstance(message.content, list):
            self._add_calls(key, message.content)
        before = self.lines.get(key)
        if before is None:
            self.lines[key] = line
        else:
            self.add_to(key, before, line)

    def add_to(self, key: str, before: _Line, line: _Line) -> None:
        """Take in another line of a message."""
        new, old = line.message, self.usages.get(key, before).message
        if new is not None and old is not None and (usage := new.usage) is not None:
            best = old.usage
            if best is None or (usage.output_tokens or 0) >= (best.output_tokens or 0):
                self.usages[key] = line
        if before.timestamp is None and (before.message is None or before.message.timestamp is None):
            before.timestamp = _time(line)

    def _next_to(self, raw: bytes) -> str:
        """Name a message without any id: the one before it if no one spoke since, else its own uuid."""
        if self.is_parted or not self._unnamed:
            # A fork keeps the uuids, so the copies in other files have the same name.
            uuid = _uuid(raw)
            self._unnamed = f"line {uuid or f'{len(self.lines)} of {self.found.name}'}"
            self.is_parted = False
        return self._unnamed

    def _add_calls(self, key: str, blocks: Iterable[_Block]) -> None:
        calls = self.calls.setdefault(key, {})
        for block in blocks:
            if block.name and block.type and block.type.endswith("tool_use"):
                # A line that was written twice has the same call again.
                calls.setdefault(block.id or f"call {len(calls)}", block.name)

    def add_slowly(self, raw: bytes) -> None:
        """Take in a line that the typed decoder refuses: other types than expected, or damage."""
        for piece in pieces(raw):
            if piece.kind == "record" and piece.decoded is not None:
                body = raw[piece.start : piece.end]
                self.add(_slow_line(Entry(body, decoded=piece.decoded)), body)
            elif piece.kind == "fragment":
                # The end of a file that is still being written is not damaged, only unfinished.
                self.found.damaged += raw.endswith(b"\n") or piece.damage != "torn"


def _time(line: _Line) -> str | None:
    if line.timestamp is None and line.message is not None:
        return line.message.timestamp
    return line.timestamp


def _row(
    line: _Line, other: _Line | None, place: tuple[str, str | None], calls: Calls, hold: Callable[..., Any]
) -> Row:
    best = line if other is None else other
    message = best.message
    usage = message.usage if message is not None else None
    agent = line.agent_id or place[1] or (SIDECHAIN if line.is_sidechain else None)
    where: Place = (place[0], agent, line.git_branch or None)
    where = hold(where, where)
    model = message.model if message is not None else None
    model = hold(model, model)
    calls = hold(calls, calls) if calls else ()
    time = milliseconds(_time(line))
    if usage is None:
        return (time, None, 0, 0, 0, 0, 0, model, _NO_TERMS, where, calls)
    split, asked = usage.cache_creation, usage.server_tool_use
    terms: Terms = (
        usage.service_tier or None,
        usage.speed or None,
        usage.inference_geo or None,
        (asked.web_search_requests or 0) if asked else 0,
        (asked.web_fetch_requests or 0) if asked else 0,
        _advisors(usage.iterations) if usage.iterations else (),
    )
    written = _writes(usage.cache_creation_input_tokens, split)
    return (
        time,
        None if other is None else _time(other),
        usage.output_tokens or 0,
        usage.input_tokens or 0,
        usage.cache_read_input_tokens or 0,
        *written,
        model,
        hold(terms, terms),
        where,
        calls,
    )


_NO_TERMS: Final[Terms] = (None, None, None, 0, 0, ())


def _writes(total: int | None, split: _Split | None) -> tuple[int, int]:
    if split is None:
        return total or 0, 0
    return cache_writes(
        total or 0, split.ephemeral_5m_input_tokens or 0, split.ephemeral_1h_input_tokens or 0
    )


def _advisors(iterations: Iterable[_Iteration]) -> Advisors:
    return tuple(
        (
            one.model,
            Tokens(
                one.input_tokens or 0,
                one.output_tokens or 0,
                one.cache_read_input_tokens or 0,
                *_writes(one.cache_creation_input_tokens, one.cache_creation),
            ),
        )
        for one in iterations
        if one.type == "advisor_message" and one.model is not None
    )


# --- the slow road ------------------------------------------------------------------------------------------


def _slow_line(entry: Entry) -> _FullLine:
    """Read a decoded entry into the same facts; what is of an unexpected type counts as missing."""
    message = entry.data.get("message")
    return _FullLine(
        type=entry.text("type"),
        timestamp=entry.timestamp,
        session_id=entry.session_id,
        request_id=entry.request_id,
        cwd=entry.cwd,
        git_branch=entry.git_branch,
        agent_id=entry.agent_id,
        is_sidechain=entry.is_sidechain,
        is_api_error_message=entry.is_api_error,
        message=_slow_message(cast("Mapping[str, object]", message)) if isinstance(message, dict) else None,
        total_cost_usd=_number(entry.data.get("totalCostUSD")),
    )


def _slow_message(data: Mapping[str, object]) -> _FullMessage:
    usage, content = data.get("usage"), data.get("content")
    return _FullMessage(
        id=_text(data, "id"),
        role=_text(data, "role"),
        model=_text(data, "model"),
        usage=_slow_usage(cast("Mapping[str, object]", usage)) if isinstance(usage, dict) else None,
        content=_blocks(cast("list[object]", content)) if isinstance(content, list) else None,
    )


def _slow_usage(data: Mapping[str, object]) -> _Usage:
    asked, iterations = as_mapping(data.get("server_tool_use")), data.get("iterations")
    return _Usage(
        input_tokens=count(data.get("input_tokens")),
        output_tokens=count(data.get("output_tokens")),
        cache_read_input_tokens=count(data.get("cache_read_input_tokens")),
        cache_creation_input_tokens=count(data.get("cache_creation_input_tokens")),
        cache_creation=_slow_split(data),
        server_tool_use=_Requests(
            count(asked.get("web_search_requests")), count(asked.get("web_fetch_requests"))
        ),
        service_tier=_text(data, "service_tier"),
        speed=_text(data, "speed"),
        inference_geo=_text(data, "inference_geo"),
        iterations=[_slow_iteration(as_mapping(one)) for one in cast("list[object]", iterations)]
        if isinstance(iterations, list)
        else None,
    )


def _slow_split(data: Mapping[str, object]) -> _Split:
    split = as_mapping(data.get("cache_creation"))
    return _Split(
        count(split.get("ephemeral_5m_input_tokens")), count(split.get("ephemeral_1h_input_tokens"))
    )


def _slow_iteration(data: Mapping[str, object]) -> _Iteration:
    return _Iteration(
        type=_text(data, "type"),
        model=_text(data, "model"),
        input_tokens=count(data.get("input_tokens")),
        output_tokens=count(data.get("output_tokens")),
        cache_read_input_tokens=count(data.get("cache_read_input_tokens")),
        cache_creation_input_tokens=count(data.get("cache_creation_input_tokens")),
        cache_creation=_slow_split(data),
    )


def _blocks(content: Iterable[object]) -> list[_Block]:
    found = (as_mapping(item) for item in content)
    return [_Block(_text(block, "type"), _text(block, "id"), _text(block, "name")) for block in found]


def _text(data: Mapping[str, object], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) else None


def _number(value: object) -> int | float | None:
    return value if type(value) in (int, float) else None  # pyright: ignore[reportReturnType]  # not isinstance: True is an int


def _uuid(raw: bytes) -> str | None:
    try:
        return Entry(raw.strip()).uuid
    except DecodeError:
        return None


# --- lines, and the oldest of them --------------------------------------------------------------------------


def bounded(readline: Callable[[int], bytes]) -> Iterator[bytes]:
    """Give the raw lines that `readline(limit)` reads; of one too long to hold, the same JSON abridged."""
    while raw := readline(LONG):
        if len(raw) < LONG or raw.endswith(b"\n"):
            yield raw
            continue
        abridge = Abridger()
        while raw:
            abridge.feed(raw)
            if raw.endswith(b"\n"):
                break
            raw = readline(1 << 20)
        brief = abridge.finish()
        if brief is not None:
            yield brief


def oldest(lines: Iterable[bytes]) -> int | None:
    """Return the time of the oldest line, in milliseconds: exactly, though few lines are decoded for it.

    Where a line has a time, the bytes of its key and of the time are in it, and a quote inside a string is
    escaped. So a line all of whose times (nested ones too) are in the client's own form and no older than what
    is known need not be decoded.
    """
    best: int | None = None
    floor = b""
    for raw in lines:
        at = raw.find(_TIME)
        while at >= 0:
            written = raw[at + 11 : at + 37]
            if not floor or written < floor or _USUAL(written) is None:
                time = _time_of(raw)
                if time is not None and (best is None or time < best):
                    best = time
                    usual = iso(time)
                    floor = b"" if usual is None else f':"{usual}"'.encode()
                break
            at = raw.find(_TIME, at + 37)
    return best


_TIME: Final = b'"timestamp"'
_USUAL: Final = re.compile(rb':"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"').fullmatch


def _time_of(raw: bytes) -> int | None:
    """Return the time of the oldest record of a line."""
    times = [
        milliseconds(Entry(raw[piece.start : piece.end], decoded=piece.decoded).timestamp)
        for piece in pieces(raw.removeprefix(_BOM))
        if piece.decoded is not None
    ]
    return min((time for time in times if time is not None), default=None)
