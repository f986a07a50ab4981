"""Why there is no catalog to answer from. Whoever asks then answers without one, and says so."""

from __future__ import annotations

from clew.errors import ClewError


class CatalogUnavailableError(ClewError):
    """The catalog cannot be used: the disk is full, the cache folder cannot be written to…"""

    code = "no-index"

    def __init__(self, reason: str) -> None:
        super().__init__(f"the index cannot be used: {reason}", hint="--no-index reads the files themselves")
        self.reason = reason


class DamagedError(Exception):
    """A database is not what was written. Never leaves the catalog: it is removed and built anew."""

    def __init__(self, shard: int, detail: str) -> None:
        super().__init__(f"shard {shard}: {detail}")
        self.shard = shard


class BusyError(Exception):
    """Another process is writing. Never leaves the catalog: the answer is what is there, with a note."""
