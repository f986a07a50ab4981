"""Follow a session file as it is written: each finished line once, and what else becomes of the file."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from clew.errors import ChangedOnDiskError, NotARegularFileError, UnreadableError
from clew.store.files import Skipped
from clew.store.reader import read_new

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from clew.store.reader import Cursor, Growth


def _never() -> bool:
    return False


def follow(
    path: str | os.PathLike[str],
    *,
    cursor: Cursor | None = None,
    poll: float = 0.2,
    stop: Callable[[], bool] = _never,
    sleep: Callable[[float], object] = time.sleep,
) -> Iterator[Growth | Skipped]:
    """Give what is new in the file, again and again, until `stop()` says so. Go through each at once.

    A `Growth` with `restarted` starts over: the file was cut, rewritten or replaced. A `Skipped` says, once,
    that the file cannot be read now; when it is back, following goes on. With a `threading.Event`, hand in
    its `is_set` as `stop` and its `wait` as `sleep`.
    """
    is_missing = False
    while not stop():
        try:
            growth = read_new(path, cursor)
        except ChangedOnDiskError:  # cut in this very moment: look again
            pass
        except (UnreadableError, NotARegularFileError) as error:
            if not is_missing:
                yield Skipped(os.fspath(path), error.message)
            is_missing = True
        else:
            is_missing = False
            if cursor is None or growth.has_new or growth.restarted:
                yield growth
                cursor = growth.cursor
            growth.close()
        sleep(poll)
