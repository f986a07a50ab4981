"""How a sub-agent's own file begins, told line by line also where the file is out of order.

Kept is what each of its runs begins with (see `session.order`): next to nothing for a file that is in order,
which is one run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from clew.session.order import Runs
from clew.session.states import StateError, lasting_hash, packed, packed_or_none, unpacked, unpacked_or_none
from clew.session.tallies import hashes

if TYPE_CHECKING:
    from array import array

    from clew.format.skim import Skim

_MOST_WORDS: Final = 64
"""Of so many runs the words of the first prompt are kept; a hostile file may have one on each line."""

_NOTHING, _ANSWER, _PROMPT = range(3)


class OpeningState(msgspec.Struct, array_like=True):
    """An `Opening` put away."""

    starts: bytes
    deps: bytes
    begins: bytes
    words: list[tuple[int, bytes]]
    last: bytes | None


class Opening:
    """What the runs of a file begin with."""

    __slots__ = ("_begins", "_last", "_runs", "_words")

    def __init__(self) -> None:
        self._runs = Runs()
        self._begins = bytearray(1)
        self._words: dict[int, str] = {}
        self._last: str | None = None

    def line(self, facts: Skim, uuids: array[int]) -> None:
        """Take the next line with a uuid; `uuids` are the hashes of those before it."""
        parent = facts.parent_uuid
        # Nearly every line hangs on the one before it: then there is nothing to be told.
        if (parent is None or parent != self._last) and self._runs.add(uuids, lasting_hash(parent)):
            self._begins.append(_NOTHING)
        self._last = facts.uuid

    def is_asked(self) -> bool:
        """Say whether the run has had no prompt, so that the words of one would be of use."""
        return len(self._begins) - 1 not in self._words and len(self._words) < _MOST_WORDS

    def prompt(self, words: str | None) -> None:
        """Take note of a prompt, with its words where they are of use."""
        if not self._begins[-1]:
            self._begins[-1] = _PROMPT
        if words is not None:
            self._words[len(self._begins) - 1] = words

    def answer(self) -> None:
        """Take note that the model spoke."""
        if not self._begins[-1]:
            self._begins[-1] = _ANSWER

    def told(self, uuids: array[int]) -> tuple[bool, str | None] | None:
        """Return whether the model spoke before any prompt, and the first one; None for a file in order."""
        order = self._runs.order(uuids) if len(self._runs) > 1 else range(0)
        if isinstance(order, range):
            return None
        first = next((begins for run in order if (begins := self._begins[run])), _NOTHING)
        words = next((self._words[run] for run in order if run in self._words), None)
        return first == _ANSWER, words

    def state(self) -> OpeningState:
        """Put it away."""
        runs = self._runs
        words = [(run, packed(text)) for run, text in self._words.items()]
        return OpeningState(
            runs.starts.tobytes(), runs.deps.tobytes(), bytes(self._begins), words, packed_or_none(self._last)
        )

    @classmethod
    def restore(cls, state: OpeningState) -> Opening:
        """Take it up again."""
        opening = cls()
        opening._runs = Runs(hashes(state.starts), hashes(state.deps))
        opening._begins = bytearray(state.begins)
        opening._words = {run: unpacked(text) for run, text in state.words}
        opening._last = unpacked_or_none(state.last)
        if not len(opening._runs.starts) == len(opening._runs.deps) == len(opening._begins) > 0:
            raise StateError("the state is damaged")
        return opening
