"""Counting in passing: what the folds are made of.

Each is fed line by line and holds next to nothing of a line: hashes of ids, eight bytes each, and a bounded
number of names.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Final

from clew.format.records import Record
from clew.session.ids import id_hash
from clew.session.messages import SYNTHETIC_MODEL, Keys

if TYPE_CHECKING:
    from clew.format.records import Fragment
    from clew.format.skim import Skim

MOST_NAMES: Final = 4096
LONGEST_NAME: Final = 200


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


class MessageTally:
    """Which messages there are and how each of them stopped."""

    __slots__ = ("_codes", "_keys", "_messages", "_reasons", "_stops")

    def __init__(self) -> None:
        self._keys = Keys()
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
        key = self._keys.assistant(
            message.id if message else None,
            facts.request_id,
            bool(facts.is_sidechain),
            bool(facts.is_meta),
            message is not None and message.model == SYNTHETIC_MODEL,
            facts.agent_id,
        )
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
            if len(self._reasons) >= MOST_NAMES:
                reason = "?"
            code = self._codes.setdefault(reason, len(self._reasons))
            if code == len(self._reasons):
                self._reasons.append(reason[:LONGEST_NAME])
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
            self._calls.append(id_hash(name))
        else:
            self._unnamed_calls += 1

    def result(self, name: str | None, is_error: bool) -> None:
        """Count a result by the id of its call."""
        if name:
            self._results.append(id_hash(name))
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


class TurnTally:
    """How many turns there are; a prompt that is written again starts none."""

    __slots__ = ("_seen", "has_opening", "prompts")

    def __init__(self) -> None:
        self._seen: set[int] = set()
        self.prompts = 0
        self.has_opening = False
        """Whether the model spoke before any prompt."""

    def prompt(self, facts: Skim) -> bool:
        """Count a prompt, and say whether it is new."""
        key = id_hash(facts.uuid)
        if key in self._seen:
            return False
        if key:
            self._seen.add(key)
        self.prompts += 1
        return True

    def answer(self, facts: Skim) -> None:
        """Take note of a line of the model."""
        model = facts.message.model if facts.message else None
        if not self.prompts and not facts.is_meta and model != SYNTHETIC_MODEL:
            self.has_opening = True


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
