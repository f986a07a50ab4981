"""Usage over many files: every message once, in the group it belongs to, with what it cost.

The same message in two files belongs to the session whose oldest line is oldest (on a tie the one with the
lower id), whatever the order of reading. Its usage is that of the copy with the greatest output; of copies that
tie the one written last, then the one with the greater other counts. So the rows of every grouping add up to
the same total. How old a session is costs a second reading of its file, so that is asked for only where it
changes an answer: where the copies of a message would fall into different groups.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal

from clew.format.times import iso, milliseconds
from clew.session.periods import BLOCK_MS, DAY_MS, UNKNOWN, Blocks, Calendar
from clew.session.pricing import Tokens, dollars, price

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import tzinfo

    from clew.session.periods import Slot
    from clew.session.pricing import Rates
    from clew.session.usage import FileUsage, Row, Terms

By = Literal["day", "week", "month", "session", "project", "model", "block", "git-branch", "tool", "agent"]

MAIN: Final = "main"
"""The agent of what the session itself said."""

NO_CALL: Final = "no call"
"""The tool of a message that called none."""

NO_BRANCH: Final = "no branch"

_NEVER: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class Sum:
    """What some messages used together."""

    tokens: Tokens = Tokens()
    messages: int = 0
    web_searches: int = 0
    web_fetches: int = 0
    cost_usd: float | None = 0.0
    """What those with a known price cost; None when there is none."""

    unpriced: int = 0
    """How many of the messages have no known price, and are not in the cost."""

    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """One row of the answer: a day, a model, a session…"""

    key: str
    sum: Sum


@dataclass(frozen=True, slots=True)
class Account:
    """The answer: groups that add up to the total."""

    by: By
    groups: tuple[Group, ...]
    total: Sum
    unpriced_models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """How to group, and what the ledger has to ask others for."""

    by: By = "day"
    zone: tzinfo | None = None
    since: int | None = None
    until: int | None = None
    """From this moment, and before that one; a message without a time is in neither."""

    session_of: Callable[[str], str] = str
    """The session a file belongs to."""

    project_of: Callable[[str], str] = str
    """The project a file belongs to."""

    oldest: Callable[[str], int | None] = lambda _session: None
    """When the oldest line of a session was written."""


@dataclass(slots=True)
class Ledger:
    """The messages of many files. Ledgers made apart, in other processes too, can be merged in any order."""

    rows: dict[str, Row] = field(default_factory=dict[str, "Row"])
    copies: dict[str, list[Row]] = field(default_factory=dict[str, "list[Row]"])
    """All rows of the messages that several files have; each in `rows` too."""

    client_costs: dict[str, float] = field(default_factory=dict[str, float])
    """By file what the client itself says the session cost."""

    heads: dict[str, tuple[str | None, str | None]] = field(
        default_factory=dict[str, "tuple[str | None, str | None]"]
    )
    """By file its first session id and folder, where they were read."""

    damaged: int = 0

    def add(self, file: FileUsage) -> None:
        """Take in one file."""
        self._add_rows(file.rows)
        self.damaged += file.damaged
        if file.client_cost is not None:
            self.client_costs[file.name] = file.client_cost
        if file.session_id or file.cwd:
            self.heads[file.name] = (file.session_id, file.cwd)

    def merge(self, other: Ledger) -> None:
        """Take in all files of another ledger; they must be other files than those here."""
        for key, rows in other.copies.items():
            mine = self.rows.get(key)
            self.copies[key] = [*self.copies.get(key, [mine] if mine is not None else []), *rows]
            self.rows.setdefault(key, rows[0])
        self._add_rows({key: row for key, row in other.rows.items() if key not in other.copies})
        self.client_costs |= other.client_costs
        self.heads |= other.heads
        self.damaged += other.damaged

    def _add_rows(self, rows: dict[str, Row]) -> None:
        for key in self.rows.keys() & rows.keys():
            known = self.copies.get(key)
            if known is None:
                known = self.copies[key] = [self.rows[key]]
            known.append(rows[key])
        self.rows = rows | self.rows if len(rows) > len(self.rows) else self.rows
        if rows is not self.rows:
            for key, row in rows.items():
                self.rows.setdefault(key, row)

    def account(self, question: Question) -> Account:
        """Group the messages and add them up."""
        return _Grouping(self, question).account()


class _Tally:
    """A growing sum; money in whole picodollars."""

    __slots__ = ("fetches", "messages", "models", "picodollars", "priced", "searches", "tokens", "unpriced")

    def __init__(self) -> None:
        self.tokens = [0, 0, 0, 0, 0]
        self.messages = self.searches = self.fetches = self.picodollars = self.priced = self.unpriced = 0
        self.models: set[str] = set()

    def add(self, other: _Tally) -> None:
        self.tokens = [mine + theirs for mine, theirs in zip(self.tokens, other.tokens, strict=True)]
        self.messages += other.messages
        self.searches += other.searches
        self.fetches += other.fetches
        self.picodollars += other.picodollars
        self.priced += other.priced
        self.unpriced += other.unpriced
        self.models |= other.models

    def sum(self) -> Sum:
        read, written, cached, short, long = self.tokens
        is_known = self.priced or not self.unpriced
        return Sum(
            Tokens(read, written, cached, short, long),
            self.messages,
            self.searches,
            self.fetches,
            dollars(self.picodollars) if is_known else None,
            self.unpriced,
            tuple(sorted(self.models)),
        )


class _Bin:
    """Messages of one group, model and terms on one day: what they cost is linear in their sums."""

    __slots__ = ("cached", "count", "input", "long", "long_above", "longer", "model", "output", "rates")
    __slots__ += ("short", "slot", "terms")

    def __init__(self, slot: Slot, model: str | None, terms: Terms, rates: Rates | None) -> None:
        self.slot = slot
        self.model = model
        self.terms = terms
        self.rates = rates
        self.long_above = rates.long_above if rates is not None and rates.long is not None else 0
        self.longer: _Bin | None = None
        self.count = self.output = self.input = self.cached = self.short = self.long = 0


class _Grouping:
    def __init__(self, ledger: Ledger, question: Question) -> None:
        self._ledger = ledger
        self._question = question
        self._slot_of = self._slots()
        self._tallies: dict[str, _Tally] = {}
        self._unpriced: set[str] = set()
        self._ages: dict[str, int] = {}

    def account(self) -> Account:
        for bin_ in self._bins():
            self._price(bin_)
        total = _Tally()
        for tally in self._tallies.values():
            total.add(tally)
        groups = [Group(key, tally.sum()) for key, tally in self._tallies.items()]
        by = self._question.by
        if by in {"day", "week", "month", "block"}:
            groups.sort(key=lambda group: (group.key == UNKNOWN, group.key))
        else:
            groups.sort(key=lambda group: (-(group.sum.cost_usd or 0), -group.sum.tokens.total, group.key))
        return Account(by, tuple(groups), total.sum(), tuple(sorted(self._unpriced)))

    # --- which group --------------------------------------------------------------------------------

    def _slots(self) -> Callable[[Row], Slot | None]:
        """Return what finds the group of a message, None for one that was not asked for."""
        question = self._question
        days = Calendar("day", None if question.by == "day" else question.zone)
        find: Callable[[Row], Slot]
        match question.by:
            case "day" | "week" | "month":
                calendar = Calendar(question.by, question.zone)
                slot = calendar.slot

                def find(row: Row) -> Slot:
                    return slot(row[0])
            case "block":
                find = self._block_finder()
            case _:
                name_of = self._namer()

                def find(row: Row) -> Slot:
                    return name_of(row), days.slot(row[0])[1]

        since, until = question.since, question.until
        if since is None and until is None:
            return find
        first, last = -_NEVER if since is None else since, _NEVER if until is None else until

        def find_within(row: Row) -> Slot | None:
            ms = milliseconds(row[0])
            return find(row) if ms is not None and first <= ms < last else None

        return find_within

    def _namer(self) -> Callable[[Row], str]:
        question = self._question
        match question.by:
            case "session":
                return lambda row: question.session_of(row[9][0])
            case "project":
                return lambda row: question.project_of(row[9][0])
            case "git-branch":
                return lambda row: row[9][2] or NO_BRANCH
            case "agent":
                return lambda row: row[9][1] or MAIN
            case _:  # by model and by tool: known when the message is counted
                return lambda row: row[7] or UNKNOWN

    def _block_finder(self) -> Callable[[Row], Slot]:
        # A block depends on all messages, so who owns the shared ones is settled first, by time alone.
        times = {key: milliseconds(self._settle(key)[0]) for key in self._ledger.copies}
        alone = (
            milliseconds(row[0]) for key, row in self._ledger.rows.items() if key not in self._ledger.copies
        )
        blocks = Blocks(ms for ms in (*times.values(), *alone) if ms is not None)

        def find(row: Row) -> Slot:
            ms = milliseconds(row[0])
            if ms is None or not blocks.starts or ms < blocks.starts[0]:
                return UNKNOWN, None
            return iso(blocks.start(ms)) or UNKNOWN, ms // DAY_MS

        return find

    # --- which copy ---------------------------------------------------------------------------------

    def _settle(self, key: str) -> Row:
        """Make one row of a message's copies: who owns it says when and where, the best usage how much."""
        copies = self._ledger.copies[key]
        best = max(copies, key=_weight)
        owner = self._owner(copies)
        calls = max((row[10] for row in copies), key=lambda calls: (len(calls), calls))
        return (owner[0], best[1], *best[2:9], owner[9], calls)

    def _owner(self, copies: Sequence[Row]) -> Row:
        session_of = self._question.session_of
        sessions = {session_of(row[9][0]) for row in copies}
        first = (
            min(sessions, key=lambda session: (self._age(session), session)) if len(sessions) > 1 else None
        )
        own = copies if first is None else [row for row in copies if session_of(row[9][0]) == first]
        return min(own, key=_order)

    def _age(self, session: str) -> int:
        if session not in self._ages:
            age = self._question.oldest(session)
            self._ages[session] = _NEVER if age is None else age
        return self._ages[session]

    def _slot_of_copies(self, key: str) -> tuple[Slot | None, Row]:
        copies = self._ledger.copies[key]
        slots = {self._slot_of(row) for row in copies}
        if len(slots) > 1:
            row = self._settle(key)
            return self._slot_of(row), row
        best = max(copies, key=_weight)
        if self._question.by == "tool":
            return slots.pop(), self._settle(key)
        return slots.pop(), best

    # --- adding up ----------------------------------------------------------------------------------

    def _bins(self) -> Iterable[_Bin]:
        bins: dict[tuple[Slot, str | None, int], _Bin] = {}
        copies = self._ledger.copies
        slot_of = self._slot_of
        is_by_tool = self._question.by == "tool"
        for key, row in self._ledger.rows.items():
            if key in copies:
                slot, row = self._slot_of_copies(key)
            else:
                slot = slot_of(row)
            if slot is None:
                continue
            if is_by_tool:
                self._add_shares(bins, slot, row)
                continue
            _, _, output, given, cached, short, long, model, terms, _, _ = row
            bin_ = bins.get((slot, model, id(terms)))
            if bin_ is None:
                bin_ = bins[slot, model, id(terms)] = self._bin(slot, model, terms)
            if bin_.long_above and given + cached + short + long > bin_.long_above:
                bin_ = _longer(bin_)
            bin_.count += 1
            bin_.output += output
            bin_.input += given
            bin_.cached += cached
            bin_.short += short
            bin_.long += long
        for bin_ in bins.values():
            yield bin_
            if bin_.longer is not None:
                yield bin_.longer

    def _bin(self, slot: Slot, model: str | None, terms: Terms) -> _Bin:
        return _Bin(slot, model, terms, _rates(model, slot, terms))

    def _add_shares(self, bins: dict[Any, _Bin], slot: Slot, row: Row) -> None:
        """Give each call of a message its part of the tokens; what is left over goes to the first calls.

        The message itself, and what cannot be divided, counts with the first call.
        """
        model, terms, calls = row[7], row[8], row[10] or (NO_CALL,)
        is_long = False
        for at, name in enumerate(calls):
            slot = (name, slot[1])
            key = slot, model, id(terms) if at == 0 else 0
            bin_ = bins.get(key)
            if bin_ is None:
                bin_ = bins[key] = self._bin(slot, model, terms if at == 0 else (*terms[:3], 0, 0, ()))
            if at == 0:
                is_long = 0 < bin_.long_above < sum(row[3:7])
            if is_long:
                bin_ = _longer(bin_)
            output, given, cached, short, long = (_share(tokens, len(calls), at) for tokens in row[2:7])
            bin_.count += at == 0
            bin_.output += output
            bin_.input += given
            bin_.cached += cached
            bin_.short += short
            bin_.long += long

    def _price(self, bin_: _Bin) -> None:
        """Add a bin to its group."""
        _, _, _, searches, fetches, others = bin_.terms
        model = bin_.model or UNKNOWN
        key, day = bin_.slot
        tally = self._tallies.setdefault(key, _Tally())
        tally.messages += bin_.count
        tally.searches += searches * bin_.count
        tally.fetches += fetches * bin_.count
        tokens = (bin_.input, bin_.output, bin_.cached, bin_.short, bin_.long)
        self._charge(tally, model, bin_.rates, tokens, searches * bin_.count, bin_.count)
        for name, used in others:
            # By model, what an adviser used is the adviser's; everywhere else it is part of the message.
            mine = self._tallies.setdefault(name, _Tally()) if self._question.by == "model" else tally
            # Speed and place are the answering model's; nothing says that its advisers shared them.
            rates = price(name, time_ms=None if day is None else day * DAY_MS)
            if rates is not None and rates.long is not None and used.prompt > rates.long_above:
                rates = rates.long
            five = (used.input, used.output, used.cache_read, used.cache_write_5m, used.cache_write_1h)
            many = tuple(count * bin_.count for count in five)
            self._charge(mine, name, rates, many, 0, bin_.count)

    def _charge(
        self,
        tally: _Tally,
        model: str,
        rates: Rates | None,
        tokens: tuple[int, ...],
        searches: int,
        messages: int,
    ) -> None:
        tally.models.add(model)
        tally.tokens = [mine + more for mine, more in zip(tally.tokens, tokens, strict=True)]
        if rates is not None:
            each = (rates.input, rates.output, rates.cache_read, rates.cache_write_5m, rates.cache_write_1h)
            tally.picodollars += sum(rate * count for rate, count in zip(each, tokens, strict=True))
            tally.picodollars += rates.web_search * searches
            tally.priced += messages
        elif any(tokens) or searches:
            tally.unpriced += messages
            self._unpriced.add(model)


def _rates(model: str | None, slot: Slot, terms: Terms) -> Rates | None:
    tier, speed, geo = terms[:3]
    time_ms = None if slot[1] is None else slot[1] * DAY_MS
    return price(model, time_ms=time_ms, service_tier=tier, speed=speed, inference_geo=geo)


def _longer(bin_: _Bin) -> _Bin:
    """Return the bin for messages whose prompt was so long that the higher prices hold."""
    if bin_.longer is None:
        long = bin_.rates.long if bin_.rates is not None else None
        bin_.longer = _Bin(bin_.slot, bin_.model, bin_.terms, long)
    return bin_.longer


def _share(tokens: int, parts: int, at: int) -> int:
    each, left = divmod(tokens, parts)
    return each + (at < left)


def _weight(row: Row) -> tuple[Any, ...]:
    """Order the copies of a message by how far they are to be believed: the greatest counts."""
    written = milliseconds(row[1] or row[0])
    return (row[2], -_NEVER if written is None else written, row[3:7], row[7] or "", repr(row[8]))


def _order(row: Row) -> tuple[Any, ...]:
    """Order the copies within one session: the oldest has the message's time and place."""
    written = milliseconds(row[0])
    return (_NEVER if written is None else written, row[9][0])


def difference(ours: Mapping[str, float | None], clients: Mapping[str, float]) -> dict[str, float]:
    """Return by session by how much our sum is above the client's own."""
    found: dict[str, float] = {}
    for session, cost in clients.items():
        mine = ours.get(session)
        if mine is not None:
            found[session] = mine - cost
    return found


def active_block(groups: Sequence[Group], *, now: int) -> Group | None:
    """Return the block that is running at `now`, if one is."""
    for group in reversed(groups):
        start = milliseconds(group.key)
        if start is not None and start <= now < start + BLOCK_MS:
            return group
    return None
