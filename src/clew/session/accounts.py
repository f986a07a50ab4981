"""What the messages of a ledger used and cost, by day, model, session…: groups that add up to the total.

Who owns a message that several files have costs a second reading of those files (`ledger.Owners`), so that is
asked for only where it changes an answer: where the copies would fall into different groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Final, Literal

from clew.format.times import iso, milliseconds
from clew.session.ledger import Owners, best_usage
from clew.session.periods import BLOCK_MS, DAY_MS, UNKNOWN, Blocks, Calendar
from clew.session.pricing import Tokens, dollars, price

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import tzinfo

    from clew.session.ledger import Ledger
    from clew.session.periods import Slot
    from clew.session.pricing import Rates
    from clew.session.usage import Row, Terms

By = Literal["day", "week", "month", "session", "project", "model", "block", "git-branch", "tool", "agent"]

MAIN: Final = "main"
"""The agent of what the session itself said."""

NO_CALL: Final = "no call"
"""The tool of a message that called none."""

NO_BRANCH: Final = "no branch"

_NEVER: Final = 1 << 62
_NOTHING: Final = Tokens()


@dataclass(frozen=True, slots=True)
class Sum:
    """What some messages used together."""

    tokens: Tokens = _NOTHING
    messages: int = 0
    web_searches: int = 0
    web_fetches: int = 0
    cost_usd: float | None = 0.0
    """What those with a known price cost; None when none of them has one."""

    unpriced: int = 0
    """How many of the messages have no known price, and are not in the cost."""

    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """One row of the answer: a day, a model, a session…"""

    key: str
    sum: Sum
    models: tuple[Group, ...] = ()
    """The same by model, where that was asked for."""


@dataclass(frozen=True, slots=True)
class Account:
    """The answer: groups that add up to the total."""

    by: By
    groups: tuple[Group, ...]
    total: Sum
    unpriced_models: tuple[str, ...]

    def running_block(self, *, now: int) -> Group | None:
        """Return the five-hour block that runs at `now`, if one does."""
        for group in reversed(self.groups):
            start = milliseconds(group.key) if self.by == "block" else None
            if start is not None and start <= now < start + BLOCK_MS:
                return group
        return None


@dataclass(frozen=True, slots=True)
class Question:
    """How to group, and what has to be asked of those who know the files."""

    by: By = "day"
    zone: tzinfo | None = None
    """The zone of days, weeks and months; None is the machine's own."""

    since: int | None = None
    until: int | None = None
    """From the one moment on, and before the other; a message without a time is then left out."""

    session_of: Callable[[str], str] = str
    """The session a file belongs to."""

    project_of: Callable[[str], str] = str
    """The project a file belongs to."""

    oldest: Callable[[str], int | None] = lambda _session: None
    """When the oldest line of a session was written."""

    with_models: bool = False
    """Whether each group is to be told by model too."""


def account(ledger: Ledger, question: Question) -> Account:
    """Group the messages of a ledger and add them up."""
    bins = _Sorting(ledger, question).bins()
    return Counting(question.by, with_models=question.with_models).account(bins)


# --- into groups --------------------------------------------------------------------------------------------


class Bin:
    """Messages of one group, model and terms on one day: what they cost is linear in their sums."""

    __slots__ = (
        "cached", "count", "input", "long", "long_above", "longer", "model", "output", "rates", "short",
        "slot", "terms",
    )  # fmt: skip

    def __init__(self, slot: Slot, model: str | None, terms: Terms, rates: Rates | None) -> None:
        self.slot = slot
        self.model = model
        self.terms = terms
        self.rates = rates
        self.long_above = rates.long_above if rates is not None and rates.long is not None else 0
        self.longer: Bin | None = None
        self.count = self.output = self.input = self.cached = self.short = self.long = 0

    def add(self, count: int, output: int, given: int, cached: int, short: int, long: int) -> None:
        """Add messages and their tokens."""
        self.count += count
        self.output += output
        self.input += given
        self.cached += cached
        self.short += short
        self.long += long

    def for_long_prompts(self) -> Bin:
        """Return the bin for messages whose prompt was so long that the higher prices hold."""
        if self.longer is None:
            long = self.rates.long if self.rates is not None else None
            self.longer = Bin(self.slot, self.model, self.terms, long)
        return self.longer


def bin_for(slot: Slot, model: str | None, terms: Terms) -> Bin:
    """Return an empty bin with the prices that held on its day."""
    tier, speed, geo = terms[:3]
    time_ms = None if slot[1] is None else slot[1] * DAY_MS
    rates = price(model, time_ms=time_ms, service_tier=tier, speed=speed, inference_geo=geo)
    return Bin(slot, model, terms, rates)


class _Sorting:
    """Finds the group of every message."""

    def __init__(self, ledger: Ledger, question: Question) -> None:
        self._ledger = ledger
        self._question = question
        self._owners = Owners(question.session_of, question.oldest)
        self._hours: dict[str, Slot | None] = {}
        """The groups of whole hours, where a message's time is all that counts."""
        self._slot_of = self._within(self._finder())
        self._bins: dict[object, Bin] = {}

    def bins(self) -> Iterator[Bin]:
        for rows in self._ledger.copies.values():
            slot, row = self._slot_of_copies(rows)
            if slot is not None:
                self._add(slot, row)
        self._add_rows()
        for bin_ in self._bins.values():
            yield bin_
            if bin_.longer is not None:
                yield bin_.longer

    def _add_rows(self) -> None:
        """Add the messages that one file alone has: nearly all, so this is `_add` with little in the way."""
        bins, hours, slot_of, copies = self._bins, self._hours, self._slot_of, self._ledger.copies
        is_by_tool = self._question.by == "tool"
        for key, row in self._ledger.rows.items():
            if key in copies:
                continue
            time, output, given, cached, short, long, model, terms, _, _ = row
            slot = hours.get(time[:13]) if time is not None and time[23:] == "Z" else None
            if slot is None:
                slot = slot_of(row)
                if slot is None:
                    continue
            if is_by_tool:
                self._add_shares(slot, row)
                continue
            bin_ = bins.get((slot, model, id(terms)))
            if bin_ is None:
                bin_ = bins[slot, model, id(terms)] = bin_for(slot, model, terms)
            if bin_.long_above and given + cached + short + long > bin_.long_above:
                bin_ = bin_.for_long_prompts()
            bin_.count += 1
            bin_.output += output
            bin_.input += given
            bin_.cached += cached
            bin_.short += short
            bin_.long += long

    def _add(self, slot: Slot, row: Row) -> None:
        if self._question.by == "tool":
            self._add_shares(slot, row)
            return
        model, terms = row[6], row[7]
        key = slot, model, id(terms)
        bin_ = self._bins.get(key)
        if bin_ is None:
            bin_ = self._bins[key] = bin_for(slot, model, terms)
        if 0 < bin_.long_above < sum(row[2:6]):
            bin_ = bin_.for_long_prompts()
        bin_.add(1, *row[1:6])

    def _slot_of_copies(self, copies: Sequence[Row]) -> tuple[Slot | None, Row]:
        slots = {self._slot_of(row) for row in copies}
        if len(slots) == 1:
            return slots.pop(), best_usage(copies)
        row = self._owners.settle(copies)
        return self._slot_of(row), row

    def _add_shares(self, slot: Slot, row: Row) -> None:
        """Give each call of a message its part of the tokens; what is left over goes to the first calls.

        The message itself, and what cannot be divided, counts with the first call.
        """
        model, terms, calls = row[6], row[7], row[9] or (NO_CALL,)
        is_long = False
        for at, name in enumerate(calls):
            slot = (name, slot[1])
            key = (slot, model, id(terms) if at == 0 else terms[:3])
            bin_ = self._bins.get(key)
            if bin_ is None:
                bin_ = self._bins[key] = bin_for(slot, model, terms if at == 0 else (*terms[:3], 0, 0, ()))
            if at == 0:
                is_long = 0 < bin_.long_above < sum(row[2:6])
            if is_long:
                bin_ = bin_.for_long_prompts()
            bin_.add(int(at == 0), *(share(tokens, len(calls), at) for tokens in row[1:6]))

    # --- which group --------------------------------------------------------------------------------

    def _within(self, find: Callable[[Row], Slot]) -> Callable[[Row], Slot | None]:
        """Return what finds the group of a message, None for one that was not asked for."""
        since, until = self._question.since, self._question.until
        if since is None and until is None:
            return find
        first, last = -_NEVER if since is None else since, _NEVER if until is None else until

        def find_within(row: Row) -> Slot | None:
            ms = milliseconds(row[0])
            return find(row) if ms is not None and first <= ms < last else None

        return find_within

    def _finder(self) -> Callable[[Row], Slot]:
        question = self._question
        if question.by == "block":
            return self._block_finder()
        if question.by == "day" or question.by == "week" or question.by == "month":
            calendar = Calendar(question.by, question.zone)
            slot = calendar.slot
            if question.since is None and question.until is None:
                self._hours = calendar.hours
            return lambda row: slot(row[0])
        name_of = self._namer()
        day = Calendar("day", UTC).slot
        return lambda row: (name_of(row), day(row[0])[1])

    def _namer(self) -> Callable[[Row], str]:
        question = self._question
        match question.by:
            case "session":
                return lambda row: question.session_of(row[8][0])
            case "project":
                return lambda row: question.project_of(row[8][0])
            case "git-branch":
                return lambda row: row[8][2] or NO_BRANCH
            case "agent":
                return lambda row: row[8][1] or MAIN
            case _:  # a model; by tool the name comes with the calls
                return lambda row: row[6] or UNKNOWN

    def _block_finder(self) -> Callable[[Row], Slot]:
        # A block depends on all messages, so when the shared ones were said is settled first.
        copies = self._ledger.copies
        times = [row[0] for key, row in self._ledger.rows.items() if key not in copies]
        for rows in copies.values():
            is_same = len({row[0] for row in rows}) == 1
            times.append(rows[0][0] if is_same else self._owners.settle(rows)[0])
        blocks = Blocks(ms for time in times if (ms := milliseconds(time)) is not None)

        def find(row: Row) -> Slot:
            ms = milliseconds(row[0])
            if ms is None or not blocks.starts:
                return (UNKNOWN, None)
            return (iso(blocks.start(ms)) or UNKNOWN, ms // DAY_MS)

        return find


def share(tokens: int, parts: int, at: int) -> int:
    """Return what the part `at` gets of some tokens; what is left over goes to the first ones."""
    each, left = divmod(tokens, parts)
    return each + (at < left)


# --- into sums ----------------------------------------------------------------------------------------------


class _Tally:
    """A growing sum; money in whole picodollars."""

    __slots__ = (
        "cached", "fetches", "input", "is_priced", "is_unpriced", "long", "messages", "models", "output",
        "picodollars", "searches", "short", "unpriced",
    )  # fmt: skip

    def __init__(self) -> None:
        self.input = self.output = self.cached = self.short = self.long = 0
        self.messages = self.searches = self.fetches = self.picodollars = self.unpriced = 0
        self.is_priced = self.is_unpriced = False
        self.models: set[str] = set()

    def add_tokens(self, given: int, output: int, cached: int, short: int, long: int) -> None:
        self.input += given
        self.output += output
        self.cached += cached
        self.short += short
        self.long += long

    def add(self, other: _Tally) -> None:
        self.add_tokens(other.input, other.output, other.cached, other.short, other.long)
        self.messages += other.messages
        self.searches += other.searches
        self.fetches += other.fetches
        self.picodollars += other.picodollars
        self.is_priced |= other.is_priced
        self.is_unpriced |= other.is_unpriced
        self.unpriced += other.unpriced
        self.models |= other.models

    def sum(self) -> Sum:
        is_known = self.is_priced or not self.is_unpriced
        return Sum(
            Tokens(self.input, self.output, self.cached, self.short, self.long),
            self.messages,
            self.searches,
            self.fetches,
            dollars(self.picodollars) if is_known else None,
            self.unpriced,
            tuple(sorted(self.models)),
        )


def _linear(rates: Rates, given: int, output: int, cached: int, short: int, long: int) -> int:
    """Return what tokens cost whose prompts were all on the same side of the limit."""
    return (
        rates.input * given
        + rates.output * output
        + rates.cache_read * cached
        + rates.cache_write_5m * short
        + rates.cache_write_1h * long
    )


class Counting:
    """Adds up bins by group."""

    def __init__(self, by: By, *, with_models: bool = False) -> None:
        self._by: By = by
        self._tallies: dict[str, _Tally] = {}
        self._unpriced: set[str] = set()
        self._models: dict[str, Counting] | None = {} if with_models else None

    def account(self, bins: Iterator[Bin]) -> Account:
        """Return what all bins hold together, by group and in all."""
        for bin_ in bins:
            self.add(bin_, bin_.slot[0])
            if self._models is not None:
                within = self._models.setdefault(bin_.slot[0], Counting("model"))
                within.add(bin_, bin_.model or UNKNOWN)
        total = _Tally()
        for tally in self._tallies.values():
            total.add(tally)
        groups = [Group(key, tally.sum(), self._within(key)) for key, tally in self._tallies.items()]
        if self._by in {"day", "week", "month", "block"}:
            groups.sort(key=lambda group: (group.key == UNKNOWN, group.key))
        else:
            groups.sort(key=lambda group: (-(group.sum.cost_usd or 0), -group.sum.tokens.total, group.key))
        return Account(self._by, tuple(groups), total.sum(), tuple(sorted(self._unpriced)))

    def _within(self, key: str) -> tuple[Group, ...]:
        """Return a group by model, if that was asked for."""
        found = None if self._models is None else self._models.get(key)
        return () if found is None else found.account(iter(())).groups

    def _tally(self, key: str) -> _Tally:
        tally = self._tallies.get(key)
        if tally is None:
            tally = self._tallies[key] = _Tally()
        return tally

    def add(self, bin_: Bin, key: str) -> None:
        """Add a bin to a group."""
        _, _, _, searches, fetches, others = bin_.terms
        day = bin_.slot[1]
        many = bin_.count
        tally = self._tally(key)
        tally.messages += many
        tally.searches += searches * many
        tally.fetches += fetches * many
        tokens = (bin_.input, bin_.output, bin_.cached, bin_.short, bin_.long)
        self._charge(tally, bin_.model or UNKNOWN, bin_.rates, tokens, searches * many, many)
        for name, used in others:
            # By model, what an adviser used is the adviser's; everywhere else it is part of the message.
            mine = self._tally(name) if self._by == "model" else tally
            # Speed and place are the answering model's; nothing says that its advisers shared them.
            rates = price(name, time_ms=None if day is None else day * DAY_MS)
            if rates is not None and rates.long is not None and used.prompt > rates.long_above:
                rates = rates.long
            tokens = (used.input * many, used.output * many, used.cache_read * many)
            written = (used.cache_write_5m * many, used.cache_write_1h * many)
            self._charge(mine, name, rates, (*tokens, *written), 0, many)

    def _charge(
        self,
        tally: _Tally,
        model: str,
        rates: Rates | None,
        tokens: tuple[int, int, int, int, int],
        searches: int,
        messages: int,
    ) -> None:
        tally.models.add(model)
        tally.add_tokens(*tokens)
        if rates is not None:
            tally.picodollars += _linear(rates, *tokens) + rates.web_search * searches
            tally.is_priced = True
        elif any(tokens) or searches:
            tally.is_unpriced = True
            tally.unpriced += messages
            self._unpriced.add(model)
