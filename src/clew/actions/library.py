"""What `import clew` gives: sessions by name and the list of them, in one call each."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from clew.actions.listing import list_sessions
from clew.actions.opening import file_at, find_file
from clew.actions.stores import open_store
from clew.store.reader import open_session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.actions.listing import SessionRow
    from clew.session.session import Session

Roots = str | os.PathLike[str]


def open(name: str | os.PathLike[str], *, roots: Sequence[Roots] = ()) -> Session:  # noqa: A001
    """Read a session, named by id, start of an id, path, title, readable name or place (`@1`, the newest).

    `roots` are config folders, the kind that holds `projects/`; without any the user's own are looked in.
    """
    if not isinstance(name, str):
        return open_session(file_at(Path(name)).path)
    store = open_store([Path(root) for root in roots])
    return open_session(find_file(store, name).path)


def sessions(
    *, roots: Sequence[Roots] = (), full: bool = False, jobs: int | None = 1
) -> tuple[SessionRow, ...]:
    """List the sessions that hold a conversation, the one written last first.

    `full` reads every file for its counts, which are None otherwise. `jobs` is how many processes to use;
    with more than one the calling program must be importable (`if __name__ == "__main__":`).
    """
    store = open_store([Path(root) for root in roots])
    return list_sessions(store, now=time.time(), full=full, jobs=jobs).conversations
