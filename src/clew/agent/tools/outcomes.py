"""How a call that did not work out is told, in the words and the forms the client uses."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from clew.agent import paths
from clew.agent.tool import Outcome

if TYPE_CHECKING:
    from clew.agent.tool import Work
    from clew.errors import ClewError


def failed(words: str) -> Outcome:
    """Tell of something that went wrong while it was done."""
    return Outcome(words, f"Error: {words}", is_error=True)


def refused(words: str) -> Outcome:
    """Tell of a call that was not even begun, for what was asked."""
    return Outcome(f"<tool_use_error>{words}</tool_use_error>", f"Error: {words}", is_error=True)


def misread(words: str) -> Outcome:
    """Tell of input that is not what the schema asks for."""
    words = f"InputValidationError: {words}"
    return Outcome(f"<tool_use_error>{words}</tool_use_error>", words, is_error=True)


def missing(resolved: str, work: Work) -> str:
    """Say that a file is not there, and which one may have been meant."""
    words = f"File does not exist. Note: your current working directory is {work.cwd}."
    meant = _near(resolved)
    return words if meant is None else f"{words} Did you mean {meant}?"


def _near(resolved: str) -> str | None:
    """Return a file beside one that is not there, of the same name with another ending."""
    folder, name = os.path.split(resolved)
    try:
        there = sorted(os.listdir(folder)[:10_000])  # noqa: PTH208  # the names are enough
    except OSError:
        return None
    stem = os.path.splitext(name)[0]  # noqa: PTH122
    return next((one for one in there if os.path.splitext(one)[0] == stem and one != name), None)  # noqa: PTH122


def troubled(error: OSError | ClewError, path: str, *, doing: str = "open") -> str:
    """Say why a file could not be used, by the path that was asked for."""
    match error:
        case paths.NotAFileError(what="a directory"):
            return f"EISDIR: illegal operation on a directory, read '{path}'"
        case paths.NotAFileError(what="reached by a link that was not there before" as what):
            return f"{path} is {what}. Nothing was done."
        case paths.NotAFileError():
            what = "this path names a device or process file that this tool does not read."
            return f"Cannot read '{path}': {what}"
        case paths.TooLargeError():
            size, most = size_words(error.size), size_words(error.most)
            return f"File content ({size}) exceeds maximum allowed size ({most})."
        case OSError():
            code = errno.errorcode.get(error.errno or 0, "EIO")
            return f"{code}: {(error.strerror or 'failed').lower()}, {doing} '{path}'"
        case _:
            return error.message


def size_words(size: int) -> str:
    """Write a number of bytes for people: `303 bytes`, `2.9KB`, `1MB`."""
    if size < 1024:
        return f"{size} bytes"
    for unit, factor in (("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30)):
        if size < factor << 10 or unit == "GB":
            return f"{size / factor:.1f}".removesuffix(".0") + unit
    raise AssertionError  # the last unit takes everything
