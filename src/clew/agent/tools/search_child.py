"""Search in files without ripgrep. Run as a program of its own, which prints what ripgrep would."""

from __future__ import annotations

import os
import sys
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from clew.agent import globs, paths
from clew.agent.tools import rust_patterns, search_request
from clew.agent.tools.search_types import TYPES
from clew.agent.walking import walk
from clew.errors import ClewError

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator

    from clew.agent.tools.search_request import SearchRequest

_MOST: Final = 256 << 20
_MARKS: Final = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"))


def main() -> None:
    """Read a request from standard input, and print what was found."""
    request = search_request.read(sys.stdin.buffer.read())
    try:
        for piece in search(request):
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except (rust_patterns.PatternError, globs.GlobError, UnknownTypeError) as error:
        sys.stderr.write(f"{error.message}\n".encode("ascii", "backslashreplace").decode("ascii"))
        sys.exit(2)
    except BrokenPipeError:
        os._exit(1)


class UnknownTypeError(ClewError):
    """There is no such sort of files."""

    code = "unknown-type"


def search(request: SearchRequest) -> Iterator[bytes]:
    """Give what is to be printed, piece by piece."""
    pattern = rust_patterns.compiled(
        request.pattern, ignores_case=request.ignores_case, is_multiline=request.is_multiline
    )
    has_told = False
    for path in _files(request):
        text = _text(path)
        if text is None:
            continue
        printed = _printed(path, text, pattern, request)
        if printed and has_told and request.mode == "content" and (request.before or request.after):
            yield b"--\n"
        has_told = has_told or bool(printed)
        yield printed


def _files(request: SearchRequest) -> Iterator[str]:
    if request.is_file:
        yield request.root
        return
    wanted = globs.choice(request.exclusions)
    for found in walk(request.root, wanted=wanted, has_type=_of_type(request.type), respects_ignores=True):
        yield found.path


def _of_type(name: str) -> Callable[[str], bool] | None:
    if not name:
        return None
    if name not in TYPES:
        raise UnknownTypeError(f"unrecognized file type: {name}")
    rules = globs.Rules(tuple(globs.rule(glob) for glob in TYPES[name]))
    return lambda file: rules.judge(file, is_folder=False) is True


def _text(path: str) -> str | None:
    """Return what a file holds, bytes that are no UTF-8 as lone surrogates; None if it cannot be read."""
    try:
        data = paths.read(os.path.realpath(path), most=_MOST).data
    except (OSError, ClewError):
        return None
    mark, encoding = next((one for one in _MARKS if data.startswith(one[0])), (b"", "utf-8"))
    if encoding == "utf-8":
        return data[len(mark) :].decode("utf-8", "surrogateescape")
    return data[len(mark) :].decode(encoding, "replace")


@dataclass(frozen=True, slots=True)
class _Match:
    first: int
    last: int
    """The lines it is in, from 0."""

    start: int
    end: int


def _printed(path: str, text: str, pattern: re.Pattern[str], request: SearchRequest) -> bytes:
    """Return what is printed of a file; nothing if nothing matches."""
    starts = _line_starts(text)
    matches = list(_matches(text, starts, pattern, stops=request.mode == "files_with_matches"))
    if not matches:
        return b""
    name = os.fsencode(path) + b"\0"
    if request.mode == "files_with_matches":
        return name
    lines = {at for match in matches for at in range(match.first, match.last + 1)}
    if request.mode == "count" and not request.is_multiline:
        return name + b"%d\n" % len(lines)
    if request.only_matching:
        return b"".join(_parts(name, text, starts, matches))
    return b"".join(_told(name, text, starts, lines, request))


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if starts[-1] == len(text):
        starts.pop()  # what ends with a line end has no line behind it
    return starts


def _matches(text: str, starts: list[int], pattern: re.Pattern[str], *, stops: bool) -> Iterator[_Match]:
    for start, end in _spans(text, pattern):
        if not starts or (start == len(text) and text.endswith("\n")):
            return
        first = bisect_right(starts, start) - 1
        last = max(first, bisect_right(starts, max(start, end - 1)) - 1)
        yield _Match(first, last, start, end)
        if stops:
            return


def _spans(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Give where a pattern matches, one behind the other as ripgrep counts them.

    Behind a match of nothing Python tries the same place again for one of something; ripgrep goes on.
    """
    at, last = 0, -1
    while at <= len(text) and (found := pattern.search(text, at)) is not None:
        start, end = found.span()
        at = end + 1 if start == end else end
        if start == end == last:
            continue
        last = end
        yield start, end


def _line(text: str, starts: list[int], at: int) -> str:
    end = starts[at + 1] - 1 if at + 1 < len(starts) else len(text)
    return text[starts[at] : end].removesuffix("\n") if at + 1 == len(starts) else text[starts[at] : end]


def _told(
    name: bytes, text: str, starts: list[int], lines: set[int], request: SearchRequest
) -> Iterator[bytes]:
    """Give the lines that match with those around them; stretches that do not touch have a mark between."""
    done = -1
    for line in sorted(lines):
        first = max(0, line - request.before)
        if done >= 0 and first > done + 1 and (request.before or request.after):
            yield b"--\n"
        last = min(len(starts) - 1, line + request.after)
        for at in range(max(first, done + 1), last + 1):
            sign = b":" if at in lines else b"-"
            yield name + b"%d" % (at + 1) + sign + _bytes(_line(text, starts, at)) + b"\n"
        done = max(done, last)


def _parts(name: bytes, text: str, starts: list[int], matches: list[_Match]) -> Iterator[bytes]:
    for match in matches:
        if match.start == match.end:
            continue
        pieces = text[match.start : match.end].removesuffix("\n").split("\n")
        for at, piece in enumerate(pieces, match.first + 1):
            if at - 1 < len(starts):
                yield name + b"%d:" % at + _bytes(piece) + b"\n"


def _bytes(text: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")
