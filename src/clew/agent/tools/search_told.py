"""Write what a search printed for the model and for the screen, as the client does.

Which files are told of is decided here, in the same way for whichever program searched: none that are
hidden, and none that are binary unless one was asked for by name.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from clew.agent import paths
from clew.agent.tool import Outcome
from clew.agent.tools.glob import shown
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clew.agent.tools.search_request import SearchRequest

_MOST_COLUMNS: Final = 500
_HEAD: Final = 8192
_LINE: Final = re.compile(rb"([0-9]+)([:-])(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Page:
    """Which part of the results is told."""

    limit: int
    offset: int

    def of(self, items: Sequence[str]) -> list[str]:
        """Return the part of a list."""
        end = self.offset + self.limit if self.limit else None
        return list(items[self.offset : end])

    def applied(self, total: int) -> dict[str, int]:
        """Return what the page left out, as results keep it."""
        found: dict[str, int] = {}
        if self.limit and total - self.offset > self.limit:
            found["appliedLimit"] = self.limit
        if self.offset:
            found["appliedOffset"] = self.offset
        return found


class ShownFiles:
    """Which files are told of: none that are hidden, and none that are binary."""

    def __init__(self, is_hidden: Callable[[str], bool] | None, *, is_file: bool) -> None:
        self._is_hidden = is_hidden
        self._is_file = is_file
        self._known: dict[bytes, bool] = {}
        self.zero: int | None = None
        """Where the one file that was searched has a NUL, if it has."""

    def __call__(self, path: bytes) -> bool:
        """Say whether a file is told of."""
        if path not in self._known:
            self._known[path] = self._judge(os.fsdecode(path))
        return self._known[path]

    def _judge(self, path: str) -> bool:
        if self._is_hidden is not None and self._is_hidden(path):
            return False
        try:
            with paths.opened(path) as (descriptor, _):
                head = os.read(descriptor, _HEAD)
        except (OSError, ClewError):
            return False
        at = -1 if head.startswith((b"\xff\xfe", b"\xfe\xff")) else head.find(b"\0")
        if at >= 0 and self._is_file:
            self.zero = at
        return at < 0 or self._is_file


@dataclass(frozen=True, slots=True)
class Told:
    """Writes what was found."""

    request: SearchRequest
    cwd: str
    is_shown: ShownFiles
    page: Page

    def files(self, output: bytes) -> Outcome:
        """Tell the files, the one that was changed last first."""
        found = [path for path in output.split(b"\0") if path and self.is_shown(path)]
        found.sort(key=lambda path: (-_changed(path), path))
        names = self.page.of([self._name(path) for path in found])
        applied = self.page.applied(len(found))
        result: dict[str, Any] = {
            "mode": "files_with_matches",
            "filenames": names,
            "numFiles": len(names),
            "totalFiles": len(found),
            **applied,
        }
        if not names:
            return Outcome("No files found", result)
        head = f"Found {_many(len(names), 'file')}" + (f" {_pages(applied)}" if applied else "")
        return Outcome("\n".join([head, *names]), result)

    def counts(self, output: bytes) -> Outcome:
        """Tell how many lines of each file match."""
        numbers: dict[bytes, int] = {}
        for line in _records(output):
            path, _, rest = line.partition(b"\0")
            if _LINE.fullmatch(
                rest
            ):  # over line ends the lines are counted here: ripgrep counts matches then
                numbers[path] = numbers.get(path, 0) + 1
            elif rest.isdigit():
                numbers[path] = int(rest)
        found = [(self._name(path), number) for path, number in numbers.items() if self.is_shown(path)]
        applied = self.page.applied(len(found))
        total = sum(number for _, number in found)
        content = "\n".join(self.page.of([f"{name}:{number}" for name, number in found]))
        result: dict[str, Any] = {
            "mode": "count",
            "numFiles": len(found),
            "filenames": [],
            "content": content,
            "numMatches": total,
            **applied,
        }
        summary = f"Found {_many(total, 'total occurrence')} across {_many(len(found), 'file')}."
        if applied:
            summary += f" with pagination = {_pages(applied)}"
        return Outcome(f"{content or 'No matches found'}\n\n{summary}", result)

    def lines(self, output: bytes, *, is_numbered: bool) -> Outcome:
        """Tell the lines."""
        found = list(self._lines(output, is_numbered=is_numbered))
        if found and self.is_shown.zero is not None:
            found = [f'binary file matches (found "\\0" byte around offset {self.is_shown.zero})']
        chosen = self.page.of(found)
        applied = self.page.applied(len(found))
        content = "\n".join(chosen)
        result: dict[str, Any] = {
            "mode": "content",
            "numFiles": 0,
            "filenames": [],
            "content": content,
            "numLines": len(chosen),
            "totalLines": len(found),
            **applied,
        }
        more = f"\n\n[Showing results with pagination = {_pages(applied)}]" if applied else ""
        return Outcome((content or "No matches found") + more, result)

    def _lines(self, output: bytes, *, is_numbered: bool) -> Iterator[str]:
        waits = False
        has_begun = False
        for line in _records(output):
            if line == b"--":
                waits = has_begun
                continue
            path, _, rest = line.partition(b"\0")
            parts = _LINE.fullmatch(rest)
            if parts is None or not self.is_shown(path):
                continue
            if self.request.only_matching and not parts[3].strip(b"\r"):
                continue  # what matches nothing is nothing to show
            if waits:
                yield "--"
            waits, has_begun = False, True
            yield self._line(path, parts, is_numbered=is_numbered)

    def _line(self, path: bytes, parts: re.Match[bytes], *, is_numbered: bool) -> str:
        sign = parts[2].decode("ascii")
        text = parts[3].removesuffix(b"\r")
        words = text.decode("utf-8", "replace")
        if len(text) > _MOST_COLUMNS:
            words = f"[Omitted long {'matching' if sign == ':' else 'context'} line]"
        name = "" if self.request.is_file else self._name(path) + sign
        return f"{name}{parts[1].decode('ascii') + sign if is_numbered else ''}{words}"

    def _name(self, path: bytes) -> str:
        return shown(os.fsdecode(path), self.cwd)


def _records(output: bytes) -> Iterator[bytes]:
    """Cut what was printed into lines. One without a NUL is the beginning of a name that has a line end."""
    kept = b""
    for line in output.split(b"\n")[:-1]:
        line = kept + line
        if b"\0" not in line and line != b"--":
            kept = line + b"\n"
            continue
        kept = b""
        yield line


def _changed(path: bytes) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def _many(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _pages(applied: Mapping[str, int]) -> str:
    words = (("appliedLimit", "limit"), ("appliedOffset", "offset"))
    return ", ".join(f"{name}: {applied[key]}" for key, name in words if key in applied)
