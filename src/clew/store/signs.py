"""Which sessions of a list are live. For one session alone, and for its reasons, ask `store.live`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from clew.store.files import SessionFile, Store

RECENT: Final = 600.0
"""Seconds within which a change counts as a sign of life: a long turn writes nothing for minutes."""


def signs_of_life(store: Store, *, now: float) -> Callable[[SessionFile], bool]:
    """Return what says whether a session, listed just now, is live: as `store.live` does for a list."""
    processes: Mapping[str, int] = {}
    if any(os.path.isdir(os.path.join(root, "sessions")) for root in store.roots.found):  # noqa: PTH112, PTH118  # quicker than a Path
        from clew.store.live import running  # loaded where a client may say that it runs: it takes its time

        processes = running(store.roots.found)

    def is_live(file: SessionFile) -> bool:
        return (file.session or file.id) in processes or abs(now - file.mtime_ns / 1e9) < RECENT

    return is_live
