"""Take tool calls with their results out of a session, or only what the results said, or whole old turns.

What people and the model said in words stays, all of it.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Final

from clew.edit.bare import drop_bare
from clew.edit.changes import Changes, content_path, without
from clew.edit.old_turns import Order, drop_old_turns
from clew.edit.paths import settle
from clew.edit.tool_blocks import CallBlock, Place, ResultBlock, ToolBlocks, note
from clew.format.patch import replace

if TYPE_CHECKING:
    from collections.abc import Iterable

    from clew.session.session import Session

CALL: Final = "a call is taken out with its result"
RESULT: Final = "what a call gave back is taken out"


def trim(
    session: Session,
    *,
    tools: frozenset[str] | None = None,
    results_only: bool = False,
    older_than: int | None = None,
    larger_than: int | None = None,
    keep_turns: int | None = None,
) -> Changes:
    """Take out the calls of which all is true that is asked for, with their results.

    `tools` are names, in which `*` stands for anything; without, all tools are meant. `older_than` counts
    turns from the end, `larger_than` tokens: of the call and its result, with `results_only` of the result. A
    result that is taken out alone leaves a note in its place. `keep_turns` lets whole turns go before the
    last so many; by itself it leaves the calls of the others alone.
    """
    changes = Changes(session)
    if keep_turns is not None:
        drop_old_turns(changes, keep_turns)
    is_about_calls = results_only or not (tools is None and older_than is None and larger_than is None)
    if keep_turns is None or is_about_calls:
        blocks = ToolBlocks(changes)
        wish = _Wish(session, blocks, tools, older_than, larger_than, results_only=results_only)
        (_empty if results_only else _take_out)(changes, blocks, wish)
    settle(changes)
    return changes


class _Wish:
    """Says which calls are meant."""

    def __init__(
        self,
        session: Session,
        blocks: ToolBlocks,
        tools: frozenset[str] | None,
        older_than: int | None,
        larger_than: int | None,
        *,
        results_only: bool,
    ) -> None:
        self._blocks = blocks
        self._tools = tools
        self._larger_than = larger_than
        self._results_only = results_only
        self._order = Order(session)
        self._is_any_age = not older_than
        self._first_new = self._order.first_of_last(older_than) if older_than else None

    def calls(self) -> list[CallBlock]:
        """Return the calls that are meant; of several under one id, all or none."""
        calls = self._blocks.calls
        meant = {call.place for call in calls if self._is_meant(call)}
        ids = {call.id for call in calls if call.place in meant} - {None}
        return [call for call in calls if (call.place in meant if call.id is None else call.id in ids)]

    def left_alone(self, going: list[CallBlock]) -> list[CallBlock]:
        """Return calls that never got a result and would be the only ones of their line.

        The client leaves such a line out, with all the words in it.
        """
        places = {call.place for call in going}
        rows = {call.place.row for call in going}
        left: dict[int, list[CallBlock]] = {}
        for call in self._blocks.calls:
            if call.place.row in rows and call.place not in places and not call.is_server:
                left.setdefault(call.place.row, []).append(call)
        alone = (calls for calls in left.values() if not any(map(self._blocks.of, calls)))
        return [call for calls in alone for call in calls]

    def strays(self) -> list[ResultBlock]:
        """Return the results without a call that are meant; the tool they came from is not known."""
        if self._tools is not None:
            return []
        found = (one for one in self._blocks.strays() if self._is_old(one.place.row))
        return [one for one in found if self._is_large(one.tokens)]

    def _is_meant(self, call: CallBlock) -> bool:
        if self._tools is not None and not any(fnmatchcase(call.name, name) for name in self._tools):
            return False
        results = self._blocks.of(call)
        tokens = sum(result.tokens for result in results)
        tokens += 0 if self._results_only else call.tokens
        return self._is_old(call.place.row) and self._is_large(tokens)

    def _is_large(self, tokens: int) -> bool:
        return self._larger_than is None or tokens > self._larger_than

    def _is_old(self, row: int) -> bool:
        if self._is_any_age:
            return True
        return self._first_new is not None and self._order.is_before(row, self._first_new)


def _take_out(changes: Changes, blocks: ToolBlocks, wish: _Wish) -> None:
    """Take calls out with their results.

    Results without a call go along, whatever they are: the client leaves them out where an answer stands
    before them, and with the calls some of those go.
    """
    calls = wish.calls()
    calls += wish.left_alone(calls)
    results = [result for call in calls for result in blocks.of(call)]
    results += blocks.strays() if calls else wish.strays()
    places = _by_row([*(call.place for call in calls), *(result.place for result in results)])
    _drop_records(changes, results, CALL)
    for row, indexes in places.items():
        changes.drop_blocks(row, indexes, CALL)
    table = changes.session.table
    drop_bare(changes, [row for row in places if table.kind_of(row) == "assistant"])


def _empty(changes: Changes, blocks: ToolBlocks, wish: _Wish) -> None:
    """Put a note in the place of what calls gave back."""
    done: set[Place] = set()
    emptied: list[ResultBlock] = []
    going: list[Place] = []
    meant = [(call, result) for call in wish.calls() for result in blocks.of(call)]
    for call, result in [*meant, *((None, stray) for stray in wish.strays())]:
        if result.place in done or not result.is_told:
            continue
        done.add(result.place)
        emptied.append(result)
        words = note(result.tokens, call.name if call else "", call.about if call else "")
        changes.change(result.place.row, partial(_with_note, result=result, words=words), RESULT)
        if call is not None and not result.takes_words:
            # The API takes no such call without a result in its own form; the note stands for both.
            going.append(call.place)
    _drop_records(changes, emptied, RESULT)
    for row, indexes in _by_row(going).items():
        changes.drop_blocks(row, indexes, CALL)


def _with_note(raw: bytes, result: ResultBlock, words: str) -> bytes:
    path = (*content_path(raw), result.place.number)
    if result.takes_words:
        return replace(raw, (*path, "content"), words)
    return replace(raw, path, {"type": "text", "text": words})


def _drop_records(changes: Changes, results: Iterable[ResultBlock], reason: str) -> None:
    """Take out what the client recorded of results for itself; it shows it, and never sends it."""
    session = changes.session
    for row in sorted({result.place.row for result in results}):
        if session.entry(row).tool_use_result is not None:
            changes.change(row, partial(without, path=("toolUseResult",)), reason)


def _by_row(places: Iterable[Place]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for row, index in sorted(set(places)):
        found.setdefault(row, []).append(index)
    return found
