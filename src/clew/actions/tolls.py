"""What a full read takes from one file, and which session each message's usage belongs to.

A message that stands in several files, as after a fork, is counted once: it belongs to the session whose
oldest line is oldest. So the rows of a list add up to what was used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.actions.passes import Pass
from clew.errors import ClewError
from clew.format.records import Record
from clew.format.times import milliseconds
from clew.session.fold import Summary
from clew.session.pricing import Tokens, dollars, price
from clew.session.usage import Folder
from clew.store.files import Skipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from clew.session.fold import Facts
    from clew.session.usage import FileUsage, Row
    from clew.store.files import SessionFile


@dataclass(frozen=True, slots=True)
class Toll:
    """One file, read fully."""

    path: str
    facts: Facts
    usage: FileUsage
    oldest: int | None
    """The time of its oldest line, in milliseconds."""

    was_cut: bool


class _Oldest:
    """The oldest time met; nearly all are written in one form, in which they can be compared as they are."""

    __slots__ = ("ms", "text")

    def __init__(self) -> None:
        self.text = "~"
        self.ms: int | None = None

    def add(self, text: str | None) -> None:
        if text is None or (len(text) == 24 and text[-1] == "Z" and text >= self.text):
            return
        ms = milliseconds(text)
        if ms is not None and (self.ms is None or ms < self.ms):
            self.ms = ms
            if len(text) == 24 and text[-1] == "Z":
                self.text = text


def take_toll(file: SessionFile, *, summaries: Mapping[str, str] | None = None) -> Toll | Skipped:
    """Read a file once, for its facts and its usage together."""
    seen, oldest = Summary(), _Oldest()

    def lines(one: Pass) -> Iterator[bytes]:
        for item in one.items():
            seen.add(item)
            if isinstance(item, Record):
                oldest.add(item.facts.time)
                yield item.raw

    try:
        one = Pass(file.path)
        usage = Folder().file(file.path, lines(one))
    except ClewError as error:
        return Skipped(file.path, error.message)
    facts = seen.result(one.extent, summaries=summaries)
    return Toll(file.path, facts, usage, oldest.ms, one.was_cut)


@dataclass(slots=True)
class Share:
    """What one session used."""

    tokens: Tokens = field(default_factory=Tokens)
    messages: int = 0
    picodollars: int = 0
    strangers: set[str] = field(default_factory=set[str])

    @property
    def unpriced(self) -> tuple[str, ...]:
        """The models without a price."""
        return tuple(sorted(self.strangers))

    @property
    def cost_usd(self) -> float | None:
        """The cost, or None when a model's prices are not known."""
        return None if self.strangers else dollars(self.picodollars)


def share_out(tolls: Iterable[Toll], owner: Mapping[str, str]) -> dict[str, Share]:
    """Add up the usage by session; `owner` names for each file the file of its session."""
    oldest: dict[str, tuple[int, str]] = {}
    tolls = list(tolls)
    for toll in tolls:
        session = owner[toll.path]
        age = (2**62 if toll.oldest is None else toll.oldest, session)
        oldest[session] = min(oldest.get(session, age), age)
    shares = {session: Share() for session in owner.values()}
    owners: dict[str, tuple[int, str]] = {}
    best: dict[str, Row] = {}
    for toll in tolls:
        age = oldest[owner[toll.path]]
        for key, row in toll.usage.rows.items():
            held = best.get(key)
            if held is None:
                owners[key], best[key] = age, row
                continue
            owners[key] = min(owners[key], age)
            # A copy may have been made while the answer was still being written: the longest one counts.
            if _rank(row) > _rank(held):
                best[key] = row
    for key, row in best.items():
        _add(shares[owners[key][1]], row)
    return shares


def _rank(row: Row) -> tuple[int, str]:
    return row[2], row[1] or row[0] or ""


def _add(share: Share, row: Row) -> None:
    time, _, output, given, read, short, long, model, terms, _, _ = row
    tier, speed, place, searches, _, advisors = terms
    share.messages += 1
    share.tokens += Tokens(given, output, read, short, long)
    time_ms = milliseconds(time)
    rates = price(model, time_ms=time_ms, service_tier=tier, speed=speed, inference_geo=place)
    if rates is None:
        share.strangers.add(model or "?")
    else:
        share.picodollars += rates.charge(given, output, read, short, long, searches)
    for name, tokens in advisors:
        asked = price(name, time_ms=time_ms)
        share.tokens += tokens
        if asked is None:
            share.strangers.add(name)
        else:
            share.picodollars += asked.charge(
                tokens.input, tokens.output, tokens.cache_read, tokens.cache_write_5m, tokens.cache_write_1h
            )
