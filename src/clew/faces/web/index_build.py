"""Builds the index while the server is already there, and says how far it is."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from clew.faces.web.sharing import Allowance, good_for

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from clew.actions.searching import Known, Request, Result
    from clew.catalog.catalog import Progress
    from clew.store.files import Listing, Store

_LATELY: Final = 1.0
"""Seconds for which an index is up to date with the same listing: outputs in files of their own are not in
it, and come with a line that is."""

Stage = Literal["off", "waiting", "building", "ready", "failed"]


class _StopError(Exception):
    """The server ends."""


@dataclass(frozen=True, slots=True)
class State:
    """How far the index is."""

    stage: Stage
    work: str | None = None
    """What is being read, while it is built."""

    files: int = 0
    files_total: int = 0
    bytes: int = 0
    bytes_total: int = 0
    note: str | None = None

    def as_dict(self) -> dict[str, object]:
        """Return it as JSON has it."""
        return {
            "state": self.stage,
            "work": self.work,
            "files": self.files,
            "files_total": self.files_total,
            "bytes": self.bytes,
            "bytes_total": self.bytes_total,
            "note": self.note,
        }


class IndexBuild:
    """Brings the index up to date once, when the server starts; later each answer does what is left."""

    def __init__(self, store: Store, *, is_wanted: bool) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._state = State("waiting" if is_wanted else "off")
        self._is_over = threading.Event()
        self._thread: threading.Thread | None = None
        self._good_until = 0.0
        self._last: tuple[float, Known] | None = None
        self._made: tuple[int | None, ...] = ()
        """Which databases it was made of."""
        self.updates = Allowance()
        """How much time is left to take in what is new, for whatever answer. A session that is written to
        all the time is not looked at all the time."""

    @property
    def state(self) -> State:
        """How far it is."""
        with self._lock:
            return self._state

    @property
    def is_usable(self) -> bool:
        """Whether an answer may come from the index; if it was removed, it is begun anew.

        To take secrets out of a session in place removes it, here or in another program.
        """
        if self.state.stage != "ready":
            return False
        if self._databases() == self._made:
            return True
        with self._lock:
            if self._state.stage != "ready":
                return False
            self._state = State("waiting")
        self.start()
        return False

    @property
    def is_building(self) -> bool:
        """Whether it is on its way."""
        return self.state.stage in {"waiting", "building"}

    def start(self) -> None:
        """Begin, unless nobody wants an index."""
        if self.state.stage != "waiting":
            return
        self._thread = threading.Thread(target=self._build, name="clew-index", daemon=True)
        self._thread.start()

    def close(self, *, wait: float) -> None:
        """End it; what was read is kept. It is waited for so long at most."""
        self._is_over.set()
        if self._thread is not None:
            self._thread.join(wait)

    def searched(
        self,
        request: Request,
        listing: Listing,
        *,
        is_quick: bool = False,
        pulse: Callable[[], object] | None = None,
    ) -> Result:
        """Search; where that took long because much is new all the time, the index is not always updated.

        It is not looked at either where the listing is what it was a moment ago, nor for a quick answer.
        """
        from clew.actions.searching import Known, search

        began = time.monotonic()
        if self.is_usable and (is_quick or began < self._good_until or self.updates.is_spent()):
            return search(replace(request, as_it_is=True), known=Known(listing), pulse=pulse)
        last = self._last
        is_same = last is not None and began - last[0] < _LATELY and last[1].listing == listing
        known = Known(listing, last[1].update if last is not None and is_same else None)
        news: list[Progress] = []
        with self.updates.spending(lambda: bool(news)):
            found = search(request, tell=news.append, known=known, pulse=pulse)
        ended = time.monotonic()
        self._good_until = ended + good_for(ended - began)
        if not is_same and known.update is not None:
            self._last = (began, known) if known.update.is_current else None
        return found

    def hurry(self) -> None:
        """Let the next answer have everything: a page has just changed something itself."""
        self._good_until = 0.0
        self._last = None
        self.updates.renew()

    def _databases(self) -> tuple[int | None, ...]:
        """Tell the databases there are from others that may have taken their place."""
        from clew.catalog.place import catalog_folder, shard_paths

        return tuple(map(_file_number, shard_paths(catalog_folder(self._store.roots.found))))

    def _build(self) -> None:
        from clew.catalog.catalog import Catalog
        from clew.catalog.unavailable import CatalogUnavailableError
        from clew.errors import ClewError

        self._set(State("building"))
        try:
            with Catalog.open(self._store) as catalog:
                update = catalog.update(tell=self._tell)
            note = update.notes[0] if update.notes else None
            self._made = self._databases()
            self._good_until, self._last = 0.0, None
            self._set(replace(self.state, stage="ready", work=None, note=note))
        except _StopError:
            self._set(State("failed", note="the server ends"))
        except (CatalogUnavailableError, ClewError, OSError) as error:
            self._set(State("failed", note=str(error)))
        except Exception as error:  # the server goes on without an index, whatever it was
            self._set(State("failed", note=f"{type(error).__name__}: {error}"))

    def _tell(self, step: Progress) -> None:
        if self._is_over.is_set():
            raise _StopError
        self._set(State("building", step.stage, step.files, step.files_total, step.bytes, step.bytes_total))

    def _set(self, state: State) -> None:
        with self._lock:
            self._state = state


def _file_number(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
