"""Mend a session that the client does not resume, or not whole, or that the API refuses.

Only what is damaged changes; a healthy session stays as it is, and so does one that was repaired before. What
is taken out is listed, and what was said stays in the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.edit.repair_blocks import Blocks, drops_empty_thinking
from clew.edit.repair_clock import mend_last_time, mend_times
from clew.edit.repair_copies import mend_copies
from clew.edit.repair_end import mend_beginning, mend_end
from clew.edit.repair_lines import mend_lines, mend_values
from clew.edit.repair_links import mend_links
from clew.edit.repair_order import mend_blocks_order, mend_order, mend_repeated
from clew.edit.repair_pairs import mend_missing
from clew.edit.repair_state import Repaired

if TYPE_CHECKING:
    from collections.abc import Callable

    from clew.edit.repair_state import View
    from clew.session.session import Session

_MOST_ROUNDS: Final = 200
"""Each step may give the others something to do, but never for long; this ends what a bug would not."""


def repair(
    session: Session, *, drop_empty_thinking: bool | None = None, seed: bytes, now_ms: int
) -> Repaired:
    """Return the changes that mend a session; `quarantine` of it lists what must be kept elsewhere.

    Thinking without words goes if that is asked for; by default if the last API error names thinking. `seed`
    makes the ids of new lines, `now_ms` is the time of a session that has none.
    """
    if drop_empty_thinking is None:
        drop_empty_thinking = drops_empty_thinking(session)
    blocks = Blocks(drop_empty_thinking=drop_empty_thinking)
    steps: tuple[Callable[[View, Repaired], None], ...] = (
        mend_values,
        mend_links,
        lambda view, state: mend_times(view, state, now_ms=now_ms),
        blocks.mend,
        mend_end,
        lambda view, state: mend_repeated(view, state, seed=seed),
        lambda view, state: mend_missing(view, state, seed=seed),
        lambda view, state: mend_order(view, state, seed=seed),
        mend_blocks_order,
        lambda view, state: mend_beginning(view, state, seed=seed),
        lambda view, state: mend_last_time(view, state, now_ms=now_ms),
    )
    state = Repaired(session)
    mend_lines(state)
    view = state.now()
    for _ in range(_MOST_ROUNDS):
        before = state.actions
        state = mend_copies(view, state, seed=seed)
        if state.actions != before:
            view = state.now()
        for step in steps:
            done = state.actions
            step(view, state)
            if state.actions != done:
                view = state.now()
        if state.actions == before:
            break
    return state
