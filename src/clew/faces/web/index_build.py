"""Builds the index while the server is already there, and says how far it is."""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from clew.catalog.catalog import Progress
    from clew.store.files import Store

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

    @property
    def state(self) -> State:
        """How far it is."""
        with self._lock:
            return self._state

    @property
    def is_usable(self) -> bool:
        """Whether an answer may come from the index."""
        return self.state.stage == "ready"

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

    def _build(self) -> None:
        from clew.catalog.catalog import Catalog
        from clew.catalog.unavailable import CatalogUnavailableError
        from clew.errors import ClewError

        self._set(State("building"))
        try:
            with Catalog.open(self._store) as catalog:
                update = catalog.update(tell=self._tell)
            note = update.notes[0] if update.notes else None
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
