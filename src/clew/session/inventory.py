"""What is in a session file, counted: types of entries, versions, models, blocks, calls, damage.

A fold, as in `session.fold`: fed in any number of steps it says the same.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from clew.format.records import Record
from clew.session.prompts import is_human
from clew.session.tallies import CallTally, DamageTally, MessageTally, Names, TurnTally

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.format.records import Fragment
    from clew.format.skim import Skim
    from clew.session.fold import Extent


class Counts(Struct, frozen=True):
    """The inventory of a session, or of several."""

    bytes: int
    lines: int
    entry_types: Mapping[str, int]
    versions: Mapping[str, int]
    models: Mapping[str, int]
    stop_reasons: Mapping[str, int]
    """Per assistant line, as written."""

    blocks: Mapping[str, int]
    human_turns: int
    tool_calls: int
    tool_results: int
    unpaired_calls: int
    unpaired_results: int
    session_ids: Mapping[str, int]
    damaged: int
    """Lines that are not exactly one record."""

    messages: int
    message_stop_reasons: Mapping[str, int]

    def as_dict(self) -> dict[str, object]:
        """Return the counts in the shape of `clew stats --json`."""
        found: dict[str, object] = structs.asdict(self)
        del found["message_stop_reasons"]
        found["messages"] = {"count": self.messages, "stop_reasons": dict(self.message_stop_reasons)}
        return {name: dict(value) if isinstance(value, Counter) else value for name, value in found.items()}  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]  # every Counter here counts strings


def total(counts: Iterable[Counts]) -> Counts:
    """Add up the inventories of several files."""
    sums: dict[str, int] = {}
    names: dict[str, Counter[str]] = {}
    for each in (Inventory().result(), *counts):
        for name, value in structs.asdict(each).items():
            if isinstance(value, int):
                sums[name] = sums.get(name, 0) + value
            else:
                names.setdefault(name, Counter()).update(value)
    return Counts(**sums, **names)  # pyright: ignore[reportArgumentType]  # the names are the fields' own


class Inventory:
    """Counts what is in a file."""

    def __init__(self) -> None:
        self._types = Names()
        self._versions = Names()
        self._models = Names()
        self._stops = Names()
        self._blocks = Names()
        self._sessions = Names()
        self._messages = MessageTally()
        self._calls = CallTally()
        self._turns = TurnTally()
        self._damage = DamageTally()

    def add(self, item: Record | Fragment) -> None:
        """Count the next record or fragment."""
        self._damage.add(item)
        if not isinstance(item, Record):
            return
        facts = item.facts
        self._types.add(facts.kind)
        if facts.version is not None:
            self._versions.add(facts.version)
        if facts.session_id is not None:
            self._sessions.add(facts.session_id)
        role = facts.role
        if role == "user":
            self._user(facts)
        elif role == "assistant":
            self._assistant(facts)

    def _user(self, facts: Skim) -> None:
        self._messages.user(facts)
        body = facts.body
        if isinstance(body, list):
            for block in body:
                self._blocks.add(block.type or "?")
                if block.type == "tool_result":
                    self._calls.result(block.tool_use_id, block.is_error is True)
        if not facts.is_sidechain and is_human(facts):
            self._turns.prompt(facts)

    def _assistant(self, facts: Skim) -> None:
        self._messages.assistant(facts)
        message = facts.message
        reason = message.stop_reason if message is not None else None
        self._stops.add("null" if reason is None else reason)
        if message is not None and message.model is not None:
            self._models.add(message.model)
        body = facts.body
        if isinstance(body, list):
            for block in body:
                self._blocks.add(block.type or "?")
                if block.type == "tool_use":
                    self._calls.call(block.id)

    def result(self, extent: Extent | None = None) -> Counts:
        """Return the counts so far; `extent` is what `fold` returned, for blank lines at the end."""
        calls, results, unpaired_calls, unpaired_results, _ = self._calls.sums()
        return Counts(
            extent.bytes if extent else self._damage.end,
            extent.lines if extent else self._damage.number,
            Counter(self._types.counts),
            Counter(self._versions.counts),
            Counter(self._models.counts),
            Counter(self._stops.counts),
            Counter(self._blocks.counts),
            self._turns.prompts,
            calls,
            results,
            unpaired_calls,
            unpaired_results,
            Counter(self._sessions.counts),
            self._damage.lines,
            self._messages.count(),
            self._messages.stop_reasons(),
        )
