"""What a message cost: its token counts times the prices of its model on its day.

Pure functions over `prices`, the dated table. Counting each message once is `session.usage`'s work, not ours.
A model that the table does not know has no cost (`None`): unknown is never zero.

Money is counted in whole picodollars (10⁻¹² US dollars) until the end. Every price of the table is a whole
number of them per token, half prices and surcharges too, so sums do not depend on the order of adding.
`docs/costs.md` tells the rules and how each was found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from clew.session import prices

if TYPE_CHECKING:
    from collections.abc import Mapping

PICODOLLARS = 1_000_000_000_000
"""Picodollars in a US dollar."""

SOURCE = prices.SOURCE
DATE = prices.DATE

_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
_EVER = -(1 << 63)

_LARGEST_COUNT = 1_000_000_000
"""No request is a thousandth as long. A greater number is damage, and would drown every sum it joins."""

_LONGEST_NAME = 256
"""Inference profiles reach 130 characters. What is longer is no model, and not worth a cache entry."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token counts by what they cost. No token counts twice: `input` is only what the cache did not serve."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write_5m: int = 0
    cache_write_1h: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write_5m + other.cache_write_5m,
            self.cache_write_1h + other.cache_write_1h,
        )

    @property
    def total(self) -> int:
        """All tokens, of every kind."""
        return self.input + self.output + self.cache_read + self.cache_write_5m + self.cache_write_1h

    @property
    def prompt(self) -> int:
        """All tokens that went to the model, from the cache or not."""
        return self.input + self.cache_read + self.cache_write_5m + self.cache_write_1h


class Rates(NamedTuple):
    """What one token of each kind costs, in picodollars; also dollars per million tokens times a million."""

    input: int
    output: int
    cache_read: int
    cache_write_5m: int
    cache_write_1h: int
    web_search: int
    """One web search."""

    long_above: int = 0
    """A prompt of more tokens than this is charged by `long`, all of it. 0: there is no such limit."""

    long: Rates | None = None

    def charge(
        self,
        input_tokens: int,
        output_tokens: int,
        cache_read: int = 0,
        cache_write_5m: int = 0,
        cache_write_1h: int = 0,
        web_searches: int = 0,
    ) -> int:
        """Return what one message cost, in picodollars. Plain numbers, for loops over many messages."""
        rates = self
        if (
            self.long is not None
            and input_tokens + cache_read + cache_write_5m + cache_write_1h > self.long_above
        ):
            rates = self.long
        return (
            rates.input * input_tokens
            + rates.output * output_tokens
            + rates.cache_read * cache_read
            + rates.cache_write_5m * cache_write_5m
            + rates.cache_write_1h * cache_write_1h
            + rates.web_search * web_searches
        )


class Usage(NamedTuple):
    """What one message used, as its `usage` says, with everything that is not believable left out."""

    tokens: Tokens = Tokens()
    web_searches: int = 0
    web_fetches: int = 0
    service_tier: str | None = None
    speed: str | None = None
    inference_geo: str | None = None
    advisors: tuple[tuple[str, Tokens], ...] = ()
    """Other models asked while the answer was made, each with its own tokens; `tokens` does not hold them."""


def price(
    model: str | None,
    *,
    time_ms: int | None = None,
    service_tier: str | None = None,
    speed: str | None = None,
    inference_geo: str | None = None,
) -> Rates | None:
    """Return the rates for a message of `model` at `time_ms` (milliseconds since 1970, UTC).

    Without a time the newest prices hold. Costs one look into a cache, and the result is the same object each
    time, so a caller may gather tokens by it.
    """
    if model is None or len(model) > _LONGEST_NAME:
        return None
    known = _periods(model, service_tier == "batch", speed == "fast", inference_geo == "us")
    if known is None:
        return None
    for start_ms, rates in known:
        if time_ms is None or time_ms >= start_ms:
            return rates
    return known[-1][1]


def cost(
    model: str | None,
    tokens: Tokens,
    *,
    time_ms: int | None = None,
    web_searches: int = 0,
    service_tier: str | None = None,
    speed: str | None = None,
    inference_geo: str | None = None,
) -> float | None:
    """Return what one message cost in US dollars, or None when the model's prices are unknown.

    Some models charge more for a long prompt, so the sum of several messages may cost more here than they
    did one by one.
    """
    rates = price(model, time_ms=time_ms, service_tier=service_tier, speed=speed, inference_geo=inference_geo)
    return None if rates is None else dollars(_charge(rates, tokens, web_searches))


def cost_of(model: str | None, usage: Usage, *, time_ms: int | None = None) -> float | None:
    """Return what one message cost with the advisors it asked; None when any of the models is unknown."""
    rates = price(
        model,
        time_ms=time_ms,
        service_tier=usage.service_tier,
        speed=usage.speed,
        inference_geo=usage.inference_geo,
    )
    if rates is None:
        return None
    sum_ = _charge(rates, usage.tokens, usage.web_searches)
    for name, tokens in usage.advisors:
        # Speed and place are the answering model's; nothing says that its advisors shared them.
        advisor = price(name, time_ms=time_ms)
        if advisor is None:
            return None
        sum_ += _charge(advisor, tokens, 0)
    return dollars(sum_)


def dollars(picodollars: int) -> float:
    """Return the nearest number of US dollars."""
    return picodollars / PICODOLLARS


def canonical(model: str) -> str | None:
    """Return the table's name for a model, however it is spelled; None when the table lacks it.

    Spellings seen: dated ids, `-latest`, Bedrock's (`us.anthropic.claude-…-v1:0`, also as the end of an ARN),
    Vertex's (`claude-…@20250929`), a router's (`anthropic/claude-sonnet-4.5:thinking`), the client's `[1m]`.
    The rest must be a listed name, whole: `claude-opus-4-10` is not `claude-opus-4-1`.
    """
    if len(model) > _LONGEST_NAME:
        return None
    name = model.lower()
    if name in prices.FREE:
        return name
    match = _SPELLING.fullmatch(name)
    return _listed(name) or (_listed(match[1]) if match else None)


def _listed(name: str) -> str | None:
    name = name.replace(".", "-")
    name = prices.ALIASES.get(name, name)
    return name if name in prices.MODELS else None


_SPELLING = re.compile(
    r"(?:.*[/.])?"  # provider and region, or an ARN
    r"(claude-[a-z0-9.-]*?)"
    r"(?:-thinking)?"
    r"(?:-v\d+)?"
    r"(?:[-@](?:\d{8}|\d{4}-\d\d-\d\d|latest|default))?"
    r"(?:-thinking)?"
    r"(?:-v\d+)?"
    r"(?::(?:\d+k?|thinking|beta|extended|self-moderated))*"
    r"(?:\[1m\])?",
    re.ASCII,
)


@lru_cache(maxsize=1024)
def _periods(model: str, batch: bool, fast: bool, us: bool) -> tuple[tuple[int, Rates], ...] | None:
    """Return the model's rates with the moment each began to hold, newest first."""
    name = canonical(model)
    if name is None:
        return None
    if name in prices.FREE:
        return ((_EVER, Rates(0, 0, 0, 0, 0, 0)),)
    # In tenths and halves, so that all stays whole: US inference 1.1, the batch tier 0.5.
    twentieths = 20 * (prices.FAST.get(name, 1) if fast else 1)
    if us:
        twentieths = twentieths * 11 // 10
    if batch:
        twentieths //= 2
    found = [
        (
            (date.fromisoformat(day).toordinal() - _EPOCH) * _DAY_MS if day else _EVER,
            _rates(plain, twentieths, long_above, None if long is None else _rates(long, twentieths)),
        )
        for day, plain, long_above, long in prices.MODELS[name]
    ]
    return tuple(reversed(found))


def _rates(five: prices.Five, twentieths: int, long_above: int = 0, long: Rates | None = None) -> Rates:
    # The surcharges and discounts are on tokens; a web search costs the same for all.
    search = round(prices.WEB_SEARCH * PICODOLLARS)
    read, written, cached, five_minutes, one_hour = (
        round(rate * 1_000_000) * twentieths // 20 for rate in five
    )
    return Rates(read, written, cached, five_minutes, one_hour, search, long_above, long)


def _charge(rates: Rates, tokens: Tokens, web_searches: int) -> int:
    return rates.charge(
        tokens.input,
        tokens.output,
        tokens.cache_read,
        tokens.cache_write_5m,
        tokens.cache_write_1h,
        web_searches,
    )


def read_usage(usage: Mapping[str, object]) -> Usage:
    """Read a message's `usage`. What is missing, of another type or not believable counts as absent."""
    tools = _mapping(usage.get("server_tool_use"))
    return Usage(
        _tokens(usage),
        count(tools.get("web_search_requests")),
        count(tools.get("web_fetch_requests")),
        _word(usage.get("service_tier")),
        _word(usage.get("speed")),
        _word(usage.get("inference_geo")),
        _advisors(usage.get("iterations")),
    )


def count(value: object) -> int:
    """Return a number of tokens or requests, or 0 when `value` cannot be one."""
    # Not isinstance: True is an int.
    return value if type(value) is int and 0 <= value <= _LARGEST_COUNT else 0


def cache_writes(total: int, five_minutes: int, one_hour: int) -> tuple[int, int]:
    """Return the tokens written to the cache for 5 minutes and for 1 hour.

    `total` is `cache_creation_input_tokens`, the others are its split. They should agree. Where they do not,
    the client (2.1.325) believes the total: at most that much was for an hour, the rest for 5 minutes. Only a
    total of 0 (or none) gives way to the split. Files from before the split have the total alone.
    """
    if total == 0:
        return five_minutes, one_hour
    one_hour = min(one_hour, total)
    return total - one_hour, one_hour


def _tokens(usage: Mapping[str, object]) -> Tokens:
    split = _mapping(usage.get("cache_creation"))
    five_minutes, one_hour = cache_writes(
        count(usage.get("cache_creation_input_tokens")),
        count(split.get("ephemeral_5m_input_tokens")),
        count(split.get("ephemeral_1h_input_tokens")),
    )
    return Tokens(
        count(usage.get("input_tokens")),
        count(usage.get("output_tokens")),
        count(usage.get("cache_read_input_tokens")),
        five_minutes,
        one_hour,
    )


def _advisors(iterations: object) -> tuple[tuple[str, Tokens], ...]:
    """Return the iterations that another model ran; the counts at the top of the usage hold all the rest."""
    if not isinstance(iterations, list) or not iterations:
        return ()
    found: list[tuple[str, Tokens]] = []
    for iteration in map(_mapping, cast("list[object]", iterations)):
        model = iteration.get("model")
        if iteration.get("type") == "advisor_message" and isinstance(model, str):
            found.append((model, _tokens(iteration)))
    return tuple(found)


def _mapping(value: object) -> Mapping[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def _word(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
