"""The sessions that a person means who names some, or says what they have in common."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from clew.actions.indexed_listing import list_best
from clew.actions.opening import find_file
from clew.actions.session_filters import Wanted, choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.store.files import Listing, SessionFile, Store


@dataclass(frozen=True, slots=True)
class ChosenSessions:
    """Sessions of a store."""

    store: Store
    listing: Listing
    names: tuple[str, ...] = ()
    wanted: Wanted = field(default_factory=Wanted)
    """What they have in common, where none is named."""

    @property
    def is_everything(self) -> bool:
        """Whether it is every session there is."""
        return not self.names and self.wanted == Wanted()

    def files(self, *, now: float, use_index: bool = True, jobs: int | None = None) -> Sequence[SessionFile]:
        """Return their files: in the order they were named in, or the one written last first."""
        if self.names:
            found = [find_file(self.store, name, listing=self.listing) for name in self.names]
            return list(dict.fromkeys(found))
        listed = list_best(self.store, now=now, listing=self.listing, use_index=use_index, jobs=jobs)
        by_path = {file.path: file for file in self.listing.sessions}
        rows = choose(listed, listed.conversations, self.wanted)
        return [by_path[row.path] for row in rows if row.path in by_path]
