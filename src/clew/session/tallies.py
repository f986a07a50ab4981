"""Counting in passing: what the folds are made of.

Each is fed line by line and holds next to nothing of a line: hashes of ids, eight bytes each, and a bounded
number of names. Each can be put away (`state`) and taken up again (`restore`), see `session.states`; so the
hashes are `lasting_hash`, not those of a `Session`.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Final, cast

import msgspec

from clew.format.records import Record
from clew.session.messages import SYNTHETIC_MODEL, Keys
from clew.session.states import (
    StateError,
    lasting_hash,
    packed,
    packed_or_none,
    unpacked,
    unpacked_or_none,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.format.records import Fragment
    from clew.format.skim import Skim

MOST_NAMES: Final = 4096
LONGEST_NAME: Final = 200


def hashes(kept: bytes) -> array[int]:
    """Return hashes that were put away as the bytes of their array."""
    found = array("q")
    found.frombytes(kept)
    return found


class Names:
    """Counts by name. A hostile file may bring a new name on every line; the count does not grow for it."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, name: str) -> None:
        """Count a name."""
        counts = self.counts
        if name not in counts:
            name = name[:LONGEST_NAME] if len(counts) < MOST_NAMES else "?"
        counts[name] += 1

    def ranked(self) -> tuple[str, ...]:
        """The names, the most frequent first, equals in the order they came."""
        return tuple(name for name, _ in self.counts.most_common())

    def state(self) -> list[tuple[bytes, int]]:
        """Put the counts away, in the order the names came."""
        return [(packed(name), count) for name, count in self.counts.items()]

    @classmethod
    def restore(cls, state: Iterable[tuple[bytes, int]]) -> Names:
        """Take counts up again."""
        names = cls()
        names.counts = Counter({unpacked(name): count for name, count in state})
        return names


_Place = tuple[bool, bool, bool, str | None]
"""What lines without an id must have in common to be one message: sidechain, meta, synthetic, sub-agent."""

_NOWHERE: Final[_Place] = (False, False, False, None)


class MessageState(msgspec.Struct, array_like=True):
    """A `MessageTally` put away."""

    loose: int
    number: int
    place: tuple[bool, bool, bool, bytes | None]
    messages: bytes
    stops: bytes
    reasons: list[bytes]


class MessageTally:
    """Which messages there are and how each of them stopped."""

    __slots__ = ("_codes", "_keys", "_messages", "_reasons", "_stops")

    def __init__(self) -> None:
        self._keys = Keys(lasting_hash)
        self._messages = array("q")
        self._stops = array("h")
        self._reasons: list[str] = []
        self._codes: dict[str, int] = {}

    def user(self, facts: Skim) -> None:
        """Take note of a user line."""
        if not facts.is_meta:
            self._keys.user()

    def assistant(self, facts: Skim) -> None:
        """Count a line of the model."""
        message = facts.message
        is_synthetic = message is not None and message.model == SYNTHETIC_MODEL
        place: _Place = (bool(facts.is_sidechain), bool(facts.is_meta), is_synthetic, facts.agent_id)
        key = self._keys.assistant(message.id if message else None, facts.request_id, *place)
        stop = self._code(message.stop_reason) if message and message.stop_reason is not None else -1
        if self._messages and self._messages[-1] == key:
            if stop >= 0:
                self._stops[-1] = stop
        else:
            self._messages.append(key)
            self._stops.append(stop)

    def _code(self, reason: str) -> int:
        code = self._codes.get(reason)
        if code is None:
            reason = reason[:LONGEST_NAME]
            if len(self._reasons) >= MOST_NAMES and reason not in self._codes:
                reason = "?"
            code = self._codes.setdefault(reason, len(self._reasons))
            if code == len(self._reasons):
                self._reasons.append(reason)
        return code

    def count(self) -> int:
        """Say how many messages there are."""
        return len(set(self._messages))

    def stop_reasons(self) -> Counter[str]:
        """Count the messages by the last reason each was given."""
        last: dict[int, int] = {}
        for key, stop in zip(self._messages, self._stops, strict=True):
            if stop >= 0 or key not in last:
                last[key] = stop
        counts = Counter(last.values())
        return Counter({"null" if code < 0 else self._reasons[code]: n for code, n in counts.items()})

    def state(self) -> MessageState:
        """Put the tally away."""
        keys = self._keys
        place = cast("_Place", keys.place or _NOWHERE)
        return MessageState(
            keys.loose,
            keys.number,
            (*place[:3], packed_or_none(place[3])),
            self._messages.tobytes(),
            self._stops.tobytes(),
            [*map(packed, self._reasons)],
        )

    @classmethod
    def restore(cls, state: MessageState) -> MessageTally:
        """Take a tally up again."""
        tally = cls()
        keys = tally._keys
        keys.loose, keys.number = state.loose, state.number
        keys.place = (*state.place[:3], unpacked_or_none(state.place[3]))
        tally._messages = hashes(state.messages)
        tally._stops.frombytes(state.stops)
        tally._reasons = [*map(unpacked, state.reasons)]
        tally._codes = {reason: code for code, reason in enumerate(tally._reasons)}
        if len(tally._messages) != len(tally._stops):
            raise StateError("the state is damaged")
        return tally


class CallState(msgspec.Struct, array_like=True):
    """A `CallTally` put away."""

    calls: bytes
    results: bytes
    errors: bytes
    unnamed_calls: int
    unnamed_results: int


class CallTally:
    """Which calls and results there are."""

    __slots__ = ("_calls", "_errors", "_results", "_unnamed_calls", "_unnamed_results")

    def __init__(self) -> None:
        self._calls = array("q")
        self._results = array("q")
        self._errors = bytearray()
        self._unnamed_calls = 0
        self._unnamed_results = 0

    def call(self, name: str | None) -> None:
        """Count a call by its id."""
        if name:
            self._calls.append(lasting_hash(name))
        else:
            self._unnamed_calls += 1

    def result(self, name: str | None, is_error: bool) -> None:
        """Count a result by the id of its call."""
        if name:
            self._results.append(lasting_hash(name))
            self._errors.append(is_error)
        else:
            self._unnamed_results += 1

    def sums(self) -> tuple[int, int, int, int, int]:
        """Return the calls, the results, the unpaired calls, the unpaired results and the failed calls."""
        calls = set(self._calls)
        # Read backwards, so that the first result of an id is what stays.
        results = dict(zip(reversed(self._results), reversed(self._errors), strict=True))
        paired = sum(key in results for key in calls)
        failed = sum(1 for key, is_error in results.items() if is_error and key in calls)
        return (
            len(calls) + self._unnamed_calls,
            len(results) + self._unnamed_results,
            len(calls) - paired + self._unnamed_calls,
            len(results) - paired + self._unnamed_results,
            failed,
        )

    def state(self) -> CallState:
        """Put the tally away."""
        return CallState(
            self._calls.tobytes(),
            self._results.tobytes(),
            bytes(self._errors),
            self._unnamed_calls,
            self._unnamed_results,
        )

    @classmethod
    def restore(cls, state: CallState) -> CallTally:
        """Take a tally up again."""
        tally = cls()
        tally._calls, tally._results = hashes(state.calls), hashes(state.results)
        tally._errors = bytearray(state.errors)
        tally._unnamed_calls, tally._unnamed_results = state.unnamed_calls, state.unnamed_results
        if len(tally._results) != len(tally._errors):
            raise StateError("the state is damaged")
        return tally


class TurnState(msgspec.Struct, array_like=True):
    """A `TurnTally` put away."""

    seen: bytes
    prompts: int
    has_opening: bool


class TurnTally:
    """How many turns there are; a prompt that is written again starts none."""

    __slots__ = ("_seen", "has_opening", "prompts")

    def __init__(self) -> None:
        # By hash, in the order they came.
        self._seen: dict[int, None] = {}
        self.prompts = 0
        self.has_opening = False
        """Whether the model spoke before any prompt."""

    def prompt(self, facts: Skim) -> bool:
        """Count a prompt, and say whether it is new."""
        key = lasting_hash(facts.uuid)
        if key in self._seen:
            return False
        if key:
            self._seen[key] = None
        self.prompts += 1
        return True

    def answer(self, facts: Skim) -> bool:
        """Take note of a line of the model, and say whether the model itself spoke in it."""
        model = facts.message.model if facts.message else None
        if facts.is_meta or model == SYNTHETIC_MODEL:
            return False
        self.has_opening = self.has_opening or not self.prompts
        return True

    def state(self) -> TurnState:
        """Put the tally away."""
        return TurnState(array("q", self._seen).tobytes(), self.prompts, self.has_opening)

    @classmethod
    def restore(cls, state: TurnState) -> TurnTally:
        """Take a tally up again."""
        tally = cls()
        tally._seen = dict.fromkeys(hashes(state.seen))
        tally.prompts, tally.has_opening = state.prompts, state.has_opening
        return tally


class DamageState(msgspec.Struct, array_like=True):
    """A `DamageTally` put away."""

    last: int
    lines: int
    end: int
    number: int
    is_unfinished: bool


class DamageTally:
    """The lines that are more or less than one record."""

    __slots__ = ("_last", "end", "is_unfinished", "lines", "number")

    def __init__(self) -> None:
        self._last = 0
        self.lines = 0
        self.end = 0
        self.number = 0
        self.is_unfinished = False

    def add(self, item: Record | Fragment) -> None:
        """Look at the next record or fragment."""
        self.end = item.offset + item.length
        self.number = item.number
        if isinstance(item, Record):
            if item.is_whole:
                return
        elif item.is_last:
            self.is_unfinished = True
        if item.number != self._last:
            self._last = item.number
            self.lines += 1

    def state(self) -> DamageState:
        """Put the tally away."""
        return DamageState(self._last, self.lines, self.end, self.number, self.is_unfinished)

    @classmethod
    def restore(cls, state: DamageState) -> DamageTally:
        """Take a tally up again."""
        tally = cls()
        tally._last, tally.lines = state.last, state.lines
        tally.end, tally.number, tally.is_unfinished = state.end, state.number, state.is_unfinished
        return tally
