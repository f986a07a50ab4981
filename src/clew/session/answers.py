"""What counting needs of a line that may be an answer of the model, and of no other: two roads to it.

The quick road is a typed decoder that passes over what it was not asked for, and it is asked for little.
Where something is not of the type expected it refuses. `read_slowly` reads all that may count, tolerantly.
Law: what both tell is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple, cast

import msgspec

from clew.format.entry import Entry, as_mapping
from clew.format.salvage import pieces
from clew.session.pricing import Tokens, cache_writes, count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Depth = Literal["usage", "place", "calls"]
"""How much is read of a line: the usage alone, also where and by whom, also the tools called."""

Advisers = tuple[tuple[str, Tokens], ...]

# A count outside of this is damage: the typed decoder refuses it, and the slow road makes it 0.
_Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000_000)]


class Split(msgspec.Struct, gc=False):
    """How long the tokens written to the cache were to stay there."""

    ephemeral_5m_input_tokens: _Count | None = None
    ephemeral_1h_input_tokens: _Count | None = None


class Iteration(msgspec.Struct, gc=False):
    """One of the steps an answer was made in."""

    type: str | None = None
    model: str | None = None
    input_tokens: _Count | None = None
    output_tokens: _Count | None = None
    cache_read_input_tokens: _Count | None = None
    cache_creation_input_tokens: _Count | None = None
    cache_creation: Split | None = None


class Requests(msgspec.Struct, gc=False):
    """What the API's own tools did."""

    web_search_requests: _Count | None = None
    web_fetch_requests: _Count | None = None


class Usage(msgspec.Struct, gc=False):
    """The usage as written on one line."""

    # In the order the client writes them, here and below: the decoder looks for the next one first.
    input_tokens: _Count | None = None
    cache_creation_input_tokens: _Count | None = None
    cache_read_input_tokens: _Count | None = None
    cache_creation: Split | None = None
    output_tokens: _Count | None = None
    server_tool_use: Requests | None = None
    service_tier: str | None = None
    inference_geo: str | None = None
    iterations: list[Iteration] | None = None
    speed: str | None = None


class Block(msgspec.Struct, gc=False):
    """A content block, as far as it may be a call."""

    type: str | None = None
    id: str | None = None
    name: str | None = None


class Message(msgspec.Struct, gc=False):
    """The API message, without its content."""

    model: str | None = None
    id: str | None = None
    usage: Usage | None = None


class Answer(msgspec.Struct, rename="camel", gc=False):
    """One line. Every field is optional: most lines are no answers."""

    message: Message | None = None
    type: str | None = None
    timestamp: str | None = None
    is_api_error_message: bool | None = None


class PlacedAnswer(Answer, rename="camel", gc=False):
    """A line with where it was written and by whom."""

    cwd: str | None = None
    git_branch: str | None = None
    agent_id: str | None = None
    is_sidechain: bool | None = None


class CallingMessage(Message, gc=False):
    """The API message with its content."""

    content: str | list[Block] | None = None


class CallingAnswer(PlacedAnswer, rename="camel", gc=False):
    """A line with the calls it makes."""

    message: CallingMessage | None = None  # pyright: ignore[reportIncompatibleVariableOverride]  # the decoder makes it, no one assigns another


class _Said(msgspec.Struct, gc=False):
    timestamp: str | None = None


class _Timed(msgspec.Struct, gc=False):
    timestamp: str | None = None
    message: _Said | None = None

    @property
    def time(self) -> str | None:
        if self.timestamp is not None:
            return self.timestamp
        return None if self.message is None else self.message.timestamp


_TIMES: Final = msgspec.json.Decoder(_Timed)
_USAGE: Final = msgspec.json.Decoder(Answer)
_PLACE: Final = msgspec.json.Decoder(PlacedAnswer)
_CALLS: Final = msgspec.json.Decoder(CallingAnswer)


def reader(depth: Depth) -> Callable[[bytes], Answer]:
    """Return the quick road: it raises ValueError or RecursionError for what only the slow one can tell."""
    match depth:
        case "usage":
            return _USAGE.decode
        case "place":
            return _PLACE.decode
        case "calls":
            return _CALLS.decode


def written_to_cache(total: int | None, split: Split | None) -> tuple[int, int]:
    """Return the tokens written to the cache for 5 minutes and for 1 hour."""
    if split is None:
        return total or 0, 0
    short, long = split.ephemeral_5m_input_tokens, split.ephemeral_1h_input_tokens
    return cache_writes(total or 0, short or 0, long or 0)


def tokens_of(usage: Usage | Iteration) -> Tokens:
    """Return the token counts of a usage."""
    short, long = written_to_cache(usage.cache_creation_input_tokens, usage.cache_creation)
    return Tokens(
        usage.input_tokens or 0, usage.output_tokens or 0, usage.cache_read_input_tokens or 0, short, long
    )


def searches_of(usage: Usage) -> tuple[int, int]:
    """Return how many web searches and web fetches a message asked for."""
    asked = usage.server_tool_use
    return (0, 0) if asked is None else (asked.web_search_requests or 0, asked.web_fetch_requests or 0)


def advisers_of(usage: Usage) -> Advisers:
    """Return the steps that another model did; the counts at the top of the usage hold all the rest."""
    return tuple(
        (one.model, tokens_of(one))
        for one in usage.iterations or ()
        if one.type == "advisor_message" and one.model is not None
    )


# --- the slow road ------------------------------------------------------------------------------------------


class Told(NamedTuple):
    """All that may count of one record."""

    role: str | None
    """Its type; where there is none, the role of its message."""

    answer: CallingAnswer
    request_id: str | None
    uuid: str | None
    client_cost: float | None


def read_slowly(raw: bytes) -> tuple[list[Told], bool]:
    """Return what the records of a line tell, and whether it is more or less than one record."""
    found: list[Told] = []
    full = [piece for piece in pieces(raw) if piece.kind != "blank"]
    for piece in full:
        if piece.kind == "record" and piece.decoded is not None:
            entry = Entry(raw[piece.start : piece.end], decoded=piece.decoded)
            cost = entry.data.get("totalCostUSD")
            is_cost = isinstance(cost, int | float) and not isinstance(cost, bool)
            answer = _answer(entry)
            found.append(Told(entry.type, answer, entry.request_id, entry.uuid, cost if is_cost else None))
    # Of white space there is more than JSON has.
    return found, (len(full) > 1 or len(full) > len(found)) and not raw.isspace()


def is_broken_off(raw: bytes) -> bool:
    """Say whether a line without its end is not yet, or will never be, a record."""
    full = [piece for piece in pieces(raw) if piece.kind != "blank"]
    return bool(full) and full[-1].kind == "fragment" and not raw.isspace()


def time_of(raw: bytes) -> str | None:
    """Return the time a line was written at, whatever it is; raises like the quick road."""
    return _TIMES.decode(raw).time


def times_of(raw: bytes) -> list[str | None]:
    """Return the times of the records of a line that the quick road refuses."""
    return [told.answer.timestamp for told in read_slowly(raw)[0]]


def _answer(entry: Entry) -> CallingAnswer:
    message = entry.data.get("message")
    return CallingAnswer(
        type=entry.text("type"),
        timestamp=entry.timestamp,
        is_api_error_message=entry.is_api_error,
        message=_message(cast("Mapping[str, object]", message)) if isinstance(message, dict) else None,
        cwd=entry.cwd,
        git_branch=entry.git_branch,
        agent_id=entry.agent_id,
        is_sidechain=entry.is_sidechain,
    )


def _message(data: Mapping[str, object]) -> CallingMessage:
    usage, content = data.get("usage"), data.get("content")
    return CallingMessage(
        id=_text(data, "id"),
        model=_text(data, "model"),
        usage=_usage(cast("Mapping[str, object]", usage)) if isinstance(usage, dict) else None,
        content=_blocks(cast("list[object]", content)) if isinstance(content, list) else None,
    )


def _usage(data: Mapping[str, object]) -> Usage:
    asked, iterations = as_mapping(data.get("server_tool_use")), data.get("iterations")
    return Usage(
        input_tokens=count(data.get("input_tokens")),
        output_tokens=count(data.get("output_tokens")),
        cache_read_input_tokens=count(data.get("cache_read_input_tokens")),
        cache_creation_input_tokens=count(data.get("cache_creation_input_tokens")),
        cache_creation=_split(data),
        server_tool_use=Requests(
            count(asked.get("web_search_requests")), count(asked.get("web_fetch_requests"))
        ),
        service_tier=_text(data, "service_tier"),
        speed=_text(data, "speed"),
        inference_geo=_text(data, "inference_geo"),
        iterations=[_iteration(as_mapping(one)) for one in cast("list[object]", iterations)]
        if isinstance(iterations, list)
        else None,
    )


def _split(data: Mapping[str, object]) -> Split:
    split = as_mapping(data.get("cache_creation"))
    short, long = split.get("ephemeral_5m_input_tokens"), split.get("ephemeral_1h_input_tokens")
    return Split(count(short), count(long))


def _iteration(data: Mapping[str, object]) -> Iteration:
    return Iteration(
        type=_text(data, "type"),
        model=_text(data, "model"),
        input_tokens=count(data.get("input_tokens")),
        output_tokens=count(data.get("output_tokens")),
        cache_read_input_tokens=count(data.get("cache_read_input_tokens")),
        cache_creation_input_tokens=count(data.get("cache_creation_input_tokens")),
        cache_creation=_split(data),
    )


def _blocks(content: Iterable[object]) -> list[Block]:
    found = (as_mapping(item) for item in content)
    return [Block(_text(block, "type"), _text(block, "id"), _text(block, "name")) for block in found]


def _text(data: Mapping[str, object], name: str) -> str | None:
    value = data.get(name)
    return value if isinstance(value, str) else None
