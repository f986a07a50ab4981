"""Tokens and money from the sums of the catalog: to the token and the cent what reading every file gives.

Sums are by quarter of an hour, at which the days of every zone and the client's five-hour blocks begin. A
message in several files is in the sums of each: its copies are taken out again, and what `session.ledger`
makes of them is put in. Where a period begins or ends within a quarter, the messages of that quarter are
asked for one by one.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final

from clew.catalog.current import NotCurrentError
from clew.catalog.rollups import DAYS, QUARTER_MS, Rolled, Rollups, Said, terms_of
from clew.catalog.tariff import LIMITS
from clew.format.times import iso
from clew.session.accounts import (
    MAIN,
    NO_BRANCH,
    NO_CALL,
    Bin,
    Counting,
    bin_for,
    share,
)
from clew.session.ledger import Owners, best_usage
from clew.session.periods import DAY_MS, UNKNOWN, Blocks, Calendar, local_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import tzinfo

    from clew.catalog.rollups import Beside, Source
    from clew.session.accounts import Account, By
    from clew.session.periods import Slot
    from clew.session.usage import Row, Terms

    _SlotOf = Callable[[int | None, int | str | None, str | None], Slot]
    """Finds the group of a time, of what stands beside it (a file, a branch…) and a model."""

_PER_DAY: Final = DAY_MS // QUARTER_MS
_MODERN: Final = 3 * 365 * _PER_DAY
"""The quarter from which on no zone is ahead of another by a part of a quarter (Liberia was, until 1972)."""

_MANY_DAYS: Final = 20 * 366
"""Days for which it pays to ask when a zone's clocks were changed."""

_BESIDE: Final[dict[str, Beside]] = {
    "session": "source", "project": "source", "agent": "agent", "git-branch": "branch",
}  # fmt: skip


def account_of(
    rollups: Rollups,
    by: By,
    *,
    zone: tzinfo | None,
    since: int | None,
    until: int | None,
    places: Places,
    with_models: bool = False,
) -> Account:
    """Group what a store used, and add it up."""
    return _Adding(rollups, by, zone, since, until, places).account(with_models=with_models)


class Places:
    """Whose each file is; asked only where an answer depends on it."""

    def __init__(self, rollups: Rollups) -> None:
        self._rollups = rollups
        self._projects: dict[str, str] = {}

    @cached_property
    def _sources(self) -> dict[int, Source]:
        return {one.number: one for one in self._rollups.sources()}

    @cached_property
    def _files(self) -> dict[str, list[Source]]:
        """By session its own files, else those of its sub-agents: its own may be gone."""
        own: dict[str, list[Source]] = {}
        others: dict[str, list[Source]] = {}
        for one in self._sources.values():
            (others if one.kind else own).setdefault(one.session, []).append(one)
        return others | own

    @cached_property
    def _by_path(self) -> dict[str, str]:
        return {one.path: one.session for one in self._sources.values()}

    def path(self, source: int) -> str:
        """Return the path of a file."""
        return self._sources[source].path

    def session(self, source: int) -> str:
        """Return the session that a file belongs to."""
        return self._sources[source].session

    def session_of(self, path: str) -> str:
        """Return the session that the file at a path belongs to."""
        return self._by_path[path]

    def project(self, session: str) -> str:
        """Return the folder a session worked in: the one its lines name, else its project folder's name."""
        found = self._projects.get(session)
        if found is None:
            files = self._files[session]
            named = (one.cwd for one in files)
            found = self._projects[session] = next(filter(None, named), files[0].folder)
        return found

    def oldest(self, session: str) -> int | None:
        """Return the time of a session's oldest line."""
        times = [one.oldest_ms for one in self._files[session] if one.oldest_ms is not None]
        return min(times, default=None)

    def client_cost(self, session: str) -> float | None:
        """Return what the client says a session cost."""
        costs = (one.client_cost for one in self._files[session])
        return next((cost for cost in costs if cost is not None), None)


class _Adding:
    """Puts sums and messages into groups."""

    def __init__(
        self,
        rollups: Rollups,
        by: By,
        zone: tzinfo | None,
        since: int | None,
        until: int | None,
        places: Places,
    ) -> None:
        self._rollups = rollups
        self._by: By = by
        self._zone = zone
        self._since, self._until = since, until
        self._places = places
        self._owners = Owners(places.session_of, places.oldest)
        self._bins: dict[tuple[Slot, str | None, str], Bin] = {}
        self._terms: dict[str, Terms] = {}
        # The whole quarters asked for: sums hold for those.
        self._first = None if since is None else -(-since // QUARTER_MS)
        self._end = None if until is None else until // QUARTER_MS

    def account(self, *, with_models: bool) -> Account:
        if self._by == "tool":
            self._add_tools()
        else:
            self._add_sums()
        return Counting(self._by, with_models=with_models).account(self._filled())

    def _filled(self) -> Iterator[Bin]:
        for one in self._bins.values():
            # A bin whose messages were all taken out again is none; a second call of a message has no count.
            if one.count or self._by == "tool":
                yield one
            if one.longer is not None and (one.longer.count or self._by == "tool"):
                yield one.longer

    def _bin(self, slot: Slot, model: str | None, terms: str, tier: int) -> Bin:
        found = self._bins.get((slot, model, terms))
        if found is None:
            found = self._bins[slot, model, terms] = bin_for(slot, model, self._terms_of(terms))
        if tier and found.long_above and tier > LIMITS.index(found.long_above):
            return found.for_long_prompts()
        return found

    def _terms_of(self, text: str) -> Terms:
        found = self._terms.get(text)
        if found is None:
            found = self._terms[text] = terms_of(text)
        return found

    # --- everything but tools -------------------------------------------------------------------------------

    def _add_sums(self) -> None:
        together = self._together()
        beside = _BESIDE.get(self._by)
        is_whole = self._first is None or self._end is None or self._first < self._end
        is_bounded = self._since is not None or self._until is not None
        if is_bounded or beside is not None:
            alike, copies = list[Rolled](), self._rollups.copies()
        else:
            alike, odd = self._rollups.copied()
            copies = self._rollups.copies(odd) if odd else {}
        slot_of = self._finder(alike, copies)
        if is_whole:
            sums = self._rollups.sums(together=together, beside=beside, first=self._first, end=self._end)
            for one in sums:
                if one.when is not None or not is_bounded:
                    self._add_rolled(slot_of, one)
        for one in alike:
            self._add_rolled(slot_of, one)
        for first, end in self._edges():
            for said in self._rollups.said_between(first, end):
                self._add(slot_of(said.time_ms, self._beside(said), said.model), said, 1)
        for each in copies.values():
            self._add_copies(each, slot_of, is_whole=is_whole)

    def _add_rolled(self, slot_of: _SlotOf, one: Rolled) -> None:
        ms = None if one.when is None else one.when * QUARTER_MS
        bin_ = self._bin(slot_of(ms, one.beside, one.model), one.model, one.terms, one.tier)
        bin_.add(*one[5:])

    def _together(self) -> str:
        """Say in SQL which quarters fall into one group and day."""
        match self._by:
            case "block":
                return "quarter"
            case "day" | "week" | "month":
                first, last = self._rollups.range()
                shift = shifted(self._zone, first, last)
                return "quarter" if shift is None else f"{DAYS.replace('quarter', shift)}, {DAYS}"
            case _:
                return DAYS

    def _edges(self) -> Iterator[tuple[int, int]]:
        """Give the parts of quarters that were asked for: from, until."""
        since, until = self._since, self._until
        first = None if self._first is None else self._first * QUARTER_MS
        end = None if self._end is None else self._end * QUARTER_MS
        if since is not None and until is not None and since // QUARTER_MS == (until - 1) // QUARTER_MS:
            if since < until and not (since == first and until == end):
                yield since, until
            return
        if since is not None and first is not None and since < first and (until is None or since < until):
            yield since, first
        if until is not None and end is not None and end < until and (since is None or since < until):
            yield end, until

    def _beside(self, said: Said) -> int | str | None:
        match self._by:
            case "session" | "project":
                return said.source
            case "agent":
                return said.agent
            case _:
                return said.branch

    def _add(self, slot: Slot, said: Said, times: int) -> None:
        counts = (said.output, said.input, said.cache_read, said.cache_5m, said.cache_1h)
        bin_ = self._bin(slot, said.model, said.terms, said.tier)
        bin_.add(times, *(count * times for count in counts))

    def _is_within(self, ms: int | None) -> bool:
        if self._since is None and self._until is None:
            return True
        if ms is None:
            return False
        return (self._since is None or self._since <= ms) and (self._until is None or ms < self._until)

    def _is_summed(self, ms: int | None) -> bool:
        """Whether a message of this time is in the sums that were added."""
        if ms is None:
            return self._since is None and self._until is None
        quarter = ms // QUARTER_MS
        return (self._first is None or self._first <= quarter) and (self._end is None or quarter < self._end)

    def _add_copies(self, copies: Sequence[Said], slot_of: _SlotOf, *, is_whole: bool) -> None:
        slots: list[Slot | None] = []
        for said in copies:
            slot = slot_of(said.time_ms, self._beside(said), said.model)
            slots.append(slot if self._is_within(said.time_ms) else None)
            if is_whole and self._is_summed(said.time_ms):
                self._add(slot, said, -1)
        first = copies[0]
        if all(slot == slots[0] for slot in slots):
            slot = slots[0]
            if slot is None:
                return
            if all(said[3:10] == first[3:10] for said in copies):
                self._add(slot, first, 1)
                return
            row = best_usage([self._row(said) for said in copies])
        else:
            row = self._owners.settle([self._row(said) for said in copies])
            settled = self._settled(copies, row)
            if not self._is_within(settled.time_ms):
                return
            slot = slot_of(settled.time_ms, self._beside(settled), row[6])
        bin_ = self._bin(slot, row[6], self._text_of(copies, row), _tier(row))
        bin_.add(1, *row[1:6])

    def _row(self, said: Said) -> Row:
        calls = () if said.calls is None else tuple(json.loads(said.calls))
        place = (self._places.path(said.source), said.agent, said.branch)
        counts = (said.output, said.input, said.cache_read, said.cache_5m, said.cache_1h)
        return (iso(said.time_ms), *counts, said.model, self._terms_of(said.terms), place, calls)

    def _settled(self, copies: Sequence[Said], row: Row) -> Said:
        """Return the copy that says when and where."""
        return next(said for said in copies if self._row(said)[8] == row[8] and iso(said.time_ms) == row[0])

    def _text_of(self, copies: Sequence[Said], row: Row) -> str:
        return next(said.terms for said in copies if self._terms_of(said.terms) == row[7])

    # --- which group ----------------------------------------------------------------------------------------

    def _finder(self, alike: Sequence[Rolled], copies: Mapping[str, Sequence[Said]]) -> _SlotOf:
        places = self._places
        match self._by:
            case "day" | "week" | "month":
                return self._calendar(Calendar(self._by, self._zone))
            case "block":
                return self._block_finder(alike, copies)
            case "session":
                return lambda ms, source, _: (places.session(_number(source)), _day(ms))
            case "project":
                return lambda ms, source, _: (places.project(places.session(_number(source))), _day(ms))
            case "git-branch":
                return lambda ms, branch, _: (str(branch or NO_BRANCH), _day(ms))
            case "agent":
                return lambda ms, agent, _: (str(agent or MAIN), _day(ms))
            case _:  # a model; by tool the name comes with the calls
                return lambda ms, _, model: (model or UNKNOWN, _day(ms))

    def _calendar(self, calendar: Calendar) -> _SlotOf:
        known: dict[int | None, Slot] = {None: calendar.slot(None)}
        is_exact = self._zone is UTC

        def slot(ms: int | None, _beside: object, _model: object) -> Slot:
            quarter = None if ms is None else ms // QUARTER_MS
            found = known.get(quarter)
            if found is None:
                if quarter is not None and quarter < _MODERN and not is_exact:
                    raise NotCurrentError
                found = known[quarter] = calendar.slot(iso(None if quarter is None else quarter * QUARTER_MS))
            return found

        return slot

    def _block_finder(self, alike: Sequence[Rolled], copies: Mapping[str, Sequence[Said]]) -> _SlotOf:
        # A block depends on all messages, so when the shared ones were said is settled first.
        said: Counter[int] = Counter()
        for one in self._rollups.sums():
            if one.when is not None:
                said[one.when] += one.messages
        for one in alike:
            if one.when is not None:
                said[one.when] += one.messages
        times: set[int] = set()
        for each in copies.values():
            for one in each:
                if one.time_ms is not None:
                    said[one.time_ms // QUARTER_MS] -= 1
            ms = each[0].time_ms
            if any(one.time_ms != ms for one in each):
                rows = [self._row(one) for one in each]
                ms = self._settled(each, self._owners.settle(rows)).time_ms
            if ms is not None:
                times.add(ms)
        # Blocks begin with an hour and end with one, so that the quarter of a message is all that counts.
        times.update(quarter * QUARTER_MS for quarter, messages in said.items() if messages)
        blocks = Blocks(times)

        def slot(ms: int | None, _beside: object, _model: object) -> Slot:
            if ms is None or not blocks.starts:
                return (UNKNOWN, None)
            return (iso(blocks.start(ms)) or UNKNOWN, ms // DAY_MS)

        return slot

    # --- by tool --------------------------------------------------------------------------------------------

    def _add_tools(self) -> None:
        for calls, one in self._rollups.by_calls(self._since, self._until):
            names = () if calls is None else tuple(json.loads(calls))
            self._add_shares(names, one)
        slot_of = self._finder((), {})
        for copies in self._rollups.copies().values():
            slots = {
                slot_of(said.time_ms, None, said.model) if self._is_within(said.time_ms) else None
                for said in copies
            }
            rows = [self._row(said) for said in copies]
            if len(slots) == 1:
                if None in slots:
                    continue
                row, when = best_usage(rows), copies[0].time_ms
            else:
                row = self._owners.settle(rows)
                when = self._settled(copies, row).time_ms
                if not self._is_within(when):
                    continue
            day = _day(when)
            terms = self._text_of(copies, row)
            self._add_shares(row[9], Rolled(day, row[6], terms, _tier(row), None, 1, *row[1:6]))

    def _add_shares(self, calls: Sequence[str], one: Rolled) -> None:
        """Give each call its part of the tokens, as `session.accounts` does."""
        names = calls or (NO_CALL,)
        tier, speed, geo = self._terms_of(one.terms)[:3]
        for at, name in enumerate(names):
            # The message itself, and what cannot be divided, counts with the first call.
            terms = one.terms if at == 0 else json.dumps([tier, speed, geo, 0, 0, []])
            bin_ = self._bin((name, one.when), one.model, terms, one.tier)
            shares = (share(tokens, len(names), at) for tokens in one[6:])
            bin_.add(one.messages if at == 0 else 0, *shares)


def shifted(zone: tzinfo | None, first: int, last: int) -> str | None:
    """Return the quarter in SQL as a zone's clocks have it, from `first` to `last`; None if that is hard."""
    if last - first > _MANY_DAYS * _PER_DAY or first < _MODERN:
        return None
    at = first - first % _PER_DAY
    ahead = _ahead(at, zone)
    steps: list[tuple[int, int]] = []
    while at <= last:
        later = _ahead(at + _PER_DAY, zone)
        if later != ahead:
            # The clocks were changed within this day: find the quarter.
            low, high = at, at + _PER_DAY
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if _ahead(middle, zone) == ahead else (low, middle)
            steps.append((high, ahead))
            ahead = later
        at += _PER_DAY
    cases = "".join(f"WHEN quarter < {until} THEN quarter + {shift} " for until, shift in steps)
    return f"(CASE {cases}ELSE quarter + {ahead} END)" if cases else f"(quarter + {ahead})"


def _ahead(quarter: int, zone: tzinfo | None) -> int:
    """Return by how many quarters local time is ahead of UTC."""
    offset = local_time(quarter * QUARTER_MS, zone).utcoffset()
    return 0 if offset is None else offset // timedelta(minutes=15)


def _number(source: int | str | None) -> int:
    return source if isinstance(source, int) else -1


def _day(ms: int | None) -> int | None:
    return None if ms is None else ms // DAY_MS


def _tier(row: Row) -> int:
    prompt = sum(row[2:6])
    return sum(prompt > limit for limit in LIMITS)
