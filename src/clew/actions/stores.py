"""The store of the config folders that a person names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.errors import UsageError
from clew.store.files import Store

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def open_store(roots: Sequence[Path] = ()) -> Store:
    """Return the store of the given config folders, or of the user's own without any."""
    for root in roots:
        if not root.is_dir():
            raise UsageError(
                f"{root} is not a folder" if root.exists() else f"there is no folder {root}",
                hint="name a config folder, the one that holds projects/",
            )
    return Store.at([str(root) for root in roots])
