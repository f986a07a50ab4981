"""The edits of one session by itself: strip, trim, compress, uncompact, repair."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Literal

from clew.actions.editing import Asked, Extra, edit_session
from clew.store.commit import NewFile

if TYPE_CHECKING:
    from clew.actions.editing import Wish, Worked
    from clew.actions.outcomes import Outcome
    from clew.edit.changes import Changes
    from clew.edit.compress import Summarize
    from clew.edit.repair_state import Aside, Repaired
    from clew.session.session import Session
    from clew.store.files import Store


def strip_session(
    store: Store,
    name: str,
    wish: Wish,
    *,
    thinking: bool = False,
    bulk: bool = False,
    images: Literal["keep", "drop", "shrink"] = "keep",
) -> Outcome:
    """Take out thinking, bulk that is never read again, and pictures; without a wish the bulk."""
    from clew.edit.strip import strip

    if not thinking and images == "keep":
        bulk = True
    shrink = None
    if images == "shrink":
        from clew.actions.image_shrinking import shrinker

        shrink = shrinker()
    make = partial(strip, thinking=thinking, bulk=bulk, images=images, shrink=shrink)
    asked = Asked(changes_nothing_sent=not thinking and images == "keep")
    return edit_session(store, name, wish, make, asked=asked, make_agent=make)


def trim_session(
    store: Store,
    name: str,
    wish: Wish,
    *,
    tools: frozenset[str] | None = None,
    results_only: bool = False,
    older_than: int | None = None,
    larger_than: int | None = None,
    keep_turns: int | None = None,
) -> Outcome:
    """Take out calls with their results, or whole turns."""
    from clew.edit.trim import trim

    make = partial(
        trim,
        tools=tools,
        results_only=results_only,
        older_than=older_than,
        larger_than=larger_than,
        keep_turns=keep_turns,
    )
    # Whoever asks for the last turns asks for no compaction before them, but for the one they follow.
    is_cut = keep_turns is not None
    asked = Asked(drops_turns=is_cut, drops_boundaries=is_cut)
    return edit_session(store, name, wish, make, asked=asked)


def compress_session(
    store: Store,
    name: str,
    wish: Wish,
    *,
    keep_turns: int,
    summary: str | Summarize | None,
    keep_calls: bool,
    seed: bytes,
) -> Outcome:
    """Put a summary in the place of the older turns; a function is given what was sent of them."""
    from clew.edit.compress import compress

    def make(session: Session) -> Changes:
        return compress(
            session,
            keep_turns=keep_turns,
            summary=summary,
            keep_calls=keep_calls,
            seed=seed,
            now_ms=wish.now_ms,
        )

    return edit_session(store, name, wish, make, asked=Asked(drops_turns=True, drops_prompt=not keep_turns))


def uncompact_session(
    store: Store, name: str, wish: Wish, *, boundary: str | None = None, every: bool = False
) -> Outcome:
    """Bring the turns before a compaction back."""
    from clew.edit.uncompact import uncompact

    make = partial(uncompact, boundary=boundary, every=every)
    return edit_session(store, name, wish, make, asked=Asked(drops_boundaries=True))


def repair_session(
    store: Store, name: str, wish: Wish, *, seed: bytes, drop_empty_thinking: bool | None = None
) -> Outcome:
    """Mend what keeps a session from being resumed; what is taken out is kept in the state folder."""
    from clew.edit.repair import repair

    mended: list[Repaired] = []

    def make(session: Session) -> Changes:
        found = repair(session, drop_empty_thinking=drop_empty_thinking, seed=seed, now_ms=wish.now_ms)
        mended.append(found)
        return found

    def also(_worked: Worked) -> Extra:
        place = os.path.join(wish.state, "quarantine", wish.new_id)  # noqa: PTH118
        asides = [_kept(place, number, one) for number, one in enumerate(mended[0].quarantine)]
        notes = () if not asides else (f"What is taken out is kept in {place}.",)
        return Extra(asides=tuple(asides), notes=notes)

    asked = Asked(drops_boundaries=True, drops_prompt=True, mends=True)
    return edit_session(store, name, wish, make, asked=asked, also=also)


def _kept(place: str, number: int, aside: Aside) -> NewFile:
    ending = (aside.media_type or "").partition("/")[2] or "bin"
    name = f"{number:03d}-line-{aside.line}.{ending if ending.isalnum() else 'bin'}"
    return NewFile(os.path.join(place, name), lambda: [aside.read()])  # noqa: PTH118
