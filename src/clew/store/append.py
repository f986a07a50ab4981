"""Add lines to the end of a session file, as the client itself does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.store.disk import DISK
from clew.store.source import FileSource, reason
from clew.store.writer import NotWrittenError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.store.disk import Disk


def append_lines(path: str, lines: Sequence[bytes], *, disk: Disk = DISK) -> int:
    """Write lines behind what is there, in one go; an unfinished last line is ended first.

    Others may be writing too: each of their lines and ours stays whole. Return how many bytes were written.
    """
    with FileSource(path) as source:
        is_open = source.size > 0 and source.read(source.size - 1, 1) != b"\n"
    data = (b"\n" if is_open else b"") + b"".join(line + b"\n" for line in lines)
    try:
        descriptor = disk.open_end(path)
        try:
            disk.write(descriptor, data)
            disk.sync(descriptor)
        finally:
            disk.close(descriptor)
    except OSError as error:
        raise NotWrittenError(path, reason(error)) from error
    return len(data)
